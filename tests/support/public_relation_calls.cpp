// The part of the table in public_calls.cpp about relations.
#include "support/public_calls.hpp"

namespace muster_tests::phase_scene {

namespace {

template <class Range>
bool has_one(Range&& range, entity wanted) {
    std::size_t count = 0;
    for (const entity e : range) count += e == wanted ? 1u : 100u;
    return count == 1;
}

}  // namespace

std::vector<row> public_calls::about_relations() {
    using enum outcome;
    return {
        {"relate", recorded, doing([](scene& s, entity e) { s.w.relate<likes>(e, s.bare); })},
        {"relate again", recorded,
         doing([](scene& s, entity e) { s.w.relate<likes>(e, s.prototype, likes{9}); })},
        {"relate to a parent", recorded,
         doing([](scene& s, entity e) { s.w.relate(child_of, e, s.parent); })},
        {"relate to another parent", recorded,
         doing([](scene& s, entity) { s.w.relate<child_of>(s.child, s.bare); })},
        {"relate at another level", recorded,
         doing([](scene& s, entity e) { s.w.relate(child_of, s.parent, e); })},
        {"unrelate", recorded,
         doing([](scene& s, entity e) { s.w.unrelate<likes>(e, s.prototype); })},
        {"unrelate all", recorded, doing([](scene& s, entity e) { s.w.unrelate<likes>(e); })},
        {"unrelate from a parent", recorded,
         doing([](scene& s, entity) { s.w.unrelate(child_of, s.child, s.parent); })},
        {"remove of a relation", recorded, doing([](scene& s, entity e) { s.w.remove<likes>(e); })},
        {"spawn with a link", recorded,
         doing([](scene& s, entity) { s.w.spawn(velocity{}, to(child_of, s.parent)); })},
        {"spawn with links", recorded, doing([](scene& s, entity e) {
             s.w.spawn(to<likes>(e, likes{2}), to<likes>(s.bare), to(child_of, e));
         })},
        {"set with a link", recorded,
         doing([](scene& s, entity e) { s.w.set(e, velocity{}, to<likes>(s.bare)); })},
        {"set with links that are there", recorded, doing([](scene& s, entity e) {
             s.w.set(e, to<likes>(s.prototype, likes{5}), to<likes>(s.bare),
                     to(child_of, s.parent));
         })},
        {"spawn_many with links", refused, doing([](scene& s, entity) {
             s.w.spawn_many(3, velocity{}, to(child_of, s.parent), to<likes>(s.bare));
         })},
        {"clone_many with links", refused, doing([](scene& s, entity e) {
             s.w.clone_many(2, e, to(child_of, s.parent), to<likes>(s.bare));
         })},
        {"command_buffer::relate", reads,
         [](scene& s, entity e, unsigned) {
             command_buffer b{s.w};
             b.relate<likes>(e, b.spawn(to(child_of, e), to<likes>(s.bare)), likes{3});
             b.unrelate<likes>(e, s.prototype);
             b.unrelate(child_of, s.child);
             return b.pending() == 6;
         }},
        {"builder with links", refused, doing([](scene& s, entity e) {
             s.w.builder().set(to(child_of, e)).set(to<likes>(s.bare)).spawn();
         })},
        {"clone with a link", refused,
         doing([](scene& s, entity) { s.w.clone(s.prototype, to(child_of, s.parent)); })},
        {"clone_tree", refused, doing([](scene& s, entity) { s.w.clone_tree(s.parent); })},
        {"clone_tree with a link", refused, doing([](scene& s, entity e) {
             s.w.clone_tree(s.parent, velocity{}, to(child_of, e), to<likes>(e));
         })},
        {"clone_trees", refused, doing([](scene& s, entity e) {
             s.w.clone_trees(3, s.parent, velocity{}, to(child_of, e));
         })},
        {"define inherited", refused,
         doing([](scene& s, entity) { s.w.define<unused>().inherited(); })},
        {"relate to a prefab", recorded,
         doing([](scene& s, entity e) { s.w.relate(muster::is_a, e, s.prototype); })},
        {"own", reads,
         [](scene& s, entity e, unsigned) {
             return &s.w.own<position>(e) == &s.w.get<position>(e);
         }},
        {"get of const", reads,
         [](scene& s, entity e, unsigned) {
             return &s.w.get<const position>(e) == &s.w.get<position>(e) &&
                    s.w.has<const position>(e) && s.w.try_get<const unused>(e) == nullptr;
         }},
        {"define remap", refused, doing([](scene& s, entity) {
             s.w.define<velocity>().remap([](velocity&, const muster::entity_map&) {});
         })},
        {"clone of a source", refused, doing([](scene& s, entity) { s.w.clone(s.child); })},
        {"destroy a parent", recorded, doing([](scene& s, entity) { s.w.destroy(s.parent); })},
        {"destroy a target", recorded, doing([](scene& s, entity) { s.w.destroy(s.prototype); })},
        {"relation", refused, doing([](scene& s, entity) { (void)s.w.relation<int>("new"); })},
        {"define a relation", refused,
         doing([](scene& s, entity) { s.w.define<unused>().relation(); })},
        {"on_relate", refused, doing([](scene& s, entity) { s.w.on_relate<likes>([] {}); })},
        {"on_unrelate", refused, doing([](scene& s, entity) { s.w.on_unrelate(child_of, [] {}); })},
        {"observer of links", refused, doing([](scene& s, entity) {
             (void)s.w.observer<>().related<likes>().unrelated(child_of);
         })},
        {"related", reads,
         [](scene& s, entity e, unsigned) { return s.w.related<likes>(e, s.prototype); }},
        {"link", reads,
         [](scene& s, entity e, unsigned) {
             return s.w.link<likes>(e, s.prototype).strength == 1;
         }},
        {"try_link", reads,
         [](scene& s, entity e, unsigned) { return s.w.try_link<likes>(e, s.bare) == nullptr; }},
        {"target", reads,
         [](scene& s, entity e, unsigned) { return s.w.target<likes>(e) == s.prototype; }},
        {"targets", reads,
         [](scene& s, entity e, unsigned) { return has_one(s.w.targets<likes>(e), s.prototype); }},
        {"sources", reads,
         [](scene& s, entity, unsigned) {
             return has_one(s.w.sources<child_of>(s.parent), s.child) &&
                    s.w.sources<likes>(s.prototype).size() == 4;
         }},
        {"parent and children", reads,
         [](scene& s, entity, unsigned) {
             return s.w.parent(s.child) == s.parent && has_one(s.w.children(s.parent), s.child);
         }},
        {"root, level and is_below", reads,
         [](scene& s, entity, unsigned) {
             return s.w.root(s.child) == s.parent && s.w.level(s.child) == 1 &&
                    s.w.is_below(s.child, s.parent);
         }},
        {"ancestors and descendants", reads,
         [](scene& s, entity, unsigned) {
             return has_one(s.w.ancestors(s.child), s.parent) &&
                    has_one(s.w.descendants(s.parent), s.child);
         }},
        {"place_before", refused,
         doing([](scene& s, entity) { s.w.place_before(s.child, s.child); })},
        {"sort_sources", refused, doing([](scene& s, entity) {
             s.w.sort_sources<child_of>(s.parent, [](entity a, entity b) { return b < a; });
         })},
        {"arrange", refused, doing([](scene& s, entity) { s.w.arrange(child_of); })},
        {"chunk of a level", reads,
         [](scene& s, entity, unsigned) { return s.w.chunk(muster::level{1}).size() == 1; }},
        {"first use of the chunk of a level", refused,
         doing([](scene& s, entity) { (void)s.w.chunk<velocity>(muster::level{7}); }),
         also_in_change},
        {"query to a target", reads,
         [](scene& s, entity e, unsigned) {
             std::size_t found = 0;
             s.w.query<>().to<likes>(s.prototype).each([&](entity at) { found += at == e; });
             return found == 1 && s.w.query<>().to<likes>(s.prototype).count() == 4 &&
                    s.w.query<>().to<likes>(s.prototype).matches(e);
         }},
        {"query below a root", reads,
         [](scene& s, entity, unsigned) {
             const auto q = s.w.query<>().under(child_of, s.parent);
             return q.first() == s.child && q.count() == 1 && !q.empty() &&
                    !q.explain(s.parent).empty();
         }},
        {"query with a join", reads,
         [](scene& s, entity e, unsigned) {
             return s.w.query<>().to<likes>(s.w.query<>()).matches(e) ||
                    s.w.query<>().to<likes>(s.w.query<>()).empty();
         }},
        {"query top_down", reads,
         [](scene& s, entity, unsigned) {
             std::size_t found = 0;
             for (auto [at] : s.w.query<>().to(child_of, s.parent).top_down())
                 found += at == s.child ? 1u : 100u;
             return found == 1;
         }},
        {"query by_target", reads,
         [](scene& s, entity, unsigned) {
             std::size_t found = 0;
             s.w.query<>().by_target(child_of).each_chunk(
                 [&](const auto& rows) { found += rows.size(); });
             return found >= 1 && s.w.query<>().bottom_up().count() >= 1;
         }},
        {"each_link", reads,
         [](scene& s, entity, unsigned) {
             std::size_t found = 0;
             s.w.query<>().each_link<likes>(
                 [&](entity, entity to, const likes&) { found += to == s.prototype; });
             return found == 4;
         }},
        {"batch by link", refused,
         doing([](scene& s, entity) { s.w.query<>().to<likes>(s.prototype).set(velocity{}); })},
        {"has of a relation", reads,
         [](scene& s, entity e, unsigned) { return s.w.has<likes>(e); }},
    };
}

}  // namespace muster_tests::phase_scene
