// When `needs` applies: whenever an entity receives the fragment, and at no other time. The rule is
// the same for every call, in and out of scopes, for chunk and sparse fragments.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace muster::test {
namespace {

struct owner {
    int value = 0;
};
struct needed {
    int value = 7;
};
struct other {
    int value = 0;
};
struct bare {
    int value = 0;
};

struct call {
    const char* name;
    std::function<void(world&, entity)> run;
    std::size_t made = 0;  // new entities with `owner`
};

fragment<owner> by_id(world& w) {
    return w.component<owner>();
}

/// Calls that give an owner, or a new entity, the fragment.
const std::vector<call>& adding() {
    static const std::vector<call> all{
        {"set", [](world& w, entity e) { w.set(e, owner{}); }},
        {"set several", [](world& w, entity e) { w.set(e, other{}, owner{}); }},
        {"set by id", [](world& w, entity e) { w.set(e, by_id(w), owner{}); }},
        {"set default", [](world& w, entity e) { w.set(e, by_id(w)); }},
        {"set raw",
         [](world& w, entity e) {
             const owner value;
             w.set_raw(e, by_id(w), &value);
         }},
        {"add", [](world& w, entity e) { w.add<owner>(e); }},
        {"add several", [](world& w, entity e) { w.add<other, owner>(e); }},
        {"add by id", [](world& w, entity e) { w.add(e, by_id(w)); }},
        {"emplace", [](world& w, entity e) { w.emplace<owner>(e); }},
        {"remove, set",
         [](world& w, entity e) {
             w.set(e, owner{});
             w.remove<owner, needed>(e);
             w.set(e, owner{});
         }},
        {"spawn", [](world& w, entity) { w.spawn(owner{}); }, 1},
        {"spawn with", [](world& w, entity) { w.spawn(with(by_id(w), owner{})); }, 1},
        {"spawn_many", [](world& w, entity) { w.spawn_many(3, owner{}); }, 3},
        {"spawn_rows", [](world& w, entity) { w.spawn_rows(2, [](rows) {}, owner{}); }, 2},
        {"builder", [](world& w, entity) { w.builder().set(owner{}).spawn(); }, 1},
        {"clone with", [](world& w, entity e) { w.clone(e, owner{}); }, 1},
        {"batch set", [](world& w, entity) { w.query<bare>().set(owner{}); }},
        {"batch add", [](world& w, entity) { w.query<bare>().add<owner>(); }},
        {"batch set by id", [](world& w, entity) { w.query<bare>().set(by_id(w)); }},
        {"copy_fragment",
         [](world& w, entity e) {
             const auto from = w.fragment<owner>("from");
             w.set(e, from, owner{});
             w.copy_fragment(from, by_id(w));
         }},
        {"command buffer",
         [](world& w, entity e) {
             command_buffer b{w};
             b.set(e, owner{});
             w.submit(b);
         }},
        {"command buffer add",
         [](world& w, entity e) {
             command_buffer b{w};
             b.add<owner>(e);
             w.submit(b);
         }},
        {"hooked",
         [](world& w, entity e) {
             w.on_set<owner>([](entity) {});
             w.set(e, owner{});
         }},
    };
    return all;
}

/// Calls that change an entity which has the fragment, without adding it.
const std::vector<call>& other_calls() {
    static const std::vector<call> all{
        {"set", [](world& w, entity e) { w.set(e, owner{5}); }},
        {"set several", [](world& w, entity e) { w.set(e, owner{5}, other{}); }},
        {"set another", [](world& w, entity e) { w.set(e, other{}); }},
        {"set by id", [](world& w, entity e) { w.set(e, by_id(w), owner{}); }},
        {"set default", [](world& w, entity e) { w.set(e, by_id(w)); }},
        {"add", [](world& w, entity e) { w.add<owner>(e); }},
        {"add several", [](world& w, entity e) { w.add<owner, other>(e); }},
        {"add by id", [](world& w, entity e) { w.add(e, by_id(w)); }},
        {"emplace", [](world& w, entity e) { w.emplace<owner>(e); }},
        {"get_or_emplace", [](world& w, entity e) { w.get_or_emplace<owner>(e); }},
        {"patch", [](world& w, entity e) { w.patch<owner>(e, [](owner& o) { o.value = 1; }); }},
        {"touch", [](world& w, entity e) { w.touch<owner>(e); }},
        {"remove another", [](world& w, entity e) { w.remove<bare>(e); }},
        {"batch set", [](world& w, entity) { w.query<owner>().set(owner{}); }},
        {"batch add", [](world& w, entity) { w.query<owner>().add<owner, other>(); }},
        {"batch set another", [](world& w, entity) { w.query<owner>().set(other{}); }},
        {"copy_fragment",
         [](world& w, entity e) {
             const auto from = w.fragment<owner>("from");
             w.set(e, from, owner{});
             w.copy_fragment(from, by_id(w));
         }},
        {"command buffer",
         [](world& w, entity e) {
             command_buffer b{w};
             b.set(e, owner{});
             w.submit(b);
         }},
        {"hooked",
         [](world& w, entity e) {
             w.on_set<owner>([](entity) {});
             w.set(e, owner{});
         }},
    };
    return all;
}

struct storage {
    bool owner_is_sparse, needed_is_sparse, in_scope;
};

class needs : public testing::TestWithParam<storage> {
protected:
    world w;

    needs() {
        if (GetParam().owner_is_sparse) w.define<owner>().sparse();
        if (GetParam().needed_is_sparse) w.define<needed>().sparse();
    }
    void run(const call& what, entity e) {
        if (GetParam().in_scope) w.defer();
        what.run(w, e);
        if (GetParam().in_scope) w.commit();
    }
};
INSTANTIATE_TEST_SUITE_P(storages, needs,
                         testing::Values(storage{false, false, false}, storage{true, false, false},
                                         storage{false, true, false}, storage{true, true, false},
                                         storage{false, false, true}, storage{true, false, true},
                                         storage{false, true, true}, storage{true, true, true}));

TEST_P(needs, every_call_that_adds_the_fragment_adds_what_it_needs) {
    for (const call& what : adding()) {
        SCOPED_TRACE(what.name);
        // copy_fragment of a value that is recorded in the same scope finds no owner yet.
        if (GetParam().in_scope && std::string(what.name) == "copy_fragment") continue;
        w.reset();
        const entity e = w.spawn(bare{});
        w.define<owner>().needs<needed>();
        run(what, e);
        const std::size_t owners = w.count<owner>();
        EXPECT_EQ(owners, what.made == 0 ? 1u : what.made);
        EXPECT_EQ(w.count<needed>(), owners);
        EXPECT_EQ((w.query<const owner, const needed>().count()), owners);
    }
}

TEST_P(needs, entities_that_have_the_fragment_before_the_definition_stay_as_they_are) {
    for (const call& what : other_calls()) {
        SCOPED_TRACE(what.name);
        world fresh;
        if (GetParam().owner_is_sparse) fresh.define<owner>().sparse();
        if (GetParam().needed_is_sparse) fresh.define<needed>().sparse();
        const entity e = fresh.spawn(owner{1}, bare{});
        fresh.define<owner>().needs<needed>();
        if (GetParam().in_scope) fresh.defer();
        what.run(fresh, e);
        if (GetParam().in_scope) fresh.commit();
        EXPECT_TRUE(fresh.has<owner>(e));
        EXPECT_FALSE(fresh.has<needed>(e));
    }
}

TEST_P(needs, a_clone_receives_what_its_fragments_need) {
    const entity e = w.spawn(owner{1}, bare{});
    w.define<owner>().needs<needed>();
    const std::vector<call> all{
        {"clone", [](world& world, entity from) { world.clone(from); }, 1},
        {"clone with", [](world& world, entity from) { world.clone(from, other{}); }, 1},
        {"clone_many", [](world& world, entity from) { world.clone_many(3, from); }, 3},
        {"clone_many with", [](world& world, entity from) { world.clone_many(3, from, owner{}); },
         3},
        {"builder", [](world& world, entity from) { world.builder().clone(from); }, 1},
    };
    std::size_t clones = 0;
    for (const call& what : all) {
        SCOPED_TRACE(what.name);
        run(what, e);
        clones += what.made;
        EXPECT_EQ(w.count<needed>(), clones);
        EXPECT_EQ(w.count<owner>(), clones + 1);
    }
    EXPECT_FALSE(w.has<needed>(e));
}

TEST_P(needs, what_is_needed_may_be_removed_and_a_batch_updates_older_entities) {
    const entity e = w.spawn(owner{1});
    w.define<owner>().needs<needed>();
    const entity f = w.spawn(owner{2});
    EXPECT_TRUE(w.remove<needed>(f));
    w.set(f, owner{3});
    EXPECT_FALSE(w.has<needed>(f));
    EXPECT_EQ(w.query<owner>().without<needed>().add<needed>(), 2u);
    EXPECT_TRUE(w.has<needed>(e) && w.has<needed>(f));
}

}  // namespace
}  // namespace muster::test
