#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "shared_position.hpp"

namespace muster::test {
namespace {

struct local_thing {
    double value;
    double more[6];
};

}  // namespace

static entity local_to_function(world& w) {
    struct local {
        double value;
    };
    return w.component<local>();
}

namespace {

own_fragments fragments(world& w) {
    return {w.component<local_thing>(),
            w.component<shared_holder<local_thing>>(),
            local_to_function(w),
            w.component<shared_position>(),
            w.component<shared_holder<shared_position>>(),
            w.component<std::string>(),
            w.component<shared_tag>(),
            w.component<PUZZLE_OF_LEVEL2>()};
}

TEST(shared_types, a_value_set_in_a_library_is_read_in_the_program) {
    world w;
    const entity e = w.spawn();
    library::set_position(w, e, 3, 4);
    EXPECT_TRUE(w.has<shared_position>(e));
    EXPECT_EQ(w.get<shared_position>(e).x, 3);
    EXPECT_EQ(w.get<shared_position>(e).y, 4);
    EXPECT_EQ(w.count<shared_position>(), 1u);
    EXPECT_EQ(other_file::x_of(w, e), 3);
}

TEST(shared_types, a_value_set_in_the_program_is_read_in_a_library) {
    world w;
    const entity e = w.spawn(shared_position{1, 2}, shared_tag{});
    EXPECT_EQ(library::x_of(w, e), 1);
    EXPECT_EQ(library::find_position(w, e), w.try_get<shared_position>(e));
    EXPECT_TRUE(library::has_tag(w, e));
    library::set_position(w, e, 8, 9);
    EXPECT_EQ(w.get<shared_position>(e).x, 8);
    w.remove<shared_position>(e);
    EXPECT_EQ(library::find_position(w, e), nullptr);
}

TEST(shared_types, a_library_finds_no_value_of_an_unregistered_type) {
    world w;
    const entity e = w.spawn();
    EXPECT_EQ(library::find_position(w, e), nullptr);
    EXPECT_FALSE(library::has_tag(w, e));
    EXPECT_FALSE(library::has_local(w, e));
}

TEST(shared_types, no_fragment_has_one_address_in_all_libraries) {
    // Inline code compares this address with addresses that Muster's compiled code stores.
    const detail::fragment_table table;
    EXPECT_EQ(&table.find(detail::type_index{1'000'000}), &detail::no_fragment);
    EXPECT_EQ(library::address_of_no_fragment(), &detail::no_fragment);
}

TEST(shared_types, the_order_of_registration_does_not_matter) {
    for (const bool library_first : {true, false}) {
        world w;
        own_fragments theirs;
        if (library_first) theirs = library::fragments(w);
        const own_fragments mine = fragments(w);
        if (!library_first) theirs = library::fragments(w);
        const own_fragments others = other_file::fragments(w);
        for (const own_fragments& other : {theirs, others}) {
            EXPECT_EQ(other.shared_position, mine.shared_position);
            EXPECT_EQ(other.holder_of_shared, mine.holder_of_shared);
            EXPECT_EQ(other.text, mine.text);
            EXPECT_EQ(other.shared_tag, mine.shared_tag);
            EXPECT_EQ(other.puzzle, mine.puzzle);
        }
    }
}

TEST(shared_types, entities_of_a_library_and_of_the_program_share_a_chunk) {
    world w;
    const entity mine = w.spawn(std::string("mine"), shared_position{1, 2});
    const entity theirs = library::spawn(w, 5, "theirs", 7);
    w.remove<shared_tag>(theirs);
    EXPECT_NE(w.locate(mine).chunk, w.locate(theirs).chunk);  // `theirs` also has a local_thing
    const entity plain = w.spawn();
    library::set_position(w, plain, 1, 1);
    w.set(plain, std::string("plain"));
    EXPECT_EQ(w.locate(plain).chunk, w.locate(mine).chunk);
    EXPECT_EQ(w.get<std::string>(theirs), "theirs");
    EXPECT_EQ(library::local_of(w, theirs), 7);
}

TEST(shared_types, local_types_of_equal_name_are_different_types) {
    world w;
    const own_fragments all[] = {fragments(w), other_file::fragments(w), library::fragments(w)};
    std::set<entity> things;
    std::set<entity> holders;
    std::set<entity> in_functions;
    for (const own_fragments& value : all) {
        things.insert(value.local_thing);
        holders.insert(value.holder_of_local_thing);
        in_functions.insert(value.local_to_function);
    }
    EXPECT_EQ(things.size(), 3u);
    EXPECT_EQ(holders.size(), 3u);
    EXPECT_EQ(in_functions.size(), 3u);
}

TEST(shared_types, an_entity_can_have_several_types_of_equal_name) {
    world w;
    const entity e = w.spawn(local_thing{1.5, {}});
    EXPECT_FALSE(library::has_local(w, e));
    EXPECT_FALSE(other_file::has_local(w, e));
    library::set_local(w, e, 42);
    other_file::set_local(w, e, "a text that is too long for the inside of a string");
    EXPECT_EQ(w.get<local_thing>(e).value, 1.5);
    EXPECT_EQ(library::local_of(w, e), 42);
    EXPECT_TRUE(other_file::has_local(w, e));
    w.remove<local_thing>(e);
    EXPECT_TRUE(library::has_local(w, e));
    EXPECT_EQ(library::local_of(w, e), 42);
}

TEST(shared_types, an_error_of_a_library_is_caught_in_the_program) {
    world w;
    const entity e = w.spawn();
    try {
        library::x_of(w, e);
        ADD_FAILURE() << "no error";
    } catch (const error& caught) {
        EXPECT_EQ(caught.code(), errc::missing_component);
    }
}

TEST(shared_types, each_world_has_its_own_fragments_in_a_library) {
    world first;
    world second;
    const entity a = library::spawn(first, 1, "first", 1);
    const entity b = library::spawn(second, 2, "second", 2);
    EXPECT_EQ(first.get<shared_position>(a).x, 1);
    EXPECT_EQ(second.get<shared_position>(b).x, 2);
    EXPECT_EQ(library::find_position(second, a), nullptr);
}

}  // namespace
}  // namespace muster::test
