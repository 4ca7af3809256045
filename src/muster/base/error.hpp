// Errors: one family, a code for programs and a sentence for people.
//
// Owns the list of codes, the exception type, and what happens when exceptions are switched off.
// Start reading at `errc`; every error of Muster's own ends in `detail::raise`.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

namespace muster {

/// What went wrong. A program decides by this; the sentence in `error::what()` is for people and
/// may change from one version to the next.
enum class errc : unsigned char {
    dead_entity,        ///< the id was alive once, or never
    foreign_entity,     ///< the id belongs to another world
    missing_component,  ///< the entity is alive but does not have it
    type_mismatch,      ///< the fragment holds values of another type
    dead_fragment,      ///< the id used as a fragment is not alive
    fragment_in_use,    ///< too late to change what this fragment is
    not_copyable,       ///< a copy was asked of a type that has none
    id_overflow,        ///< no key is left
    id_out_of_range,    ///< a part does not fit its bits, or can never be issued
    id_taken,           ///< the key is in use
    id_stale,           ///< the version is in the past
    unbalanced_scope,   ///< closes a scope that is not the caller's
    in_scope,           ///< not possible while changes are being recorded
    limit,              ///< a documented limit of the library is reached
    number_taken,       ///< a living world has this number
    dead_chunk,         ///< the chunk was freed
    size_mismatch,      ///< lengths that must be equal are not
    given_twice,        ///< two values for one fragment
    no_default,         ///< a value is needed that nobody gave, and there is no default
    unknown_system,     ///< no system has this name, or it was removed
    system_taken,       ///< another system has this name
    system_circle,      ///< systems wait for each other, or a group is in itself
    system_failed,      ///< a system has thrown what is nested in this error
    not_sparse,         ///< only sparse fragments can do this
    not_movable,        ///< its values stay where they are
    too_late,           ///< said after the moment in which it would have mattered
    bad_payload,        ///< a system is processed without what it takes, or with something else
    bad_type,           ///< a size, an alignment or operations that no type can have
    second_writer,      ///< two threads change a world at once; only in builds that watch threads
    undeclared_access,  ///< a system touches what it has not declared and another has; the same
    out_of_memory,      ///< only given to the error handler; with exceptions it is `std::bad_alloc`
};

/// The name of the code as it is written in programs: "id_overflow".
[[nodiscard]] constexpr const char* to_string(errc code) noexcept {
    switch (code) {
    case errc::dead_entity: return "dead_entity";
    case errc::foreign_entity: return "foreign_entity";
    case errc::missing_component: return "missing_component";
    case errc::type_mismatch: return "type_mismatch";
    case errc::dead_fragment: return "dead_fragment";
    case errc::fragment_in_use: return "fragment_in_use";
    case errc::not_copyable: return "not_copyable";
    case errc::id_overflow: return "id_overflow";
    case errc::id_out_of_range: return "id_out_of_range";
    case errc::id_taken: return "id_taken";
    case errc::id_stale: return "id_stale";
    case errc::unbalanced_scope: return "unbalanced_scope";
    case errc::in_scope: return "in_scope";
    case errc::limit: return "limit";
    case errc::number_taken: return "number_taken";
    case errc::dead_chunk: return "dead_chunk";
    case errc::size_mismatch: return "size_mismatch";
    case errc::given_twice: return "given_twice";
    case errc::no_default: return "no_default";
    case errc::unknown_system: return "unknown_system";
    case errc::system_taken: return "system_taken";
    case errc::system_circle: return "system_circle";
    case errc::system_failed: return "system_failed";
    case errc::not_sparse: return "not_sparse";
    case errc::not_movable: return "not_movable";
    case errc::too_late: return "too_late";
    case errc::bad_payload: return "bad_payload";
    case errc::bad_type: return "bad_type";
    case errc::second_writer: return "second_writer";
    case errc::undeclared_access: return "undeclared_access";
    case errc::out_of_memory: return "out_of_memory";
    }
    return "unknown";
}

/// What an error handler is told. `message` ends with the call.
struct error_info {
    errc code;
    const char* message;
};

/// What Muster throws, all of it but `std::bad_alloc`. The call that threw has changed nothing.
class MUSTER_API error : public std::runtime_error {
public:
    error(errc code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
    [[nodiscard]] errc code() const noexcept { return code_; }

private:
    errc code_;
};

using error_handler = void (*)(const error_info&);

namespace detail {

// Not std::atomic: <atomic> would cost every user of Muster more than all of this header.
MUSTER_API inline error_handler current_error_handler = nullptr;

[[noreturn]] inline void call_error_handler(const error_info& what) {
    if (error_handler handler = __atomic_load_n(&current_error_handler, __ATOMIC_ACQUIRE))
        handler(what);
    else
        std::fprintf(stderr, "muster: %s (%s)\n", what.message, to_string(what.code));
    std::abort();
}

[[noreturn]] MUSTER_COLD inline void raise(errc code, const std::string& sentence) {
#if MUSTER_EXCEPTIONS
    throw error(code, sentence);
#else
    call_error_handler({code, sentence.c_str()});
#endif
}

[[noreturn]] MUSTER_COLD inline void raise_out_of_memory() {
#if MUSTER_EXCEPTIONS
    throw std::bad_alloc();
#else
    call_error_handler({errc::out_of_memory, "out of memory"});
#endif
}

}  // namespace detail

/// Sets what is called in place of throwing where exceptions are off, and returns what was set
/// before; null stands for the default, which prints the sentence. The program aborts when the
/// handler returns: a handler that wants to go on has to leave by other means (`longjmp`, ending
/// the thread). Any thread may call it at any time. Where exceptions are on, the handler is never
/// called.
inline error_handler set_error_handler(error_handler handler) noexcept {
    return __atomic_exchange_n(&detail::current_error_handler, handler, __ATOMIC_ACQ_REL);
}

}  // namespace muster
