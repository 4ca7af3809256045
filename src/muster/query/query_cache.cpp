#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/query/query_cache.hpp>

#include <algorithm>
#include <memory>
#include <mutex>

namespace MUSTER_NAMESPACE::detail {

void terms::raise_too_many() {
    raise(errc::limit, text("a query has at most ", limit, " terms"));
}

namespace {

void forget_before(match_list& list) noexcept {
    while (match_list* const old_list = list.previous) {
        list.previous = old_list->previous;
        delete old_list;
    }
}

}  // namespace

struct query_cache::lock {
    std::mutex guard;
};

query_cache::query_cache(const fragment_table& fragments, const chunk_graph& graph,
                         const sparse_table& sparse)
    : fragments_(fragments), graph_(graph), sparse_(sparse), lock_(new lock) {}

query_cache::~query_cache() {
    delete lock_;
    for (match_list* list : places_) {
        if (list != nullptr) forget_before(*list);
        delete list;
    }
}

match_list& query_cache::ensure(const terms& question) {
    const auto find = [&](const terms& wanted) {
        std::size_t at = wanted.hash() & (places_.size() - 1);
        while (places_[at] != nullptr && !(places_[at]->question == wanted))
            at = (at + 1) & (places_.size() - 1);
        return at;
    };
    if (!places_.empty())
        if (match_list* const known = places_[find(question)]) return *known;
    auto made = std::make_unique<match_list>();
    made->question = question;
    if (size_ * 2 >= places_.size()) {
        array_list<match_list*> previous(places_.empty() ? 16 : places_.size() * 2);
        previous.swap(places_);
        for (match_list* list : previous)
            if (list != nullptr) places_[find(list->question)] = list;
    }
    ++size_;
    return *(places_[find(question)] = made.release());
}

void query_cache::refresh_all(bool has_loops) {
    state now{graph_.generation(), graph_.all().size(), size_};
    for (const term_resolver* resolver : resolvers_) now.version += resolver->version();
    if (now == refreshed_) return;
    for (match_list* list : places_)
        if (list != nullptr) (void)read(*list, has_loops);
    refreshed_ = now;
}

match_list& query_cache::ensure_shared(const terms& question, bool has_loops) {
    const std::lock_guard locked(lock_->guard);
    match_list& found = ensure(question);
    (void)read(found, has_loops);
    return found;
}

// ---- terms -------------------------------------------------------------------------------------

const void* term_resolver::outside(const term&, const chunk_data&) const noexcept {
    return nullptr;
}
bool term_resolver::before(const chunk_data&, const chunk_data&) const noexcept {
    return false;
}

resolver_index query_cache::add_resolver(const term_resolver& resolver) {
    if (resolvers_.size() == 255) raise(errc::limit, "a world has at most 255 term resolvers");
    resolvers_.push_back(&resolver);
    return static_cast<resolver_index>(resolvers_.size());
}

void query_cache::add_list(terms& question, term_kind kind, std::span<const term_name> list) const {
    const std::uint8_t group = kind == term_kind::any ? question.new_group() : std::uint8_t{0};
    const auto term_of = [&](const term_name& name) {
        return term{name.type_or_id, kind, name.is_typed, group};
    };
    for (std::size_t i = 0; i < list.size(); ++i) {
        const fragment_data& fragment = fragment_of(term_of(list[i]));
        for (const term_name& earlier : list.first(i))
            if (earlier == list[i] ||
                (&fragment != &no_fragment && &fragment_of(term_of(earlier)) == &fragment))
                raise(errc::given_twice,
                      text(name_of(term_of(list[i])),
                           " is named twice: a list of a query names each fragment once"));
        question.add(term_of(list[i]));
    }
    // No fragment has `no_type`.
    if (kind == term_kind::any && list.empty())
        question.add(term_of({static_cast<std::uint64_t>(no_type), true}));
}

/// Versions only grow, so their sum changes with each of them.
std::uint64_t query_cache::version_of(const terms& question) const noexcept {
    std::uint64_t sum = 0;
    for (const term& wanted : question)
        if (wanted.resolver != resolver_index::none) sum += resolver_of(wanted.resolver).version();
    if (question.order() != resolver_index::none) sum += resolver_of(question.order()).version();
    return sum;
}

template <class Test>
bool query_cache::any_fragment(const term& wanted, Test test) const {
    if (wanted.resolver == resolver_index::none) return test(fragment_of(wanted));
    for (const fragment_data* fragment : resolver_of(wanted.resolver).expand(wanted))
        if (test(*fragment)) return true;
    return false;
}

bool query_cache::is_sparse(const term& wanted) const noexcept {
    return any_fragment(
        wanted, [](const fragment_data& fragment) { return fragment.sparse_values != nullptr; });
}

term_match query_cache::match(const term& wanted, const chunk_data& chunk) const noexcept {
    using source = term_match::source;
    if (any_fragment(wanted, [&](const fragment_data& fragment) {
            return fragment.sparse_values == nullptr && chunk.has(fragment);
        }))
        return {source::own};
    if (wanted.resolver == resolver_index::none || to_int(chunk.index) == 0) return {};
    const void* const value = resolver_of(wanted.resolver).outside(wanted, chunk);
    return value != nullptr ? term_match{source::outside, value} : term_match{};
}

const void* query_cache::outside(const terms& question, const fragment_data& fragment,
                                 const chunk_data& chunk) const noexcept {
    for (const term& wanted : question)
        if (wanted.kind != term_kind::without && wanted.resolver != resolver_index::none &&
            &fragment_of(wanted) == &fragment)
            if (const term_match found = match(wanted, chunk); found.value != nullptr)
                return found.value;
    return nullptr;
}

/// Whether the entity has one of the fragments, or a value from outside of its chunk.
bool query_cache::has(const term& wanted, const chunk_data& chunk, std::uint64_t e) const noexcept {
    return match(wanted, chunk) || has_own(wanted, chunk, e);
}

bool query_cache::has_own(const term& wanted, const chunk_data& chunk,
                          std::uint64_t e) const noexcept {
    return any_fragment(wanted, [&](const fragment_data& fragment) {
        return fragment.sparse_values != nullptr ? fragment.sparse_values->has(e)
                                                 : chunk.has(fragment);
    });
}

bool query_cache::is_named(const terms& question, const fragment_data& fragment) const noexcept {
    for (const term& wanted : question)
        if (any_fragment(wanted, [&](const fragment_data& named) { return &named == &fragment; }))
            return true;
    return false;
}

/// `fits(term)` states whether the term is satisfied; for `any`, whether it is one of the group.
template <class Fits>
bool query_cache::judge(const terms& question, const chunk_data& chunk, Fits fits) const {
    std::uint8_t group = 0;  // the last group of `any`, and whether one is present
    bool has_one = true;
    for (const term& wanted : question) {
        if (wanted.kind == term_kind::optional) continue;
        if (!fits(wanted)) {
            if (wanted.kind != term_kind::any) return false;
            if (wanted.group == group) continue;
            if (!has_one) return false;
            group = wanted.group;
            has_one = false;
        } else if (wanted.kind == term_kind::any) {
            if (wanted.group != group && !has_one) return false;
            group = wanted.group;
            has_one = true;
        }
    }
    if (!has_one) return false;
    for (const fragment_data* hidden : chunk.fragments)
        if (hidden->is_hidden && !is_named(question, *hidden)) return false;
    return true;
}

bool query_cache::may_match(const terms& question, const chunk_data& chunk) const noexcept {
    return judge(question, chunk, [&](const term& wanted) {
        const bool has = static_cast<bool>(match(wanted, chunk));
        return wanted.kind == term_kind::without ? !has : has || is_sparse(wanted);
    });
}

bool query_cache::matches(const terms& question, const chunk_data& chunk,
                          std::uint64_t e) const noexcept {
    const bool fits = judge(question, chunk, [&](const term& wanted) {
        return has(wanted, chunk, e) == (wanted.kind != term_kind::without);
    });
    if (!fits) return false;
    bool is_shown = to_int(chunk.index) != 0 || sparse_.has_any(e);
    sparse_.each(e, [&](const sparse_set& set) {
        if (set.fragment->is_hidden && !is_named(question, *set.fragment)) is_shown = false;
    });
    return is_shown;
}

// ---- lists -------------------------------------------------------------------------------------

/// Collects the terms that must be checked for each entity.
void query_cache::find_sparse(match_list& list) const {
    list.sparse_terms.clear();
    list.is_inside = false;
    std::uint8_t own_group = 255;  // terms have smaller groups
    for (const term& wanted : list.question) {
        const bool has_sparse_part = std::ranges::any_of(list.question, [&](const term& other) {
            return other.kind == wanted.kind && other.group == wanted.group && is_sparse(other);
        });
        if (wanted.kind == term_kind::any ? has_sparse_part : is_sparse(wanted)) {
            // A required term that stands for several fragments needs only one of them.
            const bool is_group = wanted.kind == term_kind::with &&
                                  wanted.resolver != resolver_index::none &&
                                  resolver_of(wanted.resolver).expand(wanted).size() != 1;
            const term_kind kind = is_group ? term_kind::any : wanted.kind;
            const std::uint8_t group = is_group ? own_group-- : wanted.group;
            (void)any_fragment(wanted, [&](const fragment_data& fragment) {
                list.sparse_terms.push_back(
                    {&fragment, kind, group, wanted.resolver != resolver_index::none});
                return false;
            });
        }
        if ((wanted.kind == term_kind::with && !is_sparse(wanted)) ||
            (wanted.kind == term_kind::any && !has_sparse_part))
            list.is_inside = true;
    }
    for (const sparse_set* set : sparse_.all())
        // A set without a fragment holds pending values of a destroyed one.
        if (set != nullptr && set->fragment != nullptr && set->fragment->is_hidden &&
            !is_named(list.question, *set->fragment))
            list.sparse_terms.push_back({set->fragment, term_kind::without, 0});
    list.is_plain = list.sparse_terms.empty() && (list.is_inside || sparse_.empty());
}

void query_cache::refresh(match_list& list, bool has_loops) {
    const bool is_resolved = list.question.is_resolved();
    const match_list::resolved_state now{graph_.generation(), version_of(list.question)};
    if (is_resolved && list.built == now && list.seen == graph_.all().size()) return;
    if (!has_loops) {
        forget_before(list);
    } else if (!list.chunks.empty()) {
        auto previous = std::make_unique<match_list>();
        array_list<chunk_data*> copy(list.chunks);
        previous->chunks = std::move(list.chunks);
        previous->previous = list.previous;
        list.previous = previous.release();
        list.chunks = std::move(copy);
    }
    if (!(list.built == now)) {
        list.chunks.clear();
        list.seen = 0;
        list.has_outside = false;
        find_sparse(list);
        list.built = now;
        if (!is_resolved) list.generation = now.generation;
    }
    const std::size_t first_new = list.chunks.size();
    if (is_resolved)
        add_resolved(list);
    else
        add_plain(list);
    if (list.has_outside) list.is_plain = false;  // a walk shows the values
    if (list.question.order() != resolver_index::none && list.chunks.size() != first_new)
        sort(list);
}

/// Adds the matching chunks that were not seen yet. Looks up the fragments once for all chunks. A new
/// list visits only the chunks of the rarest required fragment.
void query_cache::add_plain(match_list& list) const {
    const fragment_data* fragments[terms::limit];
    const fragment_data* rarest = nullptr;
    for (std::size_t i = 0; i < list.question.size(); ++i) {
        const term& wanted = list.question.begin()[i];
        fragments[i] = &fragment_of(wanted);
        if (wanted.kind == term_kind::with && fragments[i]->sparse_values == nullptr &&
            (rarest == nullptr || fragments[i]->chunks.size() < rarest->chunks.size()))
            rarest = fragments[i];
    }
    const auto add = [&](chunk_data& chunk) {
        // Neither chunk 0 nor chunks with sparse fragments have rows.
        if (to_int(chunk.index) == 0 || chunk.has_sparse) return;
        const bool fits = judge(list.question, chunk, [&](const term& wanted) {
            const fragment_data& fragment = *fragments[&wanted - list.question.begin()];
            return fragment.sparse_values != nullptr ||
                   chunk.has(fragment) == (wanted.kind != term_kind::without);
        });
        if (fits) list.chunks.push_back(&chunk);
    };
    if (list.seen == 0 && rarest != nullptr) {
        list.chunks.reserve(rarest->chunks.size());  // must not fail between two chunks
        for (const chunk_index index : rarest->chunks) add(graph_.at(index));
        list.seen = graph_.all().size();
    }
    for (; list.seen < graph_.all().size(); ++list.seen) add(*graph_.all()[list.seen]);
}

/// Like `add_plain`, for a question whose terms may be answered by resolvers.
void query_cache::add_resolved(match_list& list) const {
    for (; list.seen < graph_.all().size(); ++list.seen) {
        chunk_data* const chunk = graph_.all()[list.seen];
        if (to_int(chunk->index) == 0 || chunk->has_sparse || !may_match(list.question, *chunk))
            continue;
        list.chunks.push_back(chunk);
        for (const term& wanted : list.question)
            if (wanted.kind != term_kind::without && match(wanted, *chunk).value != nullptr)
                list.has_outside = true;
    }
}

/// Sorts the chunks. Does not allocate: chunks that the resolver does not order are compared by
/// creation, in place of a stable sort.
void query_cache::sort(match_list& list) const {
    const term_resolver& order = resolver_of(list.question.order());
    const auto before = [&](const chunk_data* a, const chunk_data* b) {
        return order.before(*a, *b) || (!order.before(*b, *a) && a->serial < b->serial);
    };
    std::ranges::sort(list.chunks, before);
}

// ---- explain -----------------------------------------------------------------------------------

std::string query_cache::name_of(const term& wanted) const {
    if (const fragment_data& named = named_by(wanted); named.alias != nullptr)
        return std::string(named.name);
    std::string all;
    (void)any_fragment(wanted, [&](const fragment_data& fragment) {
        if (&fragment != &no_fragment) all += text(all.empty() ? "" : " or ", fragment.name);
        return false;
    });
    if (wanted.is_typed && wanted.type_or_id == static_cast<std::uint64_t>(no_type))
        return "an empty list";
    return all.empty() ? "a fragment that does not exist" : all;
}

std::string query_cache::explain(const terms& question, const chunk_data& chunk,
                                 std::uint64_t e) const {
    std::string made;
    const auto append = [&](const auto&... parts) {
        made += text(made.empty() ? "" : "; ", parts...);
    };
    for (const term* wanted = question.begin(); wanted != question.end(); ++wanted) {
        const bool has = this->has(*wanted, chunk, e);
        switch (wanted->kind) {
        case term_kind::with:
            append(!has                         ? "it has no "
                   : has_own(*wanted, chunk, e) ? "it has "
                                                : "it inherits ",
                   name_of(*wanted), has ? "" : ", which is required");
            break;
        case term_kind::without:
            append(has ? "it has " : "it has no ", name_of(*wanted),
                   has ? ", which is excluded" : "");
            break;
        case term_kind::any: {
            std::string all;
            bool has_one = false;
            const term* last = wanted;
            for (; last != question.end() && last->kind == term_kind::any &&
                   last->group == wanted->group;
                 ++last) {
                all += text(all.empty() ? "" : ", ", name_of(*last));
                has_one |= this->has(*last, chunk, e);
            }
            append(has_one ? "it has one of " : "it has none of ", all);
            wanted = last - 1;
            break;
        }
        case term_kind::optional: break;
        }
    }
    array_list<fragment_data*> all = chunk.fragments;
    sparse_.list(e, all);
    for (const fragment_data* owned : all)
        if (owned->is_hidden && !is_named(question, *owned))
            append("it is hidden by ", owned->name, ", which the query does not name");
    return made;
}

}  // namespace MUSTER_NAMESPACE::detail
