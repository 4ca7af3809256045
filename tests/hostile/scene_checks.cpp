// The calls of the hostile tests, and what must be true of a world before and after each of them.
#include "places.hpp"

#include "support/scale.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <string_view>
#include <utility>

namespace muster_tests::hostile {

const std::vector<row>& all_calls() {
    static const std::vector<row> made = [] {
        std::vector<row> all;
        for (std::vector<row> (*some)() :
             {public_calls::about_entities, public_calls::about_spawning,
              public_calls::about_fragments_and_chunks, public_calls::about_components,
              public_calls::about_values_of_fragments, public_calls::about_relations,
              public_calls::queries, public_calls::hooks, public_calls::observers,
              public_calls::events, public_calls::systems,
              public_calls::scopes_buffers_and_extensions})
            std::ranges::move(some(), std::back_inserter(all));
        if (muster::detail::sparse_by_default)
            std::erase_if(all, [](const row& tested) {
                const std::string_view name = tested.name;
                return name.find("chunk") != name.npos && !name.starts_with("builder");
            });
        return all;
    }();
    return made;
}

std::vector<const row*> calls_with_turn(const place& where, std::size_t some) {
    const auto number = static_cast<std::size_t>(
        std::ranges::find(all_places(), std::string_view(where.name), &place::name) -
        all_places().begin());
    std::vector<const row*> made;
    for (std::size_t i = 0; i < all_calls().size(); ++i)
        if (number < 2 || muster::test::scale() > 1 || (i + number) % some == 0)
            made.push_back(&all_calls()[i]);
    return made;
}

std::string name_of(const testing::TestParamInfo<place>& info) {
    std::string name = info.param.name;
    std::ranges::replace_if(name, [](char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

bool is_immediate(const row& tested) {
    const std::string_view name = tested.name;
    return std::ranges::any_of(std::initializer_list<std::string_view>{"a new extension",
                                                                       "the first set_state",
                                                                       "use of a new module",
                                                                       "apply_submitted",
                                                                       "commit",
                                                                       "cancel",
                                                                       "collect_garbage",
                                                                       "component",
                                                                       "connection",
                                                                       "defer",
                                                                       "define",
                                                                       "definition",
                                                                       "event_reader::clear",
                                                                       "name",
                                                                       "observer",
                                                                       "on_",
                                                                       "par_process",
                                                                       "process",
                                                                       "recycle",
                                                                       "reserve",
                                                                       "reset",
                                                                       "sort",
                                                                       "submit",
                                                                       "system",
                                                                       "time_systems"},
                               [&](std::string_view first) { return name.starts_with(first); });
}

std::string look(scene& s) {
    std::string seen;
    // The fragments that the first use of a type creates stay, and so do ids without a type yet.
    std::istringstream dump(s.dump(false));
    for (std::string line; std::getline(dump, line);)
        if (line.find("::unused") == line.npos && line.find("::new_stage>") == line.npos &&
            !line.starts_with("E:"))
            seen += line.substr(0, line.find(" fragments")) + '\n';
    for (const entity e : s.w.entities()) {
        seen += '\n' + std::to_string(e.key()) + ':';
        std::as_const(s.w).each_fragment(
            e, [&](id f, const void*) { seen += ' ' + std::to_string(f.key()); });
    }
    for (const auto& o : s.mine) seen += ' ' + std::to_string(o.size());
    return seen;
}

void expect_consistent(scene& s) {
    auto& core = s.w.core();
    EXPECT_EQ(s.w.depth(), 0u);
    EXPECT_FALSE(core.gate.is_changing());
    EXPECT_FALSE(core.gate.is_parallel());
    EXPECT_EQ(core.pending.size(), 0u);
    std::size_t living = 0;
    std::size_t with_position = 0, with_burning = 0, with_health = 0;
    for (const entity e : s.w.entities()) {
        ++living;
        EXPECT_TRUE(s.w.alive(e));
        const auto [chunk, row] = s.w.locate(e);
        if (chunk) {
            ASSERT_LT(row, chunk.size());
            EXPECT_EQ(chunk.entities()[row], e);
        }
        std::size_t fragments = 0;
        std::as_const(s.w).each_fragment(e, [&](id f, const void* value) {
            ++fragments;
            EXPECT_TRUE(s.w.has(e, f));
            EXPECT_EQ(s.w.try_get_raw(e, f), value);
            EXPECT_TRUE(s.w.alive(f)) << "a fragment that is dead";
        });
        const bool has_links = s.w.has<likes>(e) || s.w.has<child_of_t>(e) || s.w.has<is_a_t>(e);
        EXPECT_EQ(fragments == 0 && !has_links, s.w.empty(e));
        std::size_t links = 0;
        for (const entity target : std::as_const(s.w).targets<likes>(e)) {
            ++links;
            EXPECT_TRUE(s.w.alive(target) && s.w.related<likes>(e, target));
            bool is_known = false;
            for (const entity source : std::as_const(s.w).sources<likes>(target))
                is_known = is_known || source == e;
            EXPECT_TRUE(is_known);
        }
        EXPECT_EQ(s.w.has<likes>(e), links != 0);
        EXPECT_EQ(s.w.targets<likes>(e).size(), links);
        if (const entity parent = s.w.parent(e)) EXPECT_TRUE(s.w.alive(parent));
        for (const entity child : std::as_const(s.w).children(e)) EXPECT_EQ(s.w.parent(child), e);
        EXPECT_EQ(s.w.has<position>(e), s.w.try_get<position>(e) != nullptr);
        EXPECT_EQ(s.w.has<burning>(e), s.w.try_get<burning>(e) != nullptr);
        with_position += s.w.has<position>(e);
        with_burning += s.w.has<burning>(e);
        with_health += s.w.has(e, s.health);
        if (const std::string name(s.w.name(e)); !name.empty()) {
            const auto all = s.w.lookup_all(name);
            EXPECT_NE(std::ranges::find(all, e), all.end());
        }
    }
    EXPECT_EQ(living, s.w.size());
    EXPECT_EQ(s.w.count<position>(), with_position);
    EXPECT_EQ(s.w.count<burning>(), with_burning);
    EXPECT_EQ(s.w.count(s.health), with_health);
    std::size_t visited = 0;
    std::as_const(s.w).query<const position>().each([&](const position&) { ++visited; });
    EXPECT_EQ(visited, with_position);
    visited = 0;
    std::as_const(s.w).query<const burning, const position*>().each(
        [&](const burning&, const position*) { ++visited; });
    EXPECT_EQ(visited, with_burning);
    std::size_t rows = 0;
    for (std::size_t i = 0; i < core.graph.all().size(); ++i)
        rows += core.graph.all()[i] == nullptr ? 0 : core.graph.all()[i]->size;
    std::size_t in_chunks = 0;
    for (const entity e : s.w.entities()) in_chunks += static_cast<bool>(s.w.locate(e).chunk);
    EXPECT_GE(rows, in_chunks) << "world-owned ids may have rows, too";
}

void expect_usable(scene& s) {
    const entity e = s.w.spawn(position{7, 7});
    s.w.set(e, velocity{1, 1}, burning{2});
    {
        deferred changes{s.w};
        s.w.remove<velocity>(e);
        s.w.add<marked>(e);
    }
    EXPECT_TRUE(s.w.has<marked>(e) && !s.w.has<velocity>(e));
    EXPECT_TRUE(s.w.destroy(e));
    s.w.process_all(0.5f);  // some calls have set a time
    s.w.collect_garbage();
    s.w.reset();
    EXPECT_EQ(s.w.size(), 0u);
    expect_consistent(s);
}

}  // namespace muster_tests::hostile
