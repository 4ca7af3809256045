# Files that are compiled with other settings than the library must not link, and the linker must name the setting.
# LIBRARY is compiled with SETTINGS, such as UNCHECKED=0,EXCEPTIONS=1.
string(REPLACE "," ";" SETTINGS "${SETTINGS}")
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(here ${CMAKE_CURRENT_LIST_DIR}/settings)
set(ENV{LC_ALL} C)

# Compiles SOURCE with these settings and flags.
function(compile source object settings)
    set(definitions)
    foreach(setting IN LISTS settings)
        list(APPEND definitions -DMUSTER_${setting})
    endforeach()
    separate_arguments(flags UNIX_COMMAND "${FLAGS}")
    execute_process(COMMAND ${COMPILER} -std=c++20 -O0 ${flags} -I${MUSTER_SOURCE}/src ${definitions} ${ARGN}
                            -c ${here}/${source} -o ${WORK}/${object}
                    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Links objects with the library; sets `printed` to the messages, and `result`.
macro(link)
    separate_arguments(flags UNIX_COMMAND "${FLAGS}")
    execute_process(COMMAND ${COMPILER} ${flags} ${ARGN} ${LIBRARY} -o program WORKING_DIRECTORY ${WORK}
                    RESULT_VARIABLE result ERROR_VARIABLE printed)
endmacro()

function(expect_mismatch setting)
    string(REPLACE "=" "_is)" words "MUSTER_${setting}")
    string(FIND "${printed}" "${words}" found)
    if(result EQUAL 0)
        message(FATAL_ERROR "a file with ${setting} links with a library with ${SETTINGS}")
    elseif(found EQUAL -1)
        message(FATAL_ERROR "the linker does not say ${words}:\n${printed}")
    endif()
endfunction()

compile(main.cpp main.o "${SETTINGS}")
link(main.o)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "with the settings of the library, it must link:\n${printed}")
endif()
compile(user.cpp user_main.o "${SETTINGS}" -DMAIN)

foreach(setting IN LISTS SETTINGS)
    set(settings ${SETTINGS})
    list(REMOVE_ITEM settings ${setting})
    if(setting MATCHES "=1")
        string(REPLACE "=1" "=0" other ${setting})
    else()
        string(REPLACE "=0" "=1" other ${setting})
    endif()
    list(APPEND settings ${other})
    compile(main.cpp other.o "${settings}")
    link(other.o)
    expect_mismatch(${other})
    compile(main.cpp other_layout.o "${settings}" -DOWN_LAYOUT)
    link(other_layout.o)
    expect_mismatch(${other})
    # Two files of the program.
    compile(user.cpp user_other.o "${settings}")
    link(user_main.o user_other.o)
    if(result EQUAL 0)
        message(FATAL_ERROR "a file with ${other} links with a file with ${setting}")
    endif()
endforeach()
