// The table of the public calls of a world: what each of them does in a parallel phase.
// docs/threads.md has the same table in words. public_handle_calls.cpp has the calls of handles.
#include "support/public_calls.hpp"

namespace muster_tests::phase_scene {

std::vector<row> public_calls::about_entities() {
    using enum outcome;
    return {
        {"alive", reads, [](scene& s, entity e, unsigned) { return s.w.alive(e); }},
        {"alive_all", reads, [](scene& s, entity e, unsigned) { return s.w.alive_all(e, s.bare); }},
        {"empty", reads, [](scene& s, entity, unsigned) { return s.w.empty(s.bare); }},
        {"size", reads, [](scene& s, entity, unsigned) { return s.w.size() == 12; }},
        {"entities", reads,
         [](scene& s, entity e, unsigned) {
             bool is_there = false;
             for (const entity other : s.w.entities()) is_there |= other == e;
             return is_there;
         }},
        {"entities, while others spawn", recorded,
         [](scene& s, entity e, unsigned thread) {
             bool is_there = false;
             for (int i = 0; i < 8; ++i)
                 if (thread % 2 == 0)
                     s.w.spawn(velocity{});
                 else
                     for (const entity other : s.w.entities()) is_there |= other == e;
             return is_there || thread % 2 == 0;
         }},
        {"destroy", recorded, doing([](scene& s, entity e) { s.w.destroy(e); })},
        {"destroy several", recorded, doing([](scene& s, entity e) { s.w.destroy(e, s.bare); })},
        {"destroy a span", recorded, doing([](scene& s, entity e) {
             const entity all[] = {e, s.bare};
             s.w.destroy(std::span<const entity>(all));
         })},
        {"destroy_if", refused,
         doing([](scene& s, entity) { s.w.destroy_if([](entity) { return true; }); })},
        {"reset", refused, doing([](scene& s, entity) { s.w.reset(); })},
        {"name", refused, doing([](scene& s, entity e) { s.w.name(e, "new"); }), also_in_change},
        {"name(e)", reads,
         [](scene& s, entity, unsigned) { return s.w.name(s.own[0]) == "first"; }},
        {"lookup", reads,
         [](scene& s, entity, unsigned) { return s.w.lookup("first") == s.own[0]; }},
        {"lookup_all", reads,
         [](scene& s, entity, unsigned) { return s.w.lookup_all("first").size() == 1; }},
        {"reserve", refused, doing([](scene& s, entity) { s.w.reserve(1000); })},
        {"reserve rows", refused, doing([](scene& s, entity) { s.w.reserve<velocity>(1000); })},
        {"recycle_tombstones", refused, doing([](scene& s, entity) { s.w.recycle_tombstones(); })},
        {"collect_garbage", refused, doing([](scene& s, entity) { s.w.collect_garbage(); })},
        {"number", reads, doing([](scene& s, entity) { (void)to_string(s.w); })},
    };
}

std::vector<row> public_calls::about_spawning() {
    using enum outcome;
    return {
        {"spawn", recorded, doing([](scene& s, entity) { s.w.spawn(); })},
        {"spawn with values", recorded, doing([](scene& s, entity) { s.w.spawn(velocity{}); })},
        {"spawn with a new type", recorded, doing([](scene& s, entity) { s.w.spawn(unused{1}); })},
        {"spawn with fragments", recorded,
         doing([](scene& s, entity) { s.w.spawn(with(s.health, 1), with(s.enemy)); })},
        {"spawn_at", refused, doing([](scene& s, entity) {
             s.w.spawn_at(entity::pack(77'777, 0, s.w.number()), velocity{});
         })},
        {"spawn_many", refused, doing([](scene& s, entity) { s.w.spawn_many(3, velocity{}); })},
        {"spawn_many of a new type", refused,
         doing([](scene& s, entity) { s.w.spawn_many(3, unused{1}); })},
        {"spawn_into", refused, doing([](scene& s, entity) {
             entity made[2];
             s.w.spawn_into(made, with(s.untyped, 1));
         })},
        {"spawn_rows", refused,
         doing([](scene& s, entity) { s.w.spawn_rows(2, [](rows) {}, velocity{}); })},
        {"spawn_columns", refused,
         doing([](scene& s, entity) { s.w.spawn_columns(std::vector<velocity>(2)); })},
        {"clone", refused, doing([](scene& s, entity) { s.w.clone(s.prototype, marked{}); })},
        {"clone_many", refused, doing([](scene& s, entity) { s.w.clone_many(2, s.prototype); })},
        {"clone_into", refused, doing([](scene& s, entity) {
             entity made[2];
             s.w.clone_into(made, s.prototype, unused{1});
         })},
        {"ids", refused, doing([](scene& s, entity) { (void)s.w.ids<2>(); })},
        {"builder", reads, doing([](scene& s, entity) {
             builder b = s.w.builder();
             b.set(velocity{}).set(s.health, 1).set(s.enemy).set(unused{1});
             b.remove<velocity>();
             b.clear();
         })},
        {"builder::spawn", refused,
         doing([](scene& s, entity, unsigned t) { s.builders[t].spawn(); })},
        {"builder::spawn of a new chunk", refused, doing([](scene& s, entity, unsigned t) {
             s.builders[t].set(marked{}).set(s.health, 1);
             s.builders[t].spawn();
         })},
        {"builder::spawn of new fragments", refused, doing([](scene& s, entity, unsigned t) {
             s.builders[t].set(s.untyped, 1).set(unused{1});
             s.builders[t].spawn();
         })},
        {"builder::spawn_many", refused,
         doing([](scene& s, entity, unsigned t) { s.builders[t].spawn_many(2); })},
        {"builder::clone", refused,
         doing([](scene& s, entity, unsigned t) { s.builders[t].clone(s.prototype); })},
        {"builder::clone_many", refused,
         doing([](scene& s, entity, unsigned t) { s.builders[t].clone_many(2, s.prototype); })},
    };
}

std::vector<row> public_calls::about_fragments_and_chunks() {
    using enum outcome;
    return {
        {"component", reads, doing([](scene& s, entity) { s.w.component<velocity>(); })},
        {"component of a new type", refused,
         doing([](scene& s, entity) { s.w.component<unused>(); })},
        {"fragment", refused, doing([](scene& s, entity) { (void)s.w.fragment<int>("new"); })},
        {"fragment without a name", refused,
         doing([](scene& s, entity) { (void)s.w.fragment<int>(); })},
        {"fragment by description", refused, doing([](scene& s, entity) {
             (void)s.w.fragment(component_type{.size = 4, .alignment = 4}, "new");
         })},
        {"tag", refused, doing([](scene& s, entity) { (void)s.w.tag("new"); })},
        {"define", refused, doing([](scene& s, entity) { (void)s.w.define<position>(); })},
        {"define a new type", refused, doing([](scene& s, entity) { (void)s.w.define<unused>(); })},
        {"define a fragment", refused, doing([](scene& s, entity) { (void)s.w.define(s.health); })},
        {"define an id", refused, doing([](scene& s, entity) { (void)s.w.define(s.enemy); })},
        {"define a new id", refused, doing([](scene& s, entity) { (void)s.w.define(s.untyped); })},
        {"define a tag", refused, doing([](scene& s, entity) { (void)s.w.define(marked{}); })},
        {"definition::name", refused,
         doing([](scene& s, entity) { copy_of(s.defined).name("new"); })},
        {"definition::default_value", refused,
         doing([](scene& s, entity) { copy_of(s.defined).default_value(position{1, 1}); })},
        {"definition::duplicate", refused, doing([](scene& s, entity) {
             copy_of(s.defined).duplicate([](const position& p) { return p; });
         })},
        {"definition::needs", refused,
         doing([](scene& s, entity) { copy_of(s.defined).needs<velocity>(); })},
        {"definition::needs a fragment", refused,
         doing([](scene& s, entity) { copy_of(s.defined).needs(s.untyped); })},
        {"definition::unique", refused,
         doing([](scene& s, entity) { copy_of(s.defined).unique(); })},
        {"definition::hidden", refused,
         doing([](scene& s, entity) { copy_of(s.defined).hidden(); })},
        {"definition::sparse", refused,
         doing([](scene& s, entity) { copy_of(s.defined).sparse(); })},
        {"definition::internal", refused,
         doing([](scene& s, entity) { copy_of(s.defined).internal(); })},
        {"definition::codec", refused,
         doing([](scene& s, entity) { copy_of(s.defined).codec(nullptr); })},
        {"definition::when_destroyed", refused,
         doing([](scene& s, entity) { copy_of(s.defined).when_destroyed(destroy_owners); })},
        {"definition::on_insert", refused,
         doing([](scene& s, entity) { copy_of(s.defined).on_insert([] {}); })},
        {"definition::is_unique", reads,
         [](scene& s, entity, unsigned) {
             return !s.defined.is_unique() && !s.defined.is_hidden() && !s.defined.is_internal() &&
                    !s.defined.is_sparse() && s.defined.codec() == nullptr;
         }},
        {"chunk", reads,
         [](scene& s, entity, unsigned) { return s.w.chunk<velocity, path>() == s.dense; }},
        {"chunk in another order", reads,
         [](scene& s, entity, unsigned) { return s.w.chunk<path, velocity>() == s.dense; }},
        {"chunk by fragments", reads,
         [](scene& s, entity, unsigned) {
             return s.w.chunk(s.w.component<path>(), s.w.component<velocity>()) == s.dense;
         }},
        {"a new chunk", refused, doing([](scene& s, entity) { s.w.chunk<velocity, marked>(); }),
         also_in_change},
        {"a new chunk by fragments", refused,
         doing([](scene& s, entity) { s.w.chunk(s.enemy, s.health); }), also_in_change},
        {"chunk handles", reads,
         [](scene& s, entity, unsigned) {
             return s.dense.size() == 1 && s.dense.entities()[0] == s.prototype &&
                    s.dense.fragments().size() == 2 &&
                    std::as_const(s.dense).components<velocity>()[0].x == 1 &&
                    s.dense.has<path>() && s.dense.raw(s.health) == nullptr;
         }},
        {"locate", reads,
         [](scene& s, entity e, unsigned) {
             return s.w.locate(e).row < 4 && !s.w.locate(s.bare).chunk;
         }},
    };
}

std::vector<row> public_calls::about_components() {
    using enum outcome;
    return {
        {"set", recorded, doing([](scene& s, entity e) { s.w.set(e, velocity{9, 9}, marked{}); })},
        {"set a new type", recorded, doing([](scene& s, entity e) { s.w.set(e, unused{1}); })},
        {"add", recorded, doing([](scene& s, entity e) { s.w.add<marked, unused>(e); })},
        {"emplace", recorded,
         [](scene& s, entity e, unsigned) { return s.w.emplace<velocity>(e, 9, 9).x == 9; }},
        {"get_or_emplace", reads,
         [](scene& s, entity e, unsigned) { return s.w.get_or_emplace<velocity>(e).x == 3; }},
        {"get_or_emplace, missing", refused,
         doing([](scene& s, entity e) { s.w.get_or_emplace<marked>(e); })},
        {"patch", recorded,
         [](scene& s, entity e, unsigned) {
             return s.w.patch<position>(e, [](position& p) { p.x = 1; }).x == 1;
         }},
        {"append", refused, doing([](scene& s, entity e) { s.w.append<path>(e, 1); })},
        {"append, missing", refused, doing([](scene& s, entity) { s.w.append<path>(s.bare, 1); })},
        {"touch", recorded, doing([](scene& s, entity e) { s.w.touch<position>(e); })},
        {"get", reads,
         [](scene& s, entity e, unsigned) {
             return s.w.get<velocity>(e).x == 3 && std::as_const(s.w).get<burning>(e).left == 5 &&
                    std::get<0>(s.w.get<velocity, path>(e)).y == 4;
         }},
        {"get, missing", reads,
         [](scene& s, entity, unsigned) {
             return code_of([&] { (void)s.w.get<velocity>(s.bare); }) == errc::missing_component &&
                    code_of([&] { (void)s.w.get<unused>(s.bare); }) == errc::missing_component;
         }},
        {"try_get", reads,
         [](scene& s, entity e, unsigned) {
             return s.w.try_get<velocity>(e) != nullptr && s.w.try_get<unused>(e) == nullptr;
         }},
        {"has", reads,
         [](scene& s, entity e, unsigned) {
             return s.w.has<velocity>(e) && s.w.has_all<velocity, path>(e) &&
                    s.w.has_any<marked, path>(e) && s.w.has_none<marked, unused>(e);
         }},
        {"remove", recorded, doing([](scene& s, entity e) { s.w.remove<velocity, burning>(e); })},
        {"clear", recorded, doing([](scene& s, entity e) { s.w.clear(e); })},
        {"set_single", recorded, doing([](scene& s, entity) { s.w.set_single(counters{1}); })},
        {"set_single of a new type", refused,
         doing([](scene& s, entity) { s.w.set_single(unused{1}); })},
        {"single", reads,
         [](scene& s, entity, unsigned) {
             return s.w.single<config>().level == 1 && s.w.has_single<config>() &&
                    !s.w.has_single<unused>() && !s.w.remove_single<unused>();
         }},
        {"remove_single", recorded, doing([](scene& s, entity) { s.w.remove_single<config>(); })},
    };
}

std::vector<row> public_calls::about_values_of_fragments() {
    using enum outcome;
    return {
        {"set", recorded, doing([](scene& s, entity e) { s.w.set(e, s.wealth, 1); })},
        {"set of an unused id", recorded,
         doing([](scene& s, entity e) { s.w.set(e, s.untyped, 1); })},
        {"set a tag", recorded, doing([](scene& s, entity e) { s.w.set(e, s.enemy); })},
        {"set a default", recorded, doing([](scene& s, entity e) { s.w.set(e, s.wealth); })},
        {"add", recorded, doing([](scene& s, entity e) { s.w.add(e, s.enemy); })},
        {"add a tag type", recorded, doing([](scene& s, entity e) { s.w.add(e, marked{}); })},
        {"add a new tag type", refused,
         doing([](scene& s, entity e) { s.w.add(e, unused_tag{}); })},
        {"set_raw", refused, doing([](scene& s, entity e) {
             const int value = 1;
             s.w.set_raw(e, s.wealth, &value);
         })},
        {"emplace", recorded,
         [](scene& s, entity e, unsigned) { return s.w.emplace(e, s.wealth, 1) == 1; }},
        {"get", reads,
         [](scene& s, entity e, unsigned) {
             return s.w.get(e, s.health) == 7 && *s.w.try_get(e, s.health) == 7 &&
                    s.w.try_get_raw(e, s.wealth) == nullptr;
         }},
        {"patch", recorded,
         [](scene& s, entity e, unsigned) { return s.w.patch(e, s.health, [](int&) {}) == 7; }},
        {"patch by id", recorded,
         doing([](scene& s, entity e) { s.w.patch<int>(e, s.health.id(), [](int&) {}); })},
        {"touch", recorded, doing([](scene& s, entity e) { s.w.touch(e, s.health); })},
        {"has", reads,
         [](scene& s, entity e, unsigned) {
             return s.w.has(e, s.health) && s.w.has_any(e, s.health, s.wealth) &&
                    s.w.has_none(e, s.enemy, s.untyped) && !s.w.has_all(e, s.health, s.enemy);
         }},
        {"remove", recorded, doing([](scene& s, entity e) { s.w.remove(e, s.health); })},
        {"remove several", recorded,
         doing([](scene& s, entity e) { s.w.remove(e, s.health, s.enemy); })},
        {"remove a span", recorded, doing([](scene& s, entity e) {
             const entity all[] = {s.health, s.enemy};
             s.w.remove(e, std::span<const entity>(all));
         })},
        {"each_fragment", reads,
         [](scene& s, entity e, unsigned) {
             int count = 0;
             s.w.each_fragment(e, [&](id, void*) { ++count; });
             std::as_const(s.w).each_fragment(e, [&](id, const void*) { ++count; });
             return count == 10;
         }},
    };
}

}  // namespace muster_tests::phase_scene
