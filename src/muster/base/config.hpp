// The few macros of Muster, and its version. What a build can choose is seen here: the CMake target
// sets MUSTER_EXCEPTIONS and MUSTER_UNCHECKED, so that the library and every file that includes it agree.
#pragma once

#define MUSTER_VERSION_MAJOR 0
#define MUSTER_VERSION_MINOR 1
#define MUSTER_VERSION_PATCH 0

#if !defined(__cpp_concepts) || __cpp_concepts < 201907L
#error "Muster needs C++20: compile with -std=c++20 (g++ 12, clang 16, or newer)."
#endif

/// 1 if errors are thrown, 0 if the error handler is called instead. Set by the CMake target; without
/// it, as this file is compiled. All files of a program must agree.
#ifndef MUSTER_EXCEPTIONS
#ifdef __cpp_exceptions
#define MUSTER_EXCEPTIONS 1
#else
#define MUSTER_EXCEPTIONS 0
#endif
#elif MUSTER_EXCEPTIONS && !defined(__cpp_exceptions)
#error \
    "Muster was built with exceptions, this file is not: build Muster with MUSTER_NO_EXCEPTIONS=ON."
#endif

/// 1 if the checks of `get`, `set` and their like were removed: bad input is undefined behaviour then.
/// Set by the CMake target (MUSTER_UNCHECKED=ON). All files of a program must agree.
#ifndef MUSTER_UNCHECKED
#define MUSTER_UNCHECKED 0
#endif

/// 1 if a world watches that no two threads change it at once, and that systems which run side by side touch
/// only what they declare. Set by the CMake target (MUSTER_THREAD_CHECKS=ON, as it is in debug builds). All
/// files of a program must agree.
#ifndef MUSTER_THREAD_CHECKS
#define MUSTER_THREAD_CHECKS 0
#endif

/// What other shared libraries may see. Needed on types that are thrown across them, too.
#define MUSTER_API __attribute__((visibility("default")))

/// Keeps the making of an error out of the code that calls it.
#define MUSTER_COLD [[gnu::cold, gnu::noinline]]

/// 1 if the thread sanitizer watches this file.
#if defined(__SANITIZE_THREAD__)
#define MUSTER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MUSTER_THREAD_SANITIZER 1
#endif
#endif
#ifndef MUSTER_THREAD_SANITIZER
#define MUSTER_THREAD_SANITIZER 0
#endif

namespace muster::detail {
inline constexpr bool checked = !MUSTER_UNCHECKED;
inline constexpr bool watches_threads = MUSTER_THREAD_CHECKS;
inline constexpr bool sanitizes_threads = MUSTER_THREAD_SANITIZER;
}  // namespace muster::detail
