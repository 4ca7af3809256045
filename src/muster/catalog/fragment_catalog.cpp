#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/catalog/fragment_catalog.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

fragment_data& fragment_catalog::add(type_index type, const type_info& info) {
    parts_.changes.refuse_in_change("the first use of a component type");
    const std::uint64_t id = parts_.entities.highest_free();
    mark_for_destroy(id);
    return own(parts_.fragments.add(type, info, id), info.is_sparse());
}

fragment_data& fragment_catalog::ensure_internal(const fragment_key& key, const type_info& info,
                                                 std::string_view name) {
    if (fragment_data* const found = parts_.fragments.find(key)) return *found;
    parts_.changes.refuse_in_change("the first use of an internal fragment");
    const std::uint64_t id = parts_.entities.highest_free_from(internal_from_);
    mark_for_destroy(id);
    array_list<char> text(name.data(), name.data() + name.size());
    fragment_data& made = own(parts_.fragments.add(key, info, id), info.sparse);
    made.is_internal = true;
    made.own_name.swap(text);
    show_name(made);
    internal_from_ = parts_.entities.key_of(id);
    return made;
}

/// Makes the id of a new world-owned fragment alive. Removes the fragment if that fails.
fragment_data& fragment_catalog::own(fragment_data& made, bool is_sparse) {
    scope_guard rollback([&] { remove(made); });
    made.is_world_owned = true;
    if (is_sparse) parts_.sparse.add(made);
    parts_.entities.create_at(made.id);
    rollback.dismiss();
    ++world_owned_count_;
    if (is_sparse) invalidate_traits(made);
    first_world_owned_key_ = smaller(first_world_owned_key_, parts_.entities.key_of(made.id));
    return made;
}

fragment_data& fragment_catalog::add(std::uint64_t f, value_type_ref type) {
    parts_.changes.refuse_in_change("the first use of a fragment");
    if (parts_.entities.is_guest(f))
        raise(errc::foreign_entity, text(parts_.errors.describe(f),
                                         " cannot be a fragment: another world has issued it"));
    mark_for_destroy(f);
    fragment_data& made = parts_.fragments.add(no_type, *type.info, f);
    scope_guard rollback([&] { remove(made); });
    made.value_type = type.index;
    show_name(made);
    if (type.index == no_type ? type.info->sparse : type.info->is_sparse()) {
        parts_.sparse.add(made);
        invalidate_traits(made);
    }
    rollback.dismiss();
    return made;
}

void fragment_catalog::forget(fragment_data& fragment) noexcept {
    if (fragment.is_world_owned) --world_owned_count_;
    if (fragment.key.kind != 0)
        internal_from_ = larger(internal_from_, parts_.entities.key_of(fragment.id));
    parts_.graph.forget_chunks_of(fragment);
    for (fragment_data* owner : fragment.implied_by) {
        owner->implied.erase_if(
            [&](const implied_change& rule) { return rule.fragment == &fragment; });
        refresh_sparse(*owner);
    }
    for (const implied_change& rule : fragment.implied) drop_owner(rule);
    // The lists of queries may refer to a sparse set, and to what is hidden.
    if (fragment.sparse_values != nullptr || fragment.is_hidden) parts_.graph.invalidate_traits();
    invalidate_hooks(&no_fragment);
}

/// Removes a fragment that no chunk has.
void fragment_catalog::remove(fragment_data& fragment) noexcept {
    if (fragment.sparse_values != nullptr) parts_.sparse.remove(*fragment.sparse_values);
    parts_.fragments.remove(fragment);
}

void fragment_catalog::free_chunks_of(fragment_data& fragment, const char* what) {
    if (fragment.chunks.empty()) return;
    parts_.changes.refuse_in_scope(what);
    forget_chunks();
    parts_.graph.forget_chunks_of(fragment);
}

fragment_data& fragment_catalog::adopt(std::uint64_t f, value_type_ref type,
                                       const std::source_location* where) {
    fragment_data* const found = parts_.fragments.find(f);
    if (found == nullptr) {
        if (!parts_.entities.alive(f)) parts_.errors.raise_no_fragment(f, "used", where);
        fragment_data& made = add(f, type);
        made.is_untyped = true;
        return made;
    }
    const std::string_view wanted = type.index == no_type ? std::string_view{} : type.info->name;
    if (!found->is_untyped) error_reporter::raise_mismatch(*found, wanted, "used", where);
    if (found->value_type == type.index && found->type->size == type.info->size) return *found;
    if (parts_.pending.has_value_of(*found))  // its pending value fixes the type
        error_reporter::raise_mismatch(*found, wanted, "used", where);
    parts_.changes.refuse_in_change("changing the type of a fragment");
    free_chunks_of(*found, "changing the type of a fragment");  // failed calls left them
    if (const bool is_sparse = found->is_defined_sparse ||
                               (type.index == no_type ? type.info->sparse : type.info->is_sparse());
        is_sparse != (found->sparse_values != nullptr)) {
        if (is_sparse)
            parts_.sparse.add(*found);
        else
            parts_.sparse.remove(*found->sparse_values);
    }
    if (found->sparse_values != nullptr) found->sparse_values->retype(*type.info);
    if (found->codec == found->type->codec) found->codec = type.info->codec;  // not defined
    found->type = type.info;
    found->value_type = type.index;
    found->is_unique |= type.info->unique;
    found->is_hidden |= type.info->hidden;
    found->is_internal |= type.info->internal;
    invalidate_traits(*found);
    return *found;
}

fragment_data& fragment_catalog::adopt_like(const fragment_data& source, std::uint64_t f,
                                            const std::source_location& where) {
    if (source.own_type == nullptr) return adopt(f, {source.type, source.value_type}, &where);
    auto copy = std::make_unique<const type_info>(*source.own_type);
    fragment_data& made = adopt(f, {copy.get(), no_type}, &where);
    if (made.type == copy.get()) made.own_type = copy.release();
    return made;
}

fragment_data& fragment_catalog::open(std::uint64_t f) {
    parts_.changes.refuse_in_change("define");
    fragment_data* const found = parts_.fragments.find(f);
    return found != nullptr ? *found : adopt(f, {&type_info_of<no_value>, no_type}, nullptr);
}

fragment_data& fragment_catalog::typed_or_tag(std::uint64_t f, const std::source_location* where) {
    fragment_data* const found = parts_.fragments.find(f);
    if (found != nullptr && !found->is_untyped) return *found;
    return ensure(f, {&type_info_of<no_value>, no_type}, where);
}

fragment_data& fragment_catalog::get(std::uint64_t f, const char* call,
                                     const std::source_location* where) const {
    fragment_data* const found = parts_.fragments.find(f);
    if (found == nullptr || found->is_untyped) parts_.errors.raise_no_fragment(f, call, where);
    return *found;
}

void fragment_catalog::refuse_misfit(const change& given, const std::source_location* where) const {
    if (given.fragment.is_typed()) return;
    const std::uint64_t f = given.fragment.what;
    const fragment_data& known = parts_.fragments.lookup(f);
    if (&known == &no_fragment) {
        if (!parts_.entities.alive(f)) parts_.errors.raise_no_fragment(f, "used", where);
    } else if (given.type.info != nullptr && !known.is_untyped && !fits(known, given.type)) {
        error_reporter::raise_mismatch(
            known, given.type.index == no_type ? std::string_view{} : given.type.info->name, "used",
            where);
    }
}

/// Erases the owner of a rule from the list of the fragment that the rule concerns.
void fragment_catalog::drop_owner(const implied_change& rule) noexcept {
    array_list<fragment_data*>& owners = rule.fragment->implied_by;
    const auto last = static_cast<std::uint32_t>(owners.size() - 1);
    for (implied_change& moved : owners.back()->implied)
        if (moved.fragment == rule.fragment && moved.place == last) moved.place = rule.place;
    owners[rule.place] = owners.back();
    owners.pop_back();
}

void fragment_catalog::show_name(fragment_data& fragment) {
    fragment.name = parts_.names.find(fragment.id);
    if (!fragment.name.empty()) return;
    if (!fragment.is_world_owned && fragment.own_name.empty()) {
        const std::string text = parts_.entities.text_of(fragment.id);
        fragment.own_name.assign(text.data(), text.data() + text.size());
    }
    fragment.name = fragment.own_name.empty()
                        ? fragment.type->name
                        : std::string_view(fragment.own_name.data(), fragment.own_name.size());
}

// ---- caches ------------------------------------------------------------------------------------

void fragment_catalog::fix_types(slice<fragment_data* const> fragments) noexcept {
    if (std::ranges::none_of(fragments, &fragment_data::is_untyped)) return;
    for (fragment_data* fragment : fragments) fragment->is_untyped = false;
    forget_chunks();
    parts_.graph.invalidate();
}

void fragment_catalog::invalidate_traits() noexcept {
    parts_.sparse.invalidate_traits();
    forget_chunks();
    parts_.graph.invalidate_traits();
}

void fragment_catalog::invalidate_traits(const fragment_data& fragment) noexcept {
    refresh_sparse(fragment);
    forget_chunks();
    parts_.graph.invalidate_traits();
}

void fragment_catalog::refresh_sparse(const fragment_data& fragment) noexcept {
    if (fragment.sparse_values != nullptr) parts_.sparse.refresh(*fragment.sparse_values);
}

void fragment_catalog::invalidate_hooks(const fragment_data* fragment) noexcept {
    if (fragment != nullptr) refresh_sparse(*fragment);
    forget_chunks();
    parts_.graph.invalidate();
}

void fragment_catalog::forget_chunks() noexcept {
    parts_.bundles.clear();
    recent_.clear();
}

}  // namespace MUSTER_NAMESPACE::detail
