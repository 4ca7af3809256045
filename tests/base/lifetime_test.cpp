#include <muster/base/error.hpp>
#include <muster/base/lifetime.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;

struct owner {
    int value = 0;
    lifetime life;
};
lifetime_ptr<owner> handle_to(owner& of) {
    return {of, of.life.ref()};
}

static_assert(std::is_trivially_copyable_v<lifetime_ref>);
static_assert(std::is_trivially_copyable_v<lifetime_ptr<owner>>);
static_assert(sizeof(lifetime_ref) == 16);

TEST(lifetime, of_a_null_handle_is_over) {
    const lifetime_ref none;
    EXPECT_TRUE(none.is_null());
    EXPECT_FALSE(none.is_alive());
    EXPECT_EQ(code_of([&] { none.require(); }), errc::null_handle);
    const lifetime_ptr<owner> handle;
    EXPECT_TRUE(handle.is_null());
    EXPECT_EQ(handle.find(), nullptr);
    EXPECT_EQ(code_of([&] { (void)handle.get(); }), errc::null_handle);
    EXPECT_EQ(handle, lifetime_ptr<owner>());
}

TEST(lifetime, ends_with_its_owner) {
    std::optional<owner> object(std::in_place);
    const auto handle = handle_to(*object);
    const auto copy = handle;
    EXPECT_EQ(handle.find(), &*object);
    EXPECT_EQ(&copy.get(), &*object);
    EXPECT_EQ(code_of([&] { handle.require(); }), std::nullopt);
    object.reset();
    EXPECT_FALSE(handle.is_null());
    EXPECT_EQ(handle.find(), nullptr);
    EXPECT_EQ(copy.find(), nullptr);
    EXPECT_EQ(code_of([&] { handle.require(); }), errc::world_ended);
    EXPECT_EQ(code_of([&] { (void)copy.get(); }), errc::world_ended);
}

TEST(lifetime, of_a_new_object_at_the_same_address_is_another) {
    std::optional<owner> object(std::in_place);
    const auto before = handle_to(*object);
    object.reset();
    object.emplace();
    const auto after = handle_to(*object);
    EXPECT_EQ(before.find(), nullptr);
    EXPECT_EQ(after.find(), &*object);
    EXPECT_NE(before, after);
    EXPECT_EQ(after, handle_to(*object));
}

TEST(lifetime, keeps_old_handles_invalid_however_often_its_slot_is_taken) {
    std::vector<lifetime_ref> ended;
    for (int i = 0; i < 70'000; ++i) {
        const lifetime mine;
        EXPECT_TRUE(mine.ref().is_alive());
        if (i % 1000 == 0) ended.push_back(mine.ref());
        if (i == 69'999)
            for (const lifetime_ref& old : ended) EXPECT_FALSE(old.is_alive());
    }
    for (const lifetime_ref& old : ended) EXPECT_FALSE(old.is_alive());
}

TEST(lifetime, of_many_objects_at_once_are_independent) {
    std::vector<std::unique_ptr<owner>> objects;
    std::vector<lifetime_ptr<owner>> handles;
    for (int i = 0; i < 1000; ++i) {
        objects.push_back(std::make_unique<owner>(i));
        handles.push_back(handle_to(*objects.back()));
    }
    for (std::size_t i = 0; i < objects.size(); i += 2) objects[i].reset();
    for (std::size_t i = 0; i < objects.size(); ++i) {
        ASSERT_EQ(handles[i].find(), objects[i].get());
        if (objects[i] != nullptr) {
            EXPECT_EQ(handles[i].get().value, static_cast<int>(i));
        }
    }
}

TEST(lifetime, may_begin_and_end_on_many_threads) {
    const lifetime_ref old = lifetime().ref();  // its slot is taken again meanwhile
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 5000; ++round) {
                std::optional<owner> object(std::in_place);
                const auto handle = handle_to(*object);
                wrong += handle.find() != &*object;
                wrong += old.is_alive();
                object.reset();
                wrong += handle.find() != nullptr;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
