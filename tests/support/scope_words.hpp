// scope_words: what stories of scopes and hooks are told in: operations, what they come to, and what hooks
// were told.
#pragma once

#include <muster/base/error.hpp>

#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace muster::test::scopes {

// Fragments are known by a number: those of C++ types first, then those that were made.
inline constexpr int kind_number = 0;
inline constexpr int kind_marker = 1;
inline constexpr int kind_text = 2;
inline constexpr int kind_owner = 3;  // cannot be copied
inline constexpr int kind_aligned = 4;
inline constexpr int typed_count = 5;
inline constexpr int kind_tag = 5;  // of a fragment that was made, without a type
constexpr bool has_values(int kind) {
    return kind != kind_marker && kind != kind_tag;
}

template <class... Parts>
std::string say(const Parts&... parts) {
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
    needs, unique, policy, sparse, defer, commit, cancel, add_hook, cut, restore, observe,
    end_observer, cut_observer, restore_observer, read_observer, stop
};
inline constexpr const char* verb_names[] = {
    "spawn", "spawn_with", "spawn_two", "spawn_many", "spawn_at", "clone", "clone_with",
    "clone_many", "destroy", "destroy_two", "destroy_if", "set", "set_two", "set_wrong",
    "add", "emplace", "get_or_emplace", "patch", "touch", "write", "remove", "remove_two",
    "clear", "clear_fragment", "copy_fragment", "make_tag", "make_fragment", "make_ids",
    "batch_set", "batch_add", "batch_remove", "batch_clear", "batch_destroy", "needs", "unique",
    "policy", "sparse", "defer", "commit", "cancel", "add_hook", "cut", "restore", "observe",
    "end_observer", "cut_observer", "restore_observer", "read_observer", "stop"
};
// clang-format on

template <class Id>
struct operation {
    verb what;
    Id who;        // whom it is about
    Id other;      // the second of destroy_two
    int slot = 0;  // the number of the fragment; of batches: which those must have that it concerns
    int slot2 = 0;  // of what is made: whether it is sparse
    int value = 0;
    // Of many; the hook of cut and restore; the kind of what is made or hooked; of batches: the
    // fragment that those must not have, or -1; of observers: which, or the kinds of its changes.
    int count = 0;
};

inline constexpr int no_error = -1;
inline constexpr int first_stop = 1000;  // from here on: what a hook threw
constexpr int code(errc e) {
    return static_cast<int>(e);
}

template <class Id>
struct outcome {
    int error = no_error;
    std::size_t count = 0;  // or a bool, or the value that is shown
    std::vector<Id> made;
    std::vector<Id> gathered{};  // by an observer, sorted
};

enum class hook_event { insert, assign, set, remove };  // of entities: insert and remove

/// That a hook was called, and what it did.
template <class Id>
struct called {
    int hook;
    hook_event event;
    Id who;
    int slot;   // -1: of entities
    int value;  // that it was shown
    std::vector<std::pair<operation<Id>, outcome<Id>>> did;
};

}  // namespace muster::test::scopes
