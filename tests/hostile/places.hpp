// places: all the places from which a program can call a world: in scopes, loops, hooks, callbacks of every
// kind, and in user code of a component. The hostile tests make every public call in each of them.
#pragma once

#include "support/public_calls.hpp"

#include <cstddef>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace muster_tests::hostile {

using namespace phase_scene;

/// Calls `call` in one place. `e` is the entity that the call concerns.
struct place {
    /// What becomes of the changes that the call records.
    enum class fate { applied, dropped };
    /// What is possible there.
    enum class setting {
        free,         // everything
        users_scope,  // everything but a few calls; the user may close the scope
        scope,        // the scope belongs to the library or to a `deferred`
        phase,        // see `row::in_phase`
        change,       // user code of a component runs inside a change, which refuses others
    };

    const char* name;
    setting where;
    fate changes;
    /// Prepares the scene. Not part of the operation that the tests observe.
    std::function<void(scene&, entity e)> prepare;
    /// Makes a call of the world that calls `call` once.
    std::function<void(scene&, entity e, const std::function<void()>& call)> enter;
    /// Whether an exception that leaves the call may leave the place, too, and then drops the changes.
    bool drops_on_exception = true;
};

inline void PrintTo(const place& shown, std::ostream* out) {
    *out << shown.name;
}
/// All places. The first is outside of any scope.
std::span<const place> all_places();
/// For the name of a test.
std::string name_of(const testing::TestParamInfo<place>& info);

/// Whether the effect of the call does not wait for the end of a scope, so that a cancel keeps it.
bool is_immediate(const row& tested);

/// Reports contradictions between all calls that read the world, and a gate, a scope or a journal that was left
/// in the middle of a change.
void expect_consistent(scene& s);
/// Uses the world in several ways, and resets it.
void expect_usable(scene& s);

/// What a program can see of the world. Changes nothing.
std::string look(scene& s);

/// All rows of the table of public calls.
const std::vector<row>& all_calls();
/// Those that a short run tests in this place: each call in one of `some` places. The first places, and a
/// scaled run, have all.
std::vector<const row*> calls_with_turn(const place& where, std::size_t some);

}  // namespace muster_tests::hostile
