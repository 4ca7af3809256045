// Counts the work of a change: copies and moves of values, and allocations once chunks, edges and buffers exist.
// EXPECT_EQ is a promise; EXPECT_LE is what a change costs today, which must not grow.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>

#include "support/allocation_count.hpp"
#include "support/behavior_layouts.hpp"
#include "support/layouts.hpp"

namespace muster {
namespace {

struct operations {
    int copied = 0;
    int moved = 0;
    int copy_assigned = 0;
    int move_assigned = 0;
    int destroyed = 0;
};

/// Counts the operations on the objects of this type. Its copy constructor may throw, moves may not.
template <class Name>
struct counting {
    static inline operations count;
    int value = 0;

    explicit counting(int number = 0) noexcept : value(number) {}
    counting(const counting& other) : value(other.value) { ++count.copied; }
    counting(counting&& other) noexcept : value(other.value) { ++count.moved; }
    counting& operator=(const counting& other) {
        value = other.value;
        ++count.copy_assigned;
        return *this;
    }
    counting& operator=(counting&& other) noexcept {
        value = other.value;
        ++count.move_assigned;
        return *this;
    }
    ~counting() { ++count.destroyed; }
};
using subject = counting<struct name_of_subject>;
using bystander = counting<struct name_of_bystander>;  // the entity has it all the time

struct work {
    operations of_subject;
    operations of_bystander;
    std::size_t allocations = 0;
};

template <class Layout>
class work_count : public testing::Test {
protected:
    basic_world<Layout> w;
    std::optional<basic_observer<Layout, subject>> observer;
    int hook_calls = 0;
    basic_id<Layout> e = w.spawn(bystander(1));
    const subject original{7};

    void connect_hooks() {
        const auto hook = [this] { ++hook_calls; };
        w.template define<subject>().on_insert(hook).on_assign(hook).on_remove(hook);
    }
    void observe() { observer.emplace(w.template observer<subject>().template removed<subject>()); }

    /// Counts the work of `call` in a world that has done it before. `prepare` undoes it.
    template <class Prepare, class Call>
    work measure(Prepare prepare, Call call) {
        for (int i = 0; i < 4; ++i) {
            prepare();
            call();
            if (observer) observer->clear();
        }
        prepare();
        subject::count = {};
        bystander::count = {};
        const std::size_t before = test::blocks.allocated;
        call();
        const std::size_t after = test::blocks.allocated;
        return {subject::count, bystander::count, after - before};
    }
    template <class Call>
    work measure_new(Call call) {
        return measure([&] { w.template remove<subject>(e); }, call);
    }
    template <class Call>
    work measure_present(Call call) {
        return measure([&] { w.set(e, subject(1)); }, call);
    }
    work set_new() {
        return measure_new([&] { w.set(e, subject(2)); });
    }
    work set_new_copy() {
        return measure_new([&] { w.set(e, original); });
    }
    work set_present() {
        return measure_present([&] { w.set(e, subject(2)); });
    }
    work set_present_copy() {
        return measure_present([&] { w.set(e, original); });
    }
    work remove() {
        return measure_present([&] { w.template remove<subject>(e); });
    }
    work spawn() {
        basic_id<Layout> made;
        return measure([&] { w.destroy(made); }, [&] { made = w.spawn(subject(2), bystander(2)); });
    }
    work destroy() {
        basic_id<Layout> made;
        return measure([&] { made = w.spawn(subject(2), bystander(2)); }, [&] { w.destroy(made); });
    }
};
TYPED_TEST_SUITE(work_count, test::behavior_layouts, test::layout_names);

// ---- without hooks -----------------------------------------------------------------------------

TYPED_TEST(work_count, a_new_value_is_moved_once_into_its_row) {
    const work done = this->set_new();
    EXPECT_EQ(done.of_subject.copied, 0);
    EXPECT_EQ(done.of_subject.moved, 1);
    EXPECT_EQ(done.of_subject.destroyed, 1);  // the argument
    EXPECT_EQ(done.of_bystander.moved, 1);
    EXPECT_EQ(done.allocations, 0u);
}

TYPED_TEST(work_count, a_present_value_is_assigned_and_not_constructed) {
    const work done = this->set_present();
    EXPECT_EQ(done.of_subject.copied, 0);
    EXPECT_EQ(done.of_subject.moved, 0);
    EXPECT_EQ(done.of_subject.move_assigned, 1);
    EXPECT_EQ(done.of_bystander.moved, 0);
    EXPECT_EQ(done.allocations, 0u);
}

TYPED_TEST(work_count, a_value_that_is_passed_by_reference_is_copied_once) {
    const work is_new = this->set_new_copy();
    EXPECT_EQ(is_new.of_subject.copied, 1);
    EXPECT_LE(is_new.of_subject.moved, 2);
    EXPECT_EQ(is_new.allocations, 0u);
    const work is_present = this->set_present_copy();
    EXPECT_EQ(is_present.of_subject.copied + is_present.of_subject.copy_assigned, 1);
    EXPECT_LE(is_present.of_subject.moved, 1);
    EXPECT_EQ(is_present.of_bystander.moved, 0);
    EXPECT_EQ(is_present.allocations, 0u);
}

TYPED_TEST(work_count, a_removed_value_is_destroyed_where_it_is) {
    const work done = this->remove();
    EXPECT_EQ(done.of_subject.moved, 0);
    EXPECT_EQ(done.of_subject.destroyed, 1);
    EXPECT_EQ(done.of_bystander.moved, 1);
    EXPECT_EQ(done.allocations, 0u);
}

TYPED_TEST(work_count, a_spawned_value_is_moved_once_and_a_destroyed_one_is_not) {
    const work made = this->spawn();
    EXPECT_EQ(made.of_subject.copied, 0);
    EXPECT_EQ(made.of_subject.moved, 1);
    EXPECT_EQ(made.allocations, 0u);
    const work ended = this->destroy();
    EXPECT_EQ(ended.of_subject.moved, 0);
    EXPECT_EQ(ended.of_subject.destroyed, 1);
    EXPECT_EQ(ended.allocations, 0u);
}

// ---- with hooks or observers -------------------------------------------------------------------

TYPED_TEST(work_count, changes_with_hooks_allocate_nothing) {
    this->connect_hooks();
    const work is_new = this->set_new();
    EXPECT_EQ(is_new.of_subject.copied, 0);
    EXPECT_LE(is_new.of_subject.moved, 2);
    EXPECT_EQ(is_new.of_bystander.moved, 1);
    EXPECT_EQ(is_new.allocations, 0u);
    const work is_present = this->set_present();
    EXPECT_EQ(is_present.of_subject.copied, 0);
    EXPECT_LE(is_present.of_subject.moved, 3);
    EXPECT_EQ(is_present.of_bystander.moved, 0);
    EXPECT_EQ(is_present.allocations, 0u);
    const work removed = this->remove();
    EXPECT_EQ(removed.of_subject.copied, 0);
    EXPECT_LE(removed.of_subject.moved, 1);
    EXPECT_EQ(removed.of_bystander.moved, 1);
    EXPECT_EQ(removed.allocations, 0u);
    const work made = this->spawn();
    EXPECT_LE(made.of_subject.moved, 2);
    EXPECT_EQ(made.allocations, 0u);
    const work ended = this->destroy();
    EXPECT_EQ(ended.of_subject.moved, 0);
    EXPECT_EQ(ended.allocations, 0u);
    // Two calls in each of 5 rounds. The first removal and the first destruction find nothing.
    EXPECT_EQ(this->hook_calls, 9 + 10 + 10 + 9 + 10);
}

TYPED_TEST(work_count, hooks_do_not_add_copies) {
    this->connect_hooks();
    const work is_new = this->set_new_copy();
    EXPECT_EQ(is_new.of_subject.copied, 1);
    EXPECT_LE(is_new.of_subject.moved, 5);
    EXPECT_EQ(is_new.allocations, 0u);
    const work is_present = this->set_present_copy();
    EXPECT_EQ(is_present.of_subject.copied, 1);
    EXPECT_LE(is_present.of_subject.moved, 6);
    EXPECT_EQ(is_present.allocations, 0u);
    EXPECT_GT(this->hook_calls, 0);
}

TYPED_TEST(work_count, an_observer_adds_no_moves_and_no_allocations) {
    this->observe();
    const work is_new = this->set_new();
    EXPECT_EQ(this->observer->size(), 1u);
    EXPECT_EQ(is_new.of_subject.copied, 0);
    EXPECT_EQ(is_new.of_subject.moved, 1);
    EXPECT_EQ(is_new.allocations, 0u);
    const work is_present = this->set_present();
    EXPECT_EQ(is_present.of_subject.copied, 0);
    EXPECT_EQ(is_present.of_subject.moved, 0);
    EXPECT_EQ(is_present.allocations, 0u);
    const work removed = this->remove();
    EXPECT_EQ(removed.of_subject.moved, 0);
    EXPECT_EQ(removed.allocations, 0u);
    EXPECT_EQ(this->observer->size(), 1u);
}

// ---- in a scope --------------------------------------------------------------------------------

TYPED_TEST(work_count, a_deferred_change_allocates_nothing) {
    using scope = basic_deferred<TypeParam>;
    const work is_new = this->measure_new([&] {
        const scope changes{this->w};
        this->w.set(this->e, subject(2));
    });
    EXPECT_EQ(is_new.of_subject.copied, 0);
    EXPECT_LE(is_new.of_subject.moved, 2);
    EXPECT_EQ(is_new.of_bystander.moved, 1);
    EXPECT_EQ(is_new.allocations, 0u);
    const work is_present = this->measure_present([&] {
        const scope changes{this->w};
        this->w.set(this->e, subject(2));
    });
    EXPECT_EQ(is_present.of_subject.copied, 0);
    EXPECT_LE(is_present.of_subject.moved, 3);
    EXPECT_EQ(is_present.of_bystander.moved, 0);
    EXPECT_EQ(is_present.allocations, 0u);
    const work removed = this->measure_present([&] {
        const scope changes{this->w};
        this->w.template remove<subject>(this->e);
    });
    EXPECT_LE(removed.of_subject.moved, 1);
    EXPECT_EQ(removed.allocations, 0u);
}

TYPED_TEST(work_count, several_deferred_values_of_an_entity_move_its_row_once) {
    struct another {
        int value = 0;
    };
    const work done =
        this->measure([&] { (void)this->w.template remove<subject, another>(this->e); },
                      [&] {
                          const basic_deferred<TypeParam> changes{this->w};
                          this->w.set(this->e, subject(1));
                          this->w.set(this->e, another{2});
                          this->w.set(this->e, subject(3));
                      });
    EXPECT_EQ(done.of_bystander.moved, 1);
    EXPECT_EQ(done.allocations, 0u);
    EXPECT_EQ(this->w.template get<subject>(this->e).value, 3);
}

// ---- memory ------------------------------------------------------------------------------------

TYPED_TEST(work_count, counts_beyond_a_limit_are_refused_before_memory_is_allocated) {
    using builder = basic_builder<TypeParam>;
    struct small {
        char value = 0;
    };
    basic_world<TypeParam>& world = this->w;
    const basic_id<TypeParam> prototype = world.spawn(small{1});
    const auto other = world.template fragment<small>();
    struct stored_outside {
        int value = 0;
    };
    world.template define<stored_outside>().sparse();
    world.template reserve<small>(10);
    builder b = world.builder();
    b.set(small{2});
    constexpr std::size_t all = ~std::size_t{0};
    for (const std::size_t count :
         {(std::size_t{1} << 27) + 1, std::size_t{1} << 61, all / 8 + 2, all - 1, all}) {
        const auto expect_refused = [&](const char* call, auto create) {
            const std::size_t size = world.size();
            const std::size_t before = test::blocks.bytes;
            bool is_refused = false;
            try {
                create();
            } catch (const error& caught) {
                is_refused = caught.code() == errc::limit || caught.code() == errc::id_overflow;
            }
            EXPECT_TRUE(is_refused) << call << ' ' << count;
            EXPECT_LE(test::blocks.bytes - before, 100'000u) << call << ' ' << count;
            EXPECT_EQ(world.size(), size);
        };
        for (const bool is_deferred : {false, true}) {
            if (is_deferred) world.defer();
            expect_refused("spawn_many", [&] { (void)world.spawn_many(count, small{}); });
            expect_refused("spawn_many with a fragment",
                           [&] { (void)world.spawn_many(count, with(other, small{})); });
            expect_refused("spawn_rows",
                           [&] { world.spawn_rows(count, [](basic_rows<TypeParam>) {}, small{}); });
            expect_refused("clone_many", [&] { (void)world.clone_many(count, prototype); });
            expect_refused("clone_many with a value",
                           [&] { (void)world.clone_many(count, prototype, small{}); });
            expect_refused("builder::spawn_many", [&] { (void)b.spawn_many(count); });
            expect_refused("builder::clone_many", [&] { (void)b.clone_many(count, prototype); });
            if (is_deferred) world.cancel();
        }
        expect_refused("reserve", [&] { world.template reserve<small>(count); });
        expect_refused("reserve, both",
                       [&] { world.template reserve<stored_outside, small>(count); });
        if (count >> 40 == 0) continue;  // so many entities without rows are possible
        expect_refused("spawn_many, sparse",
                       [&] { (void)world.spawn_many(count, stored_outside{}); });
        expect_refused("reserve, sparse", [&] { world.template reserve<stored_outside>(count); });
        expect_refused("spawn_many of empty ones", [&] { (void)world.spawn_many(count); });
        expect_refused("reserve of ids", [&] { world.reserve(count); });
    }
}

TYPED_TEST(work_count, collecting_garbage_frees_the_memory_of_ended_command_buffers) {
    using buffer = basic_command_buffer<TypeParam>;
    basic_world<TypeParam>& world = this->w;
    world.collect_garbage();
    const auto use = [&](int buffers, int commands) {
        for (int i = 0; i < buffers; ++i) {
            buffer b(world);
            for (int j = 0; j < commands; ++j) b.set(this->e, subject(j));
            if (i % 2 == 0) world.submit(b);
        }
        world.collect_garbage();
        return test::blocks.living();
    };
    (void)use(2, 2);
    const std::size_t few = use(2, 2);
    EXPECT_EQ(use(8, 1000), few);
}

// ---- sparse fragments --------------------------------------------------------------------------

TYPED_TEST(work_count, changes_of_a_sparse_fragment_move_no_other_value) {
    this->w.template define<subject>().sparse();
    const work is_new = this->set_new();
    EXPECT_EQ(is_new.of_subject.copied, 0);
    EXPECT_EQ(is_new.of_subject.moved, 1);
    const work is_present = this->set_present();
    EXPECT_EQ(is_present.of_subject.moved, 0);
    EXPECT_EQ(is_present.of_subject.move_assigned, 1);
    const work removed = this->remove();
    EXPECT_EQ(removed.of_subject.moved, 0);
    for (const work& done : {is_new, is_present, removed}) {
        EXPECT_EQ(done.of_bystander.moved, 0);
        EXPECT_EQ(done.allocations, 0u);
    }
}

TYPED_TEST(work_count, hooks_of_a_sparse_fragment_allocate_nothing) {
    this->w.template define<subject>().sparse();
    this->connect_hooks();
    const work is_new = this->set_new();
    EXPECT_EQ(is_new.of_subject.moved, 1);
    const work is_present = this->set_present();
    EXPECT_LE(is_present.of_subject.moved, 4);
    const work removed = this->remove();
    EXPECT_EQ(removed.of_subject.moved, 0);
    for (const work& done : {is_new, is_present, removed}) {
        EXPECT_EQ(done.of_subject.copied, 0);
        EXPECT_EQ(done.of_bystander.moved, 0);
        EXPECT_EQ(done.allocations, 0u);
    }
    EXPECT_GT(this->hook_calls, 0);
}

}  // namespace
}  // namespace muster
