// Each public call of each kind of handle, and what it does for a null handle and after the end of
// the world.
#pragma once

#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace muster::test {

struct position {
    float x = 0;
};
struct velocity {
    float x = 1;
};
struct frozen {};

/// What a call does for a handle in a certain state; without a code, it throws nothing.
using result = std::optional<errc>;
constexpr result fine = std::nullopt;

/// The calls of a kind of handle. `Handle` has a row for each public call.
template <class Handle>
struct row {
    const char* name;
    void (*call)(Handle&);
    result when_ended = errc::world_ended;
    result when_null = errc::null_handle;
};

template <class Layout>
struct handles {
    using world_type = basic_world<Layout>;
    using id_type = basic_id<Layout>;

    static inline id_type tag{};  // a tag of the current world
    static inline id_type one{};  // an entity with all components
    static inline world_type* other = nullptr;

    static void fill(world_type& w) {
        tag = w.tag("tag");
        one = w.spawn(position{}, velocity{}, frozen{});
        w.set(one, tag);
        w.system("input");
    }

    // Each kind: how the world makes a handle, and what can be called.

    struct query {
        using type = basic_query<Layout, position, const velocity>;
        static type make(world_type& w) { return w.template query<position, const velocity>(); }
        static constexpr auto rows() {
            return std::to_array<row<type>>({
                {"with by type", [](type& q) { (void)q.template with<frozen>(); }},
                {"with", [](type& q) { (void)q.with(tag); }},
                {"with predefined", [](type& q) { (void)q.with(prefab); }},
                {"with a list", [](type& q) { (void)q.with(std::span(&tag, 1)); }},
                {"with an empty list", [](type& q) { (void)q.with(std::span<const id_type>()); }},
                {"without by type", [](type& q) { (void)q.template without<frozen>(); }},
                {"without", [](type& q) { (void)q.without(tag); }},
                {"without a list", [](type& q) { (void)q.without(std::span(&tag, 1)); }},
                {"without an empty list",
                 [](type& q) { (void)q.without(std::span<const id_type>()); }},
                {"any by type", [](type& q) { (void)q.template any<frozen>(); }},
                {"any", [](type& q) { (void)q.any(tag); }},
                {"any of a list", [](type& q) { (void)q.any(std::span(&tag, 1)); }},
                {"any of an empty list", [](type& q) { (void)q.any(std::span<const id_type>()); }},
                {"each", [](type& q) { q.each([](position&, const velocity&) {}); }},
                {"each with the entity",
                 [](type& q) { q.each([](id_type, position&, const velocity&) {}); }},
                {"each_chunk", [](type& q) { q.each_chunk([](basic_rows<Layout>) {}); }},
                {"par_each",
                 [](type& q) {
                     sequential_executor here;
                     q.par_each(here, 1, [](position&, const velocity&) {});
                 }},
                {"begin",
                 [](type& q) {
                     for (auto [e, p, v] : q) EXPECT_EQ(v.x, 1);
                 }},
                {"count", [](type& q) { (void)q.count(); }},
                {"empty", [](type& q) { (void)q.empty(); }},
                {"first", [](type& q) { (void)q.first(); }},
                {"matches", [](type& q) { (void)q.matches(one); }},
                {"explain", [](type& q) { (void)q.explain(one); }},
                {"set", [](type& q) { q.set(velocity{2}); }},
                {"set with", [](type& q) { q.set(with(tag_of_int(), 1)); }},
                {"set a fragment", [](type& q) { q.set(tag_of_int(), 1); }},
                {"set a tag", [](type& q) { q.set(tag); }},
                {"add by type", [](type& q) { q.template add<frozen>(); }},
                {"add", [](type& q) { q.add(tag); }},
                {"remove by type", [](type& q) { q.template remove<frozen>(); }},
                {"remove", [](type& q) { q.remove(tag); }},
                {"remove a list", [](type& q) { q.remove(std::span(&tag, 1)); }},
                {"clear", [](type& q) { q.clear(); }},
                {"destroy", [](type& q) { q.destroy(); }},
                {"as the query of a system",
                 [](type& q) { other->system().query(q).each([](position&, const velocity&) {}); }},
                {"end", [](type& q) { (void)q.end(); }, fine, fine},
                {"copy",
                 [](type& q) {
                     const type copy = q;
                     q = copy;
                 },
                 fine, fine},
            });
        }
    };

    struct system {
        using type = basic_system<Layout>;
        static type make(world_type& w) { return w.system(); }
        static constexpr auto rows() {
            constexpr result null = errc::unknown_system;
            constexpr result ended = errc::world_ended;
            return std::to_array<row<type>>({
                {"each", [](type& s) { s.each([](position&) {}); }, ended, null},
                {"execute", [](type& s) { s.execute([] {}); }, ended, null},
                {"execute of chunks", [](type& s) { s.execute([](basic_rows<Layout>) {}); }, ended,
                 null},
                {"query", [](type& s) { (void)s.query(other->template query<position>()); }, ended,
                 null},
                {"with by type", [](type& s) { s.template with<frozen>(); }, ended, null},
                {"with", [](type& s) { s.with(tag); }, ended, null},
                {"without by type", [](type& s) { s.template without<frozen>(); }, ended, null},
                {"without", [](type& s) { s.without(tag); }, ended, null},
                {"any by type", [](type& s) { s.template any<frozen>(); }, ended, null},
                {"any", [](type& s) { s.any(tag); }, ended, null},
                {"prologue", [](type& s) { s.prologue([] {}); }, ended, null},
                {"epilogue", [](type& s) { s.epilogue([] {}); }, ended, null},
                {"reads", [](type& s) { s.template reads<position>(); }, ended, null},
                {"writes", [](type& s) { s.template writes<position>(); }, ended, null},
                {"group", [](type& s) { s.group(type()); }, ended, null},
                {"group by name", [](type& s) { s.group("input"); }, ended, null},
                {"group by id", [](type& s) { s.group(tag); }, ended, null},
                {"as a group", [](type& s) { other->system().group(s); }, ended, null},
                {"ungroup", [](type& s) { s.ungroup(); }, ended, null},
                {"before", [](type& s) { s.before("input"); }, ended, null},
                {"after", [](type& s) { s.after("input"); }, ended, null},
                {"before another", [](type& s) { other->system().before(s); }, ended, null},
                {"after another", [](type& s) { other->system().after(s); }, ended, null},
                {"enable", [](type& s) { s.enable(); }, ended, null},
                {"disable", [](type& s) { s.disable(); }, ended, null},
                {"name", [](type& s) { (void)s.name(); }, ended, null},
                {"is_enabled", [](type& s) { (void)s.is_enabled(); }, ended, null},
                {"elapsed", [](type& s) { (void)s.elapsed(); }, ended, null},
                {"timings", [](type& s) { (void)s.timings(); }, ended, null},
                {"reset_timings", [](type& s) { s.reset_timings(); }, ended, null},
                {"process", [](type& s) { other->process(s); }, ended, null},
                {"process_with", [](type& s) { other->process_with(s, 1); }, ended, null},
                {"par_process",
                 [](type& s) {
                     sequential_executor here;
                     other->par_process(here, s);
                 },
                 ended, null},
                {"system_order", [](type& s) { (void)other->system_order(s); }, ended, null},
                {"system_conflicts", [](type& s) { (void)other->system_conflicts(s); }, ended,
                 null},
                {"remove", [](type& s) { s.remove(); }, ended, null},
                {"bool", [](type& s) { EXPECT_FALSE(s); }, fine, fine},
                {"==",
                 [](type& s) {
                     EXPECT_TRUE(s == s);
                     EXPECT_FALSE(s == other->find_system("input"));
                 },
                 fine, fine},
                {"copy",
                 [](type& s) {
                     const type copy = s;
                     s = copy;
                 },
                 fine, fine},
            });
        }
    };

    struct system_with_query {
        using type =
            typename basic_system<Layout>::template with_query<basic_query<Layout, position>>;
        static type make(world_type& w) { return w.system().query(w.template query<position>()); }
        static constexpr auto rows() {
            return std::to_array<row<type>>({
                {"each", [](type& s) { s.each([](position&) {}); }},
                {"execute", [](type& s) { s.execute([](basic_rows<Layout>) {}); }},
                {"execute once", [](type& s) { s.execute([] {}); }},
                {"copy",
                 [](type& s) {
                     const type copy = s;
                     s = copy;
                 },
                 fine, fine},
            });
        }
    };

    struct chunk {
        using type = basic_chunk<Layout>;
        static type make(world_type& w) {
            return w.chunk(tag);
        }  // a chunk if all types are sparse, too
        static constexpr auto rows() {
            constexpr result ended = errc::world_ended;
            constexpr result missing = errc::missing_component;
            return std::to_array<row<type>>({
                {"size", [](type& c) { (void)c.size(); }, ended, fine},
                {"empty", [](type& c) { (void)c.empty(); }, ended, fine},
                {"entities", [](type& c) { (void)c.entities(); }, ended, fine},
                {"fragments", [](type& c) { (void)c.fragments(); }, ended, fine},
                {"components by type", [](type& c) { (void)c.template components<position>(); },
                 ended, missing},
                {"components by id", [](type& c) { (void)c.template components<position>(tag); },
                 ended, missing},
                {"components",
                 [](type& c) { (void)c.components(basic_fragment<position, Layout>(tag)); }, ended,
                 missing},
                {"raw", [](type& c) { (void)c.raw(tag); }, ended, fine},
                {"has by type", [](type& c) { (void)c.template has<position>(); }, ended, fine},
                {"has", [](type& c) { (void)c.has(tag); }, ended, fine},
                {"bool", [](type& c) { (void)static_cast<bool>(c); }, fine, fine},
                {"==",
                 [](type& c) {
                     EXPECT_TRUE(c == c);
                     EXPECT_FALSE((c == other->chunk(prefab)));
                 },
                 fine, fine},
                {"copy",
                 [](type& c) {
                     const type copy = c;
                     c = copy;
                 },
                 fine, fine},
            });
        }
    };

    struct definition {
        using type = basic_definition<Layout, position>;
        static type make(world_type& w) { return w.template define<position>(); }
        static constexpr auto rows() {
            return std::to_array<row<type>>({
                {"name", [](type& d) { d.name("place"); }},
                {"default_value", [](type& d) { d.default_value(position{1}); }},
                {"duplicate", [](type& d) { d.duplicate([](const position& p) { return p; }); }},
                {"needs by type", [](type& d) { d.template needs<velocity>(); }},
                {"needs", [](type& d) { d.needs(tag); }},
                {"needs predefined", [](type& d) { d.needs(prefab); }},
                {"unique", [](type& d) { d.unique(); }},
                {"hidden", [](type& d) { d.hidden(); }},
                {"sparse", [](type& d) { d.sparse(); }},
                {"internal", [](type& d) { d.internal(); }},
                {"codec", [](type& d) { d.codec(nullptr); }},
                {"when_destroyed", [](type& d) { d.when_destroyed(destroy_owners); }},
                {"on_insert", [](type& d) { d.on_insert([] {}); }},
                {"on_assign", [](type& d) { d.on_assign([] {}); }},
                {"on_set", [](type& d) { d.on_set([] {}); }},
                {"on_remove", [](type& d) { d.on_remove([] {}); }},
                {"is_unique", [](type& d) { (void)d.is_unique(); }},
                {"is_hidden", [](type& d) { (void)d.is_hidden(); }},
                {"is_internal", [](type& d) { (void)d.is_internal(); }},
                {"is_sparse", [](type& d) { (void)d.is_sparse(); }},
                {"codec", [](type& d) { (void)d.codec(); }},
                {"id", [](type& d) { EXPECT_TRUE(d.id()); }, fine, fine},
                {"copy",
                 [](type& d) {
                     const type copy = d;
                     d = copy;
                 },
                 fine, fine},
            });
        }
    };

    struct builder {
        using type = basic_builder<Layout>;
        static type make(world_type& w) {
            type made = w.builder();
            made.set(position{}).set(tag);
            return made;
        }
        static constexpr auto rows() {
            return std::to_array<row<type>>({
                {"set by type", [](type& b) { b.set(velocity{}); }},
                {"set", [](type& b) { b.set(basic_fragment<int, Layout>(tag), 1); }},
                {"set a tag", [](type& b) { b.set(tag); }},
                {"spawn", [](type& b) { b.spawn(); }},
                {"spawn_many", [](type& b) { b.spawn_many(2); }},
                {"spawn_into",
                 [](type& b) {
                     id_type made;
                     b.spawn_into(std::span(&made, 1));
                 }},
                {"clone", [](type& b) { b.clone(one); }},
                {"clone_many", [](type& b) { b.clone_many(2, one); }},
                {"clone_into",
                 [](type& b) {
                     id_type made;
                     b.clone_into(std::span(&made, 1), one);
                 }},
                {"size", [](type& b) { (void)b.size(); }, fine, fine},
                {"remove by type", [](type& b) { b.template remove<position>(); }, fine, fine},
                {"remove", [](type& b) { b.remove(tag); }, fine, fine},
                {"clear", [](type& b) { b.clear(); }, fine, fine},
                {"move",
                 [](type& b) {
                     type moved = std::move(b);
                     b = std::move(moved);
                 },
                 fine, fine},
            });
        }
    };

    struct command_buffer {
        using type = basic_command_buffer<Layout>;
        static type make(world_type& w) {
            type made(w);
            made.spawn(std::string("owned"), position{});  // drops the values
            return made;
        }
        static constexpr auto rows() {
            return std::to_array<row<type>>({
                {"spawn", [](type& b) { b.spawn(position{}); }},
                {"spawn an empty entity", [](type& b) { b.spawn(); }},
                {"set by type", [](type& b) { b.set(one, position{}, velocity{}); }},
                {"set", [](type& b) { b.set(one, basic_fragment<int, Layout>(tag), 1); }},
                {"set a tag", [](type& b) { b.set(one, tag); }},
                {"add by type", [](type& b) { b.template add<frozen>(one); }},
                {"add", [](type& b) { b.add(one, tag); }},
                {"remove by type", [](type& b) { b.template remove<frozen>(one); }},
                {"remove", [](type& b) { b.remove(one, tag); }},
                {"clear", [](type& b) { b.clear(one); }},
                {"destroy", [](type& b) { b.destroy(one); }},
                {"submit", [](type& b) { other->submit(b); }},
                {"pending", [](type& b) { (void)b.pending(); }, fine, fine},
                {"empty", [](type& b) { (void)b.empty(); }, fine, fine},
                {"discard",
                 [](type& b) {
                     b.discard();
                     EXPECT_TRUE(b.empty());
                 },
                 fine, fine},
                {"move", [](type& b) { const type moved = std::move(b); }, fine, fine},
            });
        }
    };

    struct connection {
        using type = basic_connection<Layout>;
        static type make(world_type& w) {
            return w.template on_insert<position>([](id_type, position&) {});
        }
        static constexpr auto rows() {
            return std::to_array<row<type>>({
                {"connected", [](type& c) { EXPECT_FALSE(c.connected()); }, fine, fine},
                {"pause", [](type& c) { EXPECT_FALSE(c.pause()); }, fine, fine},
                {"resume", [](type& c) { EXPECT_FALSE(c.resume()); }, fine, fine},
                {"disconnect", [](type& c) { EXPECT_FALSE(c.disconnect()); }, fine, fine},
                {"copy",
                 [](type& c) {
                     const type copy = c;
                     c = copy;
                 },
                 fine, fine},
            });
        }
    };

    struct scoped_connection {
        using type = basic_scoped_connection<Layout>;
        static type make(world_type& w) {
            return w.on_destroy([](id_type) {});
        }
        static constexpr auto rows() {
            return std::to_array<row<type>>({
                {"connected", [](type& c) { EXPECT_FALSE(c.connected()); }, fine, fine},
                {"pause", [](type& c) { EXPECT_FALSE(c.pause()); }, fine, fine},
                {"resume", [](type& c) { EXPECT_FALSE(c.resume()); }, fine, fine},
                {"disconnect", [](type& c) { EXPECT_FALSE(c.disconnect()); }, fine, fine},
                {"release", [](type& c) { EXPECT_FALSE(c.release().connected()); }, fine, fine},
                {"move",
                 [](type& c) {
                     type moved = std::move(c);
                     c = std::move(moved);
                 },
                 fine, fine},
            });
        }
    };

    struct observer {
        using type = basic_observer<Layout, position>;
        static type make(world_type& w) {
            type made = w.template observer<position>();
            w.spawn(position{});
            EXPECT_EQ(made.size(), 1u);
            return made;
        }
        static constexpr auto rows() {
            return std::to_array<row<type>>({
                {"added by type", [](type& o) { std::move(o).template added<velocity>(); }},
                {"added", [](type& o) { std::move(o).added(tag); }},
                {"changed by type", [](type& o) { std::move(o).template changed<velocity>(); }},
                {"changed", [](type& o) { std::move(o).changed(tag); }},
                {"removed by type", [](type& o) { std::move(o).template removed<velocity>(); }},
                {"removed", [](type& o) { std::move(o).removed(tag); }},
                {"with by type", [](type& o) { std::move(o).template with<velocity>(); }},
                {"with", [](type& o) { std::move(o).with(tag); }},
                {"without by type", [](type& o) { std::move(o).template without<velocity>(); }},
                {"without", [](type& o) { std::move(o).without(tag); }},
                {"each", [](type& o) { o.each([](position&) { ADD_FAILURE(); }); }, fine, fine},
                {"begin",
                 [](type& o) {
                     for (auto [e, p] : o) ADD_FAILURE() << to_string(e);
                 },
                 fine, fine},
                {"take", [](type& o) { EXPECT_TRUE(o.take().empty()); }, fine, fine},
                {"size", [](type& o) { EXPECT_EQ(o.size(), 0u); }, fine, fine},
                {"empty", [](type& o) { EXPECT_TRUE(o.empty()); }, fine, fine},
                {"clear", [](type& o) { o.clear(); }, fine, fine},
                {"pause", [](type& o) { EXPECT_FALSE(o.pause()); }, fine, fine},
                {"resume", [](type& o) { EXPECT_FALSE(o.resume()); }, fine, fine},
                {"connected", [](type& o) { EXPECT_FALSE(o.connected()); }, fine, fine},
                {"move",
                 [](type& o) {
                     type moved = std::move(o);
                     o = std::move(moved);
                 },
                 fine, fine},
            });
        }
    };

    struct entity_range {
        using type = decltype(std::declval<const world_type&>().entities());
        static type make(world_type& w) { return w.entities(); }
        static constexpr auto rows() {
            return std::to_array<row<type>>({
                {"begin",
                 [](type& all) {
                     for (const id_type e : all) ADD_FAILURE() << to_string(e);
                 },
                 fine, fine},
                {"copy",
                 [](type& all) {
                     const type copy = all;
                     all = copy;
                 },
                 fine, fine},
            });
        }
    };

    static basic_fragment<int, Layout> tag_of_int() { return basic_fragment<int, Layout>(tag); }
};

}  // namespace muster::test
