#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/relations.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

namespace {

/// Refuses components of a type that is a relation.
class component_refuser final : public value_participant {
public:
    outcome combine(std::uint64_t, const void*, slice<void* const>, std::size_t&) override {
        refuse();
    }
    void begin(std::size_t) override { refuse(); }
    void leaving(std::uint64_t, const void*, bool) override {}
    void arrived(std::uint64_t, void*, bool) override {}
    void commit(std::uint64_t) noexcept override {}
    void ending(std::uint64_t, const void*) override {}

private:
    [[noreturn]] static void refuse() {
        raise(errc::type_mismatch,
              "a relation cannot be a component: relate two entities with relate()");
    }
};
component_refuser refuser;

}  // namespace

relations::relations(engine& owner) : engine_(owner), rows_(owner) {
    owner.destroyer.add_participant(*this);
}

relations::~relations() {
    engine_.destroyer.remove_participant(*this);
    for (const relation_data* relation : all_) delete relation;
}

relations& relations::ensure(engine& of) {
    static constexpr extensions::recipe how{
        "muster::relations",
        [](void* owner) -> void* { return new relations(*static_cast<engine*>(owner)); },
        [](void* object) noexcept { delete static_cast<relations*>(object); }};
    return *static_cast<relations*>(of.extensions.ensure(ensure_type_index<relations>(), how, &of));
}

relations* relations::find(const engine& of) noexcept {
    return static_cast<relations*>(of.extensions.find(find_type_index<relations>()));
}

// ---- definitions -------------------------------------------------------------------------------

relation_data& relations::define(fragment_data& own, const link_types& types, relation_kind kind) {
    if (relation_data* const known = find(own)) {
        if (known->types().value_index != types.value_index)
            error_reporter::raise_mismatch(own, types.value->name, "relation", nullptr);
        return *known;
    }
    relation_data& made = add(own, types, kind != relation_kind::users);
    if (kind == relation_kind::users) return made;
    if (kind == relation_kind::child_of) {
        set_leveled(made);
        made.policy = target_policy::destroy_sources;
    } else {
        set_acyclic(made);
        set_grouping(made);
        made.policy = target_policy::refuse;
    }
    return made;
}

relation_data& relations::add(fragment_data& own, const link_types& types, bool is_exclusive) {
    engine_.gate.refuse_in_change("define");
    while (!orphans_.empty()) {
        const std::uint64_t links = orphans_.back();
        orphans_.pop_back();
        (void)engine_.destroyer.destroy({links, {}});
    }
    if (engine_.components.count(own) != 0 || engine_.pending.has_value_of(own))
        raise(errc::fragment_in_use,
              text(own.name, " cannot become a relation: entities already have it"));
    const std::size_t at = to_int(own.index);
    if (at >= by_fragment_.size()) by_fragment_.resize(at + 1, nullptr);
    all_.reserve(all_.size() + 1);
    orphans_.reserve(all_.size() + 1);
    auto made = std::make_unique<relation_data>(engine_, own, types, rows_);
    engine_.catalog.mark_for_destroy(own.id);
    made->is_exclusive = is_exclusive;
    made->make_links(*made);
    scope_guard rollback([&] { made->drop_links(); });
    engine_.catalog.take_part(own, refuser);
    rollback.dismiss();
    all_.push_back(made.get());
    by_fragment_[at] = made.get();
    return *made.release();
}

void relations::raise_no_relation(const fragment_data& own, std::string_view name,
                                  const char* call) {
    raise(errc::not_a_relation,
          text(own.name.empty() ? name : own.name, " is not a relation (", call,
               "): define it with define<T>().relation() or create it with relation<T>()"));
}

void relations::set_exclusive(relation_data& relation) {
    if (relation.is_exclusive) return;
    if (engine_.components.count(relation.links()) != 0 ||
        engine_.pending.has_value_of(relation.links()))
        raise(errc::fragment_in_use,
              text(relation.name(), " cannot become exclusive: it has links already"));
    // The old fragment stays unused: its key, from the top of the range, would be the next to be issued.
    fragment_data& old = relation.links();
    relation.is_exclusive = true;
    scope_guard rollback([&] { relation.is_exclusive = false; });
    relation.make_links(relation);
    rollback.dismiss();
    old.participant = nullptr;
    keep_partners(relation);
}

void relations::set_acyclic(relation_data& relation) {
    refuse_symmetric(relation, errc::cycle, "acyclic: each link would be a cycle");
    if (!relation.is_acyclic && engine_.components.count(relation.links()) != 0)
        raise(errc::fragment_in_use,
              text(relation.name(), " cannot become acyclic: it has links already"));
    relation.is_acyclic = true;
}

void relations::set_leveled(relation_data& relation) {
    if (relation.is_leveled) return;
    refuse_symmetric(relation, errc::cycle, "leveled: each link would be a cycle");
    add_words(relation, relation.is_grouping);
    set_acyclic(relation);
    relation.is_leveled = true;
}

void relations::set_grouping(relation_data& relation) {
    if (relation.is_grouping) return;
    refuse_symmetric(relation, errc::limit, "grouping");
    add_words(relation, relation.is_leveled);
    relation.is_grouping = true;
}

void relations::set_symmetric(relation_data& relation) {
    if (relation.is_symmetric) return;
    engine_.gate.refuse_in_change("define");
    if (relation.is_acyclic)
        raise(errc::cycle, text(relation.name(),
                                " is acyclic, and cannot be symmetric: each link "
                                "would be a cycle"));
    if (relation.is_grouping)
        raise(errc::limit, text(relation.name(), " is grouping, and cannot be symmetric"));
    const type_info& values = *relation.types().value;
    if (values.size != 0 && !values.can_copy())
        raise(errc::not_copyable, text(relation.name(),
                                       " cannot be symmetric: its values cannot be "
                                       "copied, and each link needs one"));
    if (engine_.components.count(relation.links()) != 0 ||
        engine_.pending.has_value_of(relation.links()))
        raise(errc::fragment_in_use,
              text(relation.name(), " cannot become symmetric: it has links already"));
    relation.is_symmetric = true;
    keep_partners(relation);
}

void relations::refuse_symmetric(const relation_data& relation, errc code, const char* other) {
    if (relation.is_symmetric)
        raise(code, text(relation.name(), " is symmetric, and cannot be ", other));
}

/// A clone does not take the only partner of its prototype.
void relations::keep_partners(relation_data& relation) const noexcept {
    if (!relation.is_symmetric || !relation.is_exclusive) return;
    relation.links().is_unique = true;
    engine_.catalog.invalidate_traits(relation.links());
}

void relations::add_words(relation_data& relation, bool has_others) {
    if (has_others)
        raise(errc::limit, text(relation.name(),
                                " cannot be both leveled and grouping: a chunk has "
                                "one word for each relation"));
    set_exclusive(relation);
    engine_.catalog.add_words(relation.links());
}

// ---- links -------------------------------------------------------------------------------------

/// Throws if one of the ends is not alive. Returns where the source is.
location relations::require_ends(target source, target to, const char* call) const {
    const auto require = [&](const target& end) {
        location at;
        if (!engine_.entities.find(end.id, at) || engine_.entities.is_guest(end.id))
            engine_.errors.raise_not_alive(end, call);
        engine_.errors.refuse_away(end, at, call);
        return at;
    };
    const location at = require(source);
    (void)require(to);
    return at;
}

/// Applies or records the change of a link.
bool relations::apply(relation_data& relation, target source, const change& link,
                      const char* call) {
    change given = link;
    const edit whole{source, {&given, 1}, call};
    if (engine_.gate.is_recording(call)) return engine_.changes.submit(whole);
    const fragment_data& links = relation.links();
    void* const present = engine_.components.find(source.id, links);
    // SAFETY: the caller owns the value, and passed it to be moved.
    void* const values[] = {const_cast<void*>(given.self)};
    std::size_t which = 0;
    using outcome = value_participant::outcome;
    switch (relation.combine(source.id, present, values, which)) {
    case outcome::puts: return engine_.changes.submit(whole);
    case outcome::touches: engine_.changes.touch(source, links, relation.name()); return true;
    case outcome::removes: {
        const fragment_name set[] = {{links.id}};
        return engine_.changes.remove(source, set);
    }
    default: return false;
    }
}

bool relations::relate(relation_data& relation, target source, target to, const change& link) {
    const writer_guard writer(engine_, "relate");
    const location at = require_ends(source, to, "relate");
    using effect = direct_links::effect;
    if (const effect done = relation.direct().relate(source.id, at, to.id, link);
        done != effect::unknown)
        return done == effect::changed;
    const bool is_new = !relation.is_related(source.id, to.id);
    (void)apply(relation, source, link, "relate");
    return is_new;
}

bool relations::unrelate(relation_data& relation, target source, std::uint64_t to,
                         const change& link) {
    const writer_guard writer(engine_, "unrelate");
    for (const std::uint64_t end : {source.id, to})
        if (engine_.entities.is_foreign(end))
            engine_.errors.raise_not_alive({end, source.where}, "unrelate");
    if (!engine_.entities.alive(source.id)) return false;
    using effect = direct_links::effect;
    if (const effect done = relation.direct().unrelate(source.id, to); done != effect::unknown)
        return done == effect::changed;
    const bool was_there = relation.is_related(source.id, to);
    if (was_there || engine_.gate.is_recording("unrelate"))
        (void)apply(relation, source, link, "unrelate");
    return was_there;
}

std::size_t relations::unrelate_all(relation_data& relation, target source) {
    const std::size_t count = relation.count_targets(source.id);
    const fragment_name set[] = {{relation.links().id}};
    (void)engine_.changes.remove(source, set);
    return count;
}

// ---- destruction -------------------------------------------------------------------------------

void relations::collect(destroy_set& dying, std::size_t first) {
    for (std::size_t i = first; i < dying.size(); ++i)
        if (const std::uint64_t e = dying.all()[i];
            engine_.marks.test(engine_.entities.key_of(e)))  // targets have a mark
            for (const relation_data* relation : all_) relation->destruction().collect(dying, e);
}

void relations::check(const destroy_set& dying) const {
    for (const relation_data* relation : all_) relation->destruction().check(dying);
}

/// Sources come before their targets, as far as links of relations that destroy them tell.
void relations::arrange(destroy_set& dying) {
    struct visit {
        std::uint64_t e;
        bool is_left;  // its sources are in the order
    };
    if (dying.size() == 1) return;
    array_list<std::uint64_t> order;
    destroy_set seen(engine_.entities);
    array_list<visit> open;
    order.reserve(dying.size());
    for (const std::uint64_t first : dying.all()) {
        open.push_back({first, false});
        while (!open.empty()) {
            const visit next = open.back();
            open.pop_back();
            if (next.is_left) {
                order.push_back(next.e);
                continue;
            }
            if (!seen.add(next.e)) continue;
            open.push_back({next.e, true});
            const std::size_t start = open.size();
            for (const relation_data* relation : all_)
                relation->each_source(next.e, [&](const link_end& source) {
                    if (dying.has(source.other)) open.push_back({source.other, false});
                });
            std::reverse(open.begin() + start, open.end());
        }
    }
    dying.arrange(order);
}

void relations::release(const destroy_set& dying, array_list<fragment_loss>& losses) {
    for (relation_data* relation : all_) relation->destruction().release(dying, losses);
}

void relations::prepare(const destroy_set& dying) {
    for (relation_data* relation : all_) relation->destruction().prepare(dying);
}

void relations::cancel(const destroy_set& dying) noexcept {
    for (relation_data* relation : all_) relation->destruction().cancel(dying);
}

void relations::finish(const destroy_set& dying) noexcept {
    for (relation_data* relation : all_) relation->destruction().finish(dying);
    for (std::size_t i = all_.size(); i-- != 0;)
        if (dying.has(all_[i]->id())) drop(all_[i]->id());
}

void relations::abandon(std::uint64_t e) noexcept {
    for (relation_data* relation : all_) relation->destruction().abandon(e);
}

/// Forgets a relation, which has no links any more.
void relations::drop(std::uint64_t own) noexcept {
    const auto is_it = [&](const relation_data* relation) {
        return relation != nullptr && relation->id() == own;
    };
    for (relation_data*& relation : by_fragment_)
        if (is_it(relation)) relation = nullptr;
    const auto* const found = std::ranges::find_if(all_, is_it);
    const relation_data* const gone = *found;
    all_.erase(found);
    delete gone;
}

void relations::refuse_to_leave(std::uint64_t e) const {
    for (const relation_data* relation : all_) {
        const source_list* const sources = relation->find_sources(e);
        if (relation->count_targets(e) == 0 && (sources == nullptr || sources->size() == 0))
            continue;
        raise(errc::not_movable,
              text(engine_.errors.describe(e),
                   " cannot leave its world: it is an end of a link by ", relation->name()));
    }
}

/// The fragments of the user end with a reset, and with them their relations. The fragments of the
/// links stay until the next definition: a reset destroys no ids of the world.
void relations::reset() noexcept {
    for (std::size_t i = all_.size(); i-- != 0;) {
        relation_data& relation = *all_[i];
        relation.clear();
        if (relation.own().is_world_owned) continue;
        relation.links().participant = nullptr;
        orphans_.push_back(relation.links().id);
        drop(relation.id());
    }
}

}  // namespace MUSTER_NAMESPACE::detail
