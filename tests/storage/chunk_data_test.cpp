#include <muster/storage/chunk_data.hpp>
#include <muster/storage/chunk_graph.hpp>
#include <muster/type/fragment_table.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <span>
#include <string>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;
using test::sentence_of;

constexpr std::size_t plenty = 1'000'000;
struct tag {};
struct alignas(128) over_aligned {
    std::uint64_t value;
};

/// The chunk <tag, number, name, over_aligned>. The graph creates it, to register it with its
/// fragments.
class chunk_data_with_rows : public testing::Test {
protected:
    fragment_table fragments;
    fragment_data* set[4] = {&fragments.add(type_index{1}, type_info_of<tag>, 1),
                             &fragments.add(type_index{2}, type_info_of<std::uint64_t>, 2),
                             &fragments.add(type_index{3}, type_info_of<std::string>, 3),
                             &fragments.add(type_index{4}, type_info_of<over_aligned>, 4)};
    chunk_graph graph{type_info_of<std::uint64_t>, 100, plenty};
    chunk_data& chunk = graph.ensure(set);

    std::uint64_t& id(std::size_t row) {
        return *reinterpret_cast<std::uint64_t*>(chunk.ids.at(row));
    }
    std::uint64_t& number(std::size_t row) {
        return *reinterpret_cast<std::uint64_t*>(chunk.columns[0].at(row));
    }
    std::string& name(std::size_t row) {
        return *reinterpret_cast<std::string*>(chunk.columns[1].at(row));
    }
    over_aligned& wide(std::size_t row) {
        return *reinterpret_cast<over_aligned*>(chunk.columns[2].at(row));
    }

    void push(std::uint64_t i, argument_addresses arguments = {}) {
        chunk.make_room(1, plenty, arguments);
        const std::size_t row = chunk.size++;
        ::new (&id(row)) std::uint64_t(i + 1000);
        ::new (&number(row)) std::uint64_t(i);
        ::new (&name(row)) std::string(std::to_string(i) + " is the name of a row, and a long one");
        ::new (&wide(row)) over_aligned{i * 2};
    }
    void expect_row(std::size_t row, std::uint64_t i) {
        EXPECT_EQ(id(row), i + 1000);
        EXPECT_EQ(number(row), i);
        EXPECT_EQ(name(row), std::to_string(i) + " is the name of a row, and a long one");
        EXPECT_EQ(wide(row).value, i * 2);
    }
    static bool is_aligned(const column& source, std::size_t alignment) {
        return reinterpret_cast<std::uintptr_t>(source.data) % alignment == 0;
    }
};

TEST_F(chunk_data_with_rows, a_fragment_with_values_has_a_column_and_a_tag_has_none) {
    ASSERT_EQ(chunk.columns.size(), 3u);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(chunk.columns[i].fragment, set[i + 1]);
    for (const fragment_data* fragment : set) EXPECT_TRUE(chunk.has(*fragment));
    EXPECT_FALSE(graph.empty_chunk().has(*set[0]));
    EXPECT_FALSE(chunk.has(no_fragment));
    EXPECT_TRUE(chunk.is_nontrivial);
    EXPECT_FALSE(graph.ensure(std::span(set, 2)).is_nontrivial);
}

TEST_F(chunk_data_with_rows, growth_keeps_rows_and_column_alignment) {
    for (std::uint64_t i = 0; i < 300; ++i) {
        push(i);
        ASSERT_GE(chunk.capacity, chunk.size);
        ASSERT_TRUE(is_aligned(chunk.ids, 64));
        ASSERT_TRUE(is_aligned(chunk.columns[0], 64));
        ASSERT_TRUE(is_aligned(chunk.columns[1], 64));
        ASSERT_TRUE(is_aligned(chunk.columns[2], 128));
        for (const column& source : chunk.columns)
            ASSERT_EQ(source.fragment->base(chunk.index), source.data);
    }
    for (std::size_t row = 0; row < 300; ++row) expect_row(row, row);
}

TEST_F(chunk_data_with_rows, argument_addresses_in_any_column_follow_reallocation) {
    push(0);
    push(1);
    const std::string elsewhere;
    while (chunk.size < 2000) {
        const void* addresses[] = {&name(1), &number(0), &elsewhere, &id(1), &wide(1)};
        push(chunk.size, addresses);
        ASSERT_EQ(addresses[0], &name(1));
        ASSERT_EQ(addresses[1], &number(0));
        ASSERT_EQ(addresses[2], &elsewhere);
        ASSERT_EQ(addresses[3], &id(1));
        ASSERT_EQ(addresses[4], &wide(1));
    }
}

TEST_F(chunk_data_with_rows, exceeding_the_row_limit_is_an_error_and_changes_nothing) {
    for (std::uint64_t i = 0; i < 10; ++i) {
        chunk.make_room(1, 10, {});
        push(i);
    }
    EXPECT_EQ(chunk.capacity, 10u);  // growth stops at the limit
    const std::byte* const before = chunk.columns[0].data;
    for (const std::size_t more : {std::size_t{1}, std::size_t{11}, SIZE_MAX, SIZE_MAX - 9}) {
        EXPECT_EQ(code_of([&] { chunk.make_room(more, 10, {}); }), errc::limit);
        EXPECT_EQ(chunk.size, 10u);
        EXPECT_EQ(chunk.capacity, 10u);
        EXPECT_EQ(chunk.columns[0].data, before);
    }
    const std::string sentence = sentence_of([&] { chunk.make_room(3, 10, {}); });
    EXPECT_TRUE(sentence.starts_with("the chunk <")) << sentence;
    EXPECT_TRUE(
        sentence.ends_with("> cannot have more than 10 rows: it has 10, and 3 more are requested"))
        << sentence;
    for (std::size_t row = 0; row < 10; ++row) expect_row(row, row);
    chunk.make_room(0, 10, {});
}

TEST_F(chunk_data_with_rows, running_out_of_memory_throws_bad_alloc_and_keeps_all_rows) {
    for (std::uint64_t i = 0; i < 8; ++i) push(i);
    const std::size_t capacity = chunk.capacity;
    const void* addresses[] = {&name(5)};
    EXPECT_THROW(chunk.make_room(SIZE_MAX / 8, SIZE_MAX, addresses), std::bad_alloc);
    EXPECT_EQ(addresses[0], &name(5));
    EXPECT_EQ(chunk.size, 8u);
    EXPECT_EQ(chunk.capacity, capacity);
    for (std::size_t row = 0; row < 8; ++row) expect_row(row, row);
    push(8);
    expect_row(8, 8);
}

TEST_F(chunk_data_with_rows, make_room_prevents_further_growth) {
    chunk.make_room(500, plenty, {});
    const std::byte* const before = chunk.columns[1].data;
    for (std::uint64_t i = 0; i < 500; ++i) push(i);
    EXPECT_EQ(chunk.columns[1].data, before);
}

TEST_F(chunk_data_with_rows, the_last_row_fills_the_place_of_a_destroyed_row) {
    for (std::uint64_t i = 0; i < 5; ++i) push(i);
    chunk.destroy_row(1);
    ASSERT_EQ(chunk.size, 4u);
    expect_row(0, 0);
    expect_row(1, 4);
    expect_row(2, 2);
    expect_row(3, 3);
    chunk.destroy_row(3);  // the last row: nothing moves
    ASSERT_EQ(chunk.size, 3u);
    expect_row(1, 4);
    expect_row(2, 2);
}

TEST_F(chunk_data_with_rows, the_last_row_fills_the_place_of_a_destroyed_trivial_row) {
    chunk_data& bytes = graph.ensure(std::span(set, 2));  // <tag, number>
    ASSERT_FALSE(bytes.is_nontrivial);
    bytes.make_room(5, plenty, {});
    const auto id_at = [&](std::size_t row) -> std::uint64_t& {
        return *reinterpret_cast<std::uint64_t*>(bytes.ids.at(row));
    };
    const auto number_at = [&](std::size_t row) -> std::uint64_t& {
        return *reinterpret_cast<std::uint64_t*>(bytes.columns[0].at(row));
    };
    for (; bytes.size < 5; ++bytes.size) {
        ::new (bytes.ids.at(bytes.size)) std::uint64_t(bytes.size + 1000);
        ::new (bytes.columns[0].at(bytes.size)) std::uint64_t(bytes.size);
    }
    bytes.destroy_row(1);
    bytes.destroy_row(3);
    ASSERT_EQ(bytes.size, 3u);
    const std::uint64_t left[] = {0, 4, 2};
    for (std::size_t row = 0; row < 3; ++row) {
        EXPECT_EQ(number_at(row), left[row]);
        EXPECT_EQ(id_at(row), left[row] + 1000);
    }
}

TEST_F(chunk_data_with_rows, shrink_frees_unused_memory) {
    for (std::uint64_t i = 0; i < 100; ++i) push(i);
    for (std::size_t row = 100; row-- > 5;) chunk.destroy_row(row);
    chunk.shrink();
    EXPECT_EQ(chunk.capacity, 5u);
    for (std::size_t row = 0; row < 5; ++row) expect_row(row, row);
    for (const column& source : chunk.columns)
        EXPECT_EQ(source.fragment->base(chunk.index), source.data);
    for (std::size_t row = 5; row-- > 0;) chunk.destroy_row(row);
    chunk.shrink();
    EXPECT_EQ(chunk.capacity, 0u);
    EXPECT_EQ(chunk.ids.block, nullptr);
    for (const fragment_data* fragment : set) EXPECT_EQ(fragment->base(chunk.index), no_values);
    push(7);
    expect_row(0, 7);
}

TEST_F(chunk_data_with_rows, destroy_values_destroys_exactly_the_given_rows) {
    struct counted {
        int* alive;
        explicit counted(int* count) : alive(count) { ++*alive; }
        counted(counted&& other) noexcept : alive(other.alive) { ++*alive; }
        ~counted() { --*alive; }
    };
    fragment_data* counted_set[] = {&fragments.add(type_index{5}, type_info_of<counted>, 5)};
    chunk_data& tested = graph.ensure(counted_set);
    tested.make_room(10, plenty, {});
    int alive = 0;
    for (; tested.size < 10; ++tested.size)
        ::new (tested.columns[0].at(tested.size)) counted(&alive);
    tested.destroy_values(7, 3);
    EXPECT_EQ(alive, 7);
    tested.size = 7;
    tested.make_room(100, plenty, {});
    EXPECT_EQ(alive, 7);
    tested.destroy_row(2);
    EXPECT_EQ(alive, 6);
    tested.destroy_values(0, tested.size);
    EXPECT_EQ(alive, 0);
    tested.size = 0;
}

TEST_F(chunk_data_with_rows, to_text_lists_the_names_of_its_fragments) {
    EXPECT_EQ(to_text(graph.empty_chunk()), "<>");
    fragment_data* named[] = {set[1], set[2]};
    set[1]->name = "number";
    EXPECT_EQ(to_text(graph.ensure(named)), "<number, std::string>");
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
