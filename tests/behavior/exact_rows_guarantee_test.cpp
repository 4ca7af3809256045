// Makes every allocation and every copy of the creation of rows with exact ids fail once. Linked
// with support/failing_allocations.cpp.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "support/behavior_layouts.hpp"
#include "support/room_world.hpp"
#include "support/trouble.hpp"

namespace muster {
namespace {

using test::broken;
using test::fragile;

template <class Layout>
struct exact_rows_guarantee : testing::Test {
    using id_type = basic_id<Layout>;

    struct scene {
        test::room_world<Layout> w;
        detail::chunk_data* into = nullptr;
        detail::fragment_data* set[2]{};
        std::vector<id_type> wanted;
        std::vector<fragile> values;
        bool relocates = false;

        scene(const std::vector<std::uint64_t>& keys, bool moves) : relocates(moves) {
            auto& parts = w.parts();
            for (int i = 0; i < 5; ++i) w.destroy(w.spawn(fragile(i)));
            set[0] = &parts.template ensure_fragment<fragile>();
            set[1] = &parts.template ensure_fragment<std::string>();
            into = &parts.catalog.ensure_set(set);
            for (const std::uint64_t key : keys) {
                const auto* const slot = parts.find_record(Layout::first_key + key);
                const std::uint64_t version =
                    slot == nullptr ? Layout::first_version : slot->version();
                wanted.push_back(
                    id_type::assemble(Layout::first_key + key, version, w.parts().number.value()));
                values.emplace_back(static_cast<int>(key));
            }
        }
        void call() {
            const void* from[] = {values.data()};
            w.parts().spawner.spawn_rows_at(
                {reinterpret_cast<std::byte*>(wanted.data()), wanted.size(), sizeof(id_type)},
                *into, {{set, 1}, {from, 1}, 1, relocates});
        }
        /// Makes the vector valid again after its values have left.
        void refill() {
            if (!relocates) return;
            for (fragile& value : values) ::new (&value) fragile(0);
        }
        std::string look() {
            std::string seen = detail::text(w.size(), " of ", into->size, ":");
            for (const id_type e : w.entities())
                seen += detail::text(" ", to_string(e), "=", text_of(w.template get<fragile>(e)));
            return seen;
        }
    };

    void must_hold(int allocations, const std::vector<std::uint64_t>& keys, bool relocates) {
        for (test::countdown* which : {&test::allocations, &test::copies}) {
            int failures = 0;
            for (int n = 0; n == failures && n < 1000; ++n) {
                SCOPED_TRACE(n);
                scene s(keys, relocates);
                const std::string before = s.look();
                const int living = fragile::count.living;
                which->start(n);
                try {
                    s.call();
                } catch (const std::bad_alloc&) {
                    ++failures;
                } catch (const broken&) {
                    ++failures;
                }
                which->stop();
                if (failures > n) {
                    EXPECT_EQ(s.look(), before);
                    EXPECT_EQ(fragile::count.living, living);
                    for (std::size_t i = 0; i < keys.size(); ++i)
                        EXPECT_EQ(text_of(s.values[i]),
                                  text_of(fragile(static_cast<int>(keys[i]))));
                    s.call();
                }
                s.refill();
                EXPECT_EQ(s.w.size(), keys.size());
                for (std::size_t i = 0; i < keys.size(); ++i)
                    EXPECT_EQ(text_of(s.w.template get<fragile>(s.wanted[i])),
                              text_of(fragile(static_cast<int>(keys[i]))));
                // Free and fresh keys continue as if nothing had failed.
                scene unharmed(keys, relocates);
                unharmed.call();
                unharmed.refill();
                for (int i = 0; i < 10; ++i) EXPECT_EQ(s.w.spawn().key(), unharmed.w.spawn().key());
            }
            EXPECT_GE(failures, which == &test::allocations ? allocations
                                : relocates                 ? 0
                                                            : static_cast<int>(keys.size()));
        }
        EXPECT_EQ(fragile::count.misused, 0);
    }
};
TYPED_TEST_SUITE(exact_rows_guarantee, test::behavior_layouts, test::layout_names);

TYPED_TEST(exact_rows_guarantee, rows_of_exact_ids_are_all_or_none) {
    for (const bool relocates : {false, true}) {
        this->must_hold(1, {5, 6, 7, 8}, relocates);
        this->must_hold(3, {5, 6, 9, 300, 200, 100'000, 400}, relocates);
        this->must_hold(3, {0, 3, 5, 1, 7000, 9}, relocates);
    }
}

}  // namespace
}  // namespace muster
