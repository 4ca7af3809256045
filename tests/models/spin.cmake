# cmake -DSPIN=... -DCC=... -DMODEL=file -DDEFINITIONS="-DA -DB" -DFOLDER=... -DFINDS=... -P spin.cmake
# Checks all states of MODEL. FINDS is "nothing" or a regular expression for the error that Spin must find.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${FOLDER})
separate_arguments(DEFINITIONS)

function(run)
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE result
                    OUTPUT_VARIABLE printed ERROR_VARIABLE printed)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${ARGN} ended with ${result}\n${printed}")
    endif()
    set(printed "${printed}" PARENT_SCOPE)
endfunction()

run(${SPIN} -a ${DEFINITIONS} ${MODEL})
run(${CC} -O1 -w -DSAFETY -DCOLLAPSE -DMEMLIM=1500 -o pan pan.c)
execute_process(COMMAND ./pan -m100000 WORKING_DIRECTORY ${FOLDER} OUTPUT_VARIABLE printed
                ERROR_VARIABLE printed)
file(REMOVE_RECURSE ${FOLDER})

if(FINDS STREQUAL "nothing")
    # An incomplete search proves nothing.
    if(NOT printed MATCHES "errors: 0" OR printed MATCHES "Search not completed|too small|MEMLIM")
        message(FATAL_ERROR "an error was found, or not all states were seen:\n${printed}")
    endif()
elseif(NOT printed MATCHES "${FINDS}")
    message(FATAL_ERROR "the error was not found:\n${printed}")
endif()
