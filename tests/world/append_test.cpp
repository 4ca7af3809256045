// append: adds values to a component that is a container.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace muster {
namespace {

using test::code_of;
using words = std::vector<std::string>;
using owned = std::vector<std::unique_ptr<int>>;

TEST(append, adds_values_after_the_existing_ones) {
    world w;
    const entity e = w.spawn(words{"a"});
    words& now = w.append<words>(e, "b", std::string("c"));
    EXPECT_EQ(now, (words{"a", "b", "c"}));
    EXPECT_EQ(&now, &w.get<words>(e));
}

TEST(append, inserts_the_default_container_if_the_entity_has_none) {
    world w;
    const entity e = w.spawn(1);
    w.define<words>().default_value(words{"first"});
    EXPECT_EQ(w.append<words>(e, "second"), (words{"first", "second"}));
    EXPECT_TRUE(w.has<int>(e));
}

TEST(append, moves_values_that_cannot_be_copied) {
    world w;
    const entity e = w.spawn();
    w.append<owned>(e, std::make_unique<int>(1));
    w.append<owned>(e, std::make_unique<int>(2));
    EXPECT_EQ(*w.get<owned>(e)[1], 2);
}

TEST(append, notifies_hooks_and_observers_like_patch) {
    world w;
    std::string log;
    w.define<words>().on_insert([&] { log += '+'; }).on_assign([&] { log += '='; });
    auto changed = w.observer().changed<words>();
    const entity e = w.spawn();
    w.append<words>(e, "a");
    EXPECT_TRUE(changed.empty());
    w.append<words>(e, "b");
    EXPECT_EQ(log, "+=");
    EXPECT_EQ(changed.take(), std::vector<entity>{e});
}

TEST(append, in_a_scope_extends_the_value_or_the_pending_value) {
    world w;
    const entity has = w.spawn(words{"a"});
    const entity has_not = w.spawn();
    {
        deferred scope{w};
        w.append<words>(has, "b");
        w.append<words>(has, "c");
        w.append<words>(has_not, "x");
        w.append<words>(has_not, "y");
        EXPECT_EQ(w.get<words>(has), (words{"a", "b", "c"}));
        EXPECT_FALSE(w.has<words>(has_not));
    }
    EXPECT_EQ(w.get<words>(has), (words{"a", "b", "c"}));
    EXPECT_EQ(w.get<words>(has_not), (words{"x", "y"}));

    w.defer();
    w.append<words>(has, "never");
    w.cancel();
    EXPECT_EQ(w.get<words>(has).size(), 3u);
}

TEST(append, to_a_dead_entity_is_an_error) {
    world w;
    world other;
    const entity dead = w.spawn();
    w.destroy(dead);
    EXPECT_EQ(code_of([&] { w.append<words>(dead, "a"); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { w.append<words>(entity{}, "a"); }), errc::dead_entity);
    EXPECT_EQ(code_of([&] { w.append<words>(other.spawn(), "a"); }), errc::foreign_entity);
    EXPECT_EQ(w.count<words>(), 0u);
}

}  // namespace
}  // namespace muster
