// Extensions of a world, as a later room uses them.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"

namespace muster {
namespace {

using test::code_of;

template <class Layout>
class extension_calls_of : public testing::Test {};
TYPED_TEST_SUITE(extension_calls_of, test::behavior_layouts, test::layout_names);

struct counter {
    int value = 0;
};

/// A fake room: counts the living values of a component.
template <class Layout>
struct census {
    explicit census(basic_world<Layout>& w) : owner(&w) {
        w.template define<counter>().on_insert([this] { ++living; }).on_remove([this] {
            --living;
        });
    }
    basic_world<Layout>* owner;
    int living = 0;
};

TYPED_TEST(extension_calls_of, an_extension_is_constructed_from_its_world) {
    basic_world<TypeParam> w;
    EXPECT_EQ(w.template find_extension<census<TypeParam>>(), nullptr);
    census<TypeParam>& made = w.template extension<census<TypeParam>>();
    EXPECT_EQ(made.owner, &w);
    EXPECT_EQ(&w.template extension<census<TypeParam>>(), &made);
    const basic_world<TypeParam>& seen = w;
    EXPECT_EQ(seen.template find_extension<census<TypeParam>>(), &made);
    const auto e = w.spawn(counter{1});
    EXPECT_EQ(made.living, 1);
    w.destroy(e);
    EXPECT_EQ(made.living, 0);
    EXPECT_EQ(w.size(), 0u);
}

TYPED_TEST(extension_calls_of, an_extension_that_takes_no_world_is_constructed_by_default) {
    basic_world<TypeParam> w;
    basic_world<TypeParam> other;
    w.template extension<counter>().value = 3;
    EXPECT_EQ(w.template extension<counter>().value, 3);
    EXPECT_EQ(other.template find_extension<counter>(), nullptr);
    EXPECT_EQ(other.template extension<counter>().value, 0);
}

struct alignas(128) wide {
    explicit wide(world&) {}
    std::byte room[256];
};

TEST(extension_calls, an_extension_may_be_over_aligned) {
    world w;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&w.extension<wide>()) % 128, 0u);
}

/// Values of the test that destructors report to: extensions outlive components.
struct report {
    int ended = 0;
    int ended_without = 0;
};
struct reporter {
    world* owner = nullptr;
    report* out = nullptr;
    explicit reporter(world& w, report& to) : owner(&w), out(&to) {}
    reporter(reporter&& other) noexcept : owner(other.owner), out(other.out) {
        other.owner = nullptr;
    }
    reporter& operator=(reporter&&) = delete;
    ~reporter() {
        if (owner == nullptr) return;
        counter* const found = owner->find_extension<counter>();
        ++(found != nullptr ? out->ended : out->ended_without);
    }
};
struct pinned_reporter : reporter {
    using reporter::reporter;
    pinned_reporter(pinned_reporter&&) = delete;
};

TEST(extension_calls, destructors_of_components_find_extensions) {
    report seen;
    {
        world w;
        w.extension<counter>();
        w.spawn(reporter(w, seen));
        w.define<reporter>();
        w.emplace<pinned_reporter>(w.spawn(), w, seen);
        w.defer();
        w.spawn(reporter(w, seen));  // never committed
    }
    EXPECT_EQ(seen.ended, 3);
    EXPECT_EQ(seen.ended_without, 0);
}

/// An extension with handles of its world, which still work while it is destroyed.
struct with_handles {
    explicit with_handles(world& w)
        : owner(w), moving(w.query<counter>()), think(w.system("think")) {
        w.spawn(counter{1});
    }
    ~with_handles() {
        EXPECT_EQ(moving.count(), 0u);
        EXPECT_EQ(owner.size(), 0u);
        EXPECT_EQ(owner.extension<counter>().value, 7);  // older: still there
        EXPECT_EQ(owner.find_extension<with_handles>(), nullptr);
        EXPECT_EQ(code_of([&] { owner.spawn(); }), errc::in_scope);
        EXPECT_EQ(code_of([&] { owner.extension<std::string>(); }), errc::in_scope);
        ++destroyed;
    }
    world& owner;
    basic_query<layouts::bound, counter> moving;
    system_handle think;
    static inline int destroyed = 0;
};

TEST(extension_calls, the_destructor_of_an_extension_may_read_the_world) {
    with_handles::destroyed = 0;
    {
        world w;
        w.extension<counter>().value = 7;
        w.extension<with_handles>();
        EXPECT_EQ(w.size(), 1u);
    }
    EXPECT_EQ(with_handles::destroyed, 1);
}

TEST(extension_calls, extensions_outlive_reset) {
    world w;
    w.extension<counter>().value = 1;
    w.spawn(counter{2});
    w.reset();
    EXPECT_EQ(w.extension<counter>().value, 1);
}

}  // namespace
}  // namespace muster
