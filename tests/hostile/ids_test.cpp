// Every public call with every kind of id that is no living entity or no fragment of the world: it returns what the
// documentation states, and changes nothing.
#include "places.hpp"

#include <algorithm>
#include <span>

using namespace muster_tests::hostile;

namespace {

enum class kind {
    null,
    dead,
    stale,         // its key is in use again
    never_issued,  // its key was never issued
    future,        // its version was never issued
    last_version,  // which no entity has
    all_ones,
    foreign,
    cancelled,  // spawned in a scope that was cancelled
    reserved,   // spawned in a command buffer that was discarded
};
constexpr kind kinds[] = {kind::null,      kind::dead,         kind::stale,    kind::never_issued,
                          kind::future,    kind::last_version, kind::all_ones, kind::foreign,
                          kind::cancelled, kind::reserved};

std::string name_of_kind(const testing::TestParamInfo<kind>& info) {
    static const char* const names[] = {"null",      "dead",         "stale",    "never_issued",
                                        "future",    "last_version", "all_ones", "foreign",
                                        "cancelled", "reserved"};
    return names[static_cast<int>(info.param)];
}

/// An id of this kind. Changes nothing that a program sees.
entity id_of_kind(kind k, scene& s, world& other) {
    const std::uint64_t number = s.w.number();
    switch (k) {
    case kind::null: return {};
    case kind::dead: {
        const entity e = s.w.spawn();
        s.w.destroy(e);
        return e;
    }
    case kind::stale: {
        const entity e = s.w.spawn(velocity{});
        s.w.destroy(e);
        s.w.spawn(velocity{});
        return e;
    }
    case kind::never_issued: return entity::pack(1'000'000, 0, number);
    case kind::future: return entity::pack(s.own[1].key(), s.own[1].version() + 7, number);
    case kind::last_version: return entity::pack(s.own[1].key(), 0xFFFF, number);
    case kind::all_ones: return entity::from_value(~std::uint64_t{0});
    case kind::foreign: return other.spawn(position{}, velocity{});
    case kind::cancelled: {
        deferred changes{s.w};
        const entity e = s.w.spawn(position{});
        changes.cancel();
        return e;
    }
    case kind::reserved: {
        command_buffer b{s.w};
        const entity e = b.spawn(position{});
        b.discard();
        return e;
    }
    default: return {};
    }
}

bool is_foreign(kind k) {
    return k == kind::foreign || k == kind::all_ones;
}

// ---- as an entity ------------------------------------------------------------------------------

/// A call of an entity. Does not read anything else.
struct entity_row {
    const char* name;
    enum class on_dead { throws, is_false, reads } when_dead;
    std::function<bool(scene&, entity)> call;  // false: nothing there, or nothing done
};

template <class Call>
auto done(Call call) {
    return [call](scene& s, entity e) {
        call(s, e);
        return true;
    };
}

const std::vector<entity_row>& entity_calls_table() {
    using enum entity_row::on_dead;
    static const std::vector<entity_row> table = {
        {"alive", reads, [](scene& s, entity e) { return s.w.alive(e); }},
        {"alive_any", reads, [](scene& s, entity e) { return s.w.alive_any(e, e); }},
        {"alive_all", reads, [](scene& s, entity e) { return s.w.alive_all(s.bare, e); }},
        {"empty", reads, [](scene& s, entity e) { return !s.w.empty(e); }},
        {"name(e)", reads, [](scene& s, entity e) { return !s.w.name(e).empty(); }},
        {"has", reads, [](scene& s, entity e) { return s.w.has<position>(e); }},
        {"has const", reads, [](scene& s, entity e) { return s.w.has<const position>(e); }},
        {"has_any", reads, [](scene& s, entity e) { return s.w.has_any<position, burning>(e); }},
        {"has sparse", reads, [](scene& s, entity e) { return s.w.has<burning>(e); }},
        {"has fragment", reads, [](scene& s, entity e) { return s.w.has(e, s.health); }},
        {"try_get", reads, [](scene& s, entity e) { return s.w.try_get<position>(e) != nullptr; }},
        {"try_get sparse", reads,
         [](scene& s, entity e) { return s.w.try_get<burning>(e) != nullptr; }},
        {"try_get several", reads,
         [](scene& s, entity e) {
             return std::get<0>(s.w.try_get<position, velocity>(e)) != nullptr;
         }},
        {"try_get fragment", reads,
         [](scene& s, entity e) { return s.w.try_get(e, s.health) != nullptr; }},
        {"try_get_raw", reads,
         [](scene& s, entity e) { return s.w.try_get_raw(e, s.health) != nullptr; }},
        {"query::matches", reads, [](scene& s, entity e) { return s.positions.matches(e); }},
        {"query::explain", reads,
         [](scene& s, entity e) { return s.positions.explain(e).empty(); }},
        {"destroy", is_false, [](scene& s, entity e) { return s.w.destroy(e); }},
        {"destroy several", is_false, [](scene& s, entity e) { return s.w.destroy(e, e) != 0; }},
        {"destroy a span", is_false,
         [](scene& s, entity e) { return s.w.destroy(std::span<const entity>(&e, 1)) != 0; }},
        {"remove", is_false, [](scene& s, entity e) { return s.w.remove<position>(e); }},
        {"remove sparse", is_false, [](scene& s, entity e) { return s.w.remove<burning>(e); }},
        {"remove several", is_false,
         [](scene& s, entity e) { return s.w.remove<position, burning>(e); }},
        {"remove fragment", is_false, [](scene& s, entity e) { return s.w.remove(e, s.health); }},
        {"remove fragments", is_false,
         [](scene& s, entity e) { return s.w.remove(e, s.health, s.enemy); }},
        {"remove a span", is_false,
         [](scene& s, entity e) {
             const entity all[] = {s.health, s.enemy};
             return s.w.remove(e, std::span<const entity>(all));
         }},
        {"clear", is_false, [](scene& s, entity e) { return s.w.clear(e); }},
        {"name", throws, done([](scene& s, entity e) { s.w.name(e, "new"); })},
        {"locate", throws, done([](scene& s, entity e) { (void)s.w.locate(e); })},
        {"clone", throws, done([](scene& s, entity e) { s.w.clone(e); })},
        {"clone with values", throws, done([](scene& s, entity e) { s.w.clone(e, marked{}); })},
        {"clone_many", throws, done([](scene& s, entity e) { s.w.clone_many(2, e); })},
        {"clone_many of none", throws, done([](scene& s, entity e) { s.w.clone_many(0, e); })},
        {"clone_into", throws, done([](scene& s, entity e) {
             entity made[2];
             s.w.clone_into(made, e);
         })},
        {"builder::clone", throws, done([](scene& s, entity e) { s.builders[0].clone(e); })},
        {"builder::clone_many", throws,
         done([](scene& s, entity e) { s.builders[0].clone_many(0, e); })},
        {"set", throws, done([](scene& s, entity e) { s.w.set(e, position{9, 9}); })},
        {"set sparse", throws, done([](scene& s, entity e) { s.w.set(e, burning{9}); })},
        {"set several", throws,
         done([](scene& s, entity e) { s.w.set(e, position{9, 9}, velocity{9, 9}); })},
        {"set fragment", throws, done([](scene& s, entity e) { s.w.set(e, s.health, 9); })},
        {"set with", throws,
         done([](scene& s, entity e) { s.w.set(e, with(s.health, 9), with(s.enemy)); })},
        {"set a tag", throws, done([](scene& s, entity e) { s.w.set(e, s.enemy); })},
        {"set a default", throws, done([](scene& s, entity e) { s.w.set(e, s.health); })},
        {"set_raw", throws, done([](scene& s, entity e) {
             const int value = 9;
             s.w.set_raw(e, s.health, &value);
         })},
        {"add", throws, done([](scene& s, entity e) { s.w.add<position>(e); })},
        {"add several", throws, done([](scene& s, entity e) { s.w.add<position, marked>(e); })},
        {"add fragment", throws, done([](scene& s, entity e) { s.w.add(e, s.enemy); })},
        {"emplace", throws, done([](scene& s, entity e) { s.w.emplace<position>(e, 9, 9); })},
        {"emplace fragment", throws, done([](scene& s, entity e) { s.w.emplace(e, s.health, 9); })},
        {"get_or_emplace", throws,
         done([](scene& s, entity e) { s.w.get_or_emplace<position>(e, 9, 9); })},
        {"patch", throws,
         done([](scene& s, entity e) { s.w.patch<position>(e, [](position& p) { p.x = 9; }); })},
        {"patch fragment", throws,
         done([](scene& s, entity e) { s.w.patch(e, s.health, [](int& h) { h = 9; }); })},
        {"append", throws, done([](scene& s, entity e) { s.w.append<path>(e, 9); })},
        {"touch", throws, done([](scene& s, entity e) { s.w.touch<position>(e); })},
        {"touch fragment", throws, done([](scene& s, entity e) { s.w.touch(e, s.health); })},
        {"get", throws, done([](scene& s, entity e) { (void)s.w.get<position>(e); })},
        {"get const", throws,
         done([](scene& s, entity e) { (void)std::as_const(s.w).get<position>(e); })},
        {"get sparse", throws, done([](scene& s, entity e) { (void)s.w.get<burning>(e); })},
        {"get several", throws,
         done([](scene& s, entity e) { (void)s.w.get<position, velocity>(e); })},
        {"get fragment", throws, done([](scene& s, entity e) { (void)s.w.get(e, s.health); })},
        {"get by id", throws,
         done([](scene& s, entity e) { (void)s.w.get<int>(e, s.health.id()); })},
        {"each_fragment", throws,
         done([](scene& s, entity e) { s.w.each_fragment(e, [](id, void*) {}); })},
        {"each_fragment const", throws, done([](scene& s, entity e) {
             std::as_const(s.w).each_fragment(e, [](id, const void*) {});
         })},
    };
    return table;
}

class hostile_ids : public testing::TestWithParam<kind> {};
INSTANTIATE_TEST_SUITE_P(each, hostile_ids, testing::ValuesIn(kinds), name_of_kind);

void test_entity(const entity_row& tested, kind k, bool in_scope) {
    scene s(1);
    world other;
    s.builders[0].clear();
    s.builders[0].set(velocity{1, 1});
    const entity bad = id_of_kind(k, s, other);
    const std::string before = look(s);
    using enum entity_row::on_dead;
    bool result = false;
    if (in_scope) s.w.defer();
    const std::optional<errc> code = code_of([&] { result = tested.call(s, bad); });
    if (in_scope) s.w.commit();
    if (tested.when_dead == reads) {
        EXPECT_EQ(code, std::nullopt);
        EXPECT_FALSE(result);
    } else if (is_foreign(k)) {
        EXPECT_EQ(code, errc::foreign_entity);
    } else if (tested.when_dead == is_false) {
        EXPECT_EQ(code, std::nullopt);
        EXPECT_FALSE(result);
    } else {
        EXPECT_EQ(code, errc::dead_entity);
    }
    EXPECT_EQ(look(s), before);
    expect_consistent(s);
    expect_usable(s);
    EXPECT_LE(other.size(), 1u);
}

TEST_P(hostile_ids, calls_of_an_entity) {
    for (const entity_row& tested : entity_calls_table()) {
        SCOPED_TRACE(tested.name);
        test_entity(tested, GetParam(), false);
    }
}

TEST_P(hostile_ids, calls_of_an_entity_in_a_scope) {
    for (const entity_row& tested : entity_calls_table()) {
        SCOPED_TRACE(tested.name);
        test_entity(tested, GetParam(), true);
    }
}

// ---- as a fragment -----------------------------------------------------------------------------

struct fragment_row {
    const char* name;
    enum class on_dead { throws, ignores, reads } when_dead;
    std::function<bool(scene&, entity, id)> call;
};

template <class Call>
auto done_with(Call call) {
    return [call](scene& s, entity e, id f) {
        call(s, e, f);
        return true;
    };
}

const std::vector<fragment_row>& fragment_calls_table() {
    using enum fragment_row::on_dead;
    static const std::vector<fragment_row> table = {
        {"has", reads, [](scene& s, entity e, id f) { return s.w.has(e, f); }},
        {"has_any", reads, [](scene& s, entity e, id f) { return s.w.has_any(e, f, f); }},
        {"try_get", reads,
         [](scene& s, entity e, id f) { return s.w.try_get<int>(e, f) != nullptr; }},
        {"try_get_raw", reads,
         [](scene& s, entity e, id f) { return s.w.try_get_raw(e, f) != nullptr; }},
        {"count", reads, [](scene& s, entity, id f) { return s.w.count(f) != 0; }},
        {"chunk::has", reads, [](scene& s, entity, id f) { return s.dense.has(f); }},
        {"chunk::raw", reads, [](scene& s, entity, id f) { return s.dense.raw(f) != nullptr; }},
        {"clear_fragment", reads,
         [](scene& s, entity, id f) { return s.w.clear_fragment(f) != 0; }},
        {"remove", ignores, [](scene& s, entity e, id f) { return s.w.remove(e, f); }},
        {"remove several", ignores, [](scene& s, entity e, id f) { return s.w.remove(e, f, f); }},
        {"remove a span", ignores,
         [](scene& s, entity e, id f) { return s.w.remove(e, std::span<const id>(&f, 1)); }},
        {"set", throws, done_with([](scene& s, entity e, id f) { s.w.set(e, f, 9); })},
        {"set a tag", throws, done_with([](scene& s, entity e, id f) { s.w.set(e, f); })},
        {"set with", throws,
         done_with([](scene& s, entity e, id f) { s.w.set(e, velocity{}, with(f, 9)); })},
        {"set_raw", throws, done_with([](scene& s, entity e, id f) {
             const int value = 9;
             s.w.set_raw(e, f, &value);
         })},
        {"add", throws, done_with([](scene& s, entity e, id f) { s.w.add(e, f); })},
        {"emplace", throws, done_with([](scene& s, entity e, id f) {
             s.w.emplace(e, muster::fragment<int>(f), 9);
         })},
        {"get", throws, done_with([](scene& s, entity e, id f) { (void)s.w.get<int>(e, f); })},
        {"patch", throws,
         done_with([](scene& s, entity e, id f) { s.w.patch<int>(e, f, [](int&) {}); })},
        {"touch", throws, done_with([](scene& s, entity e, id f) { s.w.touch(e, f); })},
        {"spawn", throws, done_with([](scene& s, entity, id f) { s.w.spawn(with(f, 9)); })},
        {"spawn several", throws,
         done_with([](scene& s, entity, id f) { s.w.spawn(velocity{}, with(f)); })},
        {"spawn_many", throws,
         done_with([](scene& s, entity, id f) { s.w.spawn_many(2, with(f, 9)); })},
        {"spawn_many of none", throws,
         done_with([](scene& s, entity, id f) { s.w.spawn_many(0, with(f, 9)); })},
        {"spawn_rows", throws,
         done_with([](scene& s, entity, id f) { s.w.spawn_rows(2, [](rows) {}, with(f, 9)); })},
        {"clone", throws,
         done_with([](scene& s, entity e, id f) { s.w.clone(e, with(f, 9)); })},
        {"clone_many", throws,
         done_with([](scene& s, entity e, id f) { s.w.clone_many(2, e, with(f, 9)); })},
        {"builder::spawn", throws, done_with([](scene& s, entity, id f) {
             builder b = s.w.builder();
             b.set(f, 9);
             b.spawn();
         })},
        {"builder::spawn_many", throws, done_with([](scene& s, entity, id f) {
             builder b = s.w.builder();
             b.set(f);
             b.spawn_many(2);
         })},
        {"chunk", throws, done_with([](scene& s, entity, id f) { s.w.chunk(f); })},
        {"chunk of several", throws,
         done_with([](scene& s, entity, id f) { s.w.chunk(s.health, f); })},
        {"chunk::components", throws,
         done_with([](scene& s, entity, id f) { (void)s.dense.components<int>(f); })},
        {"define", throws, done_with([](scene& s, entity, id f) { s.w.define(f).unique(); })},
        {"needs", throws,
         done_with([](scene& s, entity, id f) { s.w.define(s.health).needs(f); })},
        {"on_insert", throws,
         done_with([](scene& s, entity, id f) { s.w.on_insert(f, [] {}); })},
        {"on_remove", throws,
         done_with([](scene& s, entity, id f) { s.w.on_remove(f, [] {}); })},
        {"observer::removed", throws,
         done_with([](scene& s, entity, id f) { (void)s.w.observer().removed(f); })},
        {"observer::added", throws,
         done_with([](scene& s, entity, id f) { (void)s.w.observer<velocity>().added(f); })},
        {"copy_fragment from", throws,
         done_with([](scene& s, entity, id f) { s.w.copy_fragment(f, s.wealth); })},
        {"copy_fragment to", throws,
         done_with([](scene& s, entity, id f) { s.w.copy_fragment(s.health, f); })},
        {"sort_like", throws,
         done_with([](scene& s, entity, id f) { s.w.sort_like(s.w.component<burning>(), f); })},
        {"sort_like of", throws,
         done_with([](scene& s, entity, id f) { s.w.sort_like(f, s.health); })},
        {"query::with", reads,
         [](scene& s, entity, id f) { return s.positions.with(f).count() != 0; }},
        {"query::without", reads,
         [](scene& s, entity, id f) { return s.positions.without(f).count() != 4; }},
        {"query::any", reads,
         [](scene& s, entity, id f) { return s.positions.any(f).count() != 0; }},
        {"query::with a list", reads,
         [](scene& s, entity, id f) {
             return s.positions.with(std::span<const id>(&f, 1)).count() != 0;
         }},
        {"query::set", throws, done_with([](scene& s, entity, id f) { s.positions.set(f, 9); })},
        {"query::set a tag", throws, done_with([](scene& s, entity, id f) { s.positions.set(f); })},
        {"query::add", throws, done_with([](scene& s, entity, id f) { s.positions.add(f); })},
        {"system::with", reads,
         [](scene& s, entity, id f) {
             auto made = s.w.system("bad");
             struct gone {
                 system_handle s;
                 ~gone() { s.remove(); }
             } const guard{made};
             bool has_run = false;
             made.with(f).each([&](const position&) { has_run = true; });
             s.w.process(made);
             return has_run;
         }},
    };
    return table;
}

/// Whether the call needs a chunk of C++ types, which does not exist if these are sparse.
bool is_about_chunks(const fragment_row& tested) {
    return muster::detail::sparse_by_default &&
           std::string_view(tested.name) == "chunk::components";
}

void test_fragment(const fragment_row& tested, kind k, bool in_scope) {
    scene s(1);
    world other;
    const entity bad = id_of_kind(k, s, other);
    const std::string before = look(s);
    using enum fragment_row::on_dead;
    bool result = false;
    if (in_scope) s.w.defer();
    const std::optional<errc> code = code_of([&] { result = tested.call(s, s.own[1], bad); });
    if (in_scope) EXPECT_EQ(code_of([&] { s.w.commit(); }), std::nullopt);
    const bool is_sort = std::string_view(tested.name).starts_with("sort");
    if (tested.when_dead == reads || (tested.when_dead == ignores && !is_foreign(k))) {
        EXPECT_EQ(code, std::nullopt);
        EXPECT_FALSE(result);
    } else if (is_sort && in_scope) {
        EXPECT_TRUE(code == errc::in_scope || code == errc::dead_fragment ||
                    code == errc::foreign_entity);
    } else {
        EXPECT_EQ(code, is_foreign(k) ? errc::foreign_entity : errc::dead_fragment);
    }
    EXPECT_EQ(look(s), before);
    expect_consistent(s);
    expect_usable(s);
}

TEST_P(hostile_ids, calls_of_a_fragment) {
    for (const fragment_row& tested : fragment_calls_table()) {
        SCOPED_TRACE(tested.name);
        if (is_about_chunks(tested)) continue;
        test_fragment(tested, GetParam(), false);
    }
}

TEST_P(hostile_ids, calls_of_a_fragment_in_a_scope) {
    for (const fragment_row& tested : fragment_calls_table()) {
        SCOPED_TRACE(tested.name);
        if (is_about_chunks(tested)) continue;
        test_fragment(tested, GetParam(), true);
    }
}

// A command buffer detects ids that no world can accept at once. Others are dropped when it is applied.
TEST_P(hostile_ids, calls_of_a_command_buffer) {
    using call = std::function<void(command_buffer&, scene&, entity)>;
    const std::pair<const char*, call> calls[] = {
        {"set", [](command_buffer& b, scene&, entity e) { b.set(e, position{9, 9}); }},
        {"set several", [](command_buffer& b, scene& s,
                           entity e) { b.set(e, velocity{9, 9}, with(s.health, 9)); }},
        {"set fragment", [](command_buffer& b, scene& s, entity e) { b.set(e, s.health, 9); }},
        {"set a tag", [](command_buffer& b, scene& s, entity e) { b.set(e, s.enemy); }},
        {"add", [](command_buffer& b, scene&, entity e) { b.add<position>(e); }},
        {"add a tag", [](command_buffer& b, scene& s, entity e) { b.add(e, s.enemy); }},
        {"remove", [](command_buffer& b, scene&, entity e) { b.remove<position>(e); }},
        {"remove fragment", [](command_buffer& b, scene& s, entity e) { b.remove(e, s.health); }},
        {"clear", [](command_buffer& b, scene&, entity e) { b.clear(e); }},
        {"destroy", [](command_buffer& b, scene&, entity e) { b.destroy(e); }},
    };
    for (const auto& [name, record] : calls) {
        SCOPED_TRACE(name);
        scene s(1);
        world other;
        const entity bad = id_of_kind(GetParam(), s, other);
        const std::string before = look(s);
        command_buffer b{s.w};
        const std::optional<errc> code = code_of([&] { record(b, s, bad); });
        if (is_foreign(GetParam()))
            EXPECT_EQ(code, errc::foreign_entity);
        else if (GetParam() == kind::null)
            EXPECT_EQ(code, errc::dead_entity);
        else
            EXPECT_EQ(code, std::nullopt);
        if (code) EXPECT_EQ(b.pending(), 0u);
        s.w.submit(b);
        s.w.submit(b);  // it is empty
        EXPECT_EQ(look(s), before);
        expect_consistent(s);
        expect_usable(s);
    }
}

}  // namespace
