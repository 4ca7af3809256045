#include "places.hpp"

#include <memory>
#include <utility>

namespace muster_tests::hostile {
namespace {

struct trigger {
    int value = 0;
};
struct second_trigger {
    int value = 0;
};

/// An entity that no call of the table concerns.
entity actor_of(scene& s) {
    return s.w.lookup("actor");
}

void add_actor(scene& s, entity) {
    s.w.name(s.w.spawn(trigger{1}), "actor");
}

/// Calls a function when it is copied.
struct copied_trap {
    const std::function<void()>* call = nullptr;
    explicit copied_trap(const std::function<void()>* what) : call(what) {}
    copied_trap(const copied_trap& other) : call(nullptr) {
        if (other.call != nullptr) (*other.call)();
    }
    copied_trap& operator=(const copied_trap&) = default;
};
struct ended_trap {
    const std::function<void()>* call = nullptr;
    explicit ended_trap(const std::function<void()>* what) : call(what) {}
    ended_trap(ended_trap&& other) noexcept : call(std::exchange(other.call, nullptr)) {}
    ended_trap& operator=(ended_trap&& other) noexcept {
        std::swap(call, other.call);
        return *this;
    }
    ~ended_trap() {
        if (call != nullptr) (*call)();
    }
};

using run = const std::function<void()>&;

/// Calls `call` at the first call of the returned function only.
auto once(run call) {
    return [&call, is_done = std::make_shared<bool>(false)](auto&&...) {
        if (!std::exchange(*is_done, true)) call();
    };
}

const auto nothing = [](scene&, entity) {};

std::vector<place> make_places() {
    using enum place::fate;
    using enum place::setting;
    return {
        {"plain", free, applied, nothing, [](scene&, entity, run call) { call(); }, false},
        {"in a scope", scope, applied, nothing,
         [](scene& s, entity, run call) {
             deferred changes{s.w};
             call();
             changes.commit();
         }},
        {"in a scope by hand", users_scope, applied, nothing,
         [](scene& s, entity, run call) {
             s.w.defer();
             call();
             s.w.commit();
         },
         false},
        {"in a cancelled scope", scope, dropped, nothing,
         [](scene& s, entity, run call) {
             deferred changes{s.w};
             call();
             changes.cancel();
         }},
        {"in a cancelled inner scope", scope, dropped, nothing,
         [](scene& s, entity, run call) {
             deferred outer{s.w};
             {
                 deferred inner{s.w};
                 call();
                 inner.cancel();
             }
             outer.commit();
         }},
        {"in a committed scope of a cancelled scope", scope, dropped, nothing,
         [](scene& s, entity, run call) {
             deferred outer{s.w};
             {
                 deferred inner{s.w};
                 call();
                 inner.commit();
             }
             outer.cancel();
         }},
        {"in a scope of a scope", scope, applied, nothing,
         [](scene& s, entity, run call) {
             deferred outer{s.w};
             {
                 deferred inner{s.w};
                 call();
             }
             outer.commit();
         }},

        // ---- loops and callbacks ----
        {"in each", scope, applied, nothing,
         [](scene& s, entity e, run call) {
             s.w.each([&](entity now, const position&) {
                 if (now == e) call();
             });
         }},
        {"in a loop in a loop", scope, applied, nothing,
         [](scene& s, entity e, run call) {
             auto visit = once(call);
             s.w.each([&](entity now, const velocity&) {
                 if (now == e) s.w.each([&](entity, const burning&) { visit(); });
             });
         }},
        {"in a sparse loop", scope, applied, nothing,
         [](scene& s, entity e, run call) {
             s.w.each([&](entity now, const burning&) {
                 if (now == e) call();
             });
         }},
        {"in a range-for", scope, applied, nothing,
         [](scene& s, entity e, run call) {
             for (auto [now, p] : s.positions)
                 if (now == e) call();
         }},
        {"in each_chunk", scope, applied, nothing,
         [](scene& s, entity, run call) { s.positions.each_chunk(once(call)); }},
        {"in par_each", phase, applied, nothing,
         [](scene& s, entity e, run call) {
             sequential_executor here;
             s.positions.par_each(here, 1, [&](entity now, const position&) {
                 if (now == e) call();
             });
         }},
        {"in each_fragment", scope, applied, nothing,
         [](scene& s, entity, run call) {
             s.w.each_fragment(s.own[1], [visit = once(call)](id, void*) { visit(); });
         }},
        {"in the loop of an observer", scope, applied, nothing,
         [](scene& s, entity, run call) {
             s.seen->each([visit = once(call)](entity, position&) { visit(); });
         }},
        {"in the loop of removed values", scope, applied,
         [](scene& s, entity e) { add_actor(s, e); },
         [](scene& s, entity, run call) {
             auto lost = s.w.removed_values<trigger>();
             s.w.remove<trigger>(actor_of(s));
             for ([[maybe_unused]] const auto& gone : lost) call();
         }},
        {"in the predicate of destroy_if", scope, applied, nothing,
         [](scene& s, entity, run call) {
             s.w.destroy_if([visit = once(call)](entity) {
                 visit();
                 return false;
             });
         }},
        {"in the function of patch", scope, applied, nothing,
         [](scene& s, entity, run call) {
             s.w.patch<position>(s.own[1], [&](position&) { call(); });
         }},
        {"in the function of patch in a scope", scope, applied, nothing,
         [](scene& s, entity, run call) {
             deferred changes{s.w};
             s.w.patch<position>(s.own[1], [&](position&) { call(); });
             changes.commit();
         }},
        {"in the function of spawn_rows", scope, applied, nothing,
         [](scene& s, entity, run call) { s.w.spawn_rows(2, [&](rows) { call(); }, trigger{}); }},
        {"in the function of spawn_rows in a scope", scope, applied, nothing,
         [](scene& s, entity, run call) {
             deferred changes{s.w};
             s.w.spawn_rows(2, [&](rows) { call(); }, trigger{});
             changes.commit();
         }},
        {"in a system", scope, applied, [](scene& s, entity) { s.w.system("caller"); },
         [](scene& s, entity, run call) {
             s.w.find_system("caller").execute([visit = once(call)] { visit(); });
             s.w.process("caller");
         }},
        {"in the loop of a system", scope, applied, [](scene& s, entity) { s.w.system("caller"); },
         [](scene& s, entity, run call) {
             s.w.find_system("caller").each([visit = once(call)](const position&) { visit(); });
             s.w.process("caller");
         }},
        {"in a prologue", free, applied, [](scene& s, entity) { s.w.system("caller"); },
         [](scene& s, entity, run call) {
             s.w.find_system("caller").prologue([visit = once(call)] { visit(); });
             s.w.process("caller");
         },
         false},
        {"in an epilogue", free, applied, [](scene& s, entity) { s.w.system("caller"); },
         [](scene& s, entity, run call) {
             s.w.find_system("caller").epilogue([visit = once(call)] { visit(); });
             s.w.process("caller");
         },
         false},

        // ---- hooks of another entity ----
        {"in on_insert", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_insert<second_trigger>(once(call));
             s.w.set(actor_of(s), second_trigger{});
         }},
        {"in on_assign", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_assign<trigger>(once(call));
             s.w.set(actor_of(s), trigger{2});
         }},
        {"in on_set of a touch", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_set<trigger>(once(call));
             s.w.touch<trigger>(actor_of(s));
         }},
        {"in on_remove", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_remove<trigger>(once(call));
             s.w.remove<trigger>(actor_of(s));
         }},
        {"in on_spawn", scope, applied, nothing,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_spawn(once(call));
             s.w.spawn(trigger{});
         }},
        {"in on_spawn of many", scope, applied, nothing,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_spawn(once(call));
             s.w.spawn_many(3, trigger{});
         }},
        {"in on_insert of a clone", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_insert<trigger>(once(call));
             s.w.clone(actor_of(s));
         }},
        {"in on_destroy", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_destroy(once(call));
             s.w.destroy(actor_of(s));
         }},
        {"in on_remove of a batch", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_remove<trigger>(once(call));
             s.w.query<trigger>().destroy();
         }},
        {"in on_insert of a batch", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_insert<second_trigger>(once(call));
             s.w.query<trigger>().set(second_trigger{});
         }},
        {"in on_remove of clear", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_remove<trigger>(once(call));
             s.w.clear<trigger>();
         }},
        {"in on_remove of a destroyed fragment", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_remove<trigger>(once(call));
             s.w.destroy(s.w.component<trigger>());
         }},
        {"in a hook of a commit", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_assign<trigger>(once(call));
             s.w.defer();
             s.w.set(actor_of(s), trigger{2});
             s.w.commit();
         }},
        {"in a hook of a hook", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection first =
                 s.w.on_assign<trigger>([&](entity a) { s.w.set(a, second_trigger{}); });
             scoped_connection second = s.w.on_insert<second_trigger>(once(call));
             s.w.set(actor_of(s), trigger{2});
         }},
        {"in a hook of a command buffer", scope, applied, add_actor,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_assign<trigger>(once(call));
             command_buffer b{s.w};
             b.set(actor_of(s), trigger{2});
             s.w.submit(b);
         }},
        {"in a hook of a needed fragment", scope, applied,
         [](scene& s, entity e) {
             add_actor(s, e);
             s.w.define<second_trigger>();
             s.w.define(s.enemy).needs<second_trigger>();
         },
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_insert<second_trigger>(once(call));
             s.w.add(actor_of(s), s.enemy);
         }},

        // ---- hooks of the entity itself ----
        {"in on_assign of the entity", scope, applied, nothing,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_assign<velocity>(once(call));
             s.w.set(s.own[1], velocity{5, 5});
         }},
        {"in on_insert of the entity", scope, applied, nothing,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_insert<trigger>(once(call));
             s.w.set(s.own[1], trigger{5});
         }},
        {"in on_remove of the entity", scope, applied, nothing,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_remove<position>(once(call));
             s.w.remove<position, path>(s.own[1]);
         }},
        {"in on_destroy of the entity", scope, applied, nothing,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_destroy(once(call));
             s.w.destroy(s.own[1]);
         }},
        {"in on_remove of a clear of the entity", scope, applied, nothing,
         [](scene& s, entity, run call) {
             scoped_connection c = s.w.on_remove<burning>(once(call));
             s.w.clear(s.own[1]);
         }},

        // ---- user code of a component ----
        {"in a copy constructor", change, applied,
         [](scene& s, entity e) {
             add_actor(s, e);
             s.w.component<copied_trap>();
         },
         [](scene& s, entity, run call) {
             s.w.set(actor_of(s), copied_trap(&call));
             s.w.clone(actor_of(s));
         }},
        {"in the function of duplicate", change, applied,
         [](scene& s, entity e) {
             add_actor(s, e);
             s.w.define<trigger>();
         },
         [](scene& s, entity, run call) {
             s.w.define<trigger>().duplicate([visit = once(call)](const trigger& t) {
                 visit();
                 return t;
             });
             s.w.clone(actor_of(s));
             s.w.define<trigger>().duplicate([](const trigger& t) { return t; });
         }},
        {"in the destructor of a removed component", change, applied,
         [](scene& s, entity e) {
             add_actor(s, e);
             s.w.component<ended_trap>();
         },
         [](scene& s, entity, run call) {
             s.w.set(actor_of(s), ended_trap(&call));
             s.w.remove<ended_trap>(actor_of(s));
         },
         false},
        {"in the destructor of a destroyed entity", change, applied,
         [](scene& s, entity) { s.w.component<ended_trap>(); },
         [](scene& s, entity, run call) {
             const entity e = s.w.spawn(ended_trap(&call), velocity{});
             s.w.destroy(e);
         },
         false},
        {"in the comparison of sort", change, applied, nothing,
         [](scene& s, entity, run call) {
             s.w.sort<burning>([visit = once(call)](const burning& a, const burning& b) {
                 visit();
                 return a.left < b.left;
             });
         }},
    };
}

}  // namespace

std::span<const place> all_places() {
    static const std::vector<place> made = make_places();
    return made;
}

}  // namespace muster_tests::hostile
