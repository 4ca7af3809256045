#include <muster/change/recorder.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;
using test::sentence_of;

/// Notes its number when it ends.
struct witness {
    static inline int alive = 0;
    static inline std::vector<int> ended;
    int number;

    explicit witness(int value) noexcept : number(value) { ++alive; }
    witness(witness&& other) noexcept : number(std::exchange(other.number, -1)) { ++alive; }
    witness& operator=(witness&&) = delete;
    ~witness() {
        --alive;
        if (number >= 0) ended.push_back(number);
    }
};
struct tag {};
struct alignas(128) over_aligned {
    int value;
};
struct bulky {
    std::byte bytes[3000];
};
struct pinned {
    std::mutex guard;
};

/// A value that a caller passes; constructing it can fail.
template <class T>
struct fake_value {
    T value;
    bool fails = false;

    /// Describes a change with this value, as a call does.
    [[nodiscard]] change describe(change_kind kind) {
        return {.fragment = fragment_name::of<T>(),
                .type = {&type_info_of<T>, is_tag<T> ? no_type : ensure_type_index<T>()},
                .kind = kind,
                .self = this,
                .construct = [](void* to, const void* self) {
                    // SAFETY: `self` is the fake value, which is not const.
                    auto& given = *static_cast<fake_value*>(const_cast<void*>(self));
                    if (given.fails) throw std::runtime_error("no value");
                    if constexpr (!is_pinned<T>) ::new (to) T(std::move(given.value));
                }};
    }
};

/// Records a change with this value.
template <class T>
recorded_change& add_value(recorder& to, change_kind kind, std::uint64_t e, fake_value<T>& given,
                           const std::source_location& where = std::source_location::current()) {
    return to.add(given.describe(kind), {e, where});
}

template <class T>
T& value_at(const recorder& changes, std::uint32_t index) {
    return *static_cast<T*>(changes.at(index).value);
}
void add_witness(recorder& to, std::uint64_t e, int number) {
    fake_value<witness> given{witness(number)};
    add_value(to, change_kind::put, e, given);
}

class recorder_with_witnesses : public testing::Test {
protected:
    recorder_with_witnesses() {
        witness::alive = 0;
        witness::ended.clear();
    }
    ~recorder_with_witnesses() override { EXPECT_EQ(witness::alive, 0); }
};

using numbers = std::vector<int>;
using ids = std::vector<std::uint64_t>;

ids ids_of(const recorder& changes) {
    ids found;
    for (std::uint32_t i = 0; i < changes.size(); ++i) found.push_back(changes.at(i).id);
    return found;
}

// ---- changes -----------------------------------------------------------------------------------

TEST(recorder, has_no_changes_at_first) {
    const recorder changes;
    EXPECT_EQ(changes.size(), 0u);
    EXPECT_EQ(changes.now().changes, 0u);
    EXPECT_FALSE(changes.is_discarded());
}

TEST(recorder, a_change_names_its_entity_and_its_fragment) {
    recorder changes;
    recorded_change& added = changes.add(change_kind::remove, 7, {99, nullptr});
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(&added, &changes.at(0));
    EXPECT_EQ(added.kind, change_kind::remove);
    EXPECT_EQ(added.id, 7u);
    EXPECT_EQ(added.fragment.what, 99u);
    EXPECT_FALSE(added.fragment.is_typed());
    EXPECT_EQ(added.value, nullptr);
    EXPECT_EQ(added.type.info, nullptr);
    EXPECT_EQ(added.type.index, no_type);
    EXPECT_FALSE(added.is_default);
    EXPECT_TRUE(added.begins_call);
    EXPECT_TRUE(added.system.empty());
}

TEST(recorder, a_fragment_is_named_by_its_type) {
    const fragment_name name = fragment_name::of<witness>();
    EXPECT_TRUE(name.is_typed());
    EXPECT_EQ(name.what, static_cast<std::uint64_t>(ensure_type_index<witness>()));
    EXPECT_EQ(name.type, &type_info_of<witness>);
}

TEST(recorder, changes_keep_their_order_while_it_grows) {
    recorder changes;
    for (std::uint64_t e = 0; e < 1000; ++e) {
        changes.add(e % 2 == 0 ? change_kind::spawn : change_kind::destroy, e);
        ASSERT_EQ(changes.size(), e + 1);
        ASSERT_EQ(changes.at(0).id, 0u);
    }
    for (std::uint32_t i = 0; i < 1000; ++i) {
        ASSERT_EQ(changes.at(i).id, i);
        ASSERT_EQ(changes.at(i).kind, i % 2 == 0 ? change_kind::spawn : change_kind::destroy);
    }
}

TEST_F(recorder_with_witnesses, a_change_in_a_used_place_starts_without_traces) {
    recorder changes;
    add_witness(changes, 7, 1);
    changes.at(0).begins_call = false;
    changes.at(0).system = "mover";
    changes.rewind({});
    const recorded_change& added = changes.add(change_kind::clear, 8);
    EXPECT_EQ(added.value, nullptr);
    EXPECT_EQ(added.type.info, nullptr);
    EXPECT_EQ(added.type.index, no_type);
    EXPECT_FALSE(added.is_default);
    EXPECT_FALSE(added.fragment.is_typed());
    EXPECT_TRUE(added.begins_call);
    EXPECT_TRUE(added.system.empty());
}

// ---- values ------------------------------------------------------------------------------------

TEST_F(recorder_with_witnesses, owns_the_value_of_a_change) {
    recorder changes;
    const auto where = std::source_location::current();
    fake_value<witness> given{witness(5)};
    add_value(changes, change_kind::keep, 7, given, where);
    ASSERT_EQ(changes.size(), 1u);
    const recorded_change& added = changes.at(0);
    EXPECT_EQ(added.kind, change_kind::keep);
    EXPECT_EQ(added.id, 7u);
    EXPECT_EQ(added.fragment.type, &type_info_of<witness>);
    EXPECT_EQ(added.type.info, &type_info_of<witness>);
    EXPECT_EQ(added.type.index, ensure_type_index<witness>());
    EXPECT_FALSE(added.is_default);
    EXPECT_EQ(added.where.line(), where.line());
    EXPECT_EQ(value_at<witness>(changes, 0).number, 5);
    EXPECT_EQ(given.value.number, -1);  // moved
}

TEST(recorder, a_tag_needs_no_memory) {
    recorder changes;
    fake_value<tag> given{};
    add_value(changes, change_kind::put, 7, given);
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes.at(0).value, nullptr);
    EXPECT_EQ(changes.at(0).type.info, &type_info_of<tag>);
    EXPECT_EQ(changes.at(0).type.index, no_type);
    EXPECT_EQ(changes.now().memory.used, 0u);
}

TEST(recorder, a_value_that_cannot_move_is_an_error_that_changes_nothing) {
    recorder changes;
    fake_value<pinned> given{};
    const auto add = [&] { add_value(changes, change_kind::put, 7, given); };
    EXPECT_EQ(code_of(add), errc::not_movable);
    EXPECT_NE(sentence_of(add).find("pinned"), std::string::npos);
    EXPECT_EQ(changes.size(), 0u);
    EXPECT_EQ(changes.now().memory.used, 0u);
}

TEST(recorder, values_are_aligned_as_their_types_ask) {
    recorder changes;
    for (int i = 0; i < 100; ++i) {
        fake_value<char> small{static_cast<char>(i)};
        add_value(changes, change_kind::put, 1, small);
        fake_value<over_aligned> large{{i}};
        add_value(changes, change_kind::put, 2, large);
    }
    for (std::uint32_t i = 0; i < 100; ++i) {
        ASSERT_EQ(value_at<char>(changes, 2 * i), static_cast<char>(i));
        const over_aligned& value = value_at<over_aligned>(changes, 2 * i + 1);
        ASSERT_EQ(reinterpret_cast<std::uintptr_t>(&value) % alignof(over_aligned), 0u);
        ASSERT_EQ(value.value, static_cast<int>(i));
    }
}

TEST_F(recorder_with_witnesses, values_stay_where_they_are_while_it_grows) {
    recorder changes;
    std::vector<void*> addresses;
    for (int i = 0; i < 3000; ++i) {
        add_witness(changes, 7, i);
        addresses.push_back(changes.at(static_cast<std::uint32_t>(i)).value);
    }
    EXPECT_GT(changes.now().memory.block, 0u);  // several blocks
    for (std::uint32_t i = 0; i < 3000; ++i) {
        ASSERT_EQ(changes.at(i).value, addresses[i]);
        ASSERT_EQ(value_at<witness>(changes, i).number, static_cast<int>(i));
    }
    EXPECT_EQ(witness::alive, 3000);
}

TEST(recorder, a_change_without_a_construct_function_copies_the_bytes) {
    recorder changes;
    const over_aligned original{17};
    changes.add({.fragment = fragment_name::of<over_aligned>(),
                 .type = value_type_ref::of<over_aligned>(),
                 .self = &original},
                {7, std::source_location::current()});
    ASSERT_NE(changes.at(0).value, nullptr);
    EXPECT_NE(changes.at(0).value, &original);
    EXPECT_EQ(value_at<over_aligned>(changes, 0).value, 17);
}

TEST(recorder, a_default_value_is_constructed_when_the_change_is_replayed) {
    recorder changes;
    changes.add({.fragment = {99}, .kind = change_kind::keep, .is_default = true},
                {7, std::source_location::current()});
    EXPECT_TRUE(changes.at(0).is_default);
    EXPECT_EQ(changes.at(0).kind, change_kind::keep);
    EXPECT_EQ(changes.at(0).fragment.what, 99u);
    EXPECT_EQ(changes.at(0).value, nullptr);
    EXPECT_EQ(changes.now().memory.used, 0u);
}

TEST(recorder, a_change_without_a_component_has_no_value) {
    recorder changes;
    const over_aligned original{17};
    changes.add({.fragment = fragment_name::of<pinned>(),
                 .type = value_type_ref::of<pinned>(),
                 .kind = change_kind::remove,
                 .self = &original},
                {7, std::source_location::current()});
    EXPECT_EQ(changes.at(0).kind, change_kind::remove);
    EXPECT_EQ(changes.at(0).value, nullptr);
    EXPECT_EQ(changes.now().memory.used, 0u);
}

TEST_F(recorder_with_witnesses, a_value_that_was_not_constructed_is_not_destroyed) {
    recorder changes;
    fake_value<witness> given{witness(2)};
    given.fails = true;
    EXPECT_THROW(add_value(changes, change_kind::put, 8, given), std::runtime_error);
    changes.rewind({});
    EXPECT_EQ(changes.size(), 0u);
    EXPECT_EQ(witness::ended, numbers{});
    EXPECT_EQ(witness::alive, 1);  // the given one
}

TEST_F(recorder_with_witnesses, the_destructor_destroys_each_value_once) {
    {
        recorder changes;
        for (int i = 0; i < 3; ++i) add_witness(changes, 7, i);
        changes.add(change_kind::destroy, 7);
        EXPECT_EQ(witness::alive, 3);
    }
    EXPECT_EQ(witness::ended, (numbers{2, 1, 0}));
}

TEST_F(recorder_with_witnesses, a_value_that_was_taken_is_not_destroyed) {
    recorder changes;
    for (int i = 0; i < 3; ++i) add_witness(changes, 7, i);
    value_at<witness>(changes, 1).~witness();
    changes.at(1).value = nullptr;
    witness::ended.clear();
    changes.rewind({});
    EXPECT_EQ(witness::ended, (numbers{2, 0}));
}

// ---- rewind ------------------------------------------------------------------------------------

TEST_F(recorder_with_witnesses, rewind_removes_the_changes_since_a_position) {
    recorder changes;
    add_witness(changes, 1, 1);
    changes.add(change_kind::spawn, 2);
    const auto start = changes.now();
    add_witness(changes, 3, 3);
    changes.add(change_kind::destroy, 4);
    add_witness(changes, 5, 5);
    changes.rewind(start);
    EXPECT_EQ(ids_of(changes), (ids{1, 2}));
    EXPECT_EQ(witness::ended, (numbers{5, 3}));
    EXPECT_EQ(value_at<witness>(changes, 0).number, 1);
}

TEST_F(recorder_with_witnesses, rewind_to_the_present_removes_nothing) {
    recorder changes;
    add_witness(changes, 1, 1);
    changes.rewind(changes.now());
    EXPECT_EQ(changes.size(), 1u);
    EXPECT_EQ(witness::ended, numbers{});
}

TEST_F(recorder_with_witnesses, rewind_reuses_the_memory) {
    recorder changes;
    add_witness(changes, 1, 1);
    const auto start = changes.now();
    std::vector<void*> addresses;
    for (int i = 0; i < 2000; ++i) {
        add_witness(changes, 2, i);
        addresses.push_back(changes.at(changes.size() - 1).value);
    }
    const auto end = changes.now();
    changes.rewind(start);
    for (int i = 0; i < 2000; ++i) {
        add_witness(changes, 2, i);
        ASSERT_EQ(changes.at(changes.size() - 1).value, addresses[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(changes.now().memory.block, end.memory.block);
    EXPECT_EQ(changes.now().memory.used, end.memory.used);
}

TEST_F(recorder_with_witnesses, rewinds_nest) {
    recorder changes;
    add_witness(changes, 1, 1);
    const auto outer = changes.now();
    add_witness(changes, 2, 2);
    const auto inner = changes.now();
    add_witness(changes, 3, 3);
    changes.rewind(inner);
    EXPECT_EQ(ids_of(changes), (ids{1, 2}));
    add_witness(changes, 4, 4);
    changes.rewind(outer);
    EXPECT_EQ(ids_of(changes), ids{1});
    EXPECT_EQ(witness::ended, (numbers{3, 4, 2}));
}

// ---- discard -----------------------------------------------------------------------------------

TEST_F(recorder_with_witnesses, discard_keeps_only_the_ids_that_were_created) {
    recorder changes;
    add_witness(changes, 1, 1);
    changes.add(change_kind::spawn, 10);
    add_witness(changes, 10, 2);
    changes.add(change_kind::destroy, 3);
    changes.add(change_kind::spawn, 11);
    add_witness(changes, 11, 3);
    changes.discard();
    EXPECT_TRUE(changes.is_discarded());
    EXPECT_EQ(ids_of(changes), (ids{10, 11}));
    EXPECT_EQ(changes.at(0).kind, change_kind::spawn);
    EXPECT_EQ(changes.at(1).kind, change_kind::spawn);
    EXPECT_EQ(witness::ended, (numbers{1, 2, 3}));
    EXPECT_EQ(witness::alive, 0);
}

TEST(recorder, discard_of_nothing_keeps_nothing) {
    recorder changes;
    changes.discard();
    EXPECT_TRUE(changes.is_discarded());
    EXPECT_EQ(changes.size(), 0u);
}

TEST_F(recorder_with_witnesses, rewind_makes_a_discarded_recorder_usable_again) {
    recorder changes;
    changes.add(change_kind::spawn, 10);
    add_witness(changes, 10, 1);
    const void* const address = changes.at(1).value;
    changes.discard();
    changes.rewind({});
    EXPECT_FALSE(changes.is_discarded());
    EXPECT_EQ(changes.size(), 0u);
    add_witness(changes, 11, 2);
    EXPECT_EQ(changes.at(0).value, address);
    EXPECT_EQ(witness::ended, numbers{1});
}

// ---- recording ---------------------------------------------------------------------------------

TEST_F(recorder_with_witnesses, a_recording_that_is_not_kept_takes_its_changes_back) {
    recorder changes;
    add_witness(changes, 1, 1);
    {
        const recording calls(changes);
        add_witness(changes, 2, 2);
        changes.add(change_kind::destroy, 3);
    }
    EXPECT_EQ(ids_of(changes), ids{1});
    EXPECT_EQ(witness::ended, numbers{2});
}

TEST_F(recorder_with_witnesses, a_recording_takes_its_changes_back_if_a_value_throws) {
    recorder changes;
    add_witness(changes, 1, 1);
    fake_value<witness> given{witness(3)};
    given.fails = true;
    const auto before = changes.now();
    const auto record = [&] {
        recording calls(changes);
        add_witness(changes, 2, 2);
        add_value(changes, change_kind::put, 2, given);
        calls.keep();
    };
    EXPECT_THROW(record(), std::runtime_error);
    EXPECT_EQ(ids_of(changes), ids{1});
    EXPECT_EQ(witness::ended, numbers{2});
    EXPECT_EQ(changes.now().memory.block, before.memory.block);
    EXPECT_EQ(changes.now().memory.used, before.memory.used);
}

TEST(recorder, a_kept_recording_is_one_call) {
    recorder changes;
    changes.add(change_kind::spawn, 1);
    {
        recording calls(changes);
        for (std::uint64_t e = 2; e < 5; ++e) changes.add(change_kind::destroy, e);
        calls.keep();
    }
    changes.add(change_kind::destroy, 5);
    EXPECT_EQ(ids_of(changes), (ids{1, 2, 3, 4, 5}));
    std::vector<bool> begins;
    for (std::uint32_t i = 0; i < changes.size(); ++i) begins.push_back(changes.at(i).begins_call);
    EXPECT_EQ(begins, (std::vector<bool>{true, true, false, false, true}));
}

TEST(recorder, a_kept_recording_can_name_its_entity_at_the_end) {
    recorder changes;
    changes.add(change_kind::destroy, 1);
    {
        recording calls(changes);
        changes.add(change_kind::spawn, 0);
        changes.add(change_kind::remove, 0);
        calls.keep(42);
    }
    EXPECT_EQ(ids_of(changes), (ids{1, 42, 42}));
    EXPECT_TRUE(changes.at(1).begins_call);
    EXPECT_FALSE(changes.at(2).begins_call);
}

TEST(recorder, a_kept_recording_without_changes_adds_none) {
    recorder changes;
    changes.add(change_kind::destroy, 1);
    {
        recording calls(changes);
        calls.keep(42);
    }
    EXPECT_EQ(ids_of(changes), ids{1});
    EXPECT_TRUE(changes.at(0).begins_call);
}

// ---- against a naive model ---------------------------------------------------------------------

TEST_F(recorder_with_witnesses, agrees_with_a_list_over_random_changes) {
    struct expected_change {
        std::uint64_t who;
        int number;  // of its value; -1: none
    };
    struct mark {
        recorder::position at;
        std::size_t size;
    };
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        recorder changes;
        std::vector<expected_change> expected;
        std::vector<mark> marks;
        const auto values = [&] {
            int count = 0;
            for (const expected_change& change : expected) count += change.number >= 0;
            return count;
        };
        for (int step = 0; step < 1000; ++step) {
            const auto choice = random() % 20;
            const std::uint64_t e = random() % 50;
            if (choice < 9) {
                add_witness(changes, e, step);
                expected.push_back({e, step});
            } else if (choice < 10) {
                fake_value<bulky> given{};
                add_value(changes, change_kind::put, e, given);
                expected.push_back({e, -1});
            } else if (choice < 16) {
                changes.add(change_kind::destroy, e);
                expected.push_back({e, -1});
            } else if (choice < 18) {
                marks.push_back({changes.now(), expected.size()});
            } else if (!marks.empty()) {
                changes.rewind(marks.back().at);
                expected.resize(marks.back().size);
                marks.pop_back();
            }
            ASSERT_EQ(changes.size(), expected.size()) << "seed " << seed << " step " << step;
            ASSERT_EQ(witness::alive, values()) << "seed " << seed << " step " << step;
        }
        for (std::uint32_t i = 0; i < changes.size(); ++i) {
            ASSERT_EQ(changes.at(i).id, expected[i].who) << "seed " << seed;
            if (expected[i].number >= 0)
                ASSERT_EQ(value_at<witness>(changes, i).number, expected[i].number)
                    << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
