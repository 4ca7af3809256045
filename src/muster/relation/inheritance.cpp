#include <muster/base/first_error.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/inheritance.hpp>
#include <muster/relation/relation.hpp>

namespace MUSTER_NAMESPACE::detail {

inheritance::inheritance(engine& owner, query_cache& queries) : engine_(owner), queries_(queries) {
    number_ = queries.add_resolver(*this);
}

void inheritance::inherit(engine& owner, query_cache& queries, fragment_data& fragment) {
    struct parts {
        engine& owner;
        query_cache& queries;
    } given{owner, queries};
    static constexpr extensions::recipe how{
        "muster::inheritance",
        [](void* from) -> void* {
            const auto& all = *static_cast<parts*>(from);
            return new inheritance(all.owner, all.queries);
        },
        [](void* object) noexcept { delete static_cast<inheritance*>(object); }};
    static_cast<inheritance*>(
        owner.extensions.ensure(ensure_type_index<inheritance>(), how, &given))
        ->add(fragment);
}

inheritance::~inheritance() {
    for (const entry* known : inherited_) delete known;
}

void inheritance::add(fragment_data& fragment) {
    if (is_inherited(fragment)) return;
    const std::size_t at = to_int(fragment.index);
    if (at >= inherited_.size()) inherited_.resize(at + 1, nullptr);
    if (inherited_[at] == nullptr) inherited_[at] = new entry{this, nullptr, 0};
    inherited_[at]->fragment = &fragment;
    inherited_[at]->id = fragment.id;
    fragment.resolver = static_cast<std::uint8_t>(number_);
    fragment.inherited_from = [](void* context, std::uint64_t e) {
        return find(context, e).prefab;
    };
    fragment.fallback = {[](void* context, std::uint64_t e) { return find(context, e).value; },
                         inherited_[at]};
    ++version_;
}

bool inheritance::is_inherited(const fragment_data& fragment) const noexcept {
    return fragment.resolver != 0;  // of a new fragment with the number of a destroyed one, 0
}

/// Finds the value that a living entity inherits.
auto inheritance::find(const void* context, std::uint64_t e) noexcept -> source {
    const entry& of = *static_cast<const entry*>(context);
    return of.room->find(of.room->prefab_of(of.room->engine_.components.chunk_of(e)), *of.fragment);
}

/// Returns the fragment of the links of `is_a`; null if no call has used it.
const fragment_data* inheritance::links_of_instances() const noexcept {
    return engine_.fragments.find(find_type_index<is_a_t>()).alias;
}

/// Returns the prefab of the entities of a chunk, or the null id.
std::uint64_t inheritance::prefab_of(const chunk_data& chunk) const noexcept {
    const fragment_data* const links = links_of_instances();
    return links != nullptr && chunk.has(*links) ? chunk.word_of(*links) : engine_.entities.null();
}

/// Finds the nearest of a prefab and those above it that has a value of its own.
auto inheritance::find(std::uint64_t prefab, const fragment_data& fragment) const noexcept
    -> source {
    location at;
    for (std::uint64_t e = prefab; e != engine_.entities.null() && engine_.entities.find(e, at);
         e = prefab_of(engine_.graph.at(at.chunk)))
        if (component_lookup::has(e, at, fragment)) {
            const void* const value = component_lookup::find(e, at, fragment);
            return {e, value != nullptr ? value : no_values};  // of a tag, any address
        }
    return {engine_.entities.null(), nullptr};
}

/// Returns the fragments of a prefab, as far as the result of `outside` depends on them: its chunk, and
/// the sparse fragments that it has of those that are inherited, as a hash. Never 0.
std::uint64_t inheritance::state_of(std::uint64_t prefab, chunk_index chunk) const noexcept {
    std::uint64_t state = to_int(chunk) + 1;
    for (const entry* known : inherited_) {
        if (known == nullptr) continue;
        const fragment_data& fragment = engine_.fragments.lookup(known->id);
        if (is_inherited(fragment) && fragment.sparse_values != nullptr)
            state = (state + (fragment.sparse_values->has(prefab) ? 1 : 0)) * 0x9E37'79B9'7F4A'7C15;
    }
    return state | std::uint64_t{1} << 63;
}

/// Compares the prefabs of all chunks of instances with their state at the last call. A loop over these
/// chunks takes longer. A chunk that is new was in no list yet.
std::uint64_t inheritance::version() const noexcept {
    const fragment_data* const links = links_of_instances();
    if (links == nullptr) return version_;
    first_error ignored;
    ignored.attempt([&] {
        if (states_.size() < engine_.graph.end()) states_.resize(engine_.graph.end());
    });
    bool is_known = states_.size() >= engine_.graph.end();
    for (const chunk_index index : links->chunks) {
        location at;
        if (to_int(index) == 0 || to_int(index) >= states_.size() ||
            !engine_.entities.find(engine_.graph.at(index).word_of(*links), at))
            continue;  // a chunk without a living prefab is empty
        const std::uint64_t now = state_of(engine_.graph.at(index).word_of(*links), at.chunk);
        std::uint64_t& last = states_[to_int(index)];
        is_known = is_known && (last == 0 || last == now);
        last = now;
    }
    if (!is_known) ++version_;
    return version_;
}

slice<const fragment_data* const> inheritance::expand(const term& wanted) const noexcept {
    const fragment_data& fragment = queries_.fragment_of(wanted);
    if (!is_inherited(fragment)) return {};
    return {&inherited_[to_int(fragment.index)]->fragment, 1};
}

const void* inheritance::outside(const term& wanted, const chunk_data& chunk) const noexcept {
    const std::uint64_t prefab = prefab_of(chunk);
    const fragment_data& fragment = queries_.fragment_of(wanted);
    return is_inherited(fragment) ? find(prefab, fragment).value : nullptr;
}

}  // namespace MUSTER_NAMESPACE::detail
