// scope_words: the vocabulary of stories about scopes and hooks: operations, their outcomes and the
// calls of hooks.
#pragma once

#include <muster/base/error.hpp>

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace muster::test::scopes {

// Fragments have numbers: those of C++ types first, then those created at run time.
inline constexpr int kind_number = 0;
inline constexpr int kind_marker = 1;
inline constexpr int kind_text = 2;
inline constexpr int kind_owner = 3;  // cannot be copied
inline constexpr int kind_aligned = 4;
inline constexpr int typed_count = 5;
inline constexpr int kind_tag = 5;  // created at run time, without a type
constexpr bool has_values(int kind) {
    return kind != kind_marker && kind != kind_tag;
}

template <class... Parts>
std::string join(const Parts&... parts) {
    std::ostringstream made;
    (made << ... << parts);
    return made.str();
}

// clang-format off
enum class verb {
    spawn, spawn_with, spawn_two, spawn_many, spawn_at, clone, clone_with, clone_many,
    destroy, destroy_two, destroy_if, set, set_two, set_wrong, add, emplace, get_or_emplace,
    patch, touch, write, remove, remove_two, clear, clear_fragment, copy_fragment, make_tag,
    make_fragment, make_ids, batch_set, batch_add, batch_remove, batch_clear, batch_destroy,
    needs, unique, policy, sparse, defer, commit, cancel, add_hook, pause, resume, observe,
    end_observer, pause_observer, resume_observer, read_observer, stop
};
inline constexpr const char* verb_names[] = {
    "spawn", "spawn_with", "spawn_two", "spawn_many", "spawn_at", "clone", "clone_with",
    "clone_many", "destroy", "destroy_two", "destroy_if", "set", "set_two", "set_wrong",
    "add", "emplace", "get_or_emplace", "patch", "touch", "write", "remove", "remove_two",
    "clear", "clear_fragment", "copy_fragment", "make_tag", "make_fragment", "make_ids",
    "batch_set", "batch_add", "batch_remove", "batch_clear", "batch_destroy", "needs", "unique",
    "policy", "sparse", "defer", "commit", "cancel", "add_hook", "pause", "resume", "observe",
    "end_observer", "pause_observer", "resume_observer", "read_observer", "stop"
};
// clang-format on

template <class Id>
struct operation {
    verb what;
    Id e;           // the entity of the call
    Id other;       // the second of destroy_two
    int slot = 0;   // the number of the fragment; of batches: the required fragment
    int slot2 = 0;  // of new fragments: whether they are sparse
    int value = 0;
    // The number of entities; the hook of pause and resume; the kind of a new fragment or hook; of
    // batches: the excluded fragment or -1; of observers: the index or the kinds of changes.
    int count = 0;
};

inline constexpr int no_error = -1;
inline constexpr int first_stop = 1000;  // this and larger: exceptions of hooks
constexpr int code(errc e) {
    return static_cast<int>(e);
}

template <class Id>
struct outcome {
    int error = no_error;
    std::size_t count = 0;  // or a bool, or the returned value
    std::vector<Id> made;
    std::vector<Id> gathered{};  // by an observer, sorted
};

enum class hook_event { insert, assign, set, remove };  // entities have only insert and remove

/// A call of a hook, and its operations.
template <class Id>
struct called {
    int hook;
    hook_event event;
    Id e;
    int slot;   // -1: a hook of entities
    int value;  // passed to the hook
    std::vector<std::pair<operation<Id>, outcome<Id>>> did;
};

}  // namespace muster::test::scopes
