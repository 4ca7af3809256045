#include <muster/entity/entity_adapter_impl.hpp>
#include <muster/type/fragment_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/errors.hpp"
#include "support/layouts.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;
using test::sentence_of;

struct tag {};
using fragments_of_chunk = std::vector<fragment_data*>;

std::string text_of(std::uint64_t number) {
    return "a text with a block of its own, number " + std::to_string(number);
}

/// The entities of one world, and chunks of the fragments a, b (integers), s (texts) and t (a tag).
/// Tests see the table as the engine does, through its directory.
template <class Layout>
struct entity_table_of : testing::Test {
    using id_type = basic_id<Layout>;
    static constexpr type_info id_info{"id", sizeof(id_type), alignof(id_type)};
    static constexpr std::uint64_t world = Layout::world_bits == 0 ? 0 : 3;

    gate changes;
    destroy_marks marks;
    fragment_table fragments;
    fragment_data& a = fragments.add(type_index{1}, type_info_of<std::uint32_t>, 1);
    fragment_data& b = fragments.add(type_index{2}, type_info_of<std::uint64_t>, 2);
    fragment_data& s = fragments.add(type_index{3}, type_info_of<std::string>, 3);
    fragment_data& t = fragments.add(type_index{4}, type_info_of<tag>, 4);
    chunk_graph graph{id_info, 1000, 100'000};
    entity_table<Layout> table{id_pool_options{.world = world == 0 ? 1 : world}};
    entity_adapter<Layout> adapter{table};
    entity_directory& entities = adapter;

    chunk_data& chunk(const fragments_of_chunk& set) { return graph.ensure(set); }

    /// The transition of an entity between two chunks. Change `i` has the value of arrival `i`.
    static transition_ref between(chunk_data& from, chunk_data& to) {
        const transition_ref made(new transition);
        made.get()->from = &from;
        made.get()->to = &to;
        for (const column& source : from.columns) {
            const std::size_t target = to.find_column(*source.fragment);
            const bool is_kept = target < to.columns.size();
            made.get()->columns.push_back(is_kept ? static_cast<std::uint32_t>(target)
                                                  : transition::dropped);
            made.get()->drops = made->drops || !is_kept;
        }
        std::uint32_t given = 0;
        for (std::uint32_t i = 0; i < to.columns.size(); ++i)
            if (!from.has(*to.columns[i].fragment)) made.get()->arrivals.push_back({i, given++});
        return made;
    }

    /// Writes the values of an entity with this number into a row.
    static void write(chunk_data& into, std::size_t row, std::uint64_t number) {
        for (const column& source : into.columns) {
            void* const at = source.at(row);
            if (source.type == &type_info_of<std::uint32_t>)
                ::new (at) std::uint32_t(static_cast<std::uint32_t>(number));
            else if (source.type == &type_info_of<std::uint64_t>)
                ::new (at) std::uint64_t(number * 1000);
            else
                ::new (at) std::string(text_of(number));
        }
    }
    static void expect_row(const chunk_data& chunk, std::size_t row, std::uint64_t number) {
        for (const column& source : chunk.columns) {
            const void* const at = source.at(row);
            if (source.type == &type_info_of<std::uint32_t>)
                ASSERT_EQ(*static_cast<const std::uint32_t*>(at), number);
            else if (source.type == &type_info_of<std::uint64_t>)
                ASSERT_EQ(*static_cast<const std::uint64_t*>(at), number * 1000);
            else
                ASSERT_EQ(*static_cast<const std::string*>(at), text_of(number));
        }
    }
    /// Appends `count` rows with new ids, whose numbers start at `number`. Returns the ids.
    std::vector<std::uint64_t> add_rows(chunk_data& into, std::size_t count,
                                        std::uint64_t number = 0) {
        entities.prepare(count);
        into.make_room(count, graph.row_limit(), {});
        for (std::size_t i = 0; i < count; ++i) write(into, into.size + i, number + i);
        entities.create_rows(into, count);
        std::vector<std::uint64_t> made;
        for (std::size_t i = into.size - count; i < into.size; ++i) made.push_back(into.id_at(i));
        return made;
    }
    void expect_at(std::uint64_t e, const chunk_data& where, std::size_t row) {
        location at{chunk_index{77}, 77};
        ASSERT_TRUE(entities.find(e, at)) << entities.text_of(e);
        ASSERT_EQ(at.chunk, where.index) << entities.text_of(e);
        ASSERT_EQ(at.row, row) << entities.text_of(e);
        if (where.index != chunk_index{}) ASSERT_EQ(where.id_at(row), e);
    }
    static std::uint64_t pack(std::uint64_t key, std::uint64_t version) {
        return std::uint64_t{id_type::pack(key, version, world).value()};
    }
};

using presets = testing::Types<layouts::bound, layouts::compact, layouts::exact, layouts::packed>;
TYPED_TEST_SUITE(entity_table_of, presets, test::layout_names);

// ---- lookup ------------------------------------------------------------------------------------

TYPED_TEST(entity_table_of, a_new_id_is_alive_and_in_the_empty_chunk) {
    const std::uint64_t e = this->entities.create();
    EXPECT_TRUE(this->entities.alive(e));
    this->expect_at(e, this->graph.empty_chunk(), 0);
    EXPECT_EQ(this->entities.key_of(e), TypeParam::first_key);
    EXPECT_EQ(this->entities.version_of(e), TypeParam::first_version);
    EXPECT_EQ(this->entities.world_of(e), this->world);
    EXPECT_EQ(this->entities.size(), 1u);
    EXPECT_TRUE(this->entities.is_dense(e));
    EXPECT_GE(this->entities.capacity(), 1u);
}

TYPED_TEST(entity_table_of, finds_nothing_but_the_living_id) {
    const std::uint64_t e = this->entities.create();
    const std::uint64_t key = this->entities.key_of(e);
    location at;
    EXPECT_FALSE(this->entities.find(this->pack(key, TypeParam::first_version + 1), at));
    EXPECT_FALSE(this->entities.find(this->pack(key + 1, TypeParam::first_version), at));
    EXPECT_FALSE(this->entities.find(this->entities.null(), at));
    EXPECT_FALSE(this->entities.alive(~std::uint64_t{0}));
    // Bits beyond those of the layout make it another id.
    for (unsigned bit = TypeParam::used_bits; bit < 64; ++bit)
        ASSERT_FALSE(this->entities.alive(e | std::uint64_t{1} << bit)) << bit;
    EXPECT_TRUE(this->entities.destroy(e));
    EXPECT_FALSE(this->entities.alive(e));
    EXPECT_FALSE(this->entities.destroy(e));
    EXPECT_EQ(this->entities.size(), 0u);
}

TYPED_TEST(entity_table_of, an_id_is_foreign_only_if_it_names_another_world) {
    const std::uint64_t e = this->entities.create();
    EXPECT_FALSE(this->entities.is_foreign(e));
    EXPECT_FALSE(this->entities.is_foreign(this->entities.null()));
    if constexpr (TypeParam::world_bits != 0) {
        using some_id = basic_id<TypeParam>;
        EXPECT_TRUE(this->entities.is_foreign(some_id::pack(0, 0, this->world + 1).value()));
        EXPECT_FALSE(this->entities.is_foreign(some_id::pack(9, 9, this->world).value()));
        EXPECT_FALSE(this->entities.is_foreign(some_id::pack(9, 9, 0).value()));
    }
}

TYPED_TEST(entity_table_of, an_exchanged_pool_of_another_range_is_found) {
    const auto before = basic_id<TypeParam>::from_value(
        static_cast<typename TypeParam::rep>(this->entities.create()));
    entity_table<TypeParam> other{
        id_pool_options{.world = this->world == 0 ? 1 : this->world, .first_key = 100}};
    const auto later = other.pool().create();
    auto state = other.pool().save();
    this->table.exchange(state);
    EXPECT_NE(this->table.find(later), nullptr);
    EXPECT_EQ(this->table.find(before), nullptr);
    this->table.exchange(state);
    EXPECT_EQ(this->table.find(later), nullptr);
    EXPECT_NE(this->table.find(before), nullptr);
}

TYPED_TEST(entity_table_of, next_living_visits_the_living_ids_by_key) {
    std::set<std::uint64_t> living;
    std::vector<std::uint64_t> all;
    for (int i = 0; i < 100; ++i) all.push_back(this->entities.create());
    for (std::size_t i = 0; i < 100; ++i)
        if (i % 7 == 0 || i > 90)
            this->entities.destroy(all[i]);
        else
            living.insert(all[i]);
    std::vector<std::uint64_t> found;
    for (std::uint64_t e = this->entities.next_living(0); e != this->entities.null();
         e = this->entities.next_living(this->entities.key_of(e) + 1))
        found.push_back(e);
    EXPECT_EQ(found, std::vector<std::uint64_t>(living.begin(), living.end()));
}

// ---- creating and destroying -------------------------------------------------------------------

TYPED_TEST(entity_table_of, create_all_writes_ids_in_the_layouts_width) {
    using some_id = basic_id<TypeParam>;
    std::vector<some_id> made(50);
    this->entities.create_all(
        {reinterpret_cast<std::byte*>(made.data()), made.size(), sizeof(some_id)});
    std::set<some_id> different(made.begin(), made.end());
    EXPECT_EQ(different.size(), 50u);
    for (const some_id e : made) this->expect_at(e.value(), this->graph.empty_chunk(), 0);
    EXPECT_EQ(this->entities.size(), 50u);
}

TYPED_TEST(entity_table_of, create_rows_creates_ids_at_their_rows) {
    chunk_data& chunk = this->chunk({&this->a, &this->s});
    const auto first = this->add_rows(chunk, 3, 10);
    const auto second = this->add_rows(chunk, 40, 20);
    EXPECT_EQ(chunk.size, 43u);
    EXPECT_EQ(this->entities.size(), 43u);
    for (std::size_t i = 0; i < 3; ++i) this->expect_at(first[i], chunk, i);
    for (std::size_t i = 0; i < 40; ++i) {
        this->expect_at(second[i], chunk, 3 + i);
        this->expect_row(chunk, 3 + i, 20 + i);
    }
}

TYPED_TEST(entity_table_of, create_rows_reuses_destroyed_ids_first) {
    chunk_data& chunk = this->chunk({&this->a});
    const std::uint64_t gone = this->entities.create();
    this->entities.create();
    this->entities.destroy(gone);
    const auto made = this->add_rows(chunk, 2);
    EXPECT_EQ(made[0], this->pack(this->entities.key_of(gone), TypeParam::first_version + 1));
    EXPECT_EQ(this->entities.key_of(made[1]), TypeParam::first_key + 2);
    for (std::size_t i = 0; i < 2; ++i) this->expect_at(made[i], chunk, i);
}

TYPED_TEST(entity_table_of, an_undone_id_is_issued_again) {
    const std::uint64_t kept = this->entities.create();
    const std::uint64_t fresh = this->entities.create();
    this->entities.undo_create(fresh);
    EXPECT_FALSE(this->entities.alive(fresh));
    EXPECT_EQ(this->entities.size(), 1u);
    EXPECT_EQ(this->entities.create(), fresh);
    this->entities.destroy(kept);
    const std::uint64_t reused = this->entities.create();
    this->entities.undo_create(reused);
    EXPECT_FALSE(this->entities.alive(reused));
    EXPECT_EQ(this->entities.create(), reused);
    this->expect_at(reused, this->graph.empty_chunk(), 0);
}

detail::target at(std::uint64_t e) {
    return {e, std::source_location::current()};
}

TYPED_TEST(entity_table_of, create_at_creates_the_wanted_id_or_throws_as_refuse_at_does) {
    const std::uint64_t wanted = this->pack(TypeParam::first_key + 500, 7);
    EXPECT_EQ(code_of([&] { this->entities.refuse_at(at(wanted)); }), std::nullopt);
    EXPECT_EQ(this->entities.size(), 0u);
    this->entities.create_at(wanted);
    this->expect_at(wanted, this->graph.empty_chunk(), 0);
    EXPECT_EQ(this->entities.size(), 1u);
    const std::pair<std::uint64_t, errc> refused[] = {
        {wanted, errc::id_taken},
        {this->pack(TypeParam::first_key + 500, 8), errc::id_taken},
        {this->pack(TypeParam::first_key + 1, TypeParam::last_version), errc::id_out_of_range}};
    for (const auto& [e, code] : refused) {
        EXPECT_EQ(code_of([&] { this->entities.create_at(e); }), code);
        EXPECT_EQ(code_of([&] { this->entities.refuse_at(at(e)); }), code);
    }
    EXPECT_EQ(this->entities.size(), 1u);
    this->entities.destroy(wanted);
    EXPECT_EQ(code_of([&] { this->entities.refuse_at(at(wanted)); }), errc::id_stale);
    EXPECT_EQ(code_of([&] { this->entities.create_at(this->pack(TypeParam::first_key + 500, 8)); }),
              std::nullopt);
}

TYPED_TEST(entity_table_of, highest_free_descends_from_the_last_key) {
    for (std::uint64_t i = 0; i < 5; ++i) {
        const std::uint64_t e = this->entities.highest_free();
        EXPECT_EQ(e, this->pack(TypeParam::last_key - i, TypeParam::first_version));
        this->entities.create_at(e);
        this->expect_at(e, this->graph.empty_chunk(), 0);
    }
    // A key whose id was destroyed is free again, with its next version.
    this->entities.destroy(this->pack(TypeParam::last_key - 2, TypeParam::first_version));
    EXPECT_EQ(this->entities.highest_free(),
              this->pack(TypeParam::last_key - 2, TypeParam::first_version + 1));
}

TYPED_TEST(entity_table_of, highest_free_from_prefers_lower_keys) {
    const std::uint64_t middle = (TypeParam::first_key + TypeParam::last_key) / 2;
    const auto highest_from = [&](std::uint64_t key) {
        return this->entities.key_of(this->entities.highest_free_from(key));
    };
    EXPECT_EQ(highest_from(middle), middle);
    this->entities.create_at(this->pack(middle, TypeParam::first_version));
    EXPECT_EQ(highest_from(middle), middle - 1);
    this->entities.create_at(this->pack(TypeParam::first_key, TypeParam::first_version));
    EXPECT_EQ(highest_from(TypeParam::first_key), TypeParam::last_key);  // none is left below
    EXPECT_EQ(highest_from(0), TypeParam::last_key);
}

TYPED_TEST(entity_table_of, destroy_rows_leaves_marked_ids_to_the_caller) {
    chunk_data& chunk = this->chunk({&this->a});
    const auto all = this->add_rows(chunk, 10);
    for (const std::size_t i : {2u, 5u, 9u}) this->marks.set(this->entities.key_of(all[i]), 10'000);
    std::vector<std::uint64_t> marked;
    this->entities.destroy_rows(
        chunk, 1, 9, this->marks,
        [](void* context, std::uint64_t e) noexcept {
            static_cast<std::vector<std::uint64_t>*>(context)->push_back(e);
        },
        &marked);
    EXPECT_EQ(marked, (std::vector<std::uint64_t>{all[9], all[5], all[2]}));  // the last row first
    for (std::size_t i = 0; i < 10; ++i)
        EXPECT_EQ(this->entities.alive(all[i]), i == 0 || i == 2 || i == 5 || i == 9) << i;
    EXPECT_EQ(this->entities.size(), 4u);
    chunk.size = 1;  // the caller removes the rows
}

// ---- rows --------------------------------------------------------------------------------------

TYPED_TEST(entity_table_of, place_moves_the_record_alone) {
    chunk_data& chunk = this->chunk({&this->a});
    const std::uint64_t e = this->entities.create();
    this->entities.place(e, {chunk.index, 1234});
    location at;
    ASSERT_TRUE(this->entities.find(e, at));
    EXPECT_EQ(at.chunk, chunk.index);
    EXPECT_EQ(at.row, 1234u);
    EXPECT_EQ(this->entities.locate(e).row, 1234u);
    EXPECT_EQ(chunk.size, 0u);
    EXPECT_TRUE(this->entities.alive(e));
}

TYPED_TEST(entity_table_of, place_rows_updates_exactly_these_rows) {
    chunk_data& chunk = this->chunk({&this->a});
    const auto all = this->add_rows(chunk, 6);
    const auto other = chunk_index{5};
    this->entities.place_rows(chunk, 2, 3, other);
    for (std::size_t i = 0; i < 6; ++i) {
        const location at = this->entities.locate(all[i]);
        EXPECT_EQ(at.chunk, i >= 2 && i < 5 ? other : chunk.index) << i;
        EXPECT_EQ(at.row, i) << i;
    }
    this->entities.place_rows(chunk, 2, 3, chunk_index{});
    for (std::size_t i = 2; i < 5; ++i) {
        const location at = this->entities.locate(all[i]);
        EXPECT_EQ(at.chunk, chunk_index{});
        EXPECT_EQ(at.row, 0u);  // the empty chunk has no rows
    }
}

TYPED_TEST(entity_table_of, move_bytes_moves_kept_values_and_stores_given_ones) {
    chunk_data& from = this->chunk({&this->a, &this->t});
    chunk_data& to = this->chunk({&this->a, &this->b});
    const auto all = this->add_rows(from, 4);
    const auto there = this->add_rows(to, 1, 50);
    to.make_room(1, 100, {});
    const transition_ref step = this->between(from, to);
    std::uint64_t given = 1000;
    const pending_value values[] = {{&given}};
    ASSERT_TRUE(this->entities.move_bytes(all[1], *step, values));
    EXPECT_EQ(from.size, 3u);
    EXPECT_EQ(to.size, 2u);
    this->expect_at(all[1], to, 1);
    this->expect_row(to, 1, 1);
    this->expect_at(all[3], from, 1);  // the last row fills the gap
    this->expect_row(from, 1, 3);
    this->expect_at(all[0], from, 0);
    this->expect_at(all[2], from, 2);
    this->expect_at(there[0], to, 0);
    this->expect_row(to, 0, 50);
}

TYPED_TEST(entity_table_of, move_bytes_leads_from_and_to_the_empty_chunk) {
    chunk_data& none = this->graph.empty_chunk();
    chunk_data& both = this->chunk({&this->a, &this->b});
    both.make_room(1, 100, {});
    const std::uint64_t e = this->entities.create();
    std::uint32_t first = 7;
    std::uint64_t second = 7000;
    const pending_value values[] = {{&first}, {&second}};
    ASSERT_TRUE(this->entities.move_bytes(e, *this->between(none, both), values));
    this->expect_at(e, both, 0);
    this->expect_row(both, 0, 7);
    EXPECT_EQ(none.size, 0u);
    ASSERT_TRUE(this->entities.move_bytes(e, *this->between(both, none), {}));
    this->expect_at(e, none, 0);
    EXPECT_EQ(both.size, 0u);
    EXPECT_EQ(none.size, 0u);
}

TYPED_TEST(entity_table_of, move_bytes_within_a_chunk_assigns_the_given_values) {
    chunk_data& chunk = this->chunk({&this->a, &this->b});
    const auto all = this->add_rows(chunk, 3);
    const transition_ref step = this->between(chunk, chunk);
    step.get()->arrivals = {{1, 0}};
    std::uint64_t given = 1;
    const pending_value values[] = {{&given}};
    ASSERT_TRUE(this->entities.move_bytes(all[1], *step, values));
    this->expect_at(all[1], chunk, 1);
    EXPECT_EQ(chunk.size, 3u);
    EXPECT_EQ(*reinterpret_cast<std::uint64_t*>(chunk.columns[1].at(1)), 1u);
    EXPECT_EQ(*reinterpret_cast<std::uint32_t*>(chunk.columns[0].at(1)), 1u);
    this->expect_row(chunk, 0, 0);
    this->expect_row(chunk, 2, 2);
}

TYPED_TEST(entity_table_of, move_bytes_refuses_an_entity_that_is_not_in_the_source) {
    chunk_data& from = this->chunk({&this->a});
    chunk_data& to = this->chunk({&this->a, &this->t});
    const auto all = this->add_rows(from, 2);
    const std::uint64_t elsewhere = this->entities.create();
    const std::uint64_t gone = this->entities.create();
    this->entities.destroy(gone);
    to.make_room(4, 100, {});
    const transition_ref step = this->between(from, to);
    for (const std::uint64_t e :
         {elsewhere, gone, this->entities.null(), this->pack(TypeParam::last_key, 1)})
        EXPECT_FALSE(this->entities.move_bytes(e, *step, {}));
    EXPECT_EQ(from.size, 2u);
    EXPECT_EQ(to.size, 0u);
    this->expect_at(elsewhere, this->graph.empty_chunk(), 0);
    for (std::size_t i = 0; i < 2; ++i) this->expect_at(all[i], from, i);
}

TYPED_TEST(entity_table_of, move_row_moves_values_that_are_no_bytes) {
    chunk_data& from = this->chunk({&this->a, &this->s});
    chunk_data& to = this->chunk({&this->b, &this->s});
    const auto all = this->add_rows(from, 3);
    to.make_room(1, 100, {});
    ::new (to.columns[0].at(0)) std::uint64_t(0);  // the caller constructs what arrives
    this->entities.move_row(all[0], *this->between(from, to), this->changes);
    this->expect_at(all[0], to, 0);
    this->expect_row(to, 0, 0);
    this->expect_at(all[2], from, 0);
    this->expect_row(from, 0, 2);
    this->expect_at(all[1], from, 1);
    this->expect_row(from, 1, 1);
    EXPECT_TRUE(this->changes.is_idle());
}

/// A value whose destructor looks at the world.
struct observer_of_end {
    static inline const gate* changes = nullptr;
    static inline const entity_directory* entities = nullptr;
    static inline std::vector<std::size_t> rows;  // of the entity, when its value is destroyed
    static inline int busy = 0;

    std::uint64_t owner;
    explicit observer_of_end(std::uint64_t e) noexcept : owner(e) {}
    observer_of_end(observer_of_end&& other) noexcept
        : owner(std::exchange(other.owner, ~std::uint64_t{0})) {}
    observer_of_end& operator=(observer_of_end&&) = delete;
    ~observer_of_end() {
        if (owner == ~std::uint64_t{0}) return;
        busy += changes->is_changing();
        rows.push_back(entities->locate(owner).row);
    }
};

template <class Layout>
struct entity_table_with_observers : entity_table_of<Layout> {
    fragment_data& observed = this->fragments.add(type_index{5}, type_info_of<observer_of_end>, 5);
    entity_table_with_observers() {
        observer_of_end::changes = &this->changes;
        observer_of_end::entities = &this->entities;
        observer_of_end::rows.clear();
        observer_of_end::busy = 0;
    }
    ~entity_table_with_observers() override {
        for (chunk_data* chunk : this->graph.all()) {
            chunk->destroy_values(0, chunk->size);
            chunk->size = 0;
        }
    }
    std::vector<std::uint64_t> add(chunk_data& chunk, std::size_t count) {
        this->entities.prepare(count);
        chunk.make_room(count, 100, {});
        this->entities.create_rows(chunk, count);
        std::vector<std::uint64_t> all;
        for (std::size_t i = 0; i < count; ++i) {
            all.push_back(chunk.id_at(i));
            ::new (chunk.columns[0].at(i)) observer_of_end(all[i]);
        }
        return all;
    }
};
TYPED_TEST_SUITE(entity_table_with_observers, presets, test::layout_names);

TYPED_TEST(entity_table_with_observers, a_dropped_value_is_destroyed_while_its_entity_has_its_row) {
    chunk_data& from = this->chunk({&this->observed});
    chunk_data& to = this->chunk({&this->t});
    const auto all = this->add(from, 3);
    to.make_room(1, 100, {});
    this->entities.move_row(all[1], *this->between(from, to), this->changes);
    EXPECT_EQ(observer_of_end::rows, std::vector<std::size_t>{1});
    EXPECT_EQ(observer_of_end::busy, 1);
    EXPECT_TRUE(this->changes.is_idle());
    this->expect_at(all[1], to, 0);
    this->expect_at(all[2], from, 1);
}

TYPED_TEST(entity_table_with_observers, remove_row_destroys_the_values_in_a_change) {
    chunk_data& from = this->chunk({&this->observed});
    const auto all = this->add(from, 3);
    this->entities.remove_row(all[0], from, this->changes);
    EXPECT_EQ(observer_of_end::rows.size(), 1u);
    EXPECT_EQ(observer_of_end::busy, 1);
    EXPECT_TRUE(this->changes.is_idle());
    EXPECT_EQ(from.size, 2u);
    this->expect_at(all[0], this->graph.empty_chunk(), 0);
    this->expect_at(all[2], from, 0);
    this->expect_at(all[1], from, 1);
}

TYPED_TEST(entity_table_of, remove_row_of_the_last_row_moves_no_other) {
    chunk_data& from = this->chunk({&this->a, &this->b});
    const auto all = this->add_rows(from, 3);
    this->entities.remove_row(all[2], from, this->changes);
    EXPECT_EQ(from.size, 2u);
    this->expect_at(all[2], this->graph.empty_chunk(), 0);
    for (std::size_t i = 0; i < 2; ++i) {
        this->expect_at(all[i], from, i);
        this->expect_row(from, i, i);
    }
}

// ---- messages ----------------------------------------------------------------------------------

TYPED_TEST(entity_table_of, ids_are_printed_with_the_parts_of_their_layout) {
    const std::uint64_t e = this->entities.create();
    const std::string key = std::to_string(TypeParam::first_key);
    const std::string version = std::to_string(TypeParam::first_version);
    const std::string owner = TypeParam::world_bits == 0 ? "" : "3-";
    EXPECT_EQ(this->entities.text_of(e), "E:" + owner + key + "[" + version + "]");
    EXPECT_EQ(this->entities.text_of(this->entities.null()), "E:null");
    EXPECT_EQ(this->entities.slot_text(e), "slot " + key + " is now at version " + version);
    this->entities.destroy(e);
    EXPECT_EQ(this->entities.slot_text(e),
              "slot " + key + " is now at version " + std::to_string(TypeParam::first_version + 1));
}

TYPED_TEST(entity_table_of, an_id_has_lived_if_its_version_was_issued) {
    const std::uint64_t first = this->entities.create();
    const std::uint64_t key = this->entities.key_of(first);
    EXPECT_TRUE(this->entities.has_lived(first));
    EXPECT_FALSE(this->entities.has_lived(this->pack(key, TypeParam::first_version + 1)));
    EXPECT_FALSE(this->entities.has_lived(this->pack(key + 1, TypeParam::first_version)));
    EXPECT_FALSE(this->entities.has_lived(this->pack(key + 9999, TypeParam::first_version)));
    this->entities.destroy(first);
    EXPECT_TRUE(this->entities.has_lived(first));
    EXPECT_FALSE(this->entities.has_lived(this->pack(key, TypeParam::first_version + 1)));
    const std::uint64_t second = this->entities.create();
    EXPECT_TRUE(this->entities.has_lived(first));
    EXPECT_TRUE(this->entities.has_lived(second));
    EXPECT_FALSE(this->entities.has_lived(this->pack(key, TypeParam::first_version + 2)));
    if constexpr (TypeParam::first_version != 0)
        EXPECT_FALSE(this->entities.has_lived(this->pack(key, 0)));
}

TYPED_TEST(entity_table_of, a_well_formed_id_has_this_world_and_no_further_bits) {
    EXPECT_TRUE(this->entities.is_well_formed(this->pack(5, 5)));
    EXPECT_FALSE(this->entities.is_well_formed(this->entities.null()));
    if constexpr (TypeParam::world_bits != 0)
        EXPECT_FALSE(this->entities.is_well_formed(
            basic_id<TypeParam>::pack(5, 5, this->world + 1).value()));
    if constexpr (TypeParam::used_bits < 8 * sizeof(typename TypeParam::rep))
        EXPECT_FALSE(this->entities.is_well_formed(this->pack(5, 5) | std::uint64_t{1}
                                                                          << TypeParam::used_bits));
}

// ---- reserved ids and parallel phases ----------------------------------------------------------

TYPED_TEST(entity_table_of, a_reserved_id_is_alive_once_it_is_claimed) {
    EXPECT_TRUE(this->entities.has_open_keys());
    const std::uint64_t e = this->entities.reserve_id();
    EXPECT_FALSE(this->entities.alive(e));
    EXPECT_NE(this->entities.create(), e);
    EXPECT_TRUE(this->entities.claim_reserved(e));
    EXPECT_TRUE(this->entities.alive(e));
    EXPECT_FALSE(this->entities.claim_reserved(e));
    EXPECT_EQ(this->entities.size(), 2u);
}

TYPED_TEST(entity_table_of, a_reserved_id_that_is_given_up_cannot_be_claimed) {
    const std::uint64_t e = this->entities.reserve_id();
    this->entities.give_up(e);
    EXPECT_FALSE(this->entities.claim_reserved(e));
    EXPECT_FALSE(this->entities.alive(e));
    EXPECT_EQ(this->entities.size(), 0u);
    // Its key is free again.
    EXPECT_EQ(this->entities.key_of(this->entities.create()), this->entities.key_of(e));
}

TYPED_TEST(entity_table_of, take_reserved_returns_a_fair_share_of_ids_in_reverse) {
    array_list<std::uint64_t> taken;
    const std::size_t fair = this->entities.fair_count();
    this->entities.take_reserved(taken);
    ASSERT_EQ(taken.size(), fair);
    ASSERT_GT(fair, 1u);
    EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end(), std::greater<>()));
    for (const std::uint64_t e : taken) EXPECT_FALSE(this->entities.alive(e));
    for (const std::uint64_t e : taken) EXPECT_TRUE(this->entities.claim_reserved(e));
    EXPECT_EQ(this->entities.size(), fair);
}

TYPED_TEST(entity_table_of, an_id_of_a_phase_is_alive_without_components) {
    const std::uint64_t before = this->entities.create();
    EXPECT_FALSE(this->entities.is_sharing());
    this->entities.begin_sharing();
    EXPECT_TRUE(this->entities.is_sharing());
    const std::uint64_t e = this->entities.create_shared();
    EXPECT_NE(e, before);
    EXPECT_TRUE(this->entities.alive(before));
    this->expect_at(e, this->graph.empty_chunk(), 0);
    EXPECT_FALSE(this->entities.alive(this->pack(this->entities.key_of(e) + 5000, 1)));
    this->entities.end_sharing();
    EXPECT_FALSE(this->entities.is_sharing());
    EXPECT_TRUE(this->entities.alive(e));
    EXPECT_EQ(this->entities.size(), 2u);
    this->entities.destroy(e);
    EXPECT_FALSE(this->entities.alive(e));
}

TYPED_TEST(entity_table_of, reserve_makes_room_for_so_many_ids) {
    this->entities.reserve(5000);
    EXPECT_GE(this->entities.capacity(), 5000u);
    EXPECT_EQ(this->entities.size(), 0u);
    EXPECT_GE(this->entities.available(), 5000u);
    this->entities.trim();
    EXPECT_LT(this->entities.capacity(), 5000u);
}

// ---- against a naive model ---------------------------------------------------------------------

TYPED_TEST(entity_table_of, agrees_with_a_map_over_random_changes) {
    struct entity {
        std::uint64_t number;
        std::size_t chunk;
    };
    const fragments_of_chunk sets[] = {
        {}, {&this->a}, {&this->b}, {&this->a, &this->b}, {&this->a, &this->b, &this->t}};
    for (unsigned seed = 0; seed < 10; ++seed) {
        std::mt19937 random(seed);
        std::map<std::uint64_t, entity> model;
        std::vector<std::uint64_t> dead;
        std::uint64_t number = 0;
        const auto chunk_at = [&](std::size_t which) -> chunk_data& {
            return this->chunk(sets[which]);
        };
        const auto any = [&] {
            return std::next(model.begin(), static_cast<std::ptrdiff_t>(random() % model.size()));
        };
        for (int step = 0; step < 600; ++step) {
            const auto choice = random() % 10;
            if (choice < 2 || model.empty()) {
                const std::size_t into = random() % 4 + 1;
                const std::size_t count = random() % 4 + 1;
                for (const std::uint64_t e : this->add_rows(chunk_at(into), count, number))
                    ASSERT_TRUE(model.insert({e, {number++, into}}).second) << seed;
            } else if (choice < 3) {
                ASSERT_TRUE(model.insert({this->entities.create(), {number++, 0}}).second);
            } else if (choice < 5) {
                const auto victim = any();
                const auto [e, known] = *victim;
                if (known.chunk != 0)
                    this->entities.remove_row(e, chunk_at(known.chunk), this->changes);
                ASSERT_TRUE(this->entities.destroy(e));
                dead.push_back(e);
                model.erase(victim);
            } else {
                auto& [e, known] = *any();
                chunk_data& from = chunk_at(known.chunk);
                const std::size_t target = random() % 5;
                chunk_data& to = chunk_at(target);
                if (to.index != chunk_index{}) to.make_room(1, 100'000, {});
                auto first = static_cast<std::uint32_t>(known.number);
                std::uint64_t second = known.number * 1000;
                std::vector<pending_value> values;
                const transition_ref moves = this->between(from, to);
                for (const transition::arrival& arrival : moves->arrivals)
                    values.push_back({to.columns[arrival.column].fragment == &this->a
                                          ? static_cast<void*>(&first)
                                          : static_cast<void*>(&second)});
                ASSERT_TRUE(this->entities.move_bytes(e, *moves, values));
                known.chunk = target;
            }
            ASSERT_EQ(this->entities.size(), model.size());
        }
        for (const auto& [e, known] : model) {
            chunk_data& where = chunk_at(known.chunk);
            const location at = this->entities.locate(e);
            this->expect_at(e, where, at.row);
            if (known.chunk != 0) this->expect_row(where, at.row, known.number);
        }
        std::size_t rows = 0;
        for (const chunk_data* chunk : this->graph.all()) rows += chunk->size;
        EXPECT_EQ(rows, static_cast<std::size_t>(std::ranges::count_if(
                            model, [](const auto& each) { return each.second.chunk != 0; })));
        for (const std::uint64_t e : dead) {
            ASSERT_FALSE(this->entities.alive(e));
            ASSERT_TRUE(this->entities.has_lived(e));
        }
        for (const auto& [e, known] : model) {
            if (known.chunk != 0)
                this->entities.remove_row(e, chunk_at(known.chunk), this->changes);
            this->entities.destroy(e);
        }
        ASSERT_EQ(this->entities.size(), 0u);
    }
}

// ---- the limits of small layouts ---------------------------------------------------------------

struct small_entity_table : entity_table_of<test::nibble<exhaustion::retire>> {};

TEST_F(small_entity_table, highest_free_throws_if_no_key_is_left) {
    for (int i = 0; i < 16; ++i) entities.create_at(entities.highest_free());
    EXPECT_EQ(entities.size(), 16u);
    EXPECT_EQ(code_of([&] { (void)entities.highest_free(); }), errc::id_overflow);
    EXPECT_EQ(sentence_of([&] { (void)entities.highest_free(); }),
              "no key is left for the fragment of a new component type");
}

TEST_F(small_entity_table, destroy_rows_leaves_ids_with_their_last_version_to_the_caller) {
    chunk_data& chunk = this->chunk({&a});
    std::vector<std::uint64_t> left;
    for (std::uint64_t version = 0; version < 15; ++version) {
        const auto made = add_rows(chunk, 1);
        ASSERT_EQ(made[0], pack(0, version));
        entities.destroy_rows(
            chunk, 0, 1, marks,
            [](void* context, std::uint64_t e) noexcept {
                static_cast<std::vector<std::uint64_t>*>(context)->push_back(e);
            },
            &left);
        chunk.size = 0;
        ASSERT_EQ(left.size(), version == 14 ? 1u : 0u);
    }
    EXPECT_EQ(left[0], pack(0, 14));
    EXPECT_TRUE(entities.destroy(left[0]));
    EXPECT_EQ(entities.slot_text(left[0]), "slot 0 has used its last version");
    EXPECT_TRUE(entities.has_lived(left[0]));
    EXPECT_EQ(entities.key_of(entities.create()), 1u);
}

TEST_F(small_entity_table, an_exhausted_key_is_not_free) {
    entities.create_at(pack(15, 14));
    entities.destroy(pack(15, 14));
    EXPECT_EQ(entities.highest_free(), pack(14, 0));
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
