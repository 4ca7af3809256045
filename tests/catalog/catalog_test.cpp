#include <muster/catalog/catalog.hpp>
#include <muster/entity/entity_table.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <source_location>
#include <string>
#include <vector>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;
using test::sentence_of;

struct position {
    float x, y;
};
struct velocity {
    float x, y;
};
struct frozen {};
struct pinned {
    std::mutex guard;
};

using fragment_list = array_list<fragment_data*>;
using shape_list = std::vector<change_shape>;
using rules = array_list<implied_change>;

/// A catalog with all that it uses, and entities of the default layout.
struct catalog_of : testing::Test {
    static constexpr std::uint64_t world = 1;

    gate changes;
    destroy_marks marks;
    bundle_index bundles;
    fragment_table fragments;
    chunk_graph graph{type_info_of<std::uint64_t>, 4000, 1000};
    sparse_table sparse{sparse_set::id_shape::of<layouts::bound>()};
    name_table names;
    provenance deaths;
    journal pending;
    entity_table<layouts::bound> table{{.world = world}};
    entity_adapter<layouts::bound> entities{table};
    component_lookup components{entities, graph, sparse};
    error_reporter errors{entities, components, names, deaths, pending, changes, world};
    catalog tested{{changes, marks, bundles, fragments, graph, sparse, names, pending, entities,
                    components, errors}};

    ~catalog_of() override { sparse.forget_entries(); }

    template <class T>
    fragment_data& ensure() {
        return tested.ensure(ensure_type_index<T>(), type_info_of<T>);
    }
    template <class T>
    fragment_data& ensure(std::uint64_t f) {
        return tested.ensure(f, value_type_ref::of<T>());
    }
    /// Returns a new fragment of integers, of an entity's id, whose type is fixed.
    fragment_data& add() {
        fragment_data& made = ensure<int>(entities.create());
        made.is_untyped = false;
        return made;
    }
    fragment_data& add_sparse() {
        fragment_data& made = add();
        tested.make_sparse(made);
        return made;
    }
    chunk_data& chunk(const std::vector<fragment_data*>& set) { return graph.ensure(set); }
    std::uint64_t spawn(chunk_data& into) {
        into.make_room(1, 1000, {});
        for (const column& source : into.columns) ::new (source.at(into.size)) int(0);
        entities.prepare(1);
        entities.create_rows(into, 1);
        return into.id_at(into.size - 1);
    }
    void put_sparse(std::uint64_t e, fragment_data& fragment) {
        sparse_set& set = *fragment.sparse_values;
        sparse.prepare(set, e, true);
        const slot_index slot = set.take();
        ::new (set.at(slot)) int(0);
        set.attach(e, slot);
    }
    static void hook(fragment_data& f, hook_kind kind) {
        f.hooks.add(kind, {boxed_value::holding(0), [](void*, std::uint64_t, void*) {}});
    }
    static change_shape put(fragment_data& f) { return {&f, change_kind::put}; }
    static change_shape keep(fragment_data& f) { return {&f, change_kind::keep}; }
    static change_shape remove(fragment_data& f) { return {&f, change_kind::remove}; }
};

// ---- fragments of C++ types --------------------------------------------------------------------

TEST_F(catalog_of, the_first_use_of_a_type_creates_its_fragment) {
    EXPECT_EQ(&tested.find(fragment_name::of<position>()), &no_fragment);
    fragment_data& made = ensure<position>();
    EXPECT_EQ(&ensure<position>(), &made);
    EXPECT_EQ(&tested.find(fragment_name::of<position>()), &made);
    EXPECT_EQ(&tested.find({made.id}), &made);
    EXPECT_EQ(made.value_type, ensure_type_index<position>());
    EXPECT_TRUE(made.is_world_owned);
    EXPECT_FALSE(made.is_untyped);
    EXPECT_NE(&ensure<velocity>(), &made);
    EXPECT_EQ(fragments.all().size(), 2u);
}

TEST_F(catalog_of, the_fragments_of_types_take_the_highest_keys) {
    EXPECT_EQ(tested.world_owned_count(), 0u);
    const std::uint64_t first = ensure<position>().id;
    const std::uint64_t second = ensure<velocity>().id;
    EXPECT_EQ(entities.key_of(first), layouts::bound::last_key);
    EXPECT_EQ(entities.key_of(second), layouts::bound::last_key - 1);
    EXPECT_TRUE(entities.alive(first) && entities.alive(second));
    EXPECT_EQ(tested.world_owned_count(), 2u);
    EXPECT_TRUE(tested.is_world_owned(first) && tested.is_world_owned(second));
    EXPECT_FALSE(tested.is_world_owned(entities.create()));
    EXPECT_TRUE(marks.test(entities.key_of(first)));  // destroying it takes the slow path
    tested.forget_world_owned();
    EXPECT_EQ(tested.world_owned_count(), 0u);
}

TEST_F(catalog_of, a_type_can_be_used_first_in_a_scope_but_not_in_a_change) {
    {
        const busy_guard busy(changes);
        EXPECT_EQ(code_of([&] { ensure<position>(); }), errc::in_scope);
    }
    EXPECT_TRUE(fragments.all().empty());
    EXPECT_EQ(entities.size(), 0u);
    changes.open_scope();
    EXPECT_EQ(code_of([&] { ensure<position>(); }), std::nullopt);
    const busy_guard busy(changes);
    EXPECT_EQ(code_of([&] { ensure<position>(); }), std::nullopt);  // it is known
}

TEST_F(catalog_of, a_pinned_type_has_a_sparse_fragment) {
    const fragment_data& made = ensure<pinned>();
    ASSERT_NE(made.sparse_values, nullptr);
    EXPECT_EQ(sparse.find(ensure_type_index<pinned>()), made.sparse_values);
    EXPECT_EQ(ensure<position>().sparse_values, nullptr);
}

// ---- fragments of ids --------------------------------------------------------------------------

TEST_F(catalog_of, a_living_id_becomes_a_fragment_whose_first_value_fixes_the_type) {
    const std::uint64_t f = entities.create();
    fragment_data& made = ensure<position>(f);
    EXPECT_EQ(made.id, f);
    EXPECT_TRUE(made.is_untyped);
    EXPECT_FALSE(made.is_world_owned);
    EXPECT_EQ(made.name, entities.text_of(f));
    EXPECT_TRUE(marks.test(entities.key_of(f)));
    EXPECT_EQ(&ensure<position>(f), &made);
    EXPECT_EQ(&ensure<int>(f), &made);  // another type, as long as no value is stored
    EXPECT_EQ(made.type, &type_info_of<int>);
    const std::uint64_t epoch = graph.epoch();
    fragment_data* const set[] = {&made};
    tested.fix_types(set);
    EXPECT_FALSE(made.is_untyped);
    EXPECT_NE(graph.epoch(), epoch);
    EXPECT_EQ(code_of([&] { ensure<position>(f); }), errc::type_mismatch);
    EXPECT_EQ(&ensure<int>(f), &made);
}

TEST_F(catalog_of, fix_types_of_typed_fragments_changes_nothing) {
    fragment_data* const set[] = {&add(), &add()};
    const std::uint64_t epoch = graph.epoch();
    tested.fix_types(set);
    EXPECT_EQ(graph.epoch(), epoch);
}

TEST_F(catalog_of, a_dead_id_is_no_fragment) {
    const std::uint64_t f = entities.create();
    entities.destroy(f);
    EXPECT_EQ(code_of([&] { ensure<position>(f); }), errc::dead_fragment);
    EXPECT_EQ(code_of([&] { tested.open(f); }), errc::dead_fragment);
    EXPECT_TRUE(fragments.all().empty());
}

TEST_F(catalog_of, the_type_of_a_pending_value_cannot_change) {
    const std::uint64_t f = entities.create();
    fragment_data& made = ensure<position>(f);
    pending.add(entities.create(), change_kind::put, &made);
    EXPECT_EQ(code_of([&] { ensure<int>(f); }), errc::type_mismatch);
    EXPECT_EQ(made.type, &type_info_of<position>);
    pending.clear();
    EXPECT_EQ(&ensure<int>(f), &made);
}

TEST_F(catalog_of, changing_the_type_of_a_fragment_frees_its_chunks_outside_of_scopes) {
    const std::uint64_t f = entities.create();
    fragment_data& made = ensure<position>(f);
    chunk({&made});
    changes.open_scope();
    EXPECT_EQ(code_of([&] { ensure<int>(f); }), errc::in_scope);
    EXPECT_EQ(made.type, &type_info_of<position>);
    changes.close_scope();
    ensure<int>(f);
    EXPECT_TRUE(made.chunks.empty());
    EXPECT_EQ(chunk({&made}).columns[0].size, sizeof(int));
}

TEST_F(catalog_of, an_untyped_fragment_follows_its_type_into_and_out_of_a_sparse_set) {
    const std::uint64_t f = entities.create();
    fragment_data& made = ensure<pinned>(f);
    EXPECT_NE(made.sparse_values, nullptr);
    ensure<int>(f);
    EXPECT_EQ(made.sparse_values, nullptr);
    EXPECT_TRUE(sparse.empty());
    ensure<pinned>(f);
    EXPECT_NE(made.sparse_values, nullptr);
}

TEST_F(catalog_of, open_makes_an_untyped_fragment_and_typed_or_tag_a_tag) {
    const std::uint64_t f = entities.create();
    fragment_data& opened = tested.open(f);
    EXPECT_TRUE(opened.is_untyped);
    EXPECT_EQ(&tested.open(f), &opened);
    EXPECT_EQ(code_of([&] { tested.get(f, "get", nullptr); }), errc::type_mismatch);
    EXPECT_EQ(&tested.typed_or_tag(f, nullptr), &opened);
    EXPECT_EQ(opened.type->size, 0u);
    opened.is_untyped = false;
    EXPECT_EQ(&tested.get(f, "get", nullptr), &opened);
    fragment_data& numbers = add();
    EXPECT_EQ(&tested.typed_or_tag(numbers.id, nullptr), &numbers);
    EXPECT_EQ(numbers.type, &type_info_of<int>);
}

TEST_F(catalog_of, adopt_like_copies_a_type_that_was_made_at_run_time) {
    fragment_data& source = add();
    source.own_type = new type_info(type_info_of<position>);
    source.type = source.own_type;
    source.value_type = no_type;
    const auto here = std::source_location::current();
    fragment_data& made = tested.adopt_like(source, entities.create(), here);
    EXPECT_NE(made.own_type, nullptr);
    EXPECT_NE(made.own_type, source.own_type);
    EXPECT_EQ(made.type, made.own_type);
    EXPECT_EQ(made.type->size, sizeof(position));
    fragment_data& other = tested.adopt_like(add(), entities.create(), here);
    EXPECT_EQ(other.own_type, nullptr);
    EXPECT_EQ(other.type, &type_info_of<int>);
}

TEST_F(catalog_of, refuse_misfit_throws_as_ensure_would_and_changes_nothing) {
    fragment_data& numbers = add();
    const auto check = [&](std::uint64_t f, value_type_ref type) {
        return code_of([&] { tested.refuse_misfit({.fragment = {f}, .type = type}, nullptr); });
    };
    EXPECT_EQ(check(numbers.id, value_type_ref::of<int>()), std::nullopt);
    EXPECT_EQ(check(numbers.id, value_type_ref::of<position>()), errc::type_mismatch);
    EXPECT_EQ(check(numbers.id, {}), std::nullopt);  // a default value has no type
    EXPECT_EQ(check(entities.create(), value_type_ref::of<position>()), std::nullopt);
    EXPECT_EQ(check(entities.null(), value_type_ref::of<position>()), errc::dead_fragment);
    EXPECT_EQ(fragments.all().size(), 1u);
}

TEST_F(catalog_of, forget_removes_all_that_depends_on_a_fragment) {
    fragment_data& gone = ensure<position>();
    fragment_data& owner = add();
    fragment_data& needed = add();
    fragment_data* const set[] = {&gone, &needed};
    tested.add_needs(owner.id, set);
    fragment_data* const other[] = {&needed};
    tested.add_needs(gone.id, other);
    EXPECT_EQ(needed.implied_by.size(), 2u);
    chunk({&gone, &owner});
    tested.forget(gone);
    EXPECT_EQ(owner.implied, rules{{&needed}});
    EXPECT_EQ(needed.implied_by.size(), 1u);
    EXPECT_TRUE(gone.chunks.empty());
    EXPECT_EQ(tested.world_owned_count(), 0u);
}

// ---- defining fragments ------------------------------------------------------------------------

TEST_F(catalog_of, add_needs_lists_each_fragment_once_and_never_itself) {
    fragment_data& owner = add();
    fragment_data& needed = tested.open(entities.create());
    fragment_data* const set[] = {&needed, &owner, &needed};
    const std::uint64_t generation = graph.generation();
    tested.add_needs(owner.id, set);
    tested.add_needs(owner.id, set);
    EXPECT_EQ(owner.implied, rules{{&needed}});
    EXPECT_EQ(needed.implied_by.size(), 1u);
    EXPECT_FALSE(needed.is_untyped);  // a tag from now on
    EXPECT_NE(graph.generation(), generation);
}

TEST_F(catalog_of, imply_keeps_rules_that_differ) {
    fragment_data& owner = add();
    fragment_data& other = add();
    const implied_change all[] = {{&other}, {&other, true, true}, {&other}, {&owner}};
    tested.imply(owner.id, all);
    EXPECT_EQ(owner.implied, (rules{{&other}, {&other, true, true}}));
    EXPECT_EQ(other.implied_by.size(), 2u);
    tested.forget(other);
    EXPECT_TRUE(owner.implied.empty());
}

TEST_F(catalog_of, is_ordered_tells_whether_changes_affect_each_other) {
    fragment_data& a = add();
    fragment_data& b = add();
    fragment_data& c = add();
    const implied_change needs[] = {{&b}};
    const implied_change removes[] = {{&c, false, true}};
    tested.imply(a.id, needs);
    tested.imply(a.id, removes);
    EXPECT_FALSE(tested.is_ordered(chunk({&a, &b})));
    EXPECT_TRUE(tested.is_ordered(chunk({&a, &c})));
    EXPECT_EQ(tested.ensure_set_edge(graph.empty_chunk(), chunk({&a, &c}), false), nullptr);
    EXPECT_NE(tested.ensure_set_edge(graph.empty_chunk(), chunk({&a, &b}), false), nullptr);
}

TEST_F(catalog_of, implies_sparse_follows_rules_at_any_depth) {
    fragment_data& top = add();
    fragment_data& middle = add();
    fragment_data& bottom = add();
    const auto needs = [&](const fragment_data& owner, fragment_data& needed) {
        fragment_data* const set[] = {&needed};
        tested.add_needs(owner.id, set);
    };
    needs(top, middle);
    needs(middle, bottom);
    needs(bottom, top);
    for (fragment_data* each : {&top, &middle, &bottom}) EXPECT_FALSE(tested.implies_sparse(*each));
    tested.make_sparse(bottom);
    EXPECT_TRUE(tested.implies_sparse(top));
    EXPECT_TRUE(tested.implies_sparse(middle));
    EXPECT_FALSE(tested.implies_sparse(bottom));  // needs itself at most
    EXPECT_TRUE(tested.has_sparse_part(chunk({&top})));
    EXPECT_FALSE(tested.has_sparse_part(chunk({&add()})));
    const shape_list shape{{nullptr, change_kind::clear}, remove(top)};
    EXPECT_TRUE(tested.has_sparse_part(shape));
    EXPECT_FALSE(tested.has_sparse_part(shape_list{{nullptr, change_kind::clear}}));
}

TEST_F(catalog_of, make_sparse_refuses_a_fragment_in_use) {
    fragment_data& used = add();
    spawn(chunk({&used}));
    EXPECT_EQ(code_of([&] { tested.make_sparse(used); }), errc::fragment_in_use);
    fragment_data& recorded = add();
    pending.add(entities.create(), change_kind::put, &recorded);
    EXPECT_EQ(code_of([&] { tested.make_sparse(recorded); }), errc::fragment_in_use);
    for (const fragment_data* each : {&used, &recorded}) {
        EXPECT_EQ(each->sparse_values, nullptr);
        EXPECT_FALSE(each->is_defined_sparse);
    }
}

TEST_F(catalog_of, make_sparse_frees_the_chunks_without_rows_outside_of_scopes) {
    fragment_data& made = add();
    chunk({&made});
    changes.open_scope();
    EXPECT_EQ(code_of([&] { tested.make_sparse(made); }), errc::in_scope);
    EXPECT_EQ(made.sparse_values, nullptr);
    changes.close_scope();
    tested.make_sparse(made);
    EXPECT_NE(made.sparse_values, nullptr);
    EXPECT_TRUE(made.chunks.empty());
    EXPECT_TRUE(chunk({&made}).has_sparse);
    tested.make_sparse(made);  // again
    EXPECT_TRUE(made.is_defined_sparse);
}

TEST_F(catalog_of, a_fragment_shows_the_name_of_its_id) {
    const auto here = std::source_location::current();
    fragment_data& made = add();
    tested.name({made.id, here}, "health");
    EXPECT_EQ(made.name, "health");
    EXPECT_EQ(names.find(made.id), "health");
    tested.name({made.id, here}, "");
    EXPECT_EQ(made.name, entities.text_of(made.id));
    fragment_data& typed = ensure<position>();
    const std::string before(typed.name);
    tested.name({typed.id, here}, "place");
    EXPECT_EQ(typed.name, "place");
    tested.name({typed.id, here}, "");
    EXPECT_EQ(typed.name, before);
    const std::uint64_t gone = entities.create();
    entities.destroy(gone);
    EXPECT_EQ(code_of([&] { tested.name({gone, here}, "ghost"); }), errc::dead_entity);
}

TEST_F(catalog_of, a_name_marks_its_entity_for_the_slow_destroy) {
    const std::uint64_t e = entities.create();
    EXPECT_FALSE(marks.test(entities.key_of(e)));
    tested.name({e, std::source_location::current()}, "goblin");
    EXPECT_TRUE(marks.test(entities.key_of(e)));
}

// ---- chunks ------------------------------------------------------------------------------------

TEST_F(catalog_of, ensure_set_returns_one_chunk_for_each_set_in_any_order) {
    fragment_data& a = add();
    fragment_data& b = add();
    fragment_data* const set[] = {&b, &a};
    chunk_data& found = tested.ensure_set(set);
    EXPECT_EQ(&found, &chunk({&a, &b}));
    fragment_data* const other[] = {&a, &b};
    EXPECT_EQ(&tested.ensure_set(other), &found);
    EXPECT_EQ(tested.recent().find(set).chunk, &found);
    EXPECT_EQ(tested.recent().find(set).spawned, &found);
    fragment_data* const twice[] = {&a, &b, &a};
    EXPECT_EQ(code_of([&] { tested.ensure_set(twice); }), errc::given_twice);
}

TEST_F(catalog_of, a_phase_may_use_only_known_sets) {
    fragment_data& a = add();
    fragment_data* const known[] = {&a};
    fragment_data* const unknown[] = {&add()};
    chunk_data& found = tested.ensure_set(known);
    tested.ensure_single_chunk(a);
    changes.begin_phase();
    EXPECT_EQ(&tested.ensure_set(known), &found);
    EXPECT_EQ(&tested.ensure_single_chunk(a), &found);
    EXPECT_EQ(code_of([&] { tested.ensure_set(unknown); }), errc::in_scope);
    EXPECT_EQ(code_of([&] { tested.ensure_single_chunk(*unknown[0]); }), errc::in_scope);
    changes.end_phase();
    EXPECT_EQ(tested.ensure_set(unknown).fragments, fragment_list{unknown[0]});
}

TEST_F(catalog_of, a_bundle_knows_its_chunk_and_the_columns_of_its_types) {
    fragment_data& a = add();
    fragment_data& t = ensure<frozen>();
    fragment_data& b = add();
    fragment_data* const set[] = {&b, &a, &t};
    const auto list = list_index{900};
    chunk_data& found = tested.ensure_bundle(list, set);
    const bundle_index::entry& known = bundles.find(list);
    EXPECT_EQ(known.chunk, &found);
    EXPECT_EQ(known.spawned, &found);
    EXPECT_EQ(known.columns[0], found.find_column(b));
    EXPECT_EQ(known.columns[1], found.find_column(a));
    EXPECT_EQ(known.columns[2], found.columns.size());  // a tag
    EXPECT_EQ(&tested.ensure_bundle(no_list, set), &found);
    EXPECT_EQ(bundles.find(no_list).chunk, nullptr);
}

TEST_F(catalog_of, spawn_takes_the_fast_path_only_if_nothing_else_happens) {
    const auto is_fast = [&](fragment_data& fragment) {
        fragment_data* const set[] = {&fragment};
        tested.forget_chunks();
        tested.ensure_bundle(list_index{900}, set);
        return bundles.find(list_index{900}).spawned != nullptr;
    };
    EXPECT_TRUE(is_fast(add()));
    EXPECT_FALSE(is_fast(tested.open(entities.create())));
    EXPECT_FALSE(is_fast(add_sparse()));
    fragment_data& hooked = add();
    hook(hooked, hook_kind::remove);
    EXPECT_TRUE(is_fast(hooked));
    hook(hooked, hook_kind::insert);
    tested.invalidate_hooks(&hooked);
    EXPECT_FALSE(is_fast(hooked));
    fragment_data& owner = add();
    fragment_data* const needed[] = {&hooked};
    tested.add_needs(owner.id, needed);
    EXPECT_FALSE(is_fast(owner));
}

TEST_F(catalog_of, changed_hooks_and_traits_forget_the_chunks_of_bundles) {
    fragment_data& a = add();
    fragment_data* const set[] = {&a};
    for (const bool is_hook : {true, false}) {
        tested.ensure_bundle(list_index{900}, set);
        const std::uint64_t epoch = graph.epoch();
        if (is_hook)
            tested.invalidate_hooks(&a);
        else
            tested.invalidate_traits();
        EXPECT_EQ(bundles.find(list_index{900}).chunk, nullptr);
        EXPECT_EQ(tested.recent().find(set).chunk, nullptr);
        EXPECT_NE(graph.epoch(), epoch);
    }
}

TEST_F(catalog_of, a_clone_has_no_unique_fragments_but_those_given_and_needed) {
    fragment_data& a = add();
    fragment_data& u = add();
    fragment_data& g = add();
    fragment_data& n = add();
    u.is_unique = true;
    fragment_data* const needed[] = {&n};
    tested.add_needs(g.id, needed);
    chunk_data& original = chunk({&a, &u});
    chunk_data& part = tested.cloned_part(original);
    EXPECT_EQ(part.fragments, fragment_list{&a});
    EXPECT_EQ(&tested.cloned_part(part), &part);
    EXPECT_EQ(&tested.cloned_chunk(part, graph.empty_chunk()), &part);
    EXPECT_EQ(&tested.cloned_chunk(part, chunk({&a})), &part);
    EXPECT_EQ(tested.cloned_chunk(part, chunk({&u, &g})).fragments,
              (fragment_list{&a, &u, &g, &n}));
    EXPECT_EQ(tested.cloned_chunk(graph.empty_chunk(), chunk({&g})).fragments,
              (fragment_list{&g, &n}));
    tested.make_sparse(n);
    EXPECT_EQ(tested.cloned_chunk(part, chunk({&g})).fragments, (fragment_list{&a, &g}));
}

// ---- transitions of one entity -----------------------------------------------------------------

struct catalog_transitions : catalog_of {
    fragment_data& a = add();
    fragment_data& b = add();
    fragment_data& c = add();
    fragment_data& s = add_sparse();
    std::vector<transition_ref> kept;

    const transition* find(std::uint64_t e, const shape_list& shape) {
        kept.push_back(tested.transition_for(components.chunk_of(e), e, shape));
        return kept.back().get();
    }
};

TEST_F(catalog_transitions, one_change_is_found_again_as_an_edge) {
    const std::uint64_t e = spawn(chunk({&a}));
    const std::uint64_t other = spawn(chunk({&a}));
    const transition* const puts = find(e, {put(b)});
    EXPECT_EQ(puts->to, &chunk({&a, &b}));
    EXPECT_EQ(find(other, {put(b)}), puts);
    EXPECT_EQ(chunk({&a}).edges.find(edge_key::of(graph.edge_epoch(), b.index, false)), puts);
    const transition* const removes = find(e, {remove(a)});
    EXPECT_EQ(removes->to, &graph.empty_chunk());
    EXPECT_EQ(find(other, {remove(a)}), removes);
    EXPECT_NE(removes, puts);
}

TEST_F(catalog_transitions, keeping_and_putting_an_absent_value_share_the_edge) {
    const std::uint64_t e = spawn(chunk({&a}));
    EXPECT_EQ(find(e, {keep(b)}), find(e, {put(b)}));
    EXPECT_NE(find(e, {keep(a)}), find(e, {put(a)}));
    EXPECT_TRUE(find(e, {keep(a)})->arrivals.empty());
}

TEST_F(catalog_transitions, a_sparse_value_has_an_edge_for_each_state) {
    const std::uint64_t with = spawn(chunk({&a}));
    const std::uint64_t without = spawn(chunk({&a}));
    put_sparse(with, s);
    const transition* const replaces = find(with, {put(s)});
    const transition* const inserts = find(without, {put(s)});
    EXPECT_NE(replaces, inserts);
    EXPECT_TRUE(replaces->sparse_changes[0].was_there);
    EXPECT_FALSE(inserts->sparse_changes[0].was_there);
    EXPECT_EQ(find(with, {put(s)}), replaces);
    EXPECT_EQ(find(without, {put(s)}), inserts);
    EXPECT_EQ(find(with, {remove(s)})->sparse_changes.size(), 1u);
    EXPECT_TRUE(find(without, {remove(s)})->sparse_changes.empty());
}

TEST_F(catalog_transitions, sparse_values_that_a_change_does_not_concern_do_not_matter) {
    const std::uint64_t with = spawn(chunk({&a}));
    const std::uint64_t without = spawn(chunk({&a}));
    put_sparse(with, s);
    EXPECT_EQ(find(with, {put(b)}), find(without, {put(b)}));
    EXPECT_EQ(find(with, {put(b), put(c)}), find(without, {put(b), put(c)}));
    EXPECT_NE(find(with, {{nullptr, change_kind::clear}}),
              find(without, {{nullptr, change_kind::clear}}));
    EXPECT_EQ(find(with, {{nullptr, change_kind::clear}})->sparse_changes.size(), 1u);
}

TEST_F(catalog_transitions, a_needed_sparse_fragment_is_added_only_where_it_is_missing) {
    fragment_data* const needed[] = {&s};
    tested.add_needs(b.id, needed);
    const std::uint64_t with = spawn(chunk({&a}));
    const std::uint64_t without = spawn(chunk({&a}));
    put_sparse(with, s);
    EXPECT_TRUE(find(with, {put(b)})->sparse_changes.empty());
    EXPECT_EQ(find(without, {put(b)})->sparse_changes.size(), 1u);
    EXPECT_TRUE(find(with, {put(b)})->sparse_changes.empty());
}

TEST_F(catalog_transitions, changed_hooks_lead_to_a_new_transition_while_the_old_one_stays_valid) {
    const std::uint64_t e = spawn(chunk({&a}));
    const transition_ref old = tested.transition_for(chunk({&a}), e, shape_list{put(b)});
    EXPECT_TRUE(old->is_plain);
    hook(b, hook_kind::insert);
    tested.invalidate_hooks(&b);
    const transition_ref made = tested.transition_for(chunk({&a}), e, shape_list{put(b)});
    EXPECT_NE(made.get(), old.get());
    EXPECT_FALSE(made->is_plain);
    EXPECT_TRUE(made->calls_after);
    EXPECT_EQ(old->references, 1u);  // the graph has dropped it
    EXPECT_EQ(old->to, made->to);
}

TEST_F(catalog_transitions, the_chunk_limit_is_an_error_that_changes_nothing) {
    const std::uint64_t e = spawn(chunk({&a}));
    std::vector<fragment_data*> more;
    for (int i = 0; i < 12; ++i) more.push_back(&add());
    for (unsigned bits = 1; graph.all().size() < 4000; ++bits) {
        std::vector<fragment_data*> set;
        for (unsigned i = 0; i < 12; ++i)
            if ((bits >> i & 1) != 0) set.push_back(more[i]);
        chunk(set);
    }
    for (int i = 0; i < 2; ++i) EXPECT_EQ(code_of([&] { find(e, {put(b)}); }), errc::limit);
    EXPECT_EQ(find(e, {remove(a)})->to, &graph.empty_chunk());
}

// ---- edges of sets -----------------------------------------------------------------------------

/// Twelve fragments; every fourth is a tag. Tests write a set of fragments as bits.
struct catalog_sets : catalog_of {
    std::vector<fragment_data*> all;

    catalog_sets() {
        for (unsigned i = 0; i < 12; ++i) {
            all.push_back(&add());
            if (i % 4 == 3) all.back()->type = &type_info_of<frozen>;
        }
    }
    chunk_data& chunk_of(unsigned bits) {
        std::vector<fragment_data*> set;
        for (unsigned i = 0; i < 12; ++i)
            if ((bits >> i & 1) != 0) set.push_back(all[i]);
        return chunk(set);
    }
    const transition& with(chunk_data& from, chunk_data& set) {
        return *tested.ensure_set_edge(from, set, false);
    }
    const transition& without(chunk_data& from, chunk_data& set) {
        return *tested.ensure_set_edge(from, set, true);
    }
};

TEST_F(catalog_sets, adding_leads_to_the_union_of_both_sets) {
    for (const unsigned from : {0b0u, 0b1u, 0b110u, 0b1011u})
        for (const unsigned more : {0b1u, 0b10u, 0b1001u}) {
            const transition& step = with(chunk_of(from), chunk_of(more));
            EXPECT_EQ(step.to, &chunk_of(from | more));
            EXPECT_EQ(&with(chunk_of(from), chunk_of(more)), &step);  // cached
        }
}

TEST_F(catalog_sets, removing_leads_to_the_remaining_set) {
    for (const unsigned from : {0b1u, 0b110u, 0b1111u})
        for (const unsigned less : {0b1u, 0b10u, 0b1001u, 0b10000u}) {
            const transition& step = without(chunk_of(from), chunk_of(less));
            EXPECT_EQ(step.to, &chunk_of(from & ~less));
            EXPECT_EQ(&without(chunk_of(from), chunk_of(less)), &step);
        }
    EXPECT_EQ(without(chunk_of(0b11), chunk_of(0b11)).to, &graph.empty_chunk());
}

TEST_F(catalog_sets, adding_and_removing_a_set_leads_back) {
    chunk_data& from = chunk_of(0b101);
    chunk_data& both = *with(from, chunk_of(0b1010)).to;
    EXPECT_EQ(without(both, chunk_of(0b1010)).to, &from);
    // Adding and removing a set are different edges.
    EXPECT_EQ(with(both, chunk_of(0b1010)).to, &both);
}

TEST_F(catalog_sets, an_edge_maps_source_columns_to_target_columns_and_keeps_values) {
    // Fragment 3 is a tag and has no column.
    const transition& more = with(chunk_of(0b1101), chunk_of(0b100110));
    ASSERT_EQ(more.to, &chunk_of(0b101111));
    EXPECT_EQ(more.columns, (array_list<std::uint32_t>{0, 2}));  // target: 0 1 2 5
    ASSERT_EQ(more.arrivals.size(), 2u);
    EXPECT_EQ(more.arrivals[0].column, 1u);
    EXPECT_EQ(more.arrivals[1].column, 3u);
    const transition& less = without(chunk_of(0b101111), chunk_of(0b1010));
    ASSERT_EQ(less.to, &chunk_of(0b100101));
    EXPECT_EQ(less.columns, (array_list<std::uint32_t>{0, transition::dropped, 1, 2}));
    EXPECT_TRUE(with(graph.empty_chunk(), chunk_of(0b1)).columns.empty());
}

TEST_F(catalog_sets, edges_are_rebuilt_after_garbage_collection) {
    spawn(chunk_of(0b1));
    with(chunk_of(0b1), chunk_of(0b10));     // the target and the key's chunk are garbage
    without(chunk_of(0b1), chunk_of(0b10));  // the key's chunk is garbage
    graph.collect_garbage();
    ASSERT_EQ(graph.all().size(), 2u);
    // New chunks reuse the indices that the old edges stored.
    for (const unsigned other : {0b100u, 0b10000u, 0b100000u, 0b10u}) {
        EXPECT_EQ(with(chunk_of(0b1), chunk_of(other)).to, &chunk_of(other | 0b1));
        EXPECT_EQ(without(chunk_of(0b1), chunk_of(other | 0b1)).to, &graph.empty_chunk());
    }
}

TEST_F(catalog_sets, a_set_with_a_sparse_part_has_no_edge) {
    tested.make_sparse(*all[0]);
    fragment_data* const needed[] = {all[0]};
    tested.add_needs(all[1]->id, needed);
    for (const unsigned bits : {0b1u, 0b10u, 0b101u})
        EXPECT_EQ(tested.ensure_set_edge(chunk_of(0b100), chunk_of(bits), false), nullptr);
    EXPECT_NE(tested.ensure_set_edge(chunk_of(0b10000), chunk_of(0b100), false), nullptr);
}

// ---- fragments of rooms ------------------------------------------------------------------------

struct internal_fragments : catalog_of {
    static constexpr type_info link{"link", 8, 8, nullptr, nullptr, nullptr, nullptr, true, true};
    fragment_data& likes(std::uint64_t whom) { return tested.ensure_internal({1, 5, whom}, link); }
};

TEST_F(internal_fragments, the_first_use_of_a_key_creates_a_world_owned_fragment) {
    fragment_data& made = likes(1);
    EXPECT_EQ(&likes(1), &made);
    EXPECT_EQ(fragments.find(fragment_key{1, 5, 1}), &made);
    EXPECT_NE(&likes(2), &made);
    EXPECT_EQ(entities.key_of(made.id), layouts::bound::last_key);
    EXPECT_TRUE(entities.alive(made.id));
    EXPECT_TRUE(tested.is_world_owned(made.id));
    EXPECT_EQ(tested.world_owned_count(), 2u);
    EXPECT_TRUE(made.is_internal);
    EXPECT_FALSE(made.is_untyped);
    EXPECT_FALSE(made.is_of_type());
    EXPECT_EQ(made.type, &link);
    EXPECT_EQ(made.sparse_values, nullptr);
}

TEST_F(internal_fragments, messages_show_the_name_of_the_room_or_of_the_type) {
    EXPECT_EQ(likes(1).name, "link");
    const fragment_data& named = tested.ensure_internal({1, 6, 0}, link, "likes eve");
    EXPECT_EQ(named.name, "likes eve");
    tested.name({named.id, std::source_location::current()}, "secret");
    EXPECT_EQ(named.name, "secret");
    tested.name({named.id, std::source_location::current()}, "");
    EXPECT_EQ(named.name, "likes eve");
}

TEST_F(internal_fragments, may_be_sparse_without_being_the_set_of_a_type) {
    type_info info = link;
    info.sparse = true;
    fragment_data& made = tested.ensure_internal({1, 0, 0}, info);
    ASSERT_NE(made.sparse_values, nullptr);
    tested.invalidate_traits();
    EXPECT_EQ(sparse.find(no_type), nullptr);
    const std::uint64_t e = entities.create();
    tested.mark_for_destroy(e);
    put_sparse(e, made);
    EXPECT_TRUE(components.has(e, made));
}

TEST_F(internal_fragments, are_refused_in_a_change_and_in_a_phase) {
    likes(1);
    changes.begin_phase();
    EXPECT_NO_THROW(likes(1));
    EXPECT_EQ(code_of([&] { likes(2); }), errc::in_scope);
    changes.end_phase();
    const busy_guard busy(changes);
    EXPECT_EQ(code_of([&] { likes(2); }), errc::in_scope);
    EXPECT_EQ(tested.world_owned_count(), 1u);
}

TEST_F(internal_fragments, keys_of_destroyed_ones_are_used_again) {
    fragment_data& first = likes(0);
    for (std::uint64_t i = 1; i < 100; ++i) likes(i);
    const std::uint64_t id = first.id;
    tested.forget(first);
    fragments.remove(first);
    entities.destroy(id);
    EXPECT_EQ(tested.world_owned_count(), 99u);
    EXPECT_EQ(fragments.find(fragment_key{1, 5, 0}), nullptr);
    const fragment_data& again = likes(0);
    EXPECT_EQ(entities.key_of(again.id), entities.key_of(id));
    EXPECT_NE(again.id, id);
}

TEST_F(internal_fragments, many_do_not_slow_each_other_down) {
    // With a search from the top for each of them, this takes minutes.
    for (std::uint64_t i = 0; i < 100'000; ++i) likes(i);
    EXPECT_EQ(tested.world_owned_count(), 100'000u);
    EXPECT_EQ(entities.key_of(likes(99'999).id), layouts::bound::last_key - 99'999);
    EXPECT_EQ(entities.key_of(ensure<position>().id), layouts::bound::last_key - 100'000);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
