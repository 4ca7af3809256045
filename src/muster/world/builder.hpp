// builder: a set of component values and links, filled once, from which to create many entities.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/relation/link_argument.hpp>
#include <muster/store/store.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE {

/// Owns component values and links, and copies them into each entity that it creates. Movable, not copyable.
/// Only one thread at a time may use it. May outlive its world: `set` and the calls that create
/// entities then throw `errc::world_ended`. In a phase, values can be set and removed; the calls
/// that create entities are refused.
template <class Layout>
class basic_builder {
    using store_type = detail::store<Layout>;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;

    /// Adds a component, or replaces its value. If the copy throws or memory runs out, nothing
    /// changes.
    template <class T>
        requires(!detail::fragment_argument<T> && !detail::is_to<std::remove_cvref_t<T>>)
    basic_builder& set(T&& value) {
        using type = std::remove_cvref_t<T>;
        static_assert(is_copyable<type>::value,
                      "muster: a builder copies its values, but this type cannot be copied.");
        static_assert(detail::is_component<type>);
        store_.require();
        if constexpr (!std::is_array_v<type>)  // else refused
            put({true,
                 {},
                 detail::ensure_type_index<type>(),
                 detail::boxed_value::holding(std::forward<T>(value))});
        return *this;
    }
    /// Like `set` by type, for a fragment. The fragment must not have values of another type when
    /// the builder is used.
    template <detail::fragment_argument F, class T>
    basic_builder& set(const F& fragment, T&& value) {
        store_.require();
        auto given = with(fragment, std::forward<T>(value));
        using type = typename decltype(given)::value_type;
        static_assert(is_copyable<type>::value,
                      "muster: a builder copies its values, but this type cannot be copied.");
        put({false, given.fragment, detail::ensure_type_index<type>(),
             detail::boxed_value::holding(std::move(given.value))});
        return *this;
    }
    /// Adds a tag, or the default value of a fragment that has values.
    template <detail::fragment_argument F>
    basic_builder& set(const F& fragment) {
        store_.require();
        put({false, id_type(fragment), detail::no_type, {}});
        return *this;
    }

    /// Adds a link, or replaces its value: `set(to(child_of, ship))`. The calls that create entities
    /// throw `errc::dead_entity` if the target is dead by then. Of several links of an exclusive
    /// relation, the last one counts.
    template <class T>
        requires detail::is_to<std::remove_cvref_t<T>>
    basic_builder& set(T&& link) {
        using type = std::remove_cvref_t<T>;
        static_assert(is_copyable<type>::value,
                      "muster: a builder copies its links, but their values cannot be copied.");
        store_.require();
        put(stored_link{detail::name_of_relation(link.relation), link.target,
                        detail::boxed_value::holding(std::forward<T>(link)), &bind<type>});
        return *this;
    }

    /// Removes a component, or all links of a relation. Returns false if the builder does not have it.
    template <class T>
    bool remove() noexcept {
        const detail::type_index type = detail::find_type_index<T>();
        return std::erase_if(values_,
                             [&](const part& component) {
                                 return component.is_typed && component.type == type;
                             }) +
                   std::erase_if(links_,
                                 [&](const stored_link& link) {
                                     return link.relation.is_typed() &&
                                            link.relation.what == static_cast<std::uint64_t>(type);
                                 }) !=
               0;
    }
    /// Like `remove` by type, for a fragment or a relation made at run time.
    bool remove(id_type fragment) noexcept {
        return std::erase_if(values_,
                             [&](const part& component) {
                                 return !component.is_typed && component.fragment == fragment;
                             }) +
                   std::erase_if(links_,
                                 [&](const stored_link& link) {
                                     return !link.relation.is_typed() &&
                                            link.relation.what == fragment.value();
                                 }) !=
               0;
    }

    /// Removes all components and links.
    void clear() noexcept {
        values_.clear();
        links_.clear();
    }
    /// Returns the number of components and links.
    [[nodiscard]] std::size_t size() const noexcept { return values_.size() + links_.size(); }

    /// Creates an entity with copies of all components.
    id_type spawn() {
        id_type made;
        spawn_into(std::span<id_type>(&made, 1));
        return made;
    }
    /// Creates `count` entities; all or none.
    std::vector<id_type> spawn_many(std::size_t count) {
        store_type& store = store_.get();
        store.spawner.refuse_many(count);
        resolve(store);
        store.spawner.refuse_rows(count, chunk(store));
        std::vector<id_type> made(count);
        spawn_into(made);
        return made;
    }
    /// Like `spawn_many`, but writes an id to each element of `out`.
    void spawn_into(std::span<id_type> out) {
        store_type& store = store_.get();
        store.gate.refuse_in_change("spawn");
        resolve(store);
        store.spawner.spawn_many(store_type::ids_of(out), chunk(store), {fragments_, addresses_});
    }
    /// Creates a copy of `prototype`, in which the builder's components replace or extend those of
    /// `prototype`.
    id_type clone(at_type prototype) {
        id_type made;
        clone_into(std::span<id_type>(&made, 1), prototype);
        return made;
    }
    /// Like `clone`, but creates `count` copies; all or none.
    std::vector<id_type> clone_many(std::size_t count, at_type prototype) {
        store_type& store = store_.get();
        store.require(prototype, "clone");
        store.spawner.refuse_many(count);
        resolve(store);
        const detail::target original(prototype);
        store.spawner.refuse_rows(count, chunk(store), &original);
        std::vector<id_type> made(count);
        clone_into(made, prototype);
        return made;
    }
    /// Like `clone_many`, but writes an id to each element of `out`.
    void clone_into(std::span<id_type> out, at_type prototype) {
        store_type& store = store_.get();
        store.gate.refuse_in_change("clone");
        store.require(prototype, "clone");
        resolve(store);
        detail::clone_many_with_links(store, store_type::ids_of(out), prototype, chunk(store),
                                      {fragments_, addresses_});
    }

private:
    template <class>
    friend class spawn_calls;
    explicit basic_builder(store_type& from) noexcept : store_(from, from.life.ref()) {}

    struct part {
        bool is_typed;     // the fragment is that of `type`
        id_type fragment;  // if not `is_typed`
        detail::type_index type;
        detail::boxed_value value;
    };

    struct stored_link {
        detail::fragment_name relation;
        id_type target;
        detail::boxed_value argument;  // the argument of `set`
        /// Returns a box with the change that adds a link like this, and describes it.
        detail::boxed_value (*bind)(store_type& store, const void* argument, detail::change& made);
    };

    template <class Link>
    static detail::boxed_value bind(store_type& store, const void* argument, detail::change& made) {
        using bound = detail::bound_argument<Layout, const Link&>;
        detail::boxed_value box(detail::type_info_of<bound>);
        ::new (box.room) bound(store, "spawn", *static_cast<const Link*>(argument));
        box.filled = true;
        made = static_cast<const bound*>(box.room)->describe();
        return box;
    }
    void put(stored_link&& made) {
        for (stored_link& link : links_)
            if (link.bind == made.bind && link.target == made.target &&
                link.relation.what == made.relation.what) {
                link = std::move(made);
                return;
            }
        links_.push_back(std::move(made));
    }
    void put(part&& made) {
        for (part& component : values_)
            if (component.is_typed == made.is_typed &&
                (component.is_typed ? component.type == made.type
                                    : component.fragment == made.fragment)) {
                component = std::move(made);
                return;
            }
        values_.push_back(std::move(made));
    }

    /// Looks up all fragments again, since a fragment may have been destroyed since the last use.
    void resolve(store_type& store) {
        set_.clear();
        fragments_.clear();
        addresses_.clear();
        bound_.clear();
        for (const part& component : values_) {
            if (component.value) {
                detail::fragment_data& fragment =
                    component.is_typed
                        ? store.catalog.ensure(component.type, *component.value.type)
                        : store.catalog.ensure(component.fragment.value(),
                                               {component.value.type, component.type});
                fragments_.push_back(&fragment);
                addresses_.push_back(component.value.room);
            }
            set_.push_back(component.value
                               ? fragments_.back()
                               : &store.catalog.typed_or_tag(component.fragment.value(), nullptr));
        }
        if (!links_.empty()) resolve_links(store);
    }
    /// Returns the chunk of all components and links.
    detail::chunk_data& chunk(store_type& store) {
        detail::chunk_data& all = store.catalog.ensure_set(set_);
        return links_.empty()
                   ? all
                   : store.catalog.grouped(all, fragments_, {addresses_.data(), addresses_.size()});
    }
    void resolve_links(store_type& store) {
        detail::array_list<detail::change> all;
        for (const stored_link& link : links_) {
            detail::change made;
            bound_.push_back(link.bind(store, link.argument.room, made));
            all.push_back(made);
        }
        const std::size_t count = detail::combine_links(all);
        for (std::size_t i = 0; i < count; ++i) {
            fragments_.push_back(&store.catalog.ensure(all[i], nullptr));
            addresses_.push_back(all[i].self);
            set_.push_back(fragments_.back());
        }
    }

    detail::lifetime_ptr<store_type> store_;
    std::vector<part> values_;
    std::vector<stored_link> links_;
    std::vector<detail::boxed_value> bound_;                // links for one call
    detail::array_list<detail::fragment_data*> set_;        // all; filled by `resolve`
    detail::array_list<detail::fragment_data*> fragments_;  // the fragments that have a value
    detail::array_list<const void*> addresses_;             // of these values
};
using builder = basic_builder<>;

}  // namespace MUSTER_NAMESPACE
