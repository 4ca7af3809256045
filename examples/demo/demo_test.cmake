# cmake -DDEMO=program -DSCRATCH=folder -P demo_test.cmake
# Checks that the demo ends in the same state on one thread and on four, prints no escape codes without a
# terminal, writes a picture, and rejects unknown options.
file(MAKE_DIRECTORY ${SCRATCH})

function(run out)
    execute_process(COMMAND ${DEMO} ${ARGN} OUTPUT_VARIABLE printed ERROR_VARIABLE errors
                    RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "demo ${ARGN} ended with ${result}\n${printed}${errors}")
    endif()
    string(ASCII 27 escape)
    string(FIND "${printed}${errors}" "${escape}" found)
    if(NOT found EQUAL -1)
        message(FATAL_ERROR "demo ${ARGN} prints escape codes, and this is not a terminal")
    endif()
    set(${out} "${printed}" PARENT_SCOPE)
endfunction()

function(hash_of out text)
    if(NOT "${text}" MATCHES "hash ([0-9a-f]+) of the last state")
        message(FATAL_ERROR "there is no hash in\n${text}")
    endif()
    set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

set(story --frames 5 --entities 20000 --seed 7)
file(REMOVE ${SCRATCH}/last.png)
run(one ${story} --threads 1)
run(four ${story} --threads 4 --png ${SCRATCH}/last.png)
run(again ${story} --threads 4)
run(other --frames 5 --entities 20000 --seed 8 --threads 4)
foreach(name one four again other)
    hash_of(${name}_hash "${${name}}")
endforeach()
if(NOT one_hash STREQUAL four_hash OR NOT four_hash STREQUAL again_hash)
    message(FATAL_ERROR "the last state depends on threads: ${one_hash}, ${four_hash}, ${again_hash}\n${one}${four}")
endif()
if(one_hash STREQUAL other_hash)
    message(FATAL_ERROR "the last state does not depend on the seed: ${one_hash}")
endif()
if(NOT one MATCHES "none is alive" OR NOT one MATCHES "the same on any number of threads")
    message(FATAL_ERROR "the summary is not as it should be:\n${one}")
endif()

file(READ ${SCRATCH}/last.png start LIMIT 24 HEX)
if(NOT start STREQUAL "89504e470d0a1a0a0000000d494844520000064000000384")  # the signature; 1600 × 900
    message(FATAL_ERROR "this is no picture: ${start}")
endif()

run(timed --seconds 0.2 --entities 1000 --threads 1)
if(NOT timed MATCHES "depends on the number of frames")
    message(FATAL_ERROR "the summary does not say that the state depends on the frames:\n${timed}")
endif()

# refused SENTENCE ARGS...: the demo exits with 2 and prints SENTENCE.
function(refused sentence)
    execute_process(COMMAND ${DEMO} ${ARGN} OUTPUT_VARIABLE printed ERROR_VARIABLE errors
                    RESULT_VARIABLE result)
    if(NOT result EQUAL 2 OR NOT errors MATCHES "${sentence}" OR NOT printed STREQUAL "")
        message(FATAL_ERROR "demo ${ARGN} ended with ${result}\n${printed}${errors}")
    endif()
endfunction()
refused("unknown option \"--entites\"" --entites 5)
refused("unknown option \"fast\"" fast)
refused("--frames takes a number from 1 to 1000000, not \"0\"" --frames 0)
refused("--frames takes a number from 1 to 1000000, not \"5x\"" --frames 5x)
refused("--threads takes a number from 1 to 256, not \"-1\"" --threads -1)
refused("--seconds takes a number from 0.1 to 86400, not \"nan\"" --seconds nan)
refused("--seed takes a number from 0 to 18446744073709551615, not \"\"" --seed=)
refused("--entities needs a value" --entities)
refused("--colours takes auto, 24bit, 256 or none, not \"blue\"" --colours blue)

execute_process(COMMAND ${DEMO} --frames 1 --entities 1000 --png ${SCRATCH}/no/such/folder.png
                OUTPUT_QUIET ERROR_VARIABLE errors RESULT_VARIABLE result)
if(NOT result EQUAL 1 OR NOT errors MATCHES "cannot write .*folder.png: No such file")
    message(FATAL_ERROR "a picture that cannot be written: ${result}\n${errors}")
endif()
