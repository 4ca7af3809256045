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
    while (match_list* const one = list.before) {
        list.before = one->before;
        delete one;
    }
}

}  // namespace

query_cache::query_cache(const fragment_table& fragments, const chunk_graph& graph,
                         const sparse_table& sparse) noexcept
    : fragments_(fragments), graph_(graph), sparse_(sparse) {}

query_cache::~query_cache() {
    for (match_list* one : places_) {
        if (one != nullptr) forget_before(*one);
        delete one;
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
        array_list<match_list*> before(places_.empty() ? 16 : places_.size() * 2);
        before.swap(places_);
        for (match_list* one : before)
            if (one != nullptr) places_[find(one->question)] = one;
    }
    ++size_;
    return *(places_[find(question)] = made.release());
}

void query_cache::refresh_all(bool has_loops) {
    const state now{graph_.generation(), graph_.all().size(), size_};
    if (now == refreshed_) return;
    for (match_list* one : places_)
        if (one != nullptr) (void)read(*one, has_loops);
    refreshed_ = now;
}

match_list& query_cache::ensure_shared(const terms& question) {
    static std::mutex guard;  // a query whose first use is in a phase: rare
    const std::lock_guard lock(guard);
    match_list& found = ensure(question);
    (void)read(found, true);
    return found;
}

bool query_cache::is_named(const terms& question, const fragment_data& one) const noexcept {
    for (const term& each : question)
        if (&fragment_of(each) == &one) return true;
    return false;
}

template <class Has>
bool query_cache::judge(const terms& question, const chunk_data& chunk, Has has) const {
    std::uint8_t group = 0;  // the last one of `any`, and whether one of it is there
    bool has_one = true;
    for (const term& one : question) {
        if (one.kind == term_kind::optional) continue;
        const fragment_data& fragment = fragment_of(one);
        if (!has(fragment, one.kind)) {
            if (one.kind != term_kind::any) return false;
            if (one.group == group) continue;
            if (!has_one) return false;
            group = one.group;
            has_one = false;
        } else if (one.kind == term_kind::any) {
            if (one.group != group && !has_one) return false;
            group = one.group;
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
    return judge(question, chunk, [&](const fragment_data& one, term_kind kind) {
        return one.beside != nullptr || chunk.has(one) == (kind != term_kind::without);
    });
}

bool query_cache::matches(const terms& question, const chunk_data& chunk,
                          std::uint64_t who) const noexcept {
    const bool fits = judge(question, chunk, [&](const fragment_data& one, term_kind kind) {
        const bool has = one.beside != nullptr ? one.beside->has(who) : chunk.has(one);
        return has == (kind != term_kind::without);
    });
    if (!fits) return false;
    bool is_shown = to_int(chunk.index) != 0 || sparse_.has_any(who);
    sparse_.each(who, [&](const sparse_set& one) {
        if (one.fragment->is_hidden && !is_named(question, *one.fragment)) is_shown = false;
    });
    return is_shown;
}

/// The terms that no chunk can answer.
void query_cache::find_beside(match_list& list) const {
    list.beside.clear();
    list.is_inside = false;
    const auto is_sparse = [&](const term& one) { return fragment_of(one).beside != nullptr; };
    for (const term& one : list.question) {
        const bool is_mixed = std::ranges::any_of(list.question, [&](const term& other) {
            return other.kind == one.kind && other.group == one.group && is_sparse(other);
        });
        if (one.kind == term_kind::any ? is_mixed : is_sparse(one))
            list.beside.push_back({&fragment_of(one), one.kind, one.group});
        if ((one.kind == term_kind::with && !is_sparse(one)) ||
            (one.kind == term_kind::any && !is_mixed))
            list.is_inside = true;
    }
    for (const sparse_set* one : sparse_.all())
        if (one != nullptr && one->fragment->is_hidden && !is_named(list.question, *one->fragment))
            list.beside.push_back({one->fragment, term_kind::without, 0});
    list.is_plain = list.beside.empty() && (list.is_inside || sparse_.empty());
}

void query_cache::refresh(match_list& list, bool has_loops) {
    if (!has_loops) {
        forget_before(list);
    } else if (!list.chunks.empty()) {
        auto before = std::make_unique<match_list>();
        array_list<chunk_data*> copy(list.chunks);
        before->chunks = std::move(list.chunks);
        before->before = list.before;
        list.before = before.release();
        list.chunks = std::move(copy);
    }
    if (list.generation != graph_.generation()) {
        list.chunks.clear();
        list.seen = 0;
        find_beside(list);
        list.generation = graph_.generation();
    }
    for (; list.seen < graph_.all().size(); ++list.seen) {
        chunk_data* const one = graph_.all()[list.seen];
        // Chunk 0 stands for the entities without fragments: it has no rows.
        if (to_int(one->index) != 0 && !one->has_sparse && may_match(list.question, *one))
            list.chunks.push_back(one);
    }
}

std::string query_cache::explain(const terms& question, const chunk_data& chunk,
                                 std::uint64_t who) const {
    std::string made;
    const auto has_it = [&](const term& one) {
        const fragment_data& fragment = fragment_of(one);
        return fragment.beside != nullptr ? fragment.beside->has(who) : chunk.has(fragment);
    };
    const auto say = [&](const auto&... parts) {
        made += text(made.empty() ? "" : "; ", parts...);
    };
    const auto name = [&](const term& one) {
        const fragment_data& found = fragment_of(one);
        return &found == &no_fragment ? std::string("a fragment that nothing has")
                                      : std::string(found.name);
    };
    for (const term* one = question.begin(); one != question.end(); ++one) {
        const bool has = has_it(*one);
        switch (one->kind) {
        case term_kind::with:
            say(has ? "it has " : "it has no ", name(*one), has ? "" : ", which is asked for");
            break;
        case term_kind::without:
            say(has ? "it has " : "it has no ", name(*one), has ? ", which is excluded" : "");
            break;
        case term_kind::any: {
            std::string all;
            bool has_one = false;
            const term* last = one;
            for (; last != question.end() && last->kind == term_kind::any &&
                   last->group == one->group;
                 ++last) {
                all += text(all.empty() ? "" : ", ", name(*last));
                has_one |= has_it(*last);
            }
            say(has_one ? "it has one of " : "it has none of ", all);
            one = last - 1;
            break;
        }
        case term_kind::optional: break;
        }
    }
    array_list<fragment_data*> all = chunk.fragments;
    sparse_.list(who, all);
    for (const fragment_data* one : all)
        if (one->is_hidden && !is_named(question, *one))
            say("it is hidden by ", one->name, ", which is not named");
    return made;
}

}  // namespace muster::detail
