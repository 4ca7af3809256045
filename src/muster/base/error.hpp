// Errors: one exception type with a code for programs and a message for people.
//
// Owns the list of codes, the exception type, and the error handler for builds without exceptions.
// Start reading at `errc`. Muster raises every error except `std::bad_alloc` through
// `detail::raise`.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

namespace MUSTER_NAMESPACE {

/// The kind of error, for programs to test. The message in `error::what()` is for people and may
/// change between versions.
enum class errc : unsigned char {
    dead_entity,        ///< the id is null, was destroyed, or was never alive
    foreign_entity,     ///< the id belongs to another world
    missing_component,  ///< the entity is alive but has no such component
    type_mismatch,      ///< the fragment holds values of another type
    dead_fragment,      ///< the id used as a fragment is not alive
    fragment_in_use,    ///< entities already have the fragment; it cannot become sparse
    not_copyable,       ///< the type cannot be copied
    id_overflow,        ///< no key is left
    id_out_of_range,    ///< a part does not fit its bits, or no such id can be issued
    id_taken,           ///< the key is in use
    id_stale,           ///< the key is past this version
    unbalanced_scope,   ///< closes a scope that the caller did not open
    in_scope,           ///< not possible while the world records or applies changes
    limit,              ///< a documented limit of the library is reached
    number_taken,       ///< another living world has this number
    dead_chunk,         ///< the chunk was freed
    size_mismatch,      ///< lengths differ that must be equal
    given_twice,        ///< a call names the same fragment twice
    no_default,         ///< a required value is missing and has no default
    unknown_system,     ///< no system has this name, or it was removed
    system_taken,       ///< another system has this name
    system_circle,      ///< systems depend on each other, or a group contains itself
    system_failed,      ///< a system threw the exception nested in this error
    not_sparse,         ///< only sparse fragments support this
    not_movable,        ///< values of this type cannot be moved
    too_late,           ///< the system already has its function
    bad_payload,        ///< the payload does not match the parameters of the system's function
    bad_type,           ///< no type can have this size, alignment or set of operations
    second_writer,      ///< two threads change a world at once (MUSTER_THREAD_CHECKS)
    undeclared_access,  ///< undeclared access conflicts with another system (MUSTER_THREAD_CHECKS)
    away_entity,        ///< the entity is alive, but another world has its components
    world_ended,        ///< the world of the handle has ended
    null_handle,        ///< the handle refers to no world
    cycle,              ///< the link would close a cycle of an acyclic relation
    still_related,      ///< the entity has sources that refuse its destruction
    not_a_relation,     ///< the fragment is not a relation
    inherited_component,  ///< the entity only inherits the component
    bad_interval,         ///< an interval, a step or a number of steps makes no sense
    module_circle,        ///< modules use each other in a circle
    bad_json,             ///< the text is not JSON, or not of the type
    out_of_memory,        ///< for error handlers only; with exceptions it is `std::bad_alloc`
};

/// Returns the enumerator's name: "id_overflow".
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
    case errc::away_entity: return "away_entity";
    case errc::world_ended: return "world_ended";
    case errc::null_handle: return "null_handle";
    case errc::cycle: return "cycle";
    case errc::still_related: return "still_related";
    case errc::not_a_relation: return "not_a_relation";
    case errc::inherited_component: return "inherited_component";
    case errc::bad_interval: return "bad_interval";
    case errc::module_circle: return "module_circle";
    case errc::bad_json: return "bad_json";
    case errc::out_of_memory: return "out_of_memory";
    }
    return "unknown";
}

/// The argument of an error handler. `message` is valid until the handler returns.
struct error_info {
    errc code;
    const char* message;
};

/// The exception that Muster throws, except for `std::bad_alloc`. A call that throws it has changed
/// nothing, unless its documentation states otherwise.
class MUSTER_API error : public std::runtime_error {
public:
    error(errc code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
    [[nodiscard]] errc code() const noexcept { return code_; }

private:
    errc code_;
};

using error_handler = void (*)(const error_info&);

namespace detail {

// Not std::atomic: including <atomic> would take longer to compile than the rest of this header.
MUSTER_API inline error_handler current_error_handler = nullptr;

#if !MUSTER_EXCEPTIONS
[[noreturn]] inline void call_error_handler(const error_info& what) {
    if (error_handler handler = __atomic_load_n(&current_error_handler, __ATOMIC_ACQUIRE))
        handler(what);
    else
        std::fprintf(stderr, "muster: %s (%s)\n", what.message, to_string(what.code));
    std::abort();
}
#endif

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

/// Sets the function that Muster calls instead of throwing in builds without exceptions, and
/// returns the previous handler. Null selects the default, which prints the message. The program
/// aborts when the handler returns; a handler that must continue leaves by `longjmp` or ends the
/// thread. With exceptions, Muster never calls it. Any thread may call this function at any time.
inline error_handler set_error_handler(error_handler handler) noexcept {
    return __atomic_exchange_n(&detail::current_error_handler, handler, __ATOMIC_ACQ_REL);
}

}  // namespace MUSTER_NAMESPACE
