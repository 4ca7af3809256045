// Makes every allocation and every copy of every call by fragment fail once, like
// world_guarantee_test.cpp for C++ types. Linked with support/failing_allocations.cpp.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <array>
#include <new>
#include <string>
#include <utility>

#include "support/layouts.hpp"
#include "support/trouble.hpp"

namespace muster {
namespace {

using test::broken;
using test::fragile;

std::string long_text(int number) {
    return "a text that needs memory of its own, number " + std::to_string(number);
}

/// Full chunks of 8 rows: a fragment whose copies can throw, a fragment of strings, a tag and plain
/// ids.
template <class Layout>
struct fragments {
    using id_type = basic_id<Layout>;
    using world_type = basic_world<Layout>;

    world_type w;
    basic_fragment<fragile, Layout> health = w.template fragment<fragile>("health");
    basic_fragment<std::string, Layout> label = w.template fragment<std::string>("label");
    id_type tag = w.tag("a tag with a name that needs memory");
    id_type fresh = w.spawn();  // not a fragment yet
    basic_fragment<fragile, Layout> mana = w.template fragment<fragile>("mana");
    std::array<id_type, 8> weak, rich, bare, own;
    fragile breaks{100};
    std::string text = long_text(101);

    fragments() {
        for (std::size_t i = 0; i < 8; ++i) {
            const int number = static_cast<int>(i);
            weak[i] = w.spawn(with(health, fragile(number)));
            rich[i] = w.spawn(with(health, fragile(10 + number)), with(label, long_text(number)),
                              with(tag));
            bare[i] = w.spawn();
            w.spawn(with(mana, fragile(40 + number)));
            own[i] = w.spawn(long_text(20 + number), with(tag));
        }
        w.define(health).name("health").default_value(fragile(7));
        w.set(label, label, long_text(30));
    }

    std::string look() {
        std::string seen = detail::text("size ", w.size(), "\n");
        for (const id_type e : w.entities()) {
            const auto [chunk, row] = w.locate(e);
            seen += detail::text(e.key(), " row ", row, " \"", w.name(e), "\"");
            w.each_fragment(e, [&](id_type f, void* value) {
                seen += detail::text(" ", f.key(), ":");
                if (w.template try_get<fragile>(e, f) != nullptr)
                    seen += text_of(*static_cast<fragile*>(value));
                else if (w.template try_get<std::string>(e, f) != nullptr)
                    seen += *static_cast<std::string*>(value);
                else
                    seen += value == nullptr ? "tag" : "?";
            });
            seen += "\n";
        }
        return seen + text + text_of(breaks);
    }
};

template <class Layout>
class fragment_guarantee : public testing::Test {
protected:
    /// Makes `call(scene)` fail at each point where it can; the numbers are the least counts.
    /// Repeated, the call must succeed and have the effect of a call that never failed.
    template <class Call>
    void must_hold(int allocations, int copies, Call call) {
        std::string expected;
        {
            fragments<Layout> unharmed;
            call(unharmed);
            expected = unharmed.look();
        }
        EXPECT_GE(fail_everywhere(test::allocations, expected, call), allocations);
        EXPECT_GE(fail_everywhere(test::copies, expected, call), copies);
    }

private:
    template <class Call>
    int fail_everywhere(test::countdown& which, const std::string& expected, Call call) {
        int failures = 0;
        const int outside = fragile::count.living;
        for (int n = 0; n == failures && n < 1000; ++n) {
            SCOPED_TRACE(n);
            {
                fragments<Layout> s;
                const std::string before = s.look();
                const int living = fragile::count.living;
                which.start(n);
                try {
                    call(s);
                } catch (const std::bad_alloc&) {
                    ++failures;
                } catch (const broken&) {
                    ++failures;
                }
                which.stop();
                if (failures > n) {
                    EXPECT_EQ(s.look(), before);
                    EXPECT_EQ(fragile::count.living, living);
                    call(s);
                }
                EXPECT_EQ(s.look(), expected);
            }
            EXPECT_EQ(fragile::count.living, outside);
            EXPECT_EQ(fragile::count.misused, 0);
        }
        return failures;
    }
};
using presets = testing::Types<layouts::bound, layouts::exact>;
TYPED_TEST_SUITE(fragment_guarantee, presets, test::layout_names);

TYPED_TEST(fragment_guarantee, setting_values_by_fragment_is_all_or_nothing) {
    this->must_hold(3, 1, [](auto& s) { s.w.set(s.bare[0], s.health, s.breaks); });
    this->must_hold(3, 0, [](auto& s) { s.w.set(s.weak[3], s.label, s.text); });
    this->must_hold(0, 1, [](auto& s) { s.w.set(s.rich[3], s.health, s.breaks); });
    this->must_hold(3, 1, [](auto& s) { s.w.set(s.bare[1], s.fresh, s.breaks); });
    this->must_hold(3, 2, [](auto& s) {
        s.w.set(s.own[2], with(s.health, s.breaks), with(s.label, s.text), fragile(3));
    });
    this->must_hold(3, 1, [](auto& s) { s.w.add(s.bare[2], s.health); });
    this->must_hold(1, 1, [](auto& s) { s.w.set(s.weak[2], s.health); });
    this->must_hold(2, 0, [](auto& s) { s.w.set(s.weak[2], s.tag); });
    this->must_hold(3, 1, [](auto& s) { s.w.set_raw(s.bare[2], s.health, &s.breaks); });
}

TYPED_TEST(fragment_guarantee, spawning_with_fragments_is_all_or_nothing) {
    this->must_hold(2, 1, [](auto& s) { s.w.spawn(with(s.health, s.breaks)); });
    this->must_hold(4, 2, [](auto& s) {
        s.w.spawn(with(s.health, s.breaks), s.text, fragile(5), with(s.tag));
    });
    this->must_hold(
        4, 5, [](auto& s) { s.w.spawn_many(5, with(s.health, s.breaks), with(s.label, s.text)); });
    this->must_hold(3, 1, [](auto& s) { s.w.clone(s.rich[1], with(s.label, s.text)); });
    this->must_hold(3, 3, [](auto& s) { s.w.clone_many(3, s.rich[1]); });
    this->must_hold(3, 2, [](auto& s) {
        auto recipe = s.w.builder();
        recipe.set(s.health, s.breaks).set(s.label, s.text).set(s.tag);
        recipe.spawn();
    });
}

TYPED_TEST(fragment_guarantee, adding_needed_fragments_is_all_or_nothing) {
    const auto define = [](auto& s) {
        s.w.define(s.tag).needs(s.health, s.label);
        s.w.define(s.label).default_value(s.text).needs(s.tag);
    };
    this->must_hold(1, 0, [&](auto& s) { define(s); });
    this->must_hold(4, 1, [&](auto& s) {
        define(s);
        s.w.set(s.bare[3], s.tag);
    });
    this->must_hold(4, 1, [&](auto& s) {
        define(s);
        s.w.spawn(1, with(s.tag));
    });
    this->must_hold(4, 3, [&](auto& s) {
        define(s);
        s.w.spawn_many(3, with(s.tag));
    });
}

TYPED_TEST(fragment_guarantee, removing_and_destroying_fragments_is_all_or_nothing) {
    this->must_hold(2, 0, [](auto& s) { s.w.destroy(s.tag); });
    this->must_hold(2, 0, [](auto& s) { s.w.destroy(s.health); });
    this->must_hold(2, 0, [](auto& s) { s.w.destroy(s.label); });  // the fragment also has itself
    this->must_hold(2, 0, [](auto& s) {
        s.w.define(s.tag).when_destroyed(destroy_owners);
        s.w.destroy(s.tag);
    });
    this->must_hold(1, 0, [](auto& s) { s.w.remove(s.rich[4], s.health, s.tag); });
}

TYPED_TEST(fragment_guarantee, copying_a_fragment_is_all_or_nothing) {
    // Each chunk is copied completely or not at all; this fragment is in one chunk.
    this->must_hold(2, 8, [](auto& s) { s.w.copy_fragment(s.mana, s.fresh); });
}

}  // namespace
}  // namespace muster
