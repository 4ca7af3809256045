# cmake -DPROGRAM=... [-DEXPECTED=file] [-DRESULT=n] -P run_and_compare.cmake
# Runs PROGRAM. Fails unless it exits with RESULT (default: 0) and, if EXPECTED is set, prints exactly the
# content of that file.
if(NOT DEFINED RESULT)
    set(RESULT 0)
endif()
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE printed ERROR_VARIABLE errors RESULT_VARIABLE result)
if(NOT result STREQUAL RESULT)
    message(FATAL_ERROR "${PROGRAM} ended with ${result}\n${printed}${errors}")
endif()
if(DEFINED EXPECTED)
    file(READ ${EXPECTED} expected)
    if(NOT printed STREQUAL expected)
        message(FATAL_ERROR "${PROGRAM} printed\n${printed}\ninstead of\n${expected}")
    endif()
endif()
