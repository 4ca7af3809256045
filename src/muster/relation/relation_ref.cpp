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
    if (const relation_ref known = find(owner, own)) {
        if (known.data_->types().value_index != types.value_index)
            error_reporter::raise_mismatch(own, types.value->name, call, nullptr);
        return known;
    }
    if (kind == relation_kind::users) relations::raise_no_relation(own, types.value->name, call);
    return define(owner, own, types, kind);
}

void relation_ref::refuse_first_use(const engine& owner, const fragment_data& own,
                                    std::string_view name, const char* call) {
    if (find(owner, own)) return;
    raise(errc::in_scope,
          text(call, " is not possible in a parallel phase: the world does not use ", name,
               " yet; call define<muster::", name, "_t>().relation() before the phase"));
}

relation_ref relation_ref::named(engine& owner, const fragment_name& name, const link_types& types,
                                 relation_kind kind, const std::source_location& where) {
    const char* const call = "relate";
    if (!name.is_typed())
        return get(owner, owner.catalog.get(name.what, call, &where), types, kind, call);
    const auto index = static_cast<type_index>(name.what);
    const fragment_data& known = owner.fragments.find(index);
    if (&known == &no_fragment && kind == relation_kind::users)
        relations::raise_no_relation(known, types.value->name, call);
    return get(owner, owner.catalog.ensure(index, *name.type), types, kind, call);
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

source_place relation_ref::prepare_source(list_index types, slice<fragment_data* const> set,
                                          std::uint64_t target) const {
    return data_->direct().prepare_source(types, set, target);
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

void relation_ref::record(std::uint64_t source, const change* link) const {
    // SAFETY: the relation was found in a world that may be changed.
    engine& owner = const_cast<engine&>(*engine_);
    if (link == nullptr)
        owner.pending.add(source, change_kind::remove, &data_->links());
    else
        owner.transaction.record_value(source, change_kind::put, data_->links(), *link);
}

std::uint64_t relation_ref::target_of(std::uint64_t source) const noexcept {
    if (data_ == nullptr || !engine_->entities.alive(source)) return engine_->entities.null();
    if (data_->is_exclusive) return data_->target_of(source);
    const link_list* const list = data_->find_list(source);
    if (list == nullptr || list->size() == 0) return engine_->entities.null();
    return list->ends()[list->ends().next(0)].other;
}

std::uint32_t relation_ref::level_of(std::uint64_t source) const noexcept {
    if (data_ == nullptr || !engine_->entities.alive(source)) return 0;
    return data_->level_of(source);
}

bool relation_ref::is_below(std::uint64_t e, std::uint64_t top) const noexcept {
    const std::uint32_t end = level_of(top);
    std::uint32_t level = level_of(e);
    if (level <= end) return false;
    std::uint64_t up = e;
    for (; level != end; --level) up = data_->target_of(up);
    return up == top;
}

void* relation_ref::find_value(std::uint64_t source, std::uint64_t target) const noexcept {
    return data_ != nullptr ? data_->find_value(source, target) : nullptr;
}

link_ends relation_ref::targets(std::uint64_t source) const noexcept {
    if (data_ == nullptr || !engine_->entities.alive(source)) return {};
    if (const link_head* const link = data_->find_link(source))
        return {.count = 1, .only = link->target};
    const link_list* const list = data_->find_list(source);
    if (list == nullptr || list->ends().places() == 0) return {};
    const link_array& all = list->ends();
    constexpr std::uint32_t width = sizeof(link_end) / sizeof(std::uint64_t);
    const std::uint64_t* const first = &all[0].other;
    return {.first = first,
            .last = first + all.places() * std::size_t{width},
            .width = width,
            .are_targets = true,
            .count = all.size()};
}

link_ends relation_ref::sources(std::uint64_t target) const noexcept {
    if (data_ == nullptr || !engine_->entities.alive(target)) return {};
    const source_list* const all = data_->find_sources(target);
    if (all == nullptr) return {};
    const std::uint64_t* const first = all->words();
    return {.first = first,
            .last = first + all->places() * std::size_t{all->width()},
            .width = all->width(),
            .hole = engine_->entities.null(),
            .count = all->size()};
}

std::uint64_t relation_ref::next_below(std::uint64_t root, std::uint64_t at) const noexcept {
    const std::uint64_t null = engine_->entities.null();
    if (data_ == nullptr || !engine_->entities.alive(at)) return null;
    const auto source_from = [&](std::uint64_t of, std::uint32_t place) {
        const source_list* const all = data_->find_sources(of);
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
