#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/relation/link_search.hpp>
#include <muster/relation/link_test.hpp>
#include <muster/relation/relations.hpp>

namespace MUSTER_NAMESPACE::detail {

relation_data* link_world::find_relation(const term_name& relation) const noexcept {
    const relations* const all = relations::find(*owner);
    return all != nullptr ? all->find(find_fragment(relation)) : nullptr;
}

const fragment_data& link_world::find_fragment(const term_name& fragment) const noexcept {
    return fragment.is_typed ? owner->fragments.find(static_cast<type_index>(fragment.type_or_id))
                             : owner->fragments.lookup(fragment.type_or_id);
}

match_list& link_world::read(const terms& question) const {
    const bool has_loops = owner->gate.is_parallel() || owner->depth() != 0;
    if (is_shared) return cache->ensure_shared(question, has_loops);
    match_list& list = cache->ensure(question);
    (void)cache->read(list, has_loops);
    return list;
}

bool shows_component(const engine& owner, std::uint64_t e, const fragment_data& component,
                     bool is_read) noexcept {
    if (owner.components.has(e, component)) return true;
    const fragment_fallback& shown = component.fallback;
    return is_read && shown.call != nullptr && shown.call(shown.context, e) != nullptr;
}

link_test::link_test(const link_world& in, const link_condition& wanted)
    : in_(in), what_(&wanted), relation_(in.find_relation(wanted.relation)) {
    if (wanted.what == kind::to_matching)
        joined_ = std::make_unique<link_search>(in, wanted.joined, wanted.joined_links);
}
link_test::link_test(link_test&&) noexcept = default;
link_test& link_test::operator=(link_test&&) noexcept = default;
link_test::~link_test() = default;

bool link_test::is_possible() const noexcept {
    if (relation_ == nullptr) return false;
    switch (what_->what) {
    case kind::to_one:
    case kind::below: return in_.owner->entities.alive(what_->entity);
    case kind::to_matching: return joined_->is_possible();
    default: return true;
    }
}

std::uint64_t link_test::key_of(std::uint64_t e) const noexcept {
    return in_.owner->entities.key_of(e);
}

bool link_test::holds(std::uint64_t e) {
    switch (what_->what) {
    case kind::to_one: return relation_->is_related(e, what_->entity);
    case kind::to_matching: return is_joined(e);
    case kind::below: return is_below(e);
    case kind::of_target: {
        const std::uint64_t target = first_target(e);
        return target != in_.owner->entities.null() && has_component(target);
    }
    case kind::above:
        return find_above(e, [&](std::uint64_t target) { return has_component(target); });
    }
    return false;
}

std::uint64_t link_test::first_target(std::uint64_t e) const noexcept {
    if (relation_->is_exclusive) return relation_->target_of(e);
    const link_list* const list = relation_->find_list(e);
    if (list == nullptr) return in_.owner->entities.null();
    const std::uint32_t first = list->ends().next(0);
    return first != list->ends().places() ? list->ends()[first].other : in_.owner->entities.null();
}

bool link_test::has_component(std::uint64_t e) const noexcept {
    return shows_component(*in_.owner, e, in_.find_fragment(what_->component), what_->is_read);
}

bool link_test::is_joined(std::uint64_t e) {
    bool found = false;
    relation_->each_target(e, [&](const link_end& end) {
        if (found) return;
        answer& known = known_.ensure(key_of(end.other), answer::unknown);
        if (known == answer::unknown)
            known = joined_->matches(end.other) ? answer::yes : answer::no;
        found = known == answer::yes;
    });
    return found;
}

/// Whether one of the entities above fulfils a condition. Follows the first targets, and remembers the
/// answer for all entities on the way: O(1) for each, amortised.
template <class Above>
bool link_test::find_above(std::uint64_t e, Above above) {
    const std::uint64_t null = in_.owner->entities.null();
    answer found = answer::no;
    path_.clear();
    for (std::uint64_t at = e;;) {
        answer& known = known_.ensure(key_of(at), answer::unknown);
        if (known != answer::unknown) {  // where links lead in a circle, it is on the path
            found = known == answer::yes ? answer::yes : answer::no;
            break;
        }
        path_.push_back(at);
        known = answer::on_path;
        at = first_target(at);
        if (at == null) break;
        if (above(at)) {
            found = answer::yes;
            break;
        }
    }
    for (const std::uint64_t passed : path_) *known_.find(key_of(passed)) = found;
    return found == answer::yes;
}

bool link_test::is_below(std::uint64_t e) {
    if (e == what_->entity) return false;  // also in a circle
    if (relation_->is_exclusive)
        return find_above(e, [&](std::uint64_t target) { return target == what_->entity; });
    if (!is_listed_) (void)collect_below(~std::size_t{0});
    return seen_.find(key_of(e)) != nullptr;
}

std::string link_test::explain(std::uint64_t e) {
    const auto name_of = [&](const term_name& named) {
        const std::string_view name = in_.find_fragment(named).name;
        return name.empty() ? std::string_view("a fragment that does not exist") : name;
    };
    const std::string_view relation = name_of(what_->relation);
    const std::string_view component = name_of(what_->component);
    const std::string entity = in_.owner->errors.describe(what_->entity);
    const bool is_met = is_possible() && holds(e);
    const std::string_view rest = is_met ? "" : ", which is required";
    switch (what_->what) {
    case kind::to_one:
        return text("it has ", is_met ? "a" : "no", " link of ", relation, " to ", entity, rest);
    case kind::to_matching:
        return text("it has ", is_met ? "a" : "no", " link of ", relation,
                    " to an entity that matches the joined query", rest);
    case kind::below:
        return text("it is ", is_met ? "" : "not ", "below ", entity, " by ", relation, rest);
    case kind::of_target:
        return text("its target by ", relation, is_met ? " has " : " has no ", component, rest);
    case kind::above:
        return text(is_met ? "an" : "no", " entity above it by ", relation, " has ", component,
                    rest);
    }
    return {};
}

// ---- candidates --------------------------------------------------------------------------------

std::size_t link_test::count_links(std::size_t limit) {
    std::size_t count = limit;
    switch (what_->what) {
    case kind::to_one:
        sources_ = relation_->find_sources(what_->entity);
        count = sources_ != nullptr ? sources_->size() : 0;
        break;
    case kind::to_matching: count = collect_targets(limit); break;
    case kind::below: count = collect_below(limit) ? all_.size() : limit; break;
    default: break;
    }
    return count < limit ? count : limit;
}

std::uint64_t link_test::next() {
    if (what_->what == kind::below)
        return next_ == all_.size() ? in_.owner->entities.null() : all_[next_++];
    const std::uint64_t null = in_.owner->entities.null();
    for (;;) {
        const std::uint64_t found = next_source();
        if (found != null) {
            // An entity with several targets is met at each of them.
            if (relation_->is_exclusive || what_->what == kind::to_one || is_new(found))
                return found;
        } else if (next_ == all_.size()) {
            return null;
        } else {
            sources_ = relation_->find_sources(all_[next_++]);
            place_ = 0;
        }
    }
}

std::uint64_t link_test::next_source() {
    if (sources_ == nullptr) return in_.owner->entities.null();
    place_ = sources_->next(place_);
    return place_ == sources_->places() ? in_.owner->entities.null() : (*sources_)[place_++].other;
}

bool link_test::is_new(std::uint64_t e) {
    const std::size_t before = seen_.size();
    (void)seen_.ensure(key_of(e), answer::yes);
    return seen_.size() != before;
}

/// Lists the entities below, each before those below it. Returns false if there are more than `limit`,
/// which are then not listed.
bool link_test::collect_below(std::size_t limit) {
    struct position {
        const source_list* sources;
        std::uint32_t place;
    };
    const bool is_tree = relation_->is_exclusive;
    array_list<position> open;
    open.push_back({relation_->find_sources(what_->entity), 0});
    while (!open.empty()) {
        position& here = open.back();
        if (here.sources != nullptr) here.place = here.sources->next(here.place);
        if (here.sources == nullptr || here.place == here.sources->places()) {
            open.pop_back();
            continue;
        }
        const std::uint64_t e = (*here.sources)[here.place++].other;
        if (e == what_->entity || (!is_tree && !is_new(e))) continue;  // a circle, or two ways
        if (is_tree && all_.size() == limit) {
            all_.clear();
            return false;
        }
        all_.push_back(e);
        open.push_back({relation_->find_sources(e), 0});
    }
    is_listed_ = true;
    return true;
}

/// Lists the targets that the joined query matches, unless there may be too many. Returns the number of
/// their sources, or `limit`.
std::size_t link_test::collect_targets(std::size_t limit) {
    if (joined_->count_candidates() >= limit) return limit;
    std::size_t count = 0;
    const std::uint64_t null = in_.owner->entities.null();
    for (std::uint64_t e = joined_->next(); e != null; e = joined_->next()) {
        const source_list* const sources = relation_->find_sources(e);
        if (sources == nullptr || sources->size() == 0) continue;
        all_.push_back(e);
        count += sources->size();
    }
    return count < limit ? count : limit;
}

}  // namespace MUSTER_NAMESPACE::detail
