// link_conditions: what a query asks of links, besides its terms. Targets and joined queries are not part
// of the question of a cached list; a `link_walk` tests them.
//
//     q.to<likes>(bob).under(child_of, root)       terms    [ with likes ][ with child_of ]
//                                                  links    [ to bob ] <- [ below root ]
#pragma once

#include <muster/query/terms.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

struct link_condition;

/// Conditions in the order in which they were added. Copies share them: they never change.
class MUSTER_API link_conditions {
public:
    static constexpr std::size_t limit = terms::limit;

    link_conditions() noexcept = default;
    link_conditions(const link_conditions& other) noexcept;
    link_conditions(link_conditions&& other) noexcept
        : last_(std::exchange(other.last_, nullptr)) {}
    link_conditions& operator=(link_conditions other) noexcept {
        std::swap(last_, other.last_);
        return *this;
    }
    ~link_conditions();

    /// Throws `errc::limit` beyond `limit` conditions.
    void add(link_condition&& wanted);
    [[nodiscard]] bool empty() const noexcept { return last_ == nullptr; }
    /// Stores them in `all`, and returns their number.
    [[nodiscard]] std::size_t list(const link_condition* (&all)[limit]) const noexcept;

private:
    struct node;
    const node* last_ = nullptr;  // shared
};

/// The order in which a loop visits entities.
struct link_order {
    enum class kind : std::uint8_t { none, top_down, bottom_up, by_target };
    kind what = kind::none;
    term_name relation{};
};

/// One condition.
struct link_condition {
    enum class kind : std::uint8_t {
        to_one,       // a link leads to `entity`
        to_matching,  // a link leads to an entity that `joined` and `joined_links` match
        below,        // links lead to `entity`, directly or not
        of_target,    // the first target has `component`
        above,        // one of the targets, or of their targets, has `component`
    };
    kind what;
    term_name relation;
    std::uint64_t entity = 0;
    term_name component{};
    bool is_read = false;  // values that only a fallback shows count, too
    terms joined{};
    link_conditions joined_links{};

    /// Whether a loop finds out itself, when it reads the component.
    [[nodiscard]] bool shows_component() const noexcept {
        return what == kind::of_target || what == kind::above;
    }
};

}  // namespace MUSTER_NAMESPACE::detail
