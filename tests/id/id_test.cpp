#include <muster/id/id.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "support/layouts.hpp"

namespace muster {
namespace {

using compact_id = basic_id<layouts::compact>;
using exact_id = basic_id<layouts::exact>;
using packed_id = basic_id<layouts::packed>;

template <class Layout>
class id_of : public testing::Test {};
using all_layouts =
    testing::Types<layouts::bound, layouts::compact, layouts::exact, layouts::packed,
                   test::nibble<exhaustion::retire>, test::nibble<exhaustion::wrap>,
                   test::nibble_from_1<exhaustion::tombstone>, test::tiny_bound<exhaustion::retire>,
                   test::least<exhaustion::retire>>;
TYPED_TEST_SUITE(id_of, all_layouts, test::layout_names);

TYPED_TEST(id_of, is_trivially_copyable_and_as_large_as_its_integer) {
    using id_type = basic_id<TypeParam>;
    static_assert(std::is_trivially_copyable_v<id_type>);
    static_assert(sizeof(id_type) == sizeof(typename TypeParam::rep));
    static_assert(std::is_nothrow_default_constructible_v<id_type>);
    static_assert(!std::is_convertible_v<id_type, bool>);
    static_assert(!std::is_convertible_v<typename TypeParam::rep, id_type>);
}

TYPED_TEST(id_of, unpack_returns_the_packed_parts_at_every_limit) {
    using id_type = basic_id<TypeParam>;
    for (const std::uint64_t key : {std::uint64_t{0}, TypeParam::last_key / 2, TypeParam::last_key})
        for (const std::uint64_t version :
             {std::uint64_t{0}, TypeParam::last_version / 2, TypeParam::last_version})
            for (const std::uint64_t world :
                 {std::uint64_t{0}, TypeParam::last_world / 2, TypeParam::last_world}) {
                const id_type e = id_type::pack(key, version, world);
                const auto [k, v, w] = e.unpack();
                EXPECT_EQ(k, key);
                EXPECT_EQ(v, version);
                EXPECT_EQ(w, world);
                EXPECT_EQ(e.key(), key);
                EXPECT_EQ(e.version(), version);
                EXPECT_EQ(e.world(), world);
                EXPECT_EQ(id_type::from_value(e.value()), e);
            }
}

TYPED_TEST(id_of, parts_that_do_not_fit_are_refused) {
    using id_type = basic_id<TypeParam>;
    const auto refused = [](std::uint64_t key, std::uint64_t version, std::uint64_t world) {
        try {
            (void)id_type::pack(key, version, world);
            return false;
        } catch (const error& e) {
            return e.code() == errc::id_out_of_range;
        }
    };
    constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t beyond : {TypeParam::last_key + 1, huge})
        EXPECT_TRUE(refused(beyond, 0, 0));
    for (const std::uint64_t beyond : {TypeParam::last_version + 1, huge})
        EXPECT_TRUE(refused(0, beyond, 0));
    for (const std::uint64_t beyond : {TypeParam::last_world + 1, huge})
        EXPECT_TRUE(refused(0, 0, beyond));
    EXPECT_FALSE(refused(TypeParam::last_key, TypeParam::last_version, TypeParam::last_world));
}

TYPED_TEST(id_of, the_null_id_is_the_default_and_false) {
    using id_type = basic_id<TypeParam>;
    constexpr id_type null{};
    EXPECT_TRUE(null.is_null());
    EXPECT_FALSE(null);
    EXPECT_EQ(null.value(), TypeParam::null_value);
    EXPECT_EQ(to_string(null), "E:null");
    const id_type other =
        id_type::pack(TypeParam::first_key, TypeParam::first_version, TypeParam::last_world);
    EXPECT_TRUE(other);
    EXPECT_NE(other, null);
}

TYPED_TEST(id_of, the_last_version_is_a_tombstone_unless_versions_wrap) {
    using id_type = basic_id<TypeParam>;
    const bool wraps = TypeParam::on_exhaustion == exhaustion::wrap;
    const auto last =
        id_type::pack(TypeParam::first_key, TypeParam::last_version, TypeParam::last_world);
    const auto before =
        id_type::pack(TypeParam::first_key, TypeParam::last_version - 1, TypeParam::last_world);
    EXPECT_EQ(last.is_tombstone(), !wraps);
    EXPECT_FALSE(before.is_tombstone());
}

TYPED_TEST(id_of, is_ordered_and_hashed_like_its_integer) {
    using id_type = basic_id<TypeParam>;
    std::vector<id_type> ids;
    for (std::uint64_t key = 0; key < 2; ++key)
        for (std::uint64_t version = 0; version < 2; ++version)
            ids.push_back(id_type::pack(key, version, TypeParam::last_world));
    std::sort(ids.begin(), ids.end());
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end(),
                               [](id_type a, id_type b) { return a.value() < b.value(); }));
    EXPECT_TRUE((ids[0] <=> ids[1]) < 0);
    EXPECT_TRUE((ids[0] <=> ids[0]) == 0);
    EXPECT_EQ(std::unordered_set<id_type>(ids.begin(), ids.end()).size(), 4u);
    EXPECT_EQ(std::set<id_type>(ids.begin(), ids.end()).size(), 4u);
}

TEST(id, works_at_compile_time) {
    constexpr id e = id::pack(42, 3, 1);
    static_assert(e.key() == 42 && e.version() == 3 && e.world() == 1);
    static_assert(e && !id{} && e != id{} && id{} < e);
    static_assert(e == id::from_value(0x0001'0003'0000'002A));
    static_assert(std::hash<id>{}(e) == e.value());
    static_assert(exact_id::from_double(exact_id::pack(7, 9).to_double()) == exact_id::pack(7, 9));
    static_assert(std::bit_cast<std::uint64_t>(e) == e.value());
}

TEST(id, prints_world_key_and_version) {
    EXPECT_EQ(to_string(id::pack(0, 0, 1)), "E:1-0[0]");
    EXPECT_EQ(to_string(id::pack(42, 3, 65535)), "E:65535-42[3]");
    EXPECT_EQ(to_string(compact_id::pack(0, 0)), "E:0[0]");
    EXPECT_EQ(to_string(compact_id{}), "E:null");
    std::ostringstream out;
    out << id::pack(7, 1, 2) << ' ' << packed_id::pack(5, 1) << ' ' << id{};
    EXPECT_EQ(out.str(), "E:2-7[1] E:5[1] E:null");
}

TEST(id, errors_name_the_part_that_does_not_fit_and_its_maximum) {
    const auto sentence = [](auto call) -> std::string {
        try {
            call();
        } catch (const error& e) {
            return e.what();
        }
        return "nothing";
    };
    EXPECT_EQ(sentence([] { (void)compact_id::pack(1 << 20, 0); }),
              "key 1048576 does not fit in 20 bits: the largest is 1048575");
    EXPECT_EQ(sentence([] { (void)compact_id::pack(0, 4096); }),
              "version 4096 does not fit in 12 bits: the largest is 4095");
    EXPECT_EQ(sentence([] { (void)compact_id::pack(0, 0, 1); }),
              "world 1 does not fit: this layout has no world bits");
    EXPECT_EQ(sentence([] { (void)basic_id<test::least<exhaustion::wrap>>::pack(2, 0); }),
              "key 2 does not fit in 1 bit: the largest is 1");
}

TEST(id, bits_beyond_the_layout_make_a_different_id) {
    const packed_id e = packed_id::pack(5, 1);
    const packed_id forged = packed_id::from_value(e.value() | std::uint64_t{1} << 50);
    EXPECT_NE(forged, e);
    EXPECT_EQ(forged.key(), e.key());
    EXPECT_EQ(forged.version(), e.version());
}

TEST(id, round_trips_through_a_double) {
    for (const exact_id e :
         {exact_id{}, exact_id::pack(1, 1), exact_id::pack(0xF'FFFF, 0x1'FFFF'FFFF),
          exact_id::pack(0, 0x1'FFFF'FFFF), exact_id::pack(0xF'FFFF, 0)})
        EXPECT_EQ(exact_id::from_double(e.to_double()), e);
    EXPECT_EQ(exact_id::pack(1, 1).to_double(), 1048577.0);
    EXPECT_EQ(compact_id::from_double(compact_id{}.to_double()), compact_id{});
}

TEST(id, from_double_rejects_numbers_that_are_not_ids) {
    using limits = std::numeric_limits<double>;
    for (const double d : {0.5, -1.0, 1048577.25, 9007199254740992.0, 1e300, limits::infinity(),
                           -limits::infinity(), limits::quiet_NaN(), limits::denorm_min()})
        try {
            (void)exact_id::from_double(d);
            ADD_FAILURE() << d;
        } catch (const error& e) {
            EXPECT_EQ(e.code(), errc::id_out_of_range) << d;
        }
    EXPECT_EQ(exact_id::from_double(9007199254740991.0).value(), 9007199254740991u);
    // The conversion does not drop bits beyond the layout.
    const exact_id forged =
        exact_id::from_value(exact_id::pack(1, 1).value() | std::uint64_t{1} << 60);
    EXPECT_THROW((void)exact_id::from_double(forged.to_double()), error);
    try {
        (void)exact_id::from_double(1e-9);
    } catch (const error& e) {
        EXPECT_STREQ(
            e.what(),
            "the number 1.0000000000000001e-09 is not an id: ids are whole numbers from 0 to "
            "9007199254740991");
    }
}

template <class Id>
concept has_double = requires(Id e) { e.to_double(); };

TEST(id, only_layouts_that_fit_a_double_convert_to_one) {
    static_assert(has_double<exact_id> && has_double<compact_id> && has_double<packed_id>);
    static_assert(!has_double<id>);
    // 40 bits, but its null id is all ones.
    using wide_null = basic_id<layout<std::uint64_t, id_bits{.key = 20, .version = 20}>>;
    static_assert(!has_double<wide_null>);
}

}  // namespace
}  // namespace muster
