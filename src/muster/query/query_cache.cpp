#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/query/query_cache.hpp>

#include <algorithm>
#include <memory>
#include <mutex>

namespace muster::detail {

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

query_cache::query_cache(const fragment_table& fragments, const chunk_graph& graph,
                         const sparse_table& sparse) noexcept
    : fragments_(fragments), graph_(graph), sparse_(sparse) {}

query_cache::~query_cache() {
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
    const state now{graph_.generation(), graph_.all().size(), size_};
    if (now == refreshed_) return;
    for (match_list* list : places_)
        if (list != nullptr) (void)read(*list, has_loops);
    refreshed_ = now;
}

match_list& query_cache::ensure_shared(const terms& question) {
    static std::mutex guard;  // rarely taken: first use of a query in a phase
    const std::lock_guard lock(guard);
    match_list& found = ensure(question);
    (void)read(found, true);
    return found;
}

bool query_cache::is_named(const terms& question, const fragment_data& fragment) const noexcept {
    for (const term& wanted : question)
        if (&fragment_of(wanted) == &fragment) return true;
    return false;
}

template <class Has>
bool query_cache::judge(const terms& question, const chunk_data& chunk, Has has) const {
    std::uint8_t group = 0;  // the last group of `any`, and whether one is present
    bool has_one = true;
    for (const term& wanted : question) {
        if (wanted.kind == term_kind::optional) continue;
        const fragment_data& fragment = fragment_of(wanted);
        if (!has(fragment, wanted.kind)) {
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
    if (!chunk.is_hidden) return true;
    for (const fragment_data* hidden : chunk.fragments)
        if (hidden->is_hidden && !is_named(question, *hidden)) return false;
    return true;
}

bool query_cache::may_match(const terms& question, const chunk_data& chunk) const noexcept {
    return judge(question, chunk, [&](const fragment_data& fragment, term_kind kind) {
        return fragment.sparse_values != nullptr ||
               chunk.has(fragment) == (kind != term_kind::without);
    });
}

bool query_cache::matches(const terms& question, const chunk_data& chunk,
                          std::uint64_t e) const noexcept {
    const bool fits = judge(question, chunk, [&](const fragment_data& fragment, term_kind kind) {
        const bool has = fragment.sparse_values != nullptr ? fragment.sparse_values->has(e)
                                                           : chunk.has(fragment);
        return has == (kind != term_kind::without);
    });
    if (!fits) return false;
    bool is_shown = to_int(chunk.index) != 0 || sparse_.has_any(e);
    sparse_.each(e, [&](const sparse_set& set) {
        if (set.fragment->is_hidden && !is_named(question, *set.fragment)) is_shown = false;
    });
    return is_shown;
}

/// Collects the terms that must be checked for each entity.
void query_cache::find_sparse(match_list& list) const {
    list.sparse_terms.clear();
    list.is_inside = false;
    const auto is_sparse = [&](const term& wanted) {
        return fragment_of(wanted).sparse_values != nullptr;
    };
    for (const term& wanted : list.question) {
        const bool has_sparse_part = std::ranges::any_of(list.question, [&](const term& other) {
            return other.kind == wanted.kind && other.group == wanted.group && is_sparse(other);
        });
        if (wanted.kind == term_kind::any ? has_sparse_part : is_sparse(wanted))
            list.sparse_terms.push_back({&fragment_of(wanted), wanted.kind, wanted.group});
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
    if (list.generation != graph_.generation()) {
        list.chunks.clear();
        list.seen = 0;
        find_sparse(list);
        list.generation = graph_.generation();
    }
    for (; list.seen < graph_.all().size(); ++list.seen) {
        chunk_data* const chunk = graph_.all()[list.seen];
        // Neither chunk 0 nor chunks with sparse fragments have rows.
        if (to_int(chunk->index) != 0 && !chunk->has_sparse && may_match(list.question, *chunk))
            list.chunks.push_back(chunk);
    }
}

std::string query_cache::explain(const terms& question, const chunk_data& chunk,
                                 std::uint64_t e) const {
    std::string made;
    const auto has_it = [&](const term& wanted) {
        const fragment_data& fragment = fragment_of(wanted);
        return fragment.sparse_values != nullptr ? fragment.sparse_values->has(e)
                                                 : chunk.has(fragment);
    };
    const auto append = [&](const auto&... parts) {
        made += text(made.empty() ? "" : "; ", parts...);
    };
    const auto name = [&](const term& wanted) {
        const fragment_data& found = fragment_of(wanted);
        return &found == &no_fragment ? std::string("a fragment that does not exist")
                                      : std::string(found.name);
    };
    for (const term* wanted = question.begin(); wanted != question.end(); ++wanted) {
        const bool has = has_it(*wanted);
        switch (wanted->kind) {
        case term_kind::with:
            append(has ? "it has " : "it has no ", name(*wanted), has ? "" : ", which is required");
            break;
        case term_kind::without:
            append(has ? "it has " : "it has no ", name(*wanted), has ? ", which is excluded" : "");
            break;
        case term_kind::any: {
            std::string all;
            bool has_one = false;
            const term* last = wanted;
            for (; last != question.end() && last->kind == term_kind::any &&
                   last->group == wanted->group;
                 ++last) {
                all += text(all.empty() ? "" : ", ", name(*last));
                has_one |= has_it(*last);
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

}  // namespace muster::detail
