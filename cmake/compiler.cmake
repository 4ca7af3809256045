# Sets muster_compiler_flaw to a sentence if the compiler is older than Muster supports, otherwise to nothing.
# Muster's own CMakeLists.txt and its installed package use it; config.hpp has the same check.
set(muster_compiler_flaw "")
foreach(known "GNU 12" "Clang 16" "AppleClang 15")
    string(REPLACE " " ";" known "${known}")
    list(GET known 0 known_id)
    list(GET known 1 least)
    if(CMAKE_CXX_COMPILER_ID STREQUAL known_id AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS least)
        set(muster_compiler_flaw
            "Muster needs a newer compiler: g++ 12, clang 16, or newer. This is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} \
(${CMAKE_CXX_COMPILER}). Choose another with -DCMAKE_CXX_COMPILER=clang++-19 or CXX=g++-12, in a new build directory.")
    endif()
endforeach()
