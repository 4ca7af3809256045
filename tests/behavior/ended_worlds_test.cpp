// Handles of every kind, in every state: null, moved from, after the end of their world, and with a
// new world at the same address, with the same number and the same content.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"

namespace muster {
namespace {

using test::code_of;

struct position {
    float x = 0;
};
struct velocity {
    float x = 1;
};
struct frozen {};

// ---- the table ---------------------------------------------------------------------------------

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
        using type = typename basic_system<Layout>::template with_query<position>;
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

template <class Layout>
class handles_of : public testing::Test {
protected:
    using kinds = handles<Layout>;
    using world_type = basic_world<Layout>;

    ~handles_of() override { kinds::other = nullptr; }

    void begin_world() {
        home_.emplace(world_options{.number = 77});
        kinds::fill(*home_);
    }

    /// Runs all calls of a kind of handle after the end of its world.
    template <class Kind>
    void check_ended(bool is_replaced) {
        for (const auto& row : Kind::rows()) {
            SCOPED_TRACE(row.name);
            begin_world();
            auto handle = Kind::make(*home_);
            home_.reset();
            if (is_replaced) begin_world();
            kinds::other = is_replaced ? &*home_ : &elsewhere_;
            const std::size_t before = kinds::other->size();
            EXPECT_EQ(code_of([&] { row.call(handle); }), row.when_ended);
            if (is_replaced) {
                EXPECT_EQ(home_->size(), before);
            }
        }
    }
    template <class Kind>
    void check_null() {
        kinds::other = &elsewhere_;
        for (const auto& row : Kind::rows()) {
            SCOPED_TRACE(row.name);
            typename Kind::type handle{};
            EXPECT_EQ(code_of([&] { row.call(handle); }), row.when_null);
        }
    }
    /// A handle that cannot be copied is null after it was moved from.
    template <class Kind>
    void check_moved_from() {
        for (const auto& row : Kind::rows()) {
            SCOPED_TRACE(row.name);
            begin_world();
            kinds::other = &*home_;
            auto handle = Kind::make(*home_);
            auto taken = std::move(handle);
            EXPECT_EQ(code_of([&] { row.call(handle); }), row.when_null);
        }
    }
    template <class Kind>
    void check_kind() {
        SCOPED_TRACE(typeid(Kind).name());
        {
            SCOPED_TRACE("ended");
            check_ended<Kind>(false);
        }
        {
            SCOPED_TRACE("ended, and a new world at its place");
            check_ended<Kind>(true);
        }
        if constexpr (std::is_default_constructible_v<typename Kind::type>) {
            SCOPED_TRACE("null");
            check_null<Kind>();
        }
    }

    std::optional<world_type> home_;
    world_type elsewhere_{world_options{.number = 78}};
};

TYPED_TEST_SUITE(handles_of, test::behavior_layouts);

TYPED_TEST(handles_of, ended_worlds_and_null_handles_never_crash) {
    using all = handles<TypeParam>;
    all::fill(this->elsewhere_);
    this->template check_kind<typename all::query>();
    this->template check_kind<typename all::system>();
    this->template check_kind<typename all::system_with_query>();
    this->template check_kind<typename all::chunk>();
    this->template check_kind<typename all::definition>();
    this->template check_kind<typename all::builder>();
    this->template check_kind<typename all::command_buffer>();
    this->template check_kind<typename all::connection>();
    this->template check_kind<typename all::scoped_connection>();
    this->template check_kind<typename all::observer>();
    this->template check_kind<typename all::entity_range>();
}

TYPED_TEST(handles_of, handles_that_were_moved_from_are_null) {
    using all = handles<TypeParam>;
    this->template check_moved_from<typename all::command_buffer>();
    this->template check_moved_from<typename all::scoped_connection>();
    this->template check_moved_from<typename all::observer>();
}

TYPED_TEST(handles_of, copyable_handles_and_builders_work_after_they_were_moved_from) {
    basic_world<TypeParam> w;
    const auto e = w.spawn(position{}, velocity{});
    auto q = w.template query<position>();
    auto s = w.system("s");
    const auto t = w.tag();
    auto c = w.chunk(t);
    auto d = w.template define<frozen>();
    auto h = w.template on_insert<frozen>([] {});
    auto b = w.builder();
    b.set(frozen{});
    const auto moved = std::tuple(std::move(q), std::move(s), std::move(c), std::move(d),
                                  std::move(h), std::move(b));
    EXPECT_EQ(q.count(), 1u);
    EXPECT_EQ(s.name(), "s");
    EXPECT_TRUE(c.has(t));
    EXPECT_FALSE(d.is_hidden());
    EXPECT_TRUE(h.connected());
    EXPECT_EQ(b.size(), 0u);
    EXPECT_TRUE(w.empty(b.spawn()));
    EXPECT_TRUE(w.alive(e));
}

TYPED_TEST(handles_of, the_same_content_at_the_same_address_is_not_the_same_handle) {
    using all = handles<TypeParam>;
    this->begin_world();
    auto q = all::query::make(*this->home_);
    const auto s = all::system::make(*this->home_);
    const auto c = all::chunk::make(*this->home_);
    this->home_.reset();
    this->begin_world();
    EXPECT_NE(s, all::system::make(*this->home_));
    EXPECT_NE(c, all::chunk::make(*this->home_));
    EXPECT_EQ(code_of([&] { (void)q.count(); }), errc::world_ended);
    q = all::query::make(*this->home_);
    EXPECT_EQ(q.count(), 1u);
}

// ---- handles as members ------------------------------------------------------------------------

struct ai {
    muster::query<position, const velocity> moving;
    muster::system think;
    muster::scoped_connection hook;
    muster::observer<position> seen;
};

TEST(handles_as_members, are_null_until_they_are_assigned) {
    ai mine;
    EXPECT_EQ(code_of([&] { (void)mine.moving.count(); }), errc::null_handle);
    EXPECT_FALSE(mine.think);
    EXPECT_FALSE(mine.hook.connected());
    EXPECT_TRUE(mine.seen.empty());

    world w;
    int hooks = 0;
    mine.moving = w.query<position, const velocity>().without<frozen>();
    mine.think = w.system("think").each([](position& p, const velocity& v) { p.x += v.x; });
    mine.hook = w.on_insert<position>([&] { ++hooks; });
    mine.seen = w.observer<position>().without<frozen>();
    const entity e = w.spawn(position{1}, velocity{2});
    w.spawn(position{1}, velocity{2}, frozen{});
    w.process(mine.think);
    EXPECT_EQ(w.get<position>(e).x, 3);
    EXPECT_EQ(mine.moving.count(), 1u);
    EXPECT_EQ(hooks, 2);
    int shown = 0;
    mine.seen.each([&](entity seen, position&) { shown += seen == e; });
    EXPECT_EQ(shown, 1);

    ai other = std::move(mine);
    EXPECT_FALSE(mine.hook.connected());
    EXPECT_TRUE(other.hook.connected());
    mine = std::move(other);
    mine = {};
    w.spawn(position{});
    EXPECT_EQ(hooks, 2);
    static_assert(std::is_same_v<system_handle, muster::system>);
}

TEST(handles_as_members, may_outlive_several_worlds) {
    ai mine;
    int hooks = 0;
    for (int i = 0; i < 3; ++i) {
        world w;
        mine.moving = w.query<position, const velocity>();
        mine.think = w.system().each([](position& p) { p.x = 5; });
        mine.hook = w.on_insert<position>([&] { ++hooks; });
        mine.seen = w.observer<position>();
        w.spawn(position{}, velocity{});
        w.process(mine.think);
        mine.moving.each([](position& p, const velocity&) { EXPECT_EQ(p.x, 5); });
        EXPECT_EQ(mine.seen.size(), 1u);
    }
    EXPECT_EQ(hooks, 3);
    EXPECT_EQ(code_of([&] { mine.moving.each([](position&, const velocity&) {}); }),
              errc::world_ended);
    EXPECT_FALSE(mine.think);
    EXPECT_TRUE(mine.seen.empty());
}

// ---- while a world ends ------------------------------------------------------------------------

/// A component, a hook, a system, a default value or an extension that owns handles of its world
/// and uses them in its destructor.
struct owner_of_handles {
    explicit owner_of_handles(world& w, int* ended = nullptr)
        : moving(w.query<position>()),
          think(w.system().execute([] {})),
          plain(w.on_remove<velocity>([] {})),
          scoped(w.on_insert<velocity>([] {})),
          seen(w.observer<velocity>().removed<velocity>()),
          spawning(w.builder()),
          count(ended) {
        buffer = std::make_unique<command_buffer>(w);
        buffer->spawn(velocity{});
        spawning.set(velocity{});
    }
    owner_of_handles(owner_of_handles&& other) noexcept = default;
    owner_of_handles& operator=(owner_of_handles&&) = delete;
    ~owner_of_handles() {
        if (buffer == nullptr) return;  // moved from
        const auto use = [](auto call) {
            const auto code = code_of(call);
            EXPECT_TRUE(!code || *code == errc::world_ended || *code == errc::in_scope ||
                        *code == errc::unknown_system || *code == errc::dead_fragment)
                << to_string(*code);
        };
        use([&] { (void)moving.count(); });
        use([&] { moving.each([](position&) {}); });
        use([&] { moving.set(velocity{}); });
        use([&] { (void)think.name(); });
        use([&] { spawning.spawn(); });
        use([&] { buffer->spawn(position{}); });
        if (think) use([&] { think.remove(); });
        EXPECT_TRUE(seen.take().empty() || moving_works());
        plain.pause();
        plain.disconnect();
        scoped.pause();
        if (count != nullptr) ++*count;
    }
    [[nodiscard]] bool moving_works() const {
        return code_of([&] { (void)moving.count(); }) == std::nullopt;
    }

    muster::query<position> moving;
    muster::system think;
    muster::connection plain;
    muster::scoped_connection scoped;
    muster::observer<velocity> seen;
    muster::builder spawning;
    std::unique_ptr<command_buffer> buffer;
    int* count;
};

TEST(a_world_that_ends, lets_components_use_their_handles) {
    int ended = 0;
    {
        world w;
        w.spawn(position{}, velocity{});
        for (int i = 0; i < 3; ++i) w.spawn(owner_of_handles(w, &ended), velocity{});
        w.set_single(owner_of_handles(w, &ended));
        const entity e = w.spawn(owner_of_handles(w, &ended));
        w.destroy(e);
        EXPECT_EQ(ended, 1);
        w.defer();
        w.spawn(owner_of_handles(w, &ended));  // never committed
    }
    EXPECT_EQ(ended, 6);
}

TEST(a_world_that_ends, lets_sparse_components_use_their_handles) {
    int ended = 0;
    {
        world w;
        w.define<owner_of_handles>().sparse();
        w.spawn(owner_of_handles(w, &ended), position{});
        w.spawn(owner_of_handles(w, &ended));
    }
    EXPECT_EQ(ended, 2);
}

TEST(a_world_that_ends, lets_functions_and_extensions_own_handles) {
    int ended = 0;
    {
        world w;
        w.spawn(position{}, velocity{});
        const auto owned = [&] { return std::make_shared<owner_of_handles>(w, &ended); };
        w.on_insert<position>([mine = owned()] {});
        w.on_destroy([mine = owned()](entity) {});
        w.system("executes").execute([mine = owned()] {});
        w.system("loops").each([mine = owned()](position&) {});
        w.system("begins").prologue([mine = owned()] {});
        w.define<velocity>().duplicate([mine = owned()](const velocity& v) { return v; });
        struct extended {
            explicit extended(world& home, int* count = nullptr) : mine(home, count) {}
            owner_of_handles mine;
        };
        w.extension<extended>().mine.count = &ended;
        struct shared_owner {
            std::shared_ptr<owner_of_handles> mine;
        };
        w.define<shared_owner>().default_value(shared_owner{owned()});
        command_buffer recorded(w);
        recorded.spawn(owner_of_handles(w, &ended));
        w.defer();
        w.submit(recorded);  // still waits when the world ends
        w.process("executes");
    }
    EXPECT_EQ(ended, 9);
}

TEST(a_world_that_ends, lets_a_component_disconnect_a_hook_after_another_has_ended_its_observer) {
    struct watches {
        muster::observer<velocity> seen;
    };
    struct disconnects {
        muster::scoped_connection hook;
    };
    world w;
    const auto bag = w.fragment<int>("bag");
    w.spawn(watches{w.observer<velocity>().added(bag)});  // ends first: its chunk is older
    w.spawn(disconnects{w.on_insert(bag, [](entity, int&) {})});
    w.spawn(disconnects{w.on_insert<velocity>([] {})});
}

TEST(a_world_that_ends, cancels_scopes_of_objects_that_outlive_it) {
    auto w = std::make_unique<world>();
    w->spawn(position{}, velocity{});
    std::optional<deferred> outer(std::in_place, *w);
    w->defer();
    std::optional<deferred> inner(std::in_place, *w);
    std::optional<deferred> last(std::in_place, *w);
    w->spawn(std::string("dropped"));
    auto loop = std::make_unique<basic_query<layouts::bound, position>::iterator>(
        w->query<position>().begin());
    auto seen = w->observer<position>();
    w.reset();
    inner->commit();
    last->cancel();
    outer.reset();
    inner.reset();
    last.reset();
    ++*loop;
    EXPECT_TRUE(*loop == query<position>::sentinel());
    loop.reset();
    EXPECT_TRUE(seen.empty());
}

TEST(a_world_that_ends, ends_the_loop_over_its_observers) {
    auto w = std::make_unique<world>();
    auto seen = w->observer<position>();
    w->spawn_many(3, position{});
    {
        auto at = seen.begin();
        w.reset();
        ++at;
        EXPECT_TRUE(at == seen.end());
    }
    EXPECT_TRUE(seen.empty());
    w = std::make_unique<world>();
    seen = w->observer<position>();
    w->spawn_many(3, position{});
    {
        const auto at = seen.begin();
        w.reset();
    }
    EXPECT_TRUE(seen.empty());
}

// ---- many worlds -------------------------------------------------------------------------------

TEST(many_worlds, never_make_an_old_handle_valid) {
    // With the same number each time: unused numbers would last for 65,535 worlds.
    const world_options same{.number = 79};
    using small = basic_world<layouts::compact>;
    std::vector<muster::query<position>> queries;
    std::vector<connection> connections;
    std::vector<basic_query<layouts::compact, position>> others;
    for (int i = 0; i < 66'000; ++i) {
        if (i % 6'000 != 0) {
            const small w(same);
            continue;
        }
        world w(same);
        queries.push_back(w.query<position>());
        connections.push_back(w.on_insert<position>([] {}));
        small also(world_options{.number = 80});
        others.push_back(also.query<position>());
        for (std::size_t old = 0; old + 1 < queries.size(); ++old) {
            EXPECT_EQ(code_of([&] { (void)queries[old].count(); }), errc::world_ended);
            EXPECT_EQ(code_of([&] { (void)others[old].count(); }), errc::world_ended);
            EXPECT_FALSE(connections[old].connected());
        }
        EXPECT_EQ(queries.back().count(), 0u);
        EXPECT_EQ(others.back().count(), 0u);
    }
}

}  // namespace
}  // namespace muster
