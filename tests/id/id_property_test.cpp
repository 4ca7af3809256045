// Properties with shrinking: a failure prints the shortest failing input and its operations.
#include <muster/id/id.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "support/id_story.hpp"
#include "support/layouts.hpp"

namespace muster::test {
namespace {

template <class Layout>
void stories_agree() {
    rc::detail::checkGTest([](const std::vector<std::uint8_t>& bytes) {
        byte_source from(bytes);
        run_id_story<Layout>(story_options<Layout>(from), bytes);
    });
}

TEST(id_pool_property, any_story_agrees_with_the_model_on_bound) {
    stories_agree<layouts::bound>();
}
TEST(id_pool_property, any_story_agrees_with_the_model_on_compact) {
    stories_agree<layouts::compact>();
}
TEST(id_pool_property, any_story_agrees_with_the_model_on_exact) {
    stories_agree<layouts::exact>();
}
TEST(id_pool_property, any_story_agrees_with_the_model_on_packed) {
    stories_agree<layouts::packed>();
}
TEST(id_pool_property, any_story_agrees_with_the_model_when_versions_wrap) {
    stories_agree<nibble<exhaustion::wrap>>();
}
TEST(id_pool_property, any_story_agrees_with_the_model_with_tombstones) {
    stories_agree<tiny_bound<exhaustion::tombstone>>();
}

template <class Layout>
void packing_is_exact() {
    using id_type = basic_id<Layout>;
    rc::detail::checkGTest([](std::uint64_t key, std::uint64_t version, std::uint64_t world) {
        key &= Layout::last_key;
        version &= Layout::last_version;
        world &= Layout::last_world;
        const id_type e = id_type::pack(key, version, world);
        RC_ASSERT(e.unpack() == (id_parts{key, version, world}));
        RC_ASSERT(id_type::from_value(e.value()) == e);
        if constexpr (id_type::fits_a_double) RC_ASSERT(id_type::from_double(e.to_double()) == e);
    });
}

TEST(id_property, packing_is_exact_on_bound) {
    packing_is_exact<layouts::bound>();
}
TEST(id_property, packing_is_exact_on_compact) {
    packing_is_exact<layouts::compact>();
}
TEST(id_property, packing_is_exact_on_exact) {
    packing_is_exact<layouts::exact>();
}
TEST(id_property, packing_is_exact_on_packed) {
    packing_is_exact<layouts::packed>();
}

RC_GTEST_PROP(id_property, from_double_returns_an_id_or_throws, (double number)) {
    using exact_id = basic_id<layouts::exact>;
    const bool whole = number >= 0 && number < 9007199254740992.0 &&
                       static_cast<double>(static_cast<std::uint64_t>(number)) == number;
    try {
        const exact_id e = exact_id::from_double(number);
        RC_ASSERT(whole);
        RC_ASSERT(e.to_double() == number);
    } catch (const error& e) {
        RC_ASSERT(!whole);
        RC_ASSERT(e.code() == errc::id_out_of_range);
    }
}

}  // namespace
}  // namespace muster::test
