#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/relations.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

relation_ref relation_ref::define(engine& owner, fragment_data& own, const link_types& types,
                                  relation_kind kind) {
    return {&owner, &relations::ensure(owner).define(own, types, kind)};
}

relation_ref relation_ref::get(engine& owner, fragment_data& own, const link_types& types,
                               relation_kind kind, const char* call) {
    if (const relation_ref known = find(owner, own)) return known;
    if (kind == relation_kind::users) relations::raise_no_relation(own, types.value->name, call);
    return define(owner, own, types, kind);
}

relation_ref relation_ref::find(const engine& owner, const fragment_data& own) noexcept {
    const relations* const all = relations::find(owner);
    return {&owner, all != nullptr ? all->find(own) : nullptr};
}

namespace {
/// Returns the relations of a world that has some.
relations& relations_of(const engine& owner) noexcept {
    return *relations::find(owner);
}
}  // namespace

void relation_ref::require_target(const engine& owner, const target& to, const char* call) {
    location at;
    if (!owner.entities.find(to.id, at)) owner.errors.raise_not_alive(to, call);
    owner.errors.refuse_away(to, at, call);
}

namespace {

/// Returns the list of a change of links, or null if the relation is exclusive.
link_list* list_of(const type_info* type, const void* value) noexcept {
    if (type != &type_info_of<link_list>) return nullptr;
    // SAFETY: the call owns its lists, and none is const.
    return static_cast<link_list*>(const_cast<void*>(value));
}

/// Moves all links to another list. They replace the values of links to the same targets.
void move_links(link_list& into, link_list& from) {
    const link_array& ends = from.ends();
    for (std::uint32_t i = ends.next(0); i != ends.places(); i = ends.next(i + 1)) {
        const std::uint32_t known = into.ends().find(ends[i].other);
        if (known != into.ends().places()) {
            into.swap_value(known, from, i);
        } else {
            into.reserve(1);
            (void)into.take(from, i);
        }
    }
}

/// Adds the links of an entity to those of its clone. Returns false if that is possible only later,
/// since changes of the entity may be pending.
bool extend(const engine& owner, std::uint64_t prototype, link_list* given,
            const fragment_data& links) {
    if (given == nullptr) return true;
    if (owner.depth() != 0) return false;
    const auto* const present =
        static_cast<const link_list*>(owner.components.find(prototype, links));
    if (present == nullptr) return true;
    link_list all(*present);
    move_links(all, *given);
    all.swap(*given);
    return true;
}

}  // namespace

std::size_t relation_ref::combine(slice<change> links) {
    std::size_t kept = 0;
    for (const change& link : links) {
        std::size_t same = 0;
        while (same < kept && links[same].fragment.what != link.fragment.what) ++same;
        link_list* const from = list_of(link.type.info, link.self);
        if (same == kept)
            links[kept++] = link;
        else if (from == nullptr)
            links[same] = link;
        else
            move_links(*list_of(links[same].type.info, links[same].self), *from);
    }
    return kept;
}

/// A list that is there already is not replaced, but changed in place: the relation combines the
/// changes when a scope commits.
void relation_ref::submit(engine& owner, const edit& call) {
    bool is_combined = false;
    for (const change& given : call.changes)
        is_combined =
            is_combined || (list_of(given.type.info, given.self) != nullptr &&
                            owner.components.has(call.of.id, owner.catalog.find(given.fragment)));
    if (!is_combined || owner.gate.is_recording(call.call)) return void(owner.changes.submit(call));
    scope whole(owner);
    (void)owner.changes.submit(call);
    whole.commit();
}

std::uint64_t relation_ref::clone(engine& owner, const target& prototype, slice<change> given) {
    const auto later = std::ranges::stable_partition(given, [&](const change& one) {
        return extend(owner, prototype.id, list_of(one.type.info, one.self),
                      owner.catalog.find(one.fragment));
    });
    if (later.empty()) return owner.spawner.clone(prototype, given);
    const std::size_t first = given.size() - later.size();
    scope whole(owner);
    const std::uint64_t made = owner.spawner.clone(prototype, given.first(first));
    (void)owner.changes.submit({{made, prototype.where}, given.subspan(first), "clone"});
    whole.commit();
    return made;
}

void relation_ref::clone_many(engine& owner, id_span out, const target& prototype,
                              chunk_data& given_chunk, const row_values& given) {
    array_list<fragment_data*> fragments;
    array_list<const void*> values;
    array_list<change> later;
    for (std::size_t i = 0; i < given.fragments.size(); ++i) {
        fragment_data* const owned = given.fragments[i];
        if (extend(owner, prototype.id, list_of(owned->type, given.values[i]), *owned)) {
            fragments.push_back(owned);
            values.push_back(given.values[i]);
        } else {
            later.push_back({.fragment = {owned->id},
                             .type = {owned->type, no_type},
                             .self = given.values[i],
                             .construct = &copy_construct<link_list>});
        }
    }
    if (later.empty()) return owner.spawner.clone_many(out, prototype, given_chunk, given);
    array_list<std::uint64_t> memory(out.count);  // `out` itself changes only if the call succeeds
    const id_span made{reinterpret_cast<std::byte*>(memory.data()), out.count, out.width};
    scope whole(owner);
    chunk_data& left = owner.catalog.grouped(owner.catalog.ensure_set(fragments), fragments,
                                             {values.data(), values.size()});
    owner.spawner.clone_many(made, prototype, left, {fragments, {values.data(), values.size()}});
    for (std::size_t i = 0; i < made.count; ++i)
        (void)owner.changes.submit({{made.at(i), prototype.where}, later, "clone"});
    whole.commit();
    made.copy_to(out);
}

source_place relation_ref::prepare_source(list_index types, slice<fragment_data* const> set,
                                          std::uint64_t target) const {
    return data_->prepare_source(types, set, target);
}

void relation_ref::set_exclusive() {
    relations_of(*engine_).set_exclusive(*data_);
}

void relation_ref::set_acyclic() {
    relations_of(*engine_).set_acyclic(*data_);
}

void relation_ref::set_leveled() {
    relations_of(*engine_).set_leveled(*data_);
}

void relation_ref::set_grouping() {
    relations_of(*engine_).set_grouping(*data_);
}

void relation_ref::set_symmetric() {
    relations_of(*engine_).set_symmetric(*data_);
}

void relation_ref::place_before(const target& source, const target& sibling) const {
    relations_of(*engine_).sorter_of(*data_).place_before(source, sibling);
}

void relation_ref::sort_sources(const target& of, source_order order, void* context) const {
    relations_of(*engine_).sorter_of(*data_).sort(of, order, context);
}

void relation_ref::arrange() const {
    relations_of(*engine_).sorter_of(*data_).arrange();
}

void relation_ref::set_policy(target_policy policy) noexcept {
    data_->policy = policy;
}

bool relation_ref::is_exclusive() const noexcept {
    return data_->is_exclusive;
}

fragment_data& relation_ref::links() const noexcept {
    return data_->links();
}

fragment_data& relation_ref::own() const noexcept {
    return data_->own();
}

bool relation_ref::relate(target source, target to, const change& link) {
    return relations_of(*engine_).relate(*data_, source, to, link);
}

bool relation_ref::unrelate(target source, std::uint64_t to, const change& link) {
    return relations_of(*engine_).unrelate(*data_, source, to, link);
}

std::size_t relation_ref::unrelate_all(target source) {
    return relations_of(*engine_).unrelate_all(*data_, source);
}

std::uint64_t relation_ref::target_of(std::uint64_t source) const noexcept {
    if (data_ == nullptr || !engine_->entities.alive(source)) return engine_->entities.null();
    if (data_->is_exclusive) return data_->target_of(source);
    const link_ends all = targets(source);
    const link_end* first = all.first;
    while (first != all.last && first->is_hole) ++first;
    return first != all.last ? first->other : engine_->entities.null();
}

std::uint32_t relation_ref::level_of(std::uint64_t source) const noexcept {
    if (data_ == nullptr || !engine_->entities.alive(source)) return 0;
    if (data_->is_leveled) return data_->level_of(source);
    std::uint32_t count = 0;
    const std::uint64_t null = engine_->entities.null();
    for (std::uint64_t up = target_of(source); up != null; up = target_of(up)) ++count;
    return count;
}

bool relation_ref::is_below(std::uint64_t e, std::uint64_t top) const noexcept {
    const std::uint64_t null = engine_->entities.null();
    if (data_ == nullptr || top == null) return false;
    const std::uint32_t end = data_->is_leveled ? level_of(top) : 0;
    if (data_->is_leveled && level_of(e) <= end) return false;
    std::uint64_t up = target_of(e);
    while (up != null && up != top && !(data_->is_leveled && data_->level_of(up) <= end))
        up = target_of(up);
    return up == top;
}

void* relation_ref::find_value(std::uint64_t source, std::uint64_t target) const noexcept {
    return data_ != nullptr ? data_->find_value(source, target) : nullptr;
}

namespace {
link_ends ends_of(const link_array& all) noexcept {
    if (all.places() == 0) return {};
    return {&all[0], &all[0] + all.places(), all.size()};
}
}  // namespace

link_ends relation_ref::targets(std::uint64_t source) const noexcept {
    if (data_ == nullptr || !engine_->entities.alive(source)) return {};
    if (const link_head* const link = data_->find_link(source))
        return {.count = 1, .only = link->target};
    const link_list* const list = data_->find_list(source);
    return list != nullptr ? ends_of(list->ends()) : link_ends{};
}

link_ends relation_ref::sources(std::uint64_t target) const noexcept {
    if (data_ == nullptr || !engine_->entities.alive(target)) return {};
    const link_array* const all = data_->find_sources(target);
    return all != nullptr ? ends_of(*all) : link_ends{};
}

std::uint64_t relation_ref::next_below(std::uint64_t root, std::uint64_t at) const noexcept {
    const std::uint64_t null = engine_->entities.null();
    if (data_ == nullptr || !engine_->entities.alive(at)) return null;
    const auto source_from = [&](std::uint64_t of, std::uint32_t place) {
        const link_array* const all = data_->find_sources(of);
        const std::uint32_t found = all != nullptr ? all->next(place) : 0;
        return all != nullptr && found != all->places() ? (*all)[found].other : null;
    };
    if (const std::uint64_t below = source_from(at, 0); below != null) return below;
    while (at != root) {
        const link_head& link = *data_->find_link(at);
        if (const std::uint64_t beside = source_from(link.target, link.place + 1); beside != null)
            return beside;
        at = link.target;
    }
    return null;
}

chunk_data& relation_ref::ensure_chunk(engine& owner, slice<fragment_data* const> set,
                                       slice<const link_group> groups) {
    array_list<fragment_data*> all(set.data(), set.data() + set.size());
    array_list<std::uint64_t> words;
    for (const link_group& group : groups) {
        const relation_data& relation = *group.relation.data_;
        if (!group.is_level && !relation.is_grouping)
            raise(errc::not_a_relation,
                  text(relation.name(),
                       " has no chunks for each target: only a relation that is "
                       "defined as grouping() has"));
        if (!group.is_level || group.word != 0) all.push_back(&relation.links());
    }
    std::ranges::sort(all, {}, &fragment_data::index);
    const auto* const twice = std::ranges::adjacent_find(all);
    if (twice != all.end()) error_reporter::raise_given_twice(**twice);
    for (const fragment_data* fragment : all)
        for (const link_group& group : groups)
            if (fragment == &group.relation.data_->links())
                words.push_back(group.is_level ? relation_levels::word_of(group.word) : group.word);
    if (chunk_data* const known = owner.graph.find(all, words)) return *known;
    owner.gate.refuse_in_phase("the first use of a chunk");
    return owner.graph.ensure(all, words);
}

void relation_ref::raise_no_link(target source, target to) const {
    for (const target& end : {source, to})
        if (!engine_->entities.alive(end.id)) engine_->errors.raise_not_alive(end, "link");
    raise(errc::missing_component,
          text(engine_->errors.describe(source.id), " is not related to ",
               engine_->errors.describe(to.id),
               data_ != nullptr ? text(" by ", data_->name()) : std::string(),
               place_of("link", &source.where)));
}

}  // namespace MUSTER_NAMESPACE::detail
