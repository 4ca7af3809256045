#include <muster/base/scope_guard.hpp>
#include <muster/base/small_list.hpp>
#include <muster/engine/run.hpp>
#include <muster/relation/link.hpp>
#include <muster/relation/relation_ref.hpp>
#include <muster/relation/tree_clone.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

namespace {

/// The entities of a tree, each before those below it, and their numbers in that order.
class tree_nodes {
public:
    tree_nodes(const engine& owner, const relation_ref& children, std::uint64_t root) {
        all_.reserve(8);
        for (std::uint64_t e = root; e != owner.entities.null(); e = children.next_below(root, e))
            all_.push_back(e);
        std::size_t places = 16;
        while (places < 2 * all_.size()) places *= 2;
        places_.resize(places, none);
        for (std::uint32_t i = 0; i < all_.size(); ++i) {
            std::size_t at = home(all_[i]);
            while (places_[at] != none) at = next(at);
            places_[at] = i;
        }
    }

    static constexpr std::uint32_t none = ~std::uint32_t{0};

    [[nodiscard]] const array_list<std::uint64_t>& all() const noexcept { return all_; }
    /// Returns the number of an entity, or `none`.
    [[nodiscard]] std::uint32_t find(std::uint64_t e) const noexcept {
        std::size_t at = home(e);
        while (places_[at] != none && all_[places_[at]] != e) at = next(at);
        return places_[at];
    }

private:
    [[nodiscard]] std::size_t home(std::uint64_t e) const noexcept {
        return (e * 0x9E37'79B9'7F4A'7C15u >> 32) & (places_.size() - 1);
    }
    [[nodiscard]] std::size_t next(std::size_t at) const noexcept {
        return (at + 1) & (places_.size() - 1);
    }

    array_list<std::uint64_t> all_;
    array_list<std::uint32_t> places_;  // a power of two, at most half full
};

class tree_cloner {
public:
    tree_cloner(engine& owner, const relation_ref& children, target prototype, slice<change> given,
                std::size_t count)
        : engine_(owner),
          nodes_(owner, children, prototype.id),
          where_(prototype.where),
          count_(count),
          width_(owner.graph.empty_chunk().ids.size),
          given_(given),
          fragments_(given.size()) {
        for (const change& value : given)
            fragments_.push_back(&owner.catalog.ensure(value, &where_));
    }

    void clone(id_span roots) {
        for (const std::uint64_t e : nodes_.all())
            engine_.errors.refuse_away({e, where_}, engine_.entities.locate(e), "clone_tree");
        engine_.entities.refuse_overflow(size());
        if (engine_.depth() != 0 || extends_list())
            record_all();
        else
            clone_rows();
        ids_of(0).copy_to(roots);
    }

private:
    /// Translates ids into those of the clone with this number.
    struct translator {
        const tree_cloner& of;
        std::size_t number;
        mutable std::uint64_t last;  // the last id: columns often have the same target
        mutable std::uint32_t node = 0;

        translator(const tree_cloner& cloner, std::size_t which) noexcept
            : of(cloner), number(which), last(cloner.nodes_.all().front()) {}

        [[nodiscard]] id_map map() const noexcept {
            return {[](const void* self, std::uint64_t e) noexcept {
                        return static_cast<const translator*>(self)->find(e);
                    },
                    this};
        }
        [[nodiscard]] std::uint64_t find(std::uint64_t e) const noexcept {
            if (e != last) {
                node = of.nodes_.find(e);
                last = e;
            }
            return node == tree_nodes::none ? e : of.ids_of(node).at(number);
        }
    };

    /// The ids of all clones of a node.
    [[nodiscard]] id_span ids_of(std::size_t node) const noexcept {
        return {all_ids().data + node * count_ * width_, count_, width_};
    }
    [[nodiscard]] id_span all_ids() const noexcept {
        return {reinterpret_cast<std::byte*>(ids_.data()), nodes_.all().size() * count_, width_};
    }
    [[nodiscard]] std::size_t size() const noexcept {
        const std::size_t nodes = nodes_.all().size();
        return count_ <= ~std::size_t{0} / sizeof(std::uint64_t) / nodes ? count_ * nodes
                                                                         : ~std::size_t{0};
    }
    void make_ids() { ids_.resize((size() * width_ + 7) / 8); }
    /// Whether a given list of links extends one of the prototype.
    [[nodiscard]] bool extends_list() const {
        return std::any_of(fragments_.begin(), fragments_.end(), [&](const fragment_data* given) {
            return given->participant != nullptr && given->sparse_values != nullptr &&
                   engine_.components.has(nodes_.all().front(), *given);
        });
    }

    // ---- in bulk -------------------------------------------------------------------------------

    void clone_rows() {
        small_list<const void*> values(given_.size());
        for (const change& value : given_) values.push_back(value.self);
        array_list<cloned_rows> rows;
        rows.reserve(nodes_.all().size());
        for (const std::uint64_t e : nodes_.all())
            rows.push_back(cloned_rows{.prototype = {e, where_},
                                       .given_chunk = &engine_.graph.empty_chunk(),
                                       .given = {},
                                       .moved = {},
                                       .out = {nullptr, count_, width_}});
        rows.front().given_chunk = &engine_.catalog.grouped(
            engine_.catalog.ensure_set(fragments_), fragments_, {values.data(), values.size()});
        rows.front().given = {fragments_, {values.data(), values.size()}};
        if (count_ == 1) rows.front().moved = given_;
        if (count_ > 1) engine_.spawner.refuse_clones(rows);  // before the memory for many ids
        make_ids();
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i].out = ids_of(i);
        const auto translate = [](const void* self, const cloned_rows& made,
                                  slice<fragment_data* const> fragments) {
            static_cast<const tree_cloner*>(self)->remap_rows(made, fragments);
        };
        engine_.spawner.clone_rows(rows, all_ids(), {translate, this});
    }
    void remap_rows(const cloned_rows& made, slice<fragment_data* const> fragments) const {
        const busy_guard busy(engine_.gate);
        for (const fragment_data* fragment : fragments) {
            if (fragment->remap.call == nullptr || made.given_chunk->has(*fragment)) continue;
            std::byte* const base = fragment->base(made.into->index);
            const std::size_t size = fragment->type->size;
            translator to(*this, 0);
            for (; to.number < count_; ++to.number)
                fragment->remap(fragment->sparse_values != nullptr
                                    ? engine_.components.find(made.out.at(to.number), *fragment)
                                    : base + (made.first + to.number) * size,
                                to.map());
        }
    }

    // ---- in a scope ----------------------------------------------------------------------------

    /// Records the clones, in the same order.
    void record_all() {
        make_ids();
        scope whole(engine_);
        record_guard guard(engine_.transaction, engine_.pending);
        array_list<std::uint32_t> first;  // entries of the clones
        for (std::size_t i = 0; i < nodes_.all().size(); ++i)
            for (std::size_t number = 0; number < count_; ++number) {
                first.push_back(engine_.pending.now().entries);
                ids_of(i).set(number, engine_.spawner.record_clone(
                                          {nodes_.all()[i], where_},
                                          i == 0 ? values_chunk() : engine_.graph.empty_chunk()));
            }
        first.push_back(engine_.pending.now().entries);
        for (std::size_t i = 0; i + 1 < first.size(); ++i)
            remap_entries(i % count_, first[i], first[i + 1]);
        for (std::size_t number = 0; number < count_; ++number) record_given(ids_of(0).at(number));
        guard.keep();
        engine_.spawner.finish(all_ids(), [&] { whole.commit(); });
    }
    void record_given(std::uint64_t root) {
        for (std::size_t i = 0; i < given_.size(); ++i) {
            const change& value = given_[i];
            engine_.transaction.record_value(root, change_kind::put, *fragments_[i], value);
            if (value.sets_word) engine_.transaction.record_word(root, *fragments_[i], value.word);
        }
    }
    /// The chunk of the given values. Links are not among them: those of the prototype are copied,
    /// too, and the relation combines them.
    chunk_data& values_chunk() {
        small_list<fragment_data*> values(fragments_.size());
        for (fragment_data* fragment : fragments_)
            if (fragment->participant == nullptr) values.push_back(fragment);
        return engine_.catalog.ensure_set(values);
    }
    /// Translates recorded copies.
    void remap_entries(std::size_t number, std::uint32_t first, std::uint32_t last) const {
        const translator to(*this, number);
        const busy_guard busy(engine_.gate);
        for (std::uint32_t i = first; i < last; ++i) {
            const journal_entry& entry = engine_.pending.entry(i);
            if (has_component(entry.kind) && entry.value != nullptr &&
                entry.fragment->remap.call != nullptr)
                entry.fragment->remap(entry.value, to.map());
        }
    }

    engine& engine_;
    tree_nodes nodes_;
    std::source_location where_;
    std::size_t count_;
    std::size_t width_;  // of an id
    slice<change> given_;
    small_list<fragment_data*> fragments_;   // of `given_`
    mutable array_list<std::uint64_t> ids_;  // memory for the ids of all clones, node by node
};

}  // namespace

void clone_tree(engine& owner, target prototype, const relation_ref& children, slice<change> given,
                id_span roots) {
    const writer_guard writer(owner, "clone_tree");
    (void)owner.gate.is_deferred("clone_tree");  // throws where nothing can be recorded
    if (!owner.entities.alive(prototype.id)) owner.errors.raise_not_alive(prototype, "clone_tree");
    tree_cloner(owner, children, prototype, given, roots.count).clone(roots);
}

void clone_trees(engine& owner, target prototype, const relation_ref& children,
                 const row_values& given, id_span roots) {
    if (roots.count == 0) return;
    array_list<change> copied;
    for (std::size_t i = 0; i < given.fragments.size(); ++i) {
        const fragment_data& fragment = *given.fragments[i];
        copied.push_back({.fragment = {fragment.id},
                          .type = {fragment.type, fragment.value_type},
                          .is_copied = true,
                          .self = given.values[i]});
    }
    clone_tree(owner, prototype, children, copied, roots);
}

void remap_link(const void*, void* value, const id_map& map) {
    auto& link = *static_cast<link_head*>(value);
    link.target = map(link.target);
}

void remap_links(const void*, void* value, const id_map& map) {
    link_array& ends = static_cast<link_list*>(value)->ends();
    for (std::uint32_t i = ends.next(0); i != ends.places(); i = ends.next(i + 1))
        ends[i].other = map(ends[i].other);
}

}  // namespace MUSTER_NAMESPACE::detail
