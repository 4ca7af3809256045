// link_test: one condition on links, for the duration of a walk: whether an entity meets it, and which
// entities may. What it had to find out, it remembers.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/sparse_array.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/relation/link_conditions.hpp>
#include <muster/relation/relation_data.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace MUSTER_NAMESPACE::detail {

struct engine;
class link_search;
struct batch_targets;

/// The world of a walk.
struct link_world {
    const engine* owner;
    query_cache* cache;
    void* store;  // for `find`
    /// Finds the entities of a list; see `target_finder`.
    void (*find)(void* store, void* cache, void* list, batch_targets& found);
    bool is_shared;  // other threads may use the lists

    [[nodiscard]] relation_data* find_relation(const term_name& relation) const noexcept;
    [[nodiscard]] const fragment_data& find_fragment(const term_name& fragment) const noexcept;
    /// Returns the current list of a question.
    [[nodiscard]] match_list& read(const terms& question) const;
};

/// Whether a living entity has a component or, if it is only read, its fallback shows one.
[[nodiscard]] bool shows_component(const engine& owner, std::uint64_t e,
                                   const fragment_data& component, bool is_read) noexcept;

class link_test {
public:
    link_test(const link_world& in, const link_condition& wanted);
    link_test(link_test&&) noexcept;
    link_test& operator=(link_test&&) noexcept;
    ~link_test();

    /// Whether any entity can meet the condition: the relation exists, and its target is alive.
    [[nodiscard]] bool is_possible() const noexcept;
    /// Whether a living entity meets the condition.
    [[nodiscard]] bool holds(std::uint64_t e);

    /// Describes whether an entity meets the condition: "it has no link of likes to E:3-0[0], which is
    /// required".
    [[nodiscard]] std::string explain(std::uint64_t e);

    /// Whether the entities that meet the condition are whole chunks: those with `target` as the word of
    /// `links`.
    [[nodiscard]] bool is_group() const noexcept {
        return what_->what == kind::to_one && relation_->is_grouping;
    }
    [[nodiscard]] const fragment_data& links() const noexcept { return relation_->links(); }
    [[nodiscard]] std::uint64_t target() const noexcept { return what_->entity; }
    [[nodiscard]] const source_list* sources() const noexcept {
        return relation_->find_sources(what_->entity);
    }

    /// Returns the number of links that lead to the entities that meet the condition, if it is below
    /// `limit`. Then `next` returns these entities. Otherwise, returns `limit`.
    [[nodiscard]] std::size_t count_links(std::size_t limit);
    /// Returns the next entity that meets the condition, each once, or the null id.
    [[nodiscard]] std::uint64_t next();

private:
    using kind = link_condition::kind;
    enum class answer : std::uint8_t { no, yes, unknown, on_path };

    [[nodiscard]] std::uint64_t key_of(std::uint64_t e) const noexcept;
    [[nodiscard]] std::uint64_t first_target(std::uint64_t e) const noexcept;
    [[nodiscard]] bool is_new(std::uint64_t e);
    [[nodiscard]] std::uint64_t next_source();
    [[nodiscard]] bool collect_below(std::size_t limit);
    [[nodiscard]] std::size_t collect_targets(std::size_t limit);
    template <class Above>
    [[nodiscard]] bool find_above(std::uint64_t e, Above above);
    [[nodiscard]] bool is_below(std::uint64_t e);
    [[nodiscard]] bool is_joined(std::uint64_t e);
    [[nodiscard]] bool has_component(std::uint64_t e) const noexcept;

    link_world in_;
    const link_condition* what_;
    relation_data* relation_;
    std::unique_ptr<link_search> joined_;
    sparse_array<answer> known_;  // by key
    sparse_array<answer> seen_;   // by key: entities that were listed, or that `next` has returned
    array_list<std::uint64_t> path_;

    array_list<std::uint64_t> all_;  // entities below, or joined targets
    bool is_listed_ = false;         // `all_` has all entities below
    std::size_t next_ = 0;           // in `all_`
    const source_list* sources_ = nullptr;
    std::uint32_t place_ = 0;  // in `sources_`
};

}  // namespace MUSTER_NAMESPACE::detail
