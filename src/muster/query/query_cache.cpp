#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/query/query_cache.hpp>

#include <memory>

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

query_cache::query_cache(const fragment_table& fragments, const chunk_graph& graph) noexcept
    : fragments_(fragments), graph_(graph) {}

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
        std::vector<match_list*> before(places_.empty() ? 16 : places_.size() * 2);
        before.swap(places_);
        for (match_list* one : before)
            if (one != nullptr) places_[find(one->question)] = one;
    }
    ++size_;
    return *(places_[find(question)] = made.release());
}

void query_cache::find(void* cache, void* list, std::vector<chunk_data*>& found) {
    // SAFETY: what a query has put there.
    const chunk_range chunks =
        static_cast<query_cache*>(cache)->read(*static_cast<match_list*>(list), true);
    found.insert(found.end(), chunks.begin(), chunks.end());
}

bool query_cache::matches(const terms& question, const chunk_data& chunk) const noexcept {
    std::uint8_t group = 0;  // the last one of `any`, and whether one of it is there
    bool has_one = true;
    for (const term& one : question) {
        const bool has = chunk.has(fragment_of(one));
        if (one.kind == term_kind::with && !has) return false;
        if (one.kind == term_kind::without && has) return false;
        if (one.kind != term_kind::any) continue;
        if (one.group != group) {
            if (!has_one) return false;
            group = one.group;
            has_one = false;
        }
        has_one |= has;
    }
    if (!has_one) return false;
    if (!chunk.is_hidden) return true;
    for (const fragment_data* hidden : chunk.fragments) {
        if (!hidden->is_hidden) continue;
        bool is_named = false;
        for (const term& one : question) is_named |= &fragment_of(one) == hidden;
        if (!is_named) return false;
    }
    return true;
}

void query_cache::refresh(match_list& list, bool has_loops) {
    if (!has_loops) {
        forget_before(list);
    } else if (!list.chunks.empty()) {
        auto before = std::make_unique<match_list>();
        std::vector<chunk_data*> copy(list.chunks);
        before->chunks = std::move(list.chunks);
        before->before = list.before;
        list.before = before.release();
        list.chunks = std::move(copy);
    }
    if (list.generation != graph_.generation()) {
        list.chunks.clear();
        list.seen = 0;
        list.generation = graph_.generation();
    }
    for (; list.seen < graph_.all().size(); ++list.seen) {
        chunk_data* const one = graph_.all()[list.seen];
        // Chunk 0 stands for the entities without fragments: it has no rows.
        if (to_int(one->index) != 0 && matches(list.question, *one)) list.chunks.push_back(one);
    }
}

std::string query_cache::explain(const terms& question, const chunk_data& chunk) const {
    std::string made;
    const auto say = [&](const auto&... parts) {
        made += text(made.empty() ? "" : "; ", parts...);
    };
    const auto name = [&](const term& one) {
        const fragment_data& found = fragment_of(one);
        return &found == &no_fragment ? std::string("a fragment that nothing has")
                                      : std::string(found.name);
    };
    for (const term* one = question.begin(); one != question.end(); ++one) {
        const bool has = chunk.has(fragment_of(*one));
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
                has_one |= chunk.has(fragment_of(*last));
            }
            say(has_one ? "it has one of " : "it has none of ", all);
            one = last - 1;
            break;
        }
        case term_kind::optional: break;
        }
    }
    for (const fragment_data* hidden : chunk.fragments) {
        if (!hidden->is_hidden) continue;
        bool is_named = false;
        for (const term& one : question) is_named |= &fragment_of(one) == hidden;
        if (!is_named) say("it is hidden by ", hidden->name, ", which is not named");
    }
    return made;
}

}  // namespace muster::detail
