#include <muster/storage/id_column.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace MUSTER_NAMESPACE::detail {
namespace {

template <class Rep>
class id_column_of : public testing::Test {};
using widths = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(id_column_of, widths);

TYPED_TEST(id_column_of, reads_the_integer_that_an_id_is) {
    const TypeParam ids[] = {0, 1, 0x5A, static_cast<TypeParam>(~std::uint64_t{0})};
    for (const TypeParam& id : ids)
        EXPECT_EQ(read_id(reinterpret_cast<const std::byte*>(&id), sizeof id),
                  static_cast<std::uint64_t>(id));
}

TYPED_TEST(id_column_of, writes_no_byte_outside_of_the_id) {
    TypeParam ids[] = {7, 7, 7};
    const auto all = static_cast<TypeParam>(~std::uint64_t{0});
    write_id(reinterpret_cast<std::byte*>(&ids[1]), all, sizeof(TypeParam));
    EXPECT_EQ(ids[0], 7);
    EXPECT_EQ(ids[1], all);
    EXPECT_EQ(ids[2], 7);
    write_id(reinterpret_cast<std::byte*>(&ids[1]), 0x5A, sizeof(TypeParam));
    EXPECT_EQ(ids[1], 0x5A);
    EXPECT_EQ(ids[2], 7);
}

TYPED_TEST(id_column_of, an_id_need_not_be_aligned) {
    std::byte bytes[1 + sizeof(TypeParam)]{};
    write_id(bytes + 1, 0x7B, sizeof(TypeParam));
    EXPECT_EQ(read_id(bytes + 1, sizeof(TypeParam)), 0x7Bu);
    EXPECT_EQ(bytes[0], std::byte{0});
}

TYPED_TEST(id_column_of, a_span_reads_and_writes_the_ids_of_an_array) {
    TypeParam ids[10]{};
    const id_span all{reinterpret_cast<std::byte*>(ids), 10, sizeof(TypeParam)};
    for (std::size_t i = 0; i < all.count; ++i) all.set(i, 3 * i + 1);
    for (std::size_t i = 0; i < all.count; ++i) {
        EXPECT_EQ(ids[i], 3 * i + 1);
        EXPECT_EQ(all.at(i), 3 * i + 1);
    }
}

TEST(id_column, a_span_without_a_width_has_ids_of_eight_bytes) {
    std::uint64_t ids[] = {1, 1ull << 63};
    const id_span all{reinterpret_cast<std::byte*>(ids), 2};
    EXPECT_EQ(all.at(1), 1ull << 63);
    EXPECT_EQ(id_span{}.count, 0u);
}

TYPED_TEST(id_column_of, copies_a_span_of_ids) {
    TypeParam from[] = {1, 2, 3};
    TypeParam to[] = {7, 7, 7, 7};
    const auto span = [](TypeParam* at, std::size_t count) {
        return id_span{reinterpret_cast<std::byte*>(at), count, sizeof(TypeParam)};
    };
    span(from, 3).copy_to(span(to, 4));
    EXPECT_EQ(to[0], 1);
    EXPECT_EQ(to[2], 3);
    EXPECT_EQ(to[3], 7);
    span(nullptr, 0).copy_to(span(nullptr, 0));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
