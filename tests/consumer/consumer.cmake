# Builds and runs tests/consumer/project. WAY is find_package (Muster installed first) or FetchContent.
file(REMOVE_RECURSE ${WORK})
file(GLOB blocks ${README}/README_*.cmake)
foreach(candidate IN LISTS blocks)
    file(READ ${candidate} text)
    if(text MATCHES "${WAY}")
        set(block ${candidate})
    endif()
endforeach()
if(NOT DEFINED block)
    message(FATAL_ERROR "README has no CMake block with ${WAY}")
endif()

if(WAY STREQUAL find_package)
    execute_process(COMMAND ${CMAKE_COMMAND} --install ${MUSTER_BINARY} --prefix ${WORK}/installed
                    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    set(where -DCMAKE_PREFIX_PATH=${WORK}/installed)
else()
    set(where -DFETCHCONTENT_SOURCE_DIR_MUSTER=${MUSTER_SOURCE} -DEXPECT_OPTIONS_OFF=1)
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${PROJECT} -B ${WORK}/build -G ${GENERATOR}
                        -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}"
                        -DCMAKE_BUILD_TYPE=Release -DREADME_BLOCK=${block} ${where}
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/game OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
if(NOT printed STREQUAL "E:1-0[0]\n")
    message(FATAL_ERROR "the program printed: ${printed}")
endif()
