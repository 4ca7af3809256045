// Types whose address-of and comma operators are deleted, in every public call: as components, tags,
// values of fragments, singletons, payloads, and as the functions that calls take.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/about_chunks.hpp"
#include "support/layouts.hpp"
#include "support/thread_executor.hpp"

namespace muster::test {
namespace {

/// Deletes what a call must not use: it works on objects, not on their operators.
struct no_operators {
    void operator&() const = delete;
    template <class Other>
    void operator,(Other&&) const = delete;
    template <class Other>
    friend void operator,(Other&&, const no_operators&) = delete;
    no_operators* operator->() const = delete;
    bool operator!() const = delete;
};

struct small : no_operators {
    small(int given = 0) : value(given) {}
    int value;
    friend bool operator==(const small& a, const small& b) { return a.value == b.value; }
};
struct large : no_operators {
    large(int given = 0) : value(given), text(40, 'x') {}
    int value;
    std::string text;
};
struct scattered : no_operators {
    scattered(int given = 0) : value(given) {}
    int value;
};
struct pinned : no_operators {
    pinned(int given = 0) : value(given) {}
    pinned(pinned&&) = delete;
    int value;
};
struct move_only : no_operators {
    move_only(int given = 0) : value(given) {}
    move_only(move_only&&) = default;
    move_only& operator=(move_only&&) = default;
    int value;
};
struct list : no_operators {
    std::vector<small> values;
    const small& push_back(const small& value) {
        values.push_back(value);
        return values.back();
    }
};
struct mark : no_operators {};
struct other_mark : no_operators {};

}  // namespace
}  // namespace muster::test

template <>
struct muster::component_traits<muster::test::scattered> {
    static constexpr bool sparse = true;
};

namespace muster::test {
namespace {

/// A function with deleted operators.
template <class Call>
struct function : no_operators {
    Call call;
    function(Call given) : call(std::move(given)) {}
    template <class... Args>
    decltype(auto) operator()(Args&&... args) const
        requires std::is_invocable_v<const Call&, Args&&...>
    {
        return call(std::forward<Args>(args)...);
    }
};
/// The same with parameters that a call can deduce.
template <class Result, class... Args>
struct deduced : no_operators {
    Result (*call)(Args...);
    deduced(Result (*given)(Args...)) : call(given) {}
    Result operator()(Args... args) const { return call(static_cast<Args&&>(args)...); }
};

class overloaded_operators : public testing::Test {
protected:
    world w;
    std::size_t calls = 0;

    auto count() {
        return function([this](const auto&...) { ++calls; });
    }
};

TEST_F(overloaded_operators, spawn_and_clone) {
    const entity a = w.spawn(small(1), large(2), scattered(3), mark{});
    const large lvalue(5);
    const entity b = w.spawn(small(4), lvalue, move_only(6));
    const auto f = w.fragment<small>("f");
    const auto g = w.fragment<large>("g");
    const entity c = w.spawn(with(f, small(7)), with(g, lvalue), with(mark{}));
    w.spawn_at(entity::pack(1000, 60000, w.number()), small(1));
    w.spawn_many(3, small(8), lvalue, with(f, small(9)));
    std::array<entity, 2> out;
    w.spawn_into(out, small(1), scattered(2), mark{});
    w.spawn_rows(2, count(), small(1), lvalue, mark{});
    const std::vector<small> smalls(3);
    const std::vector<large> larges(3);
    w.spawn_columns(smalls, larges);
    w.spawn_columns_into(out, std::span(smalls).first(2));
    w.clone(a, small(9), lvalue, mark{});
    w.clone(c, with(f, small(9)));
    w.clone_many(2, a, small(9), lvalue, other_mark{});
    w.clone_into(out, a, scattered(9));
    EXPECT_EQ(w.get<large>(b).value, 5);
    EXPECT_EQ(w.get(c, f).value, 7);
    EXPECT_EQ(calls, 1u);
    const std::size_t size = w.size();
    EXPECT_EQ(w.destroy_if(function([](entity) { return true; })), size);
}

TEST_F(overloaded_operators, set_get_and_remove_by_type) {
    const entity e = w.spawn();
    large lvalue(3);
    w.set(e, small(1), lvalue, scattered(2), mark{}, move_only(4));
    w.set(e, small(2));
    w.set(e, lvalue);
    w.set(e, std::move(lvalue));
    w.set(e, scattered(5));
    w.set(e, w.get<large>(e), w.get<small>(e));
    const entity other = w.spawn();
    w.add<small, large, scattered, mark>(other);
    w.add<pinned>(other);
    w.emplace<pinned>(e, 8);
    w.emplace<small>(e, 8);
    w.emplace<mark>(e);
    w.get_or_emplace<move_only>(other, 9);
    w.get_or_emplace<other_mark>(other);
    w.patch<small>(e, function([](small& s) { s.value = 10; }));
    w.patch<mark>(e, count());
    w.append<list>(e, small(1), small(2));
    w.append<list>(e, small(3), small(4));
    w.touch<small>(e);
    EXPECT_EQ(w.get<small>(e).value, 10);
    EXPECT_EQ(w.get<list>(e).values.size(), 4u);
    EXPECT_EQ(std::get<1>(w.get<small, move_only>(e)).value, 4);
    EXPECT_EQ(std::get<0>(w.try_get<pinned, mark>(e))->value, 8);
    const world& seen = w;
    EXPECT_EQ(std::get<0>(seen.get<small, scattered>(e)).value, 10);
    EXPECT_EQ(seen.get<const scattered>(e).value, 5);
    EXPECT_NE(seen.try_get<const mark>(e), nullptr);
    EXPECT_NE(seen.try_get<mark>(e), nullptr);
    EXPECT_TRUE((seen.has_all<small, mark>(e) && seen.has_any<small, mark>(e)));
    EXPECT_TRUE((w.remove<small, mark>(e) && w.remove<scattered>(e) && w.remove<large>(e)));
    w.set_single(small(1));
    w.set_single(std::as_const(lvalue));
    w.set_single(mark{});
    w.set_single(scattered(2));
    EXPECT_EQ(w.single<small>().value + seen.single<scattered>().value, 3);
    EXPECT_TRUE(w.has_single<mark>() && w.remove_single<large>());
}

TEST_F(overloaded_operators, set_get_and_remove_by_fragment) {
    const auto f = w.fragment<small>("f");
    const auto g = w.fragment<large>("g");
    const auto p = w.fragment<pinned>("p");
    const auto s = w.component<scattered>();
    const auto m = w.component<mark>();
    const entity e = w.spawn();
    const large lvalue(1);
    w.set(e, f, small(1));
    w.set(e, g, lvalue);
    w.set(e, s, scattered(2));
    w.set(e, with(f, small(3)), with(g, lvalue), with(m));
    w.set(e, m);
    w.add(e, mark{});
    w.add(e, g);
    w.emplace(e, p, 4);
    w.emplace(e, g, 5);
    w.patch(e, f, function([](small& value) { value.value = 6; }));
    w.patch<small>(e, entity(f), count());
    w.touch(e, f);
    w.touch(e, mark{});
    const small raw(7);
    w.set_raw(e, f, std::addressof(raw));
    EXPECT_EQ(w.get(e, f).value + w.get<large>(e, g).value + w.try_get(e, p)->value, 16);
    EXPECT_NE(std::as_const(w).try_get(e, m), nullptr);
    EXPECT_TRUE(w.has(e, mark{}) && w.has_all(e, f, mark{}) && w.has_any(e, f, other_mark{}));
    EXPECT_EQ(w.copy_fragment(f, w.fragment<small>("copy")), 1u);
    w.each_fragment(e, count());
    std::as_const(w).each_fragment(e, count());
    EXPECT_EQ(calls, 2 * 6u + 1u);
    EXPECT_TRUE(w.remove(e, mark{}, f) && w.remove(e, g));
}

TEST_F(overloaded_operators, define_and_hooks) {
    w.define<small>()
        .name("small")
        .default_value(small(5))
        .duplicate(function([](const small& from) { return small(from.value + 1); }))
        .needs<large, mark>()
        .needs(other_mark{})
        .on_insert(count())
        .on_assign(count())
        .on_set(count())
        .on_remove(count());
    w.define(mark{}).on_insert(count());
    const auto f = w.fragment<large>("f");
    const auto a = w.on_insert<large>(count());
    const auto b = w.on_assign(f, function([this](entity, large&) { ++calls; }));
    const auto c = w.on_set(mark{}, count());
    const auto d = w.on_remove<scattered>(function([this](entity, scattered&) { ++calls; }));
    const auto s = w.on_spawn(count());
    const auto t = w.on_destroy(count());
    const entity e = w.spawn(small(1), scattered(2));
    EXPECT_EQ(calls, 1u + 2u + 1u + 2u);  // spawned; small; large; mark
    w.set(e, small(2));
    w.set(e, f, large(1));
    w.set(e, f, large(2));
    const entity copy = w.clone(e);
    EXPECT_EQ(w.get<small>(copy).value, 3);
    w.destroy(e);
    EXPECT_TRUE(a.connected() && b.connected() && c.connected() && d.connected());
    EXPECT_TRUE(s.connected() && t.connected());
}

TEST_F(overloaded_operators, queries) {
    const entity e = w.spawn(small(1), large(2), mark{}, scattered(3));
    w.spawn(small(2), mark{});
    w.query<small, const large>().each(count());
    w.query<small, scattered*>().each(function([this](entity, small&, scattered*) { ++calls; }));
    w.query<mark, const scattered, large*>().with<small>().without<list>().any<mark>().each(
        count());
    w.query<small>().with(mark{}).without(other_mark{}).any(mark{}, other_mark{}).each(count());
    EXPECT_EQ(calls, 1u + 2u + 1u + 2u);
    w.each(deduced(+[](entity, small& s, const mark&, large* l) { s.value = l == nullptr; }));
    std::as_const(w).each(deduced(+[](const small&, const scattered*, const mark&) {}));
    for (auto&& row : w.query<small, mark, scattered*>()) std::get<1>(row).value = 4;
    for (auto&& row : std::as_const(w).query<const small, const mark>())
        EXPECT_EQ(std::get<1>(row).value, 4);
    w.query<small>().each_chunk(function([this](chunk_view) { ++calls; }));
    const auto q = w.query<small>();
    EXPECT_TRUE(q.matches(e) && !q.explain(e).empty() && q.first() != entity{});
    EXPECT_EQ(w.find(small(4)), e);
    EXPECT_EQ(w.find_if<scattered>(function([](const scattered& s) { return s.value == 3; })), e);
    EXPECT_EQ(w.count<mark>() + w.count(mark{}), 4u);
    w.sort<scattered>(
        function([](const scattered& a, const scattered& b) { return a.value < b.value; }));
    w.sort(w.component<scattered>(),
           function([](const scattered& a, const scattered& b) { return a.value > b.value; }));
    w.sort_like<scattered, small>();
    w.sort_like(w.component<scattered>(), mark{});
    EXPECT_EQ(w.clear<mark>() + w.clear_fragment(mark{}), 2u);
}

TEST_F(overloaded_operators, batches) {
    const auto f = w.fragment<large>("f");
    const large lvalue(4);
    w.spawn_many(3, small(1));
    const auto q = w.query<small>();
    EXPECT_EQ(q.set(small(2), lvalue, mark{}, scattered(5)), 3u);
    EXPECT_EQ(q.set(with(f, lvalue), with(mark{})), 3u);
    EXPECT_EQ(q.set(f, large(6)) + q.set(f), 6u);
    EXPECT_EQ((q.add<list, other_mark>()), 3u);
    EXPECT_EQ((q.add(mark{}, f)), 0u);
    EXPECT_EQ((q.remove<mark, large>()), 3u);
    EXPECT_EQ(q.remove(other_mark{}, f), 3u);
    EXPECT_EQ(q.clear(), 3u);
}

TEST_F(overloaded_operators, scopes_and_buffers) {
    const auto f = w.fragment<large>("f");
    const large lvalue(4);
    const entity e = w.spawn(small(0));
    {
        deferred scope{w};
        w.clone(e, lvalue);
        w.set(e, small(1), lvalue, scattered(2), mark{}, move_only(3));
        w.emplace<large>(e, 5).value += 1;
        w.emplace<pinned>(e, 5);
        w.patch<small>(e, function([](small& s) { s.value += 10; }));
        w.set(e, f, lvalue);
        w.spawn(small(2), lvalue, scattered(2), mark{});
        w.spawn_rows(2, count(), small(3));
        w.query<small>().set(mark{}, lvalue);
    }
    EXPECT_EQ(w.get<small>(e).value, 11);
    command_buffer b{w};
    const entity made = b.spawn(small(3), large(4), mark{}, with(f, large(6)));
    b.set(made, scattered(1), move_only(2));
    b.set(made, f, large(5));
    b.add<list>(made);
    b.add(made, other_mark{});
    b.remove<mark>(made);
    b.remove(made, other_mark{});
    w.submit(b);
    EXPECT_EQ(w.get(made, f).value, 5);
    auto builder = w.builder();
    builder.set(small(1)).set(lvalue).set(mark{}).set(f, large(2)).set(scattered(1));
    EXPECT_EQ(w.get<large>(builder.spawn()).value, 4);
    builder.remove<small>();
    w.remove<move_only, pinned>(e);
    builder.clone(e);
}

TEST_F(overloaded_operators, observers) {
    auto o = w.observer<small, mark*>();
    auto p = w.observer().added(mark{}).changed<large>().removed<scattered>().with<small>().without(
        other_mark{});
    const entity e = w.spawn(small(1), mark{}, large(2), scattered(3));
    o.each(count());
    p.each(count());
    w.set(e, small(2));
    for (auto&& row : o) std::get<1>(row).value = 3;
    w.set(e, small(2));
    o.each(function([this](entity, small&, mark*) { ++calls; }));
    w.set(e, small(2));
    o.each(function([this](entity) { ++calls; }));
    EXPECT_EQ(calls, 4u);
}

TEST_F(overloaded_operators, systems_and_payloads) {
    static int sum;
    sum = 0;
    w.spawn(small(1), mark{}, scattered(2));
    auto a = w.system("a").with(mark{}).each(
        deduced(+[](small& s, const mark&, scattered* other, large payload) {
            sum += s.value + other->value + payload.value;
        }));
    auto b =
        w.system("b").execute(deduced(+[](chunk_view, large payload) { sum += payload.value; }));
    auto c = w.system("c")
                 .query(w.query<small, const mark>())
                 .each(deduced(+[](entity, small& s, const mark&) { sum += s.value; }));
    auto d = w.system("d")
                 .without<other_mark>()
                 .any<mark, other_mark>()
                 .reads<small>()
                 .prologue(deduced(+[](large payload) { sum += payload.value; }))
                 .epilogue(deduced(+[]() { ++sum; }))
                 .execute(deduced(+[](large payload) { sum += payload.value; }));
    w.process_with(a, large(10));
    w.process_with(b, large(100));
    w.process(c);
    w.process_with(d, large(1000));
    EXPECT_EQ(sum, 13 + 100 + 1 + 2001);
    muster_tests::thread_executor threads(2);
    w.par_process_with(threads, a, large(10));
    w.query<small, const mark>().par_each(threads, 1, function([](small&, const mark&) {}));
    EXPECT_EQ(sum, 13 + 100 + 1 + 2001 + 13);
}

TEST_F(overloaded_operators, chunks_and_extensions) {
    MUSTER_ABOUT_CHUNKS();
    const entity e = w.spawn(small(1), large(2), mark{});
    const auto c = w.chunk<small, large, mark>();
    EXPECT_EQ(c.components<small>()[0].value + c.components(w.component<large>())[0].value, 3);
    EXPECT_TRUE(c.has<mark>() && w.chunk(mark{}, w.component<small>()).empty());
    EXPECT_EQ(w.locate(e).row, 0u);
    w.query<small>().each_chunk([&](rows r) {
        EXPECT_EQ(r.components<const small>()[0].value, 1);
        EXPECT_TRUE(r.has<mark>());
    });
    std::as_const(w).query<const small>().each_chunk(
        [&](const_chunk_view r) { EXPECT_EQ(r.components<large>()[0].value, 2); });
    w.reserve<small, large, mark>(100);
}

}  // namespace
}  // namespace muster::test
