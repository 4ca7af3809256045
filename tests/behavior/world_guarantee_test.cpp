// Makes every allocation and every copy of every call fail once. The world must then be unchanged,
// nothing may leak, and the repeated call must have the effect of a call that never failed. Linked with
// support/failing_allocations.cpp.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/layouts.hpp"
#include "support/trouble.hpp"
#include "support/world_dump.hpp"

namespace muster {
namespace {

using test::broken;
using test::bulky;
using test::counted;
using test::fragile;
using test::lone;
using test::over_aligned;
using test::sealed;
using test::tagged;
using test::text_of;

/// Not used in a scene, so that the tested call registers the type.
struct newcomer {
    fragile inner;
    explicit newcomer(int number = 0) : inner(number) {}
};
struct new_tag {};
std::string text_of(const newcomer& value) {
    return test::text_of(value.inner);
}
std::string text_of(const new_tag&) {
    return "yes";
}

/// Too long for a string to store without an allocation.
std::string long_text(int number) {
    return "a text that needs memory of its own, number " + std::to_string(number);
}

enum class keys { all_in_use, some_free };

/// 64 entities, which use all allocated records, in full chunks of 8 rows.
template <class Layout>
struct scene {
    using world_type = basic_world<Layout>;
    using id_type = basic_id<Layout>;
    using eight = std::array<id_type, 8>;

    world_type w;
    eight pairs, triples, numbers, brittle, texts, bulks, rich;  // see the constructor
    id_type single;
    std::array<id_type, 7> bare;  // without components
    std::vector<id_type> dead;    // destroyed entities of `bare`; their keys are free

    // Arguments, constructed before anything can fail.
    fragile breaks{100};
    std::string text = long_text(101);
    lone alone{102};
    newcomer stranger{103};
    typename world_type::builder_type recipe = w.builder();
    // The entities that a call created or changed.
    id_type target;
    std::array<id_type, 5> made;

    explicit scene(keys state) {
        for (int i = 0; i < 8; ++i) {
            const auto at = static_cast<std::size_t>(i);
            pairs[at] = w.spawn(fragile(i), long_text(i));
            triples[at] = w.spawn(fragile(10 + i), long_text(10 + i), counted(10 + i));
            numbers[at] = w.spawn(counted(20 + i));
            brittle[at] = w.spawn(fragile(30 + i));
            texts[at] = w.spawn(long_text(40 + i));
            bulks[at] = w.spawn(bulky(50 + i));
            rich[at] = w.spawn(fragile(60 + i), counted(60 + i), long_text(60 + i), tagged{},
                               over_aligned{60 + i}, bulky(60 + i), sealed(60 + i));
        }
        single = w.spawn(lone(70), counted(70), fragile(70));
        for (id_type& e : bare) e = w.spawn();
        w.name(pairs[0], "a name that is too long to be kept without memory");
        w.name(pairs[1], "short");
        w.name(bare[0], "short");
        recipe.set(fragile(80)).set(long_text(80)).set(newcomer(80)).set(tagged{});
        if (state == keys::some_free)
            for (const std::size_t at : {4u, 6u, 5u}) {
                dead.push_back(bare[at]);
                w.destroy(bare[at]);
            }
    }

    /// The observable state of the world and of the arguments.
    std::string look() {
        const std::uint64_t base = pairs[0].version();
        std::string seen = test::dump<Layout, fragile, std::string, counted, lone, over_aligned,
                                      bulky, tagged, sealed, newcomer, new_tag>(w, base);
        for (const id_type e : made) seen += e ? text_of(e, base) + " " : std::string("- ");
        for (const id_type e : dead) seen += w.alive(e) ? "RISEN " : "dead ";
        return detail::text(seen, text, " ", text_of(breaks), " ", text_of(stranger), " ",
                            text_of(alone), " ", recipe.size());
    }

    /// The state, and the ids that the world issues next.
    std::string outcome() {
        std::string seen = look() + "\nnext:";
        for (int i = 0; i < 6; ++i) seen.append(" ").append(text_of(w.spawn(), pairs[0].version()));
        return seen;
    }

    /// "row 3: fragile 1, string 1"
    std::string values(id_type e) {
        std::string seen = detail::text("row ", w.locate(e).row, ":");
        const auto add = [&]<class T>(const char* name, const T* value) {
            if (value != nullptr) seen += detail::text(" ", name, " ", text_of(*value), ",");
        };
        add("fragile", w.template try_get<fragile>(e));
        if (const std::string* const found = w.template try_get<std::string>(e))
            seen += detail::text(" string ", found->substr(found->find_last_of(' ') + 1), ",");
        add("counted", w.template try_get<counted>(e));
        add("lone", w.template try_get<lone>(e));
        add("aligned", w.template try_get<over_aligned>(e));
        add("bulky", w.template try_get<bulky>(e));
        add("tagged", w.template try_get<tagged>(e));
        add("sealed", w.template try_get<sealed>(e));
        add("newcomer", w.template try_get<newcomer>(e));
        add("new_tag", w.template try_get<new_tag>(e));
        seen.pop_back();
        return seen;
    }
};

struct tallies {
    int fragiles = fragile::count.living;
    int counteds = counted::count.living;
    friend bool operator==(const tallies&, const tallies&) = default;
};

/// The least numbers of failures of a call. They prove that the test reaches the failing code.
struct at_least {
    int allocations;
    int copies;
};

template <class Layout>
class world_guarantee : public testing::Test {
protected:
    /// Makes `call(scene)` fail at each point where it can. Finally, the entity that it stored in
    /// `target` must have these values.
    template <class Call>
    void must_hold(at_least wanted, const std::string& values, Call call) {
        int no_memory = 0;
        int no_copy = 0;
        for (const keys state : {keys::all_in_use, keys::some_free}) {
            SCOPED_TRACE(state == keys::all_in_use ? "all keys in use" : "some keys free");
            fail_everywhere(test::allocations, no_memory, state, values, call);
            fail_everywhere(test::copies, no_copy, state, values, call);
        }
        EXPECT_GE(no_memory, wanted.allocations) << values;
        EXPECT_GE(no_copy, wanted.copies) << values;
    }

private:
    template <class Call>
    void fail_everywhere(test::countdown& which, int& failures, keys state,
                         const std::string& values, Call call) {
        const tallies outside;
        std::string expected;
        {
            scene<Layout> unharmed(state);
            call(unharmed);
            EXPECT_EQ(unharmed.values(unharmed.target), values);
            expected = unharmed.outcome();
        }
        bool struck = true;
        for (int n = 0; struck; ++n) {
            SCOPED_TRACE(detail::text("event ", static_cast<std::uint64_t>(n), " of ", values));
            struck = fail_at(which, n, failures, state, expected, call);
            ASSERT_EQ(tallies(), outside);  // the scene and its values are destroyed
            ASSERT_EQ(fragile::count.misused + counted::count.misused, 0);
        }
    }

    template <class Call>
    bool fail_at(test::countdown& which, int n, int& failures, keys state,
                 const std::string& expected, Call call) {
        scene<Layout> s(state);
        const std::string before = s.look();
        const auto chunks = test::chunks_of(s.w);
        const tallies living;
        bool failed = false;
        which.start(n);
        try {
            call(s);
        } catch (const std::bad_alloc&) {
            failed = true;
        } catch (const broken&) {
            failed = true;
        }
        which.stop();
        if (failed) {
            ++failures;
            EXPECT_EQ(s.look(), before);
            EXPECT_EQ(test::chunks_of(s.w), chunks);
            EXPECT_EQ(tallies(), living);
            call(s);
        }
        EXPECT_EQ(s.outcome(), expected);
        return which.has_struck();
    }
};
using presets = testing::Types<layouts::bound, layouts::exact>;  // records of 8 and of 16 bytes
TYPED_TEST_SUITE(world_guarantee, presets, test::layout_names);

// ---- creating entities -------------------------------------------------------------------------

TYPED_TEST(world_guarantee, a_failed_spawn_changes_nothing) {
    this->must_hold({1, 0}, "row 0", [](auto& s) { s.target = s.w.spawn(); });
    this->must_hold({5, 2}, "row 8: fragile 100, string 101",
                    [](auto& s) { s.target = s.w.spawn(s.breaks, s.text); });
    this->must_hold({4, 0}, "row 8: fragile 100, string 101",
                    [](auto& s) { s.target = s.w.spawn(std::move(s.text), std::move(s.breaks)); });
    this->must_hold({8, 2}, "row 0: lone 102, newcomer 103, new_tag yes", [](auto& s) {
        s.target = s.w.spawn(new_tag{}, s.stranger, std::move(s.alone));
    });
    this->must_hold(
        {5, 2},
        "row 8: fragile 100, string 101, counted 1, aligned 1, bulky 1, tagged yes, sealed 1",
        [](auto& s) {
            s.target = s.w.spawn(s.breaks, counted(1), s.text, tagged{}, over_aligned{1}, bulky(1),
                                 sealed(1));
        });
}

TYPED_TEST(world_guarantee, an_exact_id_is_still_available_after_a_failure) {
    const auto at = [](auto& s, std::uint64_t key) {
        return basic_id<TypeParam>::pack(key, s.single.version() + 1, s.single.world());
    };
    for (const std::uint64_t key :
         {std::uint64_t{70}, std::uint64_t{3000}, TypeParam::last_key / 2})
        this->must_hold({5, 2}, "row 8: fragile 100, string 101",
                        [&](auto& s) { s.target = s.w.spawn_at(at(s, key), s.breaks, s.text); });
    // A free key is unlinked from the middle of the free list.
    this->must_hold({9, 2}, "row 0: newcomer 103", [&](auto& s) {
        s.target = s.w.spawn_at(at(s, s.dead.empty() ? 65 : s.dead[1].key()), s.stranger);
    });
}

TYPED_TEST(world_guarantee, a_failed_spawn_of_many_creates_no_entity) {
    this->must_hold({3, 0}, "row 0", [](auto& s) { s.target = s.w.spawn_many(70)[69]; });
    this->must_hold({6, 10}, "row 12: fragile 100, string 101", [](auto& s) {
        std::ranges::copy(s.w.spawn_many(5, s.text, s.breaks), s.made.begin());
        s.target = s.made[4];
    });
    this->must_hold({6, 10}, "row 12: fragile 100, string 101", [](auto& s) {
        const std::vector<std::string> texts(5, s.text);
        std::ranges::copy(s.w.spawn_columns(texts, std::vector(5, s.breaks)), s.made.begin());
        s.target = s.made[4];
    });
    this->must_hold({8, 6}, "row 2: counted 7, newcomer 103, new_tag yes", [](auto& s) {
        s.w.spawn_into(std::span(s.made).first(3), s.stranger, counted(7), new_tag{});
        s.target = s.made[2];
    });
    this->must_hold({6, 8}, "row 11: fragile 3, string 101", [](auto& s) {
        const auto fill = [&](const auto& rows) {
            std::ranges::copy(rows.entities(), s.made.begin());
            int value = 0;
            for (fragile& component : rows.template components<fragile>())
                component.value = value++;
        };
        s.w.spawn_rows(4, fill, s.breaks, s.text);
        s.target = s.made[3];
    });
}

TYPED_TEST(world_guarantee, a_throwing_fill_function_leaves_no_entity) {
    scene<TypeParam> s(keys::all_in_use);
    const std::string before = s.look();
    const tallies living;
    std::vector<basic_id<TypeParam>> shown;
    const auto fill = [&](const auto& rows) {
        shown.assign(rows.entities().begin(), rows.entities().end());
        rows.template components<std::string>()[1] = long_text(1);
        rows.template components<newcomer>()[0] = newcomer(5);
        throw broken{};
    };
    EXPECT_THROW(s.w.spawn_rows(5, fill, s.text, s.stranger), broken);
    EXPECT_EQ(s.look(), before);
    EXPECT_EQ(tallies(), living);
    ASSERT_EQ(shown.size(), 5u);
    // The callback saw these ids: their keys are reused in the same order, with new versions.
    for (const auto e : shown) {
        EXPECT_FALSE(s.w.alive(e));
        const auto next = s.w.spawn();
        EXPECT_EQ(next.key(), e.key());
        EXPECT_EQ(next.version(), e.version() + 1);
    }
}

TYPED_TEST(world_guarantee, a_failed_clone_creates_no_entity) {
    this->must_hold({4, 2}, "row 8: fragile 3, string 3",
                    [](auto& s) { s.target = s.w.clone(s.pairs[3]); });
    this->must_hold(
        {4, 2},
        "row 8: fragile 63, string 63, counted 7, aligned 63, bulky 63, tagged yes, sealed 63",
        [](auto& s) { s.target = s.w.clone(s.rich[3], counted(7)); });
    this->must_hold({6, 4}, "row 0: fragile 100, string 3, counted 7, newcomer 103", [](auto& s) {
        s.target = s.w.clone(s.pairs[3], s.breaks, s.stranger, counted(7));
    });
    // The move-only value is passed; the caller keeps it until the call succeeds.
    this->must_hold({1, 2}, "row 1: fragile 70, counted 70, lone 102",
                    [](auto& s) { s.target = s.w.clone(s.single, std::move(s.alone)); });
    this->must_hold({8, 6}, "row 10: fragile 15, string 101, counted 15", [](auto& s) {
        std::ranges::copy(s.w.clone_many(3, s.triples[5], s.text), s.made.begin());
        s.target = s.made[2];
    });
}

TYPED_TEST(world_guarantee, a_failed_builder_call_creates_nothing_and_can_be_repeated) {
    const std::string values = "fragile 80, string 80, tagged yes, newcomer 80";
    this->must_hold({8, 4}, "row 0: " + values, [](auto& s) { s.target = s.recipe.spawn(); });
    this->must_hold({8, 12}, "row 2: " + values, [](auto& s) {
        std::ranges::copy(s.recipe.spawn_many(3), s.made.begin());
        s.target = s.made[2];
    });
    this->must_hold({8, 4}, "row 0: fragile 80, string 80, counted 12, tagged yes, newcomer 80",
                    [](auto& s) { s.target = s.recipe.clone(s.triples[2]); });
    this->must_hold({4, 6}, "row 0: fragile 100, string 80, tagged yes, newcomer 80",
                    [](auto& s) { s.target = s.recipe.set(s.breaks).spawn(); });
    // Failing to store a value leaves the recipe unchanged.
    this->must_hold({4, 0}, "row 1: fragile 1, string 1", [](auto& s) {
        s.target = s.pairs[1];
        s.recipe.set(over_aligned{5});
    });
}

// ---- adding and removing components ------------------------------------------------------------

TYPED_TEST(world_guarantee, a_failed_set_adds_and_assigns_nothing) {
    // new
    this->must_hold({4, 2}, "row 8: fragile 100",
                    [](auto& s) { s.w.set(s.target = s.bare[1], s.breaks); });
    this->must_hold({4, 0}, "row 8: fragile 2, string 2, counted 7",
                    [](auto& s) { s.w.set(s.target = s.pairs[2], counted(7)); });
    this->must_hold({8, 2}, "row 0: fragile 2, string 2, newcomer 103, new_tag yes",
                    [](auto& s) { s.w.set(s.target = s.pairs[2], new_tag{}, s.stranger); });
    // assigned
    this->must_hold({2, 0}, "row 2: fragile 2, string 101",
                    [](auto& s) { s.w.set(s.target = s.pairs[2], s.text); });
    this->must_hold({2, 2},
                    "row 2: fragile 100, string 101, counted 62, aligned 62, bulky 62, tagged "
                    "yes, sealed 9",
                    [](auto& s) { s.w.set(s.target = s.rich[2], s.text, s.breaks, sealed(9)); });
    // both
    this->must_hold({6, 2}, "row 8: fragile 100, string 101, counted 7",
                    [](auto& s) { s.w.set(s.target = s.pairs[2], s.text, counted(7), s.breaks); });
    this->must_hold({6, 4}, "row 0: fragile 100, string 101, lone 102, newcomer 103", [](auto& s) {
        s.w.set(s.target = s.pairs[2], s.stranger, std::move(s.text), s.breaks, std::move(s.alone));
    });
}

TYPED_TEST(world_guarantee, a_failed_emplace_or_add_adds_nothing) {
    this->must_hold({4, 2}, "row 8: fragile 5",
                    [](auto& s) { s.w.template emplace<fragile>(s.target = s.bare[1], 5); });
    this->must_hold({0, 2}, "row 1: fragile 5, string 1",
                    [](auto& s) { s.w.template emplace<fragile>(s.target = s.pairs[1], 5); });
    this->must_hold({6, 2}, "row 0: fragile 1, string 1, newcomer 6", [](auto& s) {
        s.w.template get_or_emplace<newcomer>(s.target = s.pairs[1], 6);
    });
    this->must_hold({0, 0}, "row 1: fragile 1, string 1", [](auto& s) {
        s.w.template get_or_emplace<fragile>(s.target = s.pairs[1], 6);
    });
    this->must_hold(
        {8, 4}, "row 0: fragile 1, string 1, lone 0, tagged yes, newcomer 0",
        [](auto& s) { s.w.template add<newcomer, fragile, tagged, lone>(s.target = s.pairs[1]); });
}

TYPED_TEST(world_guarantee, a_failed_remove_removes_nothing) {
    this->must_hold({2, 0}, "row 8: fragile 11, string 11",
                    [](auto& s) { s.w.template remove<counted>(s.target = s.triples[1]); });
    this->must_hold({4, 0}, "row 8: counted 11", [](auto& s) {
        s.w.template remove<fragile, tagged, std::string>(s.target = s.triples[1]);
    });
    this->must_hold({2, 0}, "row 0", [](auto& s) {
        s.w.template remove<std::string, fragile>(s.target = s.pairs[1]);
    });
    this->must_hold({4, 0},
                    "row 0: fragile 67, string 67, counted 67, aligned 67, tagged yes, sealed 67",
                    [](auto& s) { s.w.template remove<newcomer, bulky>(s.target = s.rich[7]); });
}

TYPED_TEST(world_guarantee, clearing_a_type_that_is_in_one_chunk_is_all_or_nothing) {
    this->must_hold({2, 0},
                    "row 4: fragile 64, string 64, counted 64, aligned 64, bulky 64, tagged yes",
                    [](auto& s) {
                        s.target = s.rich[4];
                        s.w.template clear<sealed>();
                    });
}

TYPED_TEST(world_guarantee,
           clearing_a_type_of_several_chunks_clears_each_completely_or_not_at_all) {
    int failures = 0;
    for (int n = 0; n == 0 || test::allocations.has_struck(); ++n) {
        scene<TypeParam> s(keys::some_free);
        scene<TypeParam> twin(keys::some_free);
        test::allocations.start(n);
        try {
            s.w.template clear<counted>();
        } catch (const std::bad_alloc&) {
            ++failures;
        }
        test::allocations.stop();
        // Each chunk is cleared completely or not at all; the twin removes from single entities.
        std::size_t left = s.w.template has<counted>(s.single) ? 1 : 0;
        for (const auto chunk :
             {&scene<TypeParam>::triples, &scene<TypeParam>::numbers, &scene<TypeParam>::rich}) {
            const bool is_done = !s.w.template has<counted>((s.*chunk)[0]);
            left += is_done ? 0 : 8;
            for (std::size_t i = 0; i < 8; ++i)
                if (is_done) twin.w.template remove<counted>((twin.*chunk)[i]);
            for (std::size_t i = 0; i < 8; ++i) {
                const auto without_row = [](const std::string& text) {
                    return text.substr(text.find(':') + 1);
                };
                ASSERT_EQ(without_row(s.values((s.*chunk)[i])),
                          without_row(twin.values((twin.*chunk)[i])));
            }
        }
        ASSERT_EQ(s.w.template count<counted>(), left);
        ASSERT_EQ(s.w.template clear<counted>(), left);
    }
    EXPECT_GE(failures, 3);
}

// ---- arguments stored in the world -------------------------------------------------------------

TYPED_TEST(world_guarantee, an_argument_in_a_column_that_grows_survives_a_failure) {
    this->must_hold({4, 0}, "row 8: string 47", [](auto& s) {
        s.w.set(s.target = s.bare[1], s.w.template get<std::string>(s.texts[7]));
    });
    this->must_hold({2, 0}, "row 8: string 47", [](auto& s) {
        s.w.set(s.target = s.bare[1], std::move(s.w.template get<std::string>(s.texts[7])));
    });
    this->must_hold({2, 0}, "row 8: bulky 57", [](auto& s) {
        s.w.set(s.target = s.bare[1], s.w.template get<bulky>(s.bulks[7]));
    });
    this->must_hold({2, 2}, "row 8: fragile 37",
                    [](auto& s) { s.target = s.w.spawn(s.w.template get<fragile>(s.brittle[7])); });
    this->must_hold({2, 0}, "row 8: fragile 7, string 7", [](auto& s) {
        auto [breaks, text] = s.w.template get<fragile, std::string>(s.pairs[7]);
        s.target = s.w.spawn(std::move(text), std::move(breaks));
    });
    this->must_hold({6, 0}, "row 10: string 47", [](auto& s) {
        s.target = s.w.spawn_many(3, s.w.template get<std::string>(s.texts[7]))[2];
    });
    this->must_hold({4, 0}, "row 8: bulky 57", [](auto& s) {
        s.target = s.w.clone(s.bulks[0], s.w.template get<bulky>(s.bulks[7]));
    });
    this->must_hold({4, 0}, "row 9: bulky 57", [](auto& s) {
        s.target = s.w.clone_many(2, s.bulks[0], s.w.template get<bulky>(s.bulks[7]))[1];
    });
}

TYPED_TEST(world_guarantee, an_argument_of_the_same_chunk_is_assigned_or_unchanged) {
    this->must_hold({2, 0}, "row 1: fragile 1, string 2", [](auto& s) {
        s.w.set(s.target = s.pairs[1], s.w.template get<std::string>(s.pairs[2]));
    });
    this->must_hold({0, 0}, "row 1: fragile 1, string 2", [](auto& s) {
        s.w.set(s.target = s.pairs[1], std::move(s.w.template get<std::string>(s.pairs[2])));
    });
    this->must_hold({4, 2}, "row 8: fragile 2, string 2, counted 7", [](auto& s) {
        auto [breaks, text] = s.w.template get<fragile, std::string>(s.pairs[2]);
        s.w.set(s.target = s.pairs[1], breaks, std::move(text), counted(7));
    });
}

// ---- names, destruction, worlds ----------------------------------------------------------------

TYPED_TEST(world_guarantee, a_name_that_cannot_be_stored_keeps_the_old_one) {
    const std::string other = "another name that is too long to be kept without memory";
    for (const std::size_t at : {0u, 1u, 2u})
        this->must_hold({2, 0}, detail::text("row ", at, ": fragile ", at, ", string ", at),
                        [&](auto& s) { s.w.name(s.target = s.pairs[at], other); });
    this->must_hold({1, 0}, "row 0: string 40",
                    [](auto& s) { s.w.name(s.target = s.texts[0], "short"); });
    scene<TypeParam> s(keys::all_in_use);
    s.w.name(s.pairs[1], other);
    EXPECT_EQ(s.w.lookup(other), s.pairs[1]);
    EXPECT_EQ(s.w.lookup("short"), s.bare[0]);
}

TYPED_TEST(world_guarantee, an_entity_whose_destruction_cannot_be_recorded_stays_alive) {
    int failures = 0;
    for (int n = 0; n == 0 || test::allocations.has_struck(); ++n) {
        basic_world<TypeParam> w({.provenance = true});
        const auto e = w.spawn(long_text(1), counted(1));
        w.name(e, long_text(2));
        const std::string before = test::dump<TypeParam, std::string, counted>(w);
        test::allocations.start(n);
        try {
            w.destroy(e);
        } catch (const std::bad_alloc&) {
            ++failures;
            EXPECT_TRUE(w.alive(e));
        }
        test::allocations.stop();
        if (w.alive(e)) {
            EXPECT_EQ((test::dump<TypeParam, std::string, counted>(w)), before);
            EXPECT_TRUE(w.destroy(e));
        }
        EXPECT_EQ(counted::count.living, 0);
        EXPECT_EQ(w.spawn().version(), e.version() + 1);
    }
    EXPECT_GE(failures, 2);
}

TYPED_TEST(world_guarantee, a_failed_construction_of_a_world_frees_its_number) {
    const std::uint64_t number = basic_world<TypeParam>().number();
    int failures = 0;
    for (int n = 0; n == 0 || test::allocations.has_struck(); ++n) {
        test::allocations.start(n);
        try {
            const basic_world<TypeParam> w({.number = number});
            test::allocations.stop();
            EXPECT_EQ(w.number(), number);
        } catch (const std::bad_alloc&) {
            ++failures;
        }
        test::allocations.stop();
    }
    EXPECT_GE(failures, 3);
}

}  // namespace
}  // namespace muster
