// relation_ref: a relation of a world, as the public calls see it: without the types of its values, and
// without the headers of the room. `relations` has the calls that change links.
#pragma once

#include <muster/change/change.hpp>
#include <muster/relation/link.hpp>
#include <muster/relation/relation.hpp>
#include <muster/relation/source_list.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct chunk_data;
struct engine;
class relation_data;

/// The types of a relation's links.
struct link_types {
    const type_info* value;  // of the values; size 0: none
    type_index value_index;
    const type_info* linked;  // of `linked<Value>`
    std::size_t value_offset;

    template <class Value>
    [[nodiscard]] static link_types of() {
        static_assert(is_component<Value>);
        static_assert(!is_pinned<Value>,
                      "muster: the value of a link must be movable, and its move must not throw.");
        return {&type_info_of<Value>, ensure_type_index<Value>(),
                &type_info_of<detail::linked<Value>>, link_head::value_offset(alignof(Value))};
    }
};

/// The initial meaning of a relation.
enum class relation_kind : std::uint8_t { users, child_of, is_a };
template <class R>
inline constexpr relation_kind relation_kind_of = relation_kind::users;
template <>
inline constexpr relation_kind relation_kind_of<child_of_t> = relation_kind::child_of;
template <>
inline constexpr relation_kind relation_kind_of<is_a_t> = relation_kind::is_a;

/// A link that the change of an entity adds, moves or removes. The hooks of a relation receive it.
struct link_step {
    std::uint64_t e;
    std::uint64_t from;       // the old target, or the null id
    std::uint64_t to;         // the new target, or the null id
    std::uint32_t place = 0;  // of `e` at the old target
    std::uint32_t level = 0;  // of `e` before the change, in a leveled relation
};

/// Ends of links, in their order. Valid until a link of the relation changes.
struct link_ends {
    const std::uint64_t* first = nullptr;  // each end begins with the other entity
    const std::uint64_t* last = nullptr;
    std::uint32_t width = 1;   // from one end to the next
    bool are_targets = false;  // they are of type `link_end`
    std::uint64_t hole = 0;    // the null id, in place of a source
    std::size_t count = 0;
    std::uint64_t only = 0;  // the entity of the only link of an exclusive relation

    [[nodiscard]] bool is_single() const noexcept { return first == nullptr && count != 0; }
};

/// The place of a new source of an exclusive relation.
struct source_place {
    chunk_data* into = nullptr;      // has room for its row; null: there is no such place
    std::byte* links = nullptr;      // the base of the links in this chunk
    source_list* sources = nullptr;  // of the target; has room for it
    std::uint32_t level : 30 = 0;    // of the source, in a leveled relation
};
struct link_group;
/// Whether a source comes before another; may throw.
using source_order = bool (*)(void* context, std::uint64_t a, std::uint64_t b);

class MUSTER_API relation_ref {
public:
    relation_ref() noexcept = default;

    /// Makes a fragment a relation, or finds it; see `relations::define`.
    [[nodiscard]] static relation_ref define(engine& owner, fragment_data& own,
                                             const link_types& types, relation_kind kind);
    /// Returns the relation of a fragment. Throws `errc::not_a_relation`, unless it is predefined, and
    /// `errc::type_mismatch` if its links have values of another type.
    [[nodiscard]] static relation_ref get(engine& owner, fragment_data& own,
                                          const link_types& types, relation_kind kind,
                                          const char* call);
    /// Throws `errc::in_scope` if a predefined relation was not used yet: a phase cannot create it.
    MUSTER_COLD static void refuse_first_use(const engine& owner, const fragment_data& own,
                                             std::string_view name, const char* call);
    /// Returns the relation of this name, for a change that was recorded without the world. Throws as
    /// `get` does, and `errc::dead_fragment`.
    [[nodiscard]] static relation_ref named(engine& owner, const fragment_name& name,
                                            const link_types& types, relation_kind kind,
                                            const std::source_location& where);
    /// Returns the relation of a fragment; empty if it is none.
    [[nodiscard]] static relation_ref find(const engine& owner, const fragment_data& own) noexcept;

    /// Prepares the creation of an entity with values of these fragments and a link to this living
    /// entity. Finds no place if the relation is not exclusive, or if anyone is to be notified.
    /// `types` is the number of the list of arguments.
    [[nodiscard]] source_place prepare_source(list_index types, slice<fragment_data* const> set,
                                              std::uint64_t target) const;

    explicit operator bool() const noexcept { return data_ != nullptr; }

    void set_exclusive();
    void set_acyclic();
    void set_leveled();
    void set_grouping();
    void set_symmetric();
    void set_policy(target_policy policy) noexcept;
    [[nodiscard]] bool is_exclusive() const noexcept;
    [[nodiscard]] fragment_data& links() const noexcept;
    [[nodiscard]] fragment_data& own() const noexcept;

    bool relate(target source, target to, const change& link);
    bool unrelate(target source, std::uint64_t to, const change& link);
    std::size_t unrelate_all(target source);
    /// Records a change of the links of an entity, in an open scope. Null: removes all of them.
    void record(std::uint64_t source, const change* link) const;

    /// See `link_sorter`.
    void place_before(const target& source, const target& sibling) const;
    void sort_sources(const target& of, source_order order, void* context) const;
    void arrange() const;

    // An empty relation has no links. All accept any id.
    [[nodiscard]] std::uint64_t target_of(std::uint64_t source) const noexcept;
    /// Returns how many links are above an entity of a leveled relation. O(1).
    [[nodiscard]] std::uint32_t level_of(std::uint64_t source) const noexcept;
    /// Whether `top` is above an entity of such a relation. O(difference of their levels).
    [[nodiscard]] bool is_below(std::uint64_t e, std::uint64_t top) const noexcept;
    [[nodiscard]] void* find_value(std::uint64_t source, std::uint64_t target) const noexcept;
    [[nodiscard]] link_ends targets(std::uint64_t source) const noexcept;
    [[nodiscard]] link_ends sources(std::uint64_t target) const noexcept;
    /// Returns the entity after `at` in a walk from `root` to all that is below it: each before those
    /// below it. The null id at the end.
    [[nodiscard]] std::uint64_t next_below(std::uint64_t root, std::uint64_t at) const noexcept;
    /// Returns the chunk of exactly these fragments and groups. Creates it outside of a phase.
    [[nodiscard]] static chunk_data& ensure_chunk(engine& owner, slice<fragment_data* const> set,
                                                  slice<const link_group> groups);
    /// Throws `errc::missing_component`: there is no such link.
    [[noreturn]] MUSTER_COLD void raise_no_link(target source, target to) const;

private:
    relation_ref(const engine* owner, relation_data* data) noexcept : engine_(owner), data_(data) {}

    const engine* engine_ = nullptr;
    relation_data* data_ = nullptr;
};

/// The entities with a link of this relation that are in one group.
struct link_group {
    relation_ref relation;
    std::uint64_t word;     // a target or a level
    bool is_level = false;  // level 0: without a link
};

/// A link of one source with a value, and the change that puts it. The change refers to this
/// object.
template <class Value>
class link_change {
public:
    template <class Given>
    link_change(const relation_ref& relation, std::uint64_t target, Given&& value)
        : link_change(relation, relation.is_exclusive()
                                    ? linked<Value>(target, std::forward<Given>(value))
                                    : linked<Value>()) {
        if (relation.is_exclusive()) return;
        list_.reserve(1);
        if constexpr (!is_tag<Value>) ::new (list_.next_value()) Value(std::forward<Given>(value));
        (void)list_.append(target);
    }
    /// The removal of a link.
    link_change(const relation_ref& relation, std::uint64_t target)
        : link_change(relation, linked<Value>()) {
        one_.target = target;
        one_.is_removal = 1;
        list_.is_removal = true;
        if (relation.is_exclusive()) return;
        list_.reserve(1);
        list_.append_removal(target);
    }
    link_change(link_change&&) noexcept = default;
    link_change& operator=(link_change&&) = delete;

    [[nodiscard]] change describe() const noexcept {
        change made{.fragment = {links_.id}, .type = {links_.type, no_type}};
        if (is_exclusive_) {
            made.self = &one_;
            if constexpr (!std::is_trivially_copyable_v<linked<Value>>)
                made.construct = &move_construct<linked<Value>>;
        } else {
            made.self = &list_;
            made.construct = &move_construct<link_list>;
        }
        return made;
    }

private:
    link_change(const relation_ref& relation, linked<Value>&& one)
        : links_(relation.links()),
          is_exclusive_(relation.is_exclusive()),
          one_(std::move(one)),
          list_(type_info_of<Value>) {}

    const fragment_data& links_;
    bool is_exclusive_;
    linked<Value> one_;
    link_list list_;
};

}  // namespace MUSTER_NAMESPACE::detail
