// engine_fixture: an engine with the entities of the default layout, without a store.
#pragma once

#include <muster/engine/engine.hpp>
#include <muster/entity/entity_table.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace muster::test {

using namespace muster::detail;  // NOLINT(google-build-using-namespace): the subject of the tests

/// Values of the kinds that are moved in different ways: `made` returns the value of a number.
template <class T>
struct value_kind {
    static T made(int number) { return static_cast<T>(number); }
};
template <>
struct value_kind<std::string> {
    static std::string made(int number) {
        return "a text with a block of its own, number " + std::to_string(number);
    }
};
struct alignas(128) over_aligned {
    int number = 0;
    friend bool operator==(const over_aligned&, const over_aligned&) = default;
};
template <>
struct value_kind<over_aligned> {
    static over_aligned made(int number) { return {number}; }
};
/// Movable only, and counted.
struct counted {
    static inline int alive = 0;
    std::unique_ptr<int> number;
    counted() : counted(0) {}
    explicit counted(int value) : number(std::make_unique<int>(value)) { ++alive; }
    counted(counted&& other) noexcept : number(std::move(other.number)) { ++alive; }
    counted& operator=(counted&&) = delete;
    ~counted() { --alive; }
    friend bool operator==(const counted& a, const counted& b) { return *a.number == *b.number; }
};
template <>
struct value_kind<counted> {
    static counted made(int number) { return counted(number); }
};

struct engine_fixture : testing::Test {
    world_number taken = world_number::take<layouts::bound>();
    entity_table<layouts::bound> table{
        {.world = taken.value(), .first_version = taken.first_version()}};
    entity_adapter<layouts::bound> adapter{table};
    engine core{
        adapter,
        std::move(taken),
        {type_info_of<std::uint64_t>, 1000, 100'000, sparse_set::id_shape::of<layouts::bound>()},
        false};

    ~engine_fixture() override { core.end(table.pool().unused_version()); }

    static target at(std::uint64_t e) { return {e, std::source_location::current()}; }

    /// Returns a new fragment of values of T.
    template <class T>
    fragment_data& add() {
        fragment_data& made = core.catalog.ensure(core.entities.create(), value_type_ref::of<T>());
        made.is_untyped = false;
        return made;
    }
    template <class T>
    fragment_data& add_sparse() {
        fragment_data& made = add<T>();
        core.catalog.make_sparse(made);
        return made;
    }
    void needs(const fragment_data& owner, fragment_data& needed) {
        fragment_data* const set[] = {&needed};
        core.catalog.add_needs(owner.id, set);
    }

    template <class T>
    static change put(const fragment_data& f, T& value, change_kind kind = change_kind::put) {
        return {.fragment = {f.id},
                .type = value_type_ref::of<T>(),
                .kind = kind,
                .self = &value,
                .construct = &move_construct<T>};
    }
    /// Sets the value of an entity by a call, at once or in a scope.
    template <class T>
    bool set(std::uint64_t e, const fragment_data& f, T value,
             change_kind kind = change_kind::put) {
        change given = put(f, value, kind);
        return core.changes.submit({at(e), {&given, 1}, "set"});
    }
    bool remove(std::uint64_t e, const fragment_data& f) {
        const fragment_name name{f.id};
        return core.changes.remove(at(e), {&name, 1});
    }
    [[nodiscard]] bool has(std::uint64_t e, const fragment_data& f) const {
        return core.components.has(e, f);
    }
    template <class T>
    [[nodiscard]] T& get(std::uint64_t e, const fragment_data& f) const {
        return *static_cast<T*>(core.components.find(e, f));
    }
    [[nodiscard]] std::size_t row_of(std::uint64_t e) const { return core.entities.locate(e).row; }
    chunk_data& chunk_of(std::uint64_t e) { return core.components.chunk_of(e); }

    /// Expects that the records and the rows of all chunks refer to each other.
    void expect_consistent() {
        for (const chunk_data* chunk : core.graph.all())
            for (std::size_t row = 0; row < chunk->size; ++row) {
                const location at = core.entities.locate(chunk->id_at(row));
                ASSERT_EQ(at.chunk, chunk->index);
                ASSERT_EQ(at.row, row);
            }
    }

    template <class Function>
    static hook_function hook_of(Function function) {
        return {boxed_value::holding(std::move(function)),
                [](void* held, std::uint64_t e, void* value) {
                    (*static_cast<Function*>(held))(e, value);
                }};
    }
    template <class Function>
    std::uint64_t hook(fragment_data& f, hook_kind kind, Function function) {
        return core.notifier.add(f, kind, hook_of(std::move(function)));
    }
};

/// The exception of hooks in tests.
struct refusal {};
[[noreturn]] inline void refuse(std::uint64_t, void*) {
    throw refusal();
}

}  // namespace muster::test
