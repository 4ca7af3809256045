// Muster's macros and version. The CMake target sets MUSTER_EXCEPTIONS, MUSTER_UNCHECKED and
// MUSTER_THREAD_CHECKS, so that the library and every file that includes it agree.
#pragma once

#define MUSTER_VERSION_MAJOR 0
#define MUSTER_VERSION_MINOR 1
#define MUSTER_VERSION_PATCH 0

// The versions of Apple's clang are its own. The #include stops the compiler, whose further errors
// would hide the first.
#if (defined(__apple_build_version__) && __clang_major__ < 15) ||                        \
    (defined(__clang__) && !defined(__apple_build_version__) && __clang_major__ < 16) || \
    (defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 12)
#error "Muster needs a newer compiler: g++ 12, clang 16, or newer."
#include <muster-needs-a-newer-compiler>
#elif !defined(__cpp_concepts) || __cpp_concepts < 201907L
#error "Muster needs C++20: compile with -std=c++20 (g++ 12, clang 16, or newer)."
#endif

/// 1 if errors are thrown, 0 if the error handler is called instead. Set by the CMake target;
/// without it, the compiler's setting decides. All files of a program must agree.
#ifndef MUSTER_EXCEPTIONS
#ifdef __cpp_exceptions
#define MUSTER_EXCEPTIONS 1
#else
#define MUSTER_EXCEPTIONS 0
#endif
#elif MUSTER_EXCEPTIONS && !defined(__cpp_exceptions)
#error "Muster uses exceptions, but this file does not: build Muster with MUSTER_NO_EXCEPTIONS=ON."
#endif

/// 1 if `get`, `set` and the like do not check their arguments: bad input is undefined behaviour.
/// Set by the CMake target (MUSTER_UNCHECKED=ON). All files of a program must agree.
#ifndef MUSTER_UNCHECKED
#define MUSTER_UNCHECKED 0
#endif

/// 1 if a world checks that no two threads change it at once, and that parallel systems access only
/// components they declare. Set by the CMake target (MUSTER_THREAD_CHECKS, on by default in debug
/// builds). All files of a program must agree.
#ifndef MUSTER_THREAD_CHECKS
#define MUSTER_THREAD_CHECKS 0
#endif

/// Makes a symbol visible to other shared libraries; required on types that are thrown across them.
#define MUSTER_API __attribute__((visibility("default")))

/// Keeps error and slow paths out of line, so that the calling code stays small.
#define MUSTER_COLD [[gnu::cold, gnu::noinline]]

/// 1 if the thread sanitizer instruments this file.
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

// MUSTER_NAMESPACE is `muster`, and for each setting that is not the default an inline namespace in
// it, so that files with different settings do not link. All declarations are there, those of
// `detail` too. Write `namespace MUSTER_NAMESPACE::detail`: g++ continues the inner `detail` also for
// `namespace muster::detail`, but clang opens a second one.
#if MUSTER_UNCHECKED
#define MUSTER_IF_UNCHECKED ::inline unchecked
#else
#define MUSTER_IF_UNCHECKED
#endif
#if MUSTER_THREAD_CHECKS
#define MUSTER_IF_THREAD_CHECKS ::inline thread_checks
#else
#define MUSTER_IF_THREAD_CHECKS
#endif
#if MUSTER_EXCEPTIONS
#define MUSTER_IF_NO_EXCEPTIONS
#else
#define MUSTER_IF_NO_EXCEPTIONS ::inline no_exceptions
#endif
#define MUSTER_NAMESPACE muster MUSTER_IF_UNCHECKED MUSTER_IF_THREAD_CHECKS MUSTER_IF_NO_EXCEPTIONS
namespace MUSTER_NAMESPACE::detail {
// NOLINTBEGIN(readability-identifier-naming): the linker shows the names of the settings
enum class MUSTER_UNCHECKED_is : bool {};
enum class MUSTER_THREAD_CHECKS_is : bool {};
enum class MUSTER_EXCEPTIONS_is : bool {};
// NOLINTEND(readability-identifier-naming)
template <MUSTER_UNCHECKED_is, MUSTER_THREAD_CHECKS_is, MUSTER_EXCEPTIONS_is>
struct compiled_with {};
/// The last parameter of the constructors that create a world. A linker that does not find them
/// thereby names the settings of the file.
using settings = compiled_with<MUSTER_UNCHECKED_is{MUSTER_UNCHECKED != 0},
                               MUSTER_THREAD_CHECKS_is{MUSTER_THREAD_CHECKS != 0},
                               MUSTER_EXCEPTIONS_is{MUSTER_EXCEPTIONS != 0}>;

inline constexpr bool checked = !MUSTER_UNCHECKED;
inline constexpr bool checks_threads = MUSTER_THREAD_CHECKS;
inline constexpr bool sanitizes_threads = MUSTER_THREAD_SANITIZER;
}  // namespace MUSTER_NAMESPACE::detail
