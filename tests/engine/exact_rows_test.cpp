// spawner::spawn_rows_at: rows for exact ids, as a room uses it that loads entities.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine_fixture.hpp"
#include "support/errors.hpp"

namespace muster::test {
namespace {

struct exact_rows : engine_fixture {
    fragment_data& number = add<int>();
    fragment_data& text = add<std::string>();
    fragment_data& flag = add<no_value>();
    fragment_data& other = add<int>();
    fragment_data& sparse = add_sparse<int>();
    std::vector<std::uint64_t> ids;
    std::vector<int> numbers{10, 11, 12, 13};
    std::vector<std::string> texts;
    fragment_data* list[3] = {&number, &text, &flag};
    chunk_data* into = nullptr;

    exact_rows() {
        const std::uint64_t next = core.entities.create();
        core.entities.undo_create(next);
        for (std::uint64_t i = 0; i < 4; ++i) {
            ids.push_back(next + i);
            texts.push_back(value_kind<std::string>::made(static_cast<int>(i)));
        }
        into = &core.catalog.ensure_set(list);
    }
    id_span wanted() { return {reinterpret_cast<std::byte*>(ids.data()), ids.size(), 8}; }

    /// Loads rows whose given columns are the first `count` of the set.
    void load(std::size_t columns = 2, bool relocates = false) {
        const void* values[] = {numbers.data(), texts.data()};
        core.spawner.spawn_rows_at(wanted(), *into,
                                   {{list, columns}, {values, columns}, 1, relocates});
    }
    void expect_loaded() {
        ASSERT_EQ(into->size, ids.size());
        for (std::size_t i = 0; i < ids.size(); ++i) {
            EXPECT_EQ(into->id_at(i), ids[i]);
            EXPECT_EQ(row_of(ids[i]), i);
            EXPECT_EQ(get<int>(ids[i], number), numbers[i]);
            EXPECT_EQ(get<std::string>(ids[i], text),
                      value_kind<std::string>::made(static_cast<int>(i)));
            EXPECT_TRUE(has(ids[i], flag));
        }
        expect_consistent();
    }
    /// Expects that no row and no id was created, and that the sources have their values.
    void expect_nothing() {
        EXPECT_EQ(into->size, 0u);
        for (const std::uint64_t e : ids)
            EXPECT_FALSE(core.entities.alive(e)) << core.entities.text_of(e);
        for (std::size_t i = 0; i < texts.size(); ++i)
            EXPECT_EQ(texts[i], value_kind<std::string>::made(static_cast<int>(i)));
    }
};

TEST_F(exact_rows, are_copied_from_columns) {
    load();
    expect_loaded();
    EXPECT_EQ(texts[3], value_kind<std::string>::made(3));
    EXPECT_EQ(core.entities.create(), ids.back() + 1);
}

TEST_F(exact_rows, take_over_values_that_relocate) {
    const std::allocator<std::string> memory;
    auto from = memory;
    std::string* const owned = from.allocate(4);
    for (int i = 0; i < 4; ++i) ::new (owned + i) std::string(value_kind<std::string>::made(i));
    const void* values[] = {numbers.data(), owned};
    core.spawner.spawn_rows_at(wanted(), *into, {{list, 2}, {values, 2}, 1, true});
    from.deallocate(owned, 4);
    expect_loaded();
}

TEST_F(exact_rows, columns_without_a_source_have_default_values) {
    load(1);
    for (const std::uint64_t e : ids) EXPECT_EQ(get<std::string>(e, text), "");
    EXPECT_EQ(get<int>(ids[2], number), 12);
    expect_consistent();
}

TEST_F(exact_rows, may_be_in_any_order_and_with_gaps) {
    ids = {ids[0] + 700, ids[0] + 2, ids[0], ids[0] + 70};
    load();
    expect_loaded();
    EXPECT_EQ(core.entities.create(), ids[2] + 1);
    EXPECT_EQ(core.entities.create(), ids[2] + 3);
}

TEST_F(exact_rows, may_reuse_destroyed_keys_with_a_later_version) {
    const std::uint64_t first = core.entities.create();
    core.entities.destroy(first);
    const std::uint64_t version = std::uint64_t{1} << layouts::bound::key_bits;
    ids = {ids[1], first + version, ids[2], ids[3]};
    load();
    expect_loaded();
}

TEST_F(exact_rows, are_refused_as_a_whole_if_one_id_is_bad) {
    const std::uint64_t used = core.entities.create();
    const std::uint64_t stale = core.entities.create();
    core.entities.destroy(stale);
    const std::vector<std::uint64_t> good{ids[3] + 5, ids[3] + 6, ids[3] + 7};
    const auto refused = [&](std::uint64_t last) {
        ids = good;
        ids.push_back(last);
        const auto code = code_of([&] { load(); });
        ids.pop_back();
        expect_nothing();
        return code;
    };
    EXPECT_EQ(refused(used), errc::id_taken);
    EXPECT_EQ(refused(stale), errc::id_stale);
    EXPECT_EQ(refused(core.entities.null()), errc::id_out_of_range);
    EXPECT_EQ(refused(good[0]), errc::id_taken);  // occurs twice
    EXPECT_EQ(refused(good[0] + (std::uint64_t{1} << layouts::bound::key_bits)), errc::id_taken);
    const std::uint64_t foreign = good[2] + 1 + (std::uint64_t{1} << 48);
    EXPECT_EQ(refused(foreign), errc::foreign_entity);
    EXPECT_TRUE(core.entities.alive(used));
}

TEST_F(exact_rows, are_refused_in_a_scope_and_for_sparse_sets) {
    {
        scope open(core);
        EXPECT_EQ(code_of([&] { load(); }), errc::in_scope);
    }
    expect_nothing();
    fragment_data* const only[] = {&sparse};
    into = &core.catalog.ensure_set(only);
    EXPECT_EQ(code_of([&] { core.spawner.spawn_rows_at(wanted(), *into, {}); }),
              errc::missing_component);
    expect_nothing();
}

TEST_F(exact_rows, add_no_needed_fragments) {
    needs(number, other);
    load();
    expect_loaded();
    EXPECT_FALSE(has(ids[0], other));
}

TEST_F(exact_rows, without_components_are_ids_alone) {
    core.spawner.spawn_rows_at(wanted(), core.graph.empty_chunk(), {});
    for (const std::uint64_t e : ids) {
        EXPECT_TRUE(core.entities.alive(e));
        EXPECT_EQ(core.entities.locate(e).chunk, chunk_index{});
    }
    EXPECT_EQ(core.graph.empty_chunk().size, 0u);
    ids.clear();
    load();  // no rows at all
    EXPECT_EQ(into->size, 0u);
}

TEST_F(exact_rows, call_hooks_that_see_all_rows) {
    std::vector<std::uint64_t> seen;
    hook(number, hook_kind::insert, [&](std::uint64_t e, void* value) {
        seen.push_back(e);
        EXPECT_EQ(*static_cast<int*>(value), numbers[seen.size() - 1]);
        EXPECT_TRUE(core.entities.alive(ids.back()));
        engine_fixture::set(e, number, 99);  // recorded
    });
    load();
    EXPECT_EQ(seen, ids);
    EXPECT_EQ(get<int>(ids[0], number), 99);
}

TEST_F(exact_rows, vanish_if_a_hook_throws) {
    for (const bool relocates : {false, true}) {
        int calls = 0;
        const std::uint64_t connection = hook(text, hook_kind::insert, [&](std::uint64_t, void*) {
            if (++calls == 3) throw refusal();
        });
        EXPECT_THROW(load(2, relocates), refusal);
        expect_nothing();
        EXPECT_EQ(calls, 3);
        core.notifier.remove(text.id, connection);
        for (std::uint64_t& e : ids) e += std::uint64_t{1} << layouts::bound::key_bits;
    }
    load();
    expect_loaded();
}

TEST_F(exact_rows, without_components_vanish_if_a_hook_throws) {
    core.notifier.add(hook_kind::insert, hook_of(&refuse));
    EXPECT_THROW(core.spawner.spawn_rows_at(wanted(), core.graph.empty_chunk(), {}), refusal);
    expect_nothing();
}

}  // namespace
}  // namespace muster::test
