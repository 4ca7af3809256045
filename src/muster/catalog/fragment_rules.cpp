#include <muster/base/error.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/text.hpp>
#include <muster/catalog/fragment_rules.hpp>

#include <algorithm>
#include <string>

namespace MUSTER_NAMESPACE::detail {

/// Looks at the shorter of the two lists first.
bool fragment_rules::has_rule(const fragment_data& fragment, const implied_change& rule) noexcept {
    const array_list<fragment_data*>& owners = rule.fragment->implied_by;
    if (owners.size() < fragment.implied.size() &&
        std::ranges::find(owners, &fragment) == owners.end())
        return false;
    return std::ranges::find(fragment.implied, rule) != fragment.implied.end();
}

void fragment_rules::imply(std::uint64_t f, slice<const implied_change> rules) {
    fragment_data& fragment = open(f);
    reserve_more(fragment.implied, rules.size());
    for (const implied_change& rule : rules) reserve_more(rule.fragment->implied_by, rules.size());
    for (const implied_change& rule : rules) {
        rule.fragment->is_untyped = false;
        if (rule.fragment == &fragment || has_rule(fragment, rule)) continue;
        fragment.implied.push_back(rule);
        fragment.implied.back().place =
            static_cast<std::uint32_t>(rule.fragment->implied_by.size());
        rule.fragment->implied_by.push_back(&fragment);
    }
    invalidate_traits(fragment);
}

void fragment_rules::add_needs(std::uint64_t f, slice<fragment_data* const> needed) {
    array_list<implied_change> rules;
    for (fragment_data* const fragment : needed) rules.push_back({fragment});
    imply(f, rules);
}

void fragment_rules::make_sparse(fragment_data& fragment) {
    if (fragment.sparse_values != nullptr) {
        fragment.is_defined_sparse = true;
        return;
    }
    parts_.changes.refuse_in_change("define");
    if (fragment.has_word)
        raise(errc::fragment_in_use,
              text(fragment.name, " cannot become sparse: it divides entities into groups"));
    if (parts_.components.count(fragment) != 0 || parts_.pending.has_value_of(fragment))
        raise(errc::fragment_in_use,
              text(fragment.name, " cannot become sparse: entities already have it"));
    free_chunks_of(fragment, "making a fragment with chunks sparse");
    parts_.sparse.add(fragment);
    fragment.is_defined_sparse = true;
    invalidate_traits(fragment);
}

void fragment_rules::add_words(fragment_data& fragment) {
    if (fragment.has_word) return;
    parts_.changes.refuse_in_change("define");
    if (fragment.sparse_values != nullptr || parts_.components.count(fragment) != 0 ||
        parts_.pending.has_value_of(fragment))
        raise(errc::fragment_in_use,
              text(fragment.name,
                   " cannot divide entities into groups: it is sparse, or entities "
                   "already have it"));
    free_chunks_of(fragment, "dividing a fragment with chunks into groups");
    fragment.has_word = true;
    invalidate_traits(fragment);
}

void fragment_rules::name(target of, std::string_view name) {
    parts_.changes.refuse_in_phase("name");
    if (!parts_.entities.alive(of.id)) parts_.errors.raise_not_alive(of, "name");
    mark_for_destroy(of.id);
    fragment_data* const fragment = parts_.fragments.find(of.id);
    if (fragment != nullptr && !fragment->is_world_owned && fragment->own_name.empty()) {
        const std::string text = parts_.entities.text_of(of.id);  // shown if the name is removed
        fragment->own_name.assign(text.data(), text.data() + text.size());
    }
    parts_.names.set(of.id, name);
    if (fragment != nullptr) show_name(*fragment);
}

void fragment_rules::follow(fragment_data& fragment, row_follower& follower) {
    parts_.changes.refuse_in_change("following the rows of a fragment");
    const array_list<chunk_data*> all = parts_.components.chunks_of(fragment);
    for (chunk_data* chunk : all) {
        reserve_more(chunk->followers, 1);
        if (chunk->size != 0) follower.prepare(*chunk, chunk->size);
    }
    fragment.follower = &follower;
    for (chunk_data* chunk : all) {
        if (chunk->has_sparse) continue;
        chunk->followers.push_back(&follower);
        chunk->is_followed = true;
        if (chunk->size != 0) follower.appended(*chunk, 0, chunk->size);
    }
    forget_chunks();
    parts_.graph.invalidate();
}

void fragment_rules::take_part(fragment_data& fragment, value_participant& room) {
    fragment.hooks.set_participant();
    fragment.participant = &room;
    invalidate_hooks(&fragment);
}

void fragment_rules::unfollow(fragment_data& fragment) noexcept {
    if (fragment.follower == nullptr) return;
    for (const chunk_index index : fragment.chunks) {
        chunk_data& chunk = parts_.graph.at(index);
        chunk.followers.erase_value(fragment.follower);
        chunk.is_followed = !chunk.followers.empty();
    }
    fragment.follower = nullptr;
    forget_chunks();
    parts_.graph.invalidate();
}

}  // namespace MUSTER_NAMESPACE::detail
