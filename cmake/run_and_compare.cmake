# cmake -DPROGRAM=... [-DEXPECTED=file] -P run_and_compare.cmake
# Runs PROGRAM; it must succeed and, if EXPECTED is given, print exactly that file.
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed ERROR_VARIABLE errors RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} ended with ${result}\n${printed}${errors}")
endif()
if(DEFINED EXPECTED)
    file(READ ${EXPECTED} expected)
    if(NOT printed STREQUAL expected)
        message(FATAL_ERROR "${PROGRAM} printed\n${printed}\ninstead of\n${expected}")
    endif()
endif()
