#include <muster/engine/engine.hpp>
#include <muster/relation/link_argument.hpp>

namespace MUSTER_NAMESPACE::detail {

void refuse_impossible_link(const engine& owner, const change& link, const char* call) {
    if (link.self == nullptr) return;
    const auto& head = *static_cast<const link_head*>(link.self);
    if (head.is_removal && head.target == owner.entities.null()) return;
    owner.parallel.refuse_impossible(target(head.target, link.where), call);
}

void require_target(const engine& owner, const target& to, const char* call) {
    location at;
    if (!owner.entities.find(to.id, at) || owner.entities.is_guest(to.id))
        owner.errors.raise_not_alive(to, call);
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

std::size_t combine_links(slice<change> links) {
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
void submit_with_links(engine& owner, const edit& call) {
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

std::uint64_t clone_with_links(engine& owner, const target& prototype, slice<change> given) {
    array_list<change> later;
    std::size_t first = 0;
    for (const change& added : given)
        if (extend(owner, prototype.id, list_of(added.type.info, added.self),
                   owner.catalog.find(added.fragment)))
            given[first++] = added;
        else
            later.push_back(added);
    if (later.empty()) return owner.spawner.clone(prototype, given);
    scope whole(owner);
    const std::uint64_t made = owner.spawner.clone(prototype, given.first(first));
    (void)owner.changes.submit({{made, prototype.where}, later, "clone"});
    whole.commit();
    return made;
}

void clone_many_with_links(engine& owner, id_span out, const target& prototype,
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

}  // namespace MUSTER_NAMESPACE::detail
