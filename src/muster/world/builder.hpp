// builder: a recipe for entities, put together once and used many times.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/store/store.hpp>

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace muster {

/// Holds values and copies them into each entity it makes. Belongs to its world and must not outlive
/// it; moved, not copied. Not for two threads at a time.
template <class Layout>
class basic_builder {
public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;

    /// Adds a component, or replaces the value it had. If the copy or memory fails, nothing changes.
    template <class T>
        requires(!detail::fragment_argument<T>)
    basic_builder& set(T&& value) {
        using type = std::remove_cvref_t<T>;
        static_assert(is_copyable<type>::value,
                      "muster: a builder copies its values: this type cannot be copied.");
        static_assert(detail::is_component<type>);
        put({true,
             {},
             detail::ensure_type_index<type>(),
             detail::boxed_value::holding(std::forward<T>(value))});
        return *this;
    }
    /// The same by fragment, which must not have values of another type when the builder is used.
    template <detail::fragment_argument F, class T>
    basic_builder& set(const F& fragment, T&& value) {
        auto given = with(fragment, std::forward<T>(value));
        using type = typename decltype(given)::value_type;
        static_assert(is_copyable<type>::value,
                      "muster: a builder copies its values: this type cannot be copied.");
        put({false, given.fragment, detail::ensure_type_index<type>(),
             detail::boxed_value::holding(std::move(given.value))});
        return *this;
    }
    /// A tag, or the default value of a fragment that has values.
    template <detail::fragment_argument F>
    basic_builder& set(const F& fragment) {
        put({false, id_type(fragment), detail::no_type, {}});
        return *this;
    }

    /// Takes a component out; false if it has none.
    template <class T>
    bool remove() noexcept {
        const detail::type_index type = detail::find_type_index<T>();
        return std::erase_if(
                   values_, [&](const part& one) { return one.is_typed && one.type == type; }) != 0;
    }
    bool remove(id_type fragment) noexcept {
        return std::erase_if(values_, [&](const part& one) {
                   return !one.is_typed && one.fragment == fragment;
               }) != 0;
    }

    void clear() noexcept { values_.clear(); }
    [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

    id_type spawn() {
        id_type made;
        spawn_into(std::span<id_type>(&made, 1));
        return made;
    }
    /// `count` entities, all or none.
    std::vector<id_type> spawn_many(std::size_t count) {
        store_->prepare(count);
        std::vector<id_type> made(count);
        spawn_into(made);
        return made;
    }
    /// An entity for each place of `out`, all or none.
    void spawn_into(std::span<id_type> out) {
        resolve();
        store_->spawn_many(out, store_->ensure_set(set_), {fragments_, addresses_});
    }
    /// What `prototype` has, with the builder's values instead of its own.
    id_type clone(at_type prototype) {
        id_type made;
        clone_into(std::span<id_type>(&made, 1), prototype);
        return made;
    }
    std::vector<id_type> clone_many(std::size_t count, at_type prototype) {
        (void)store_->require(prototype, "clone");
        store_->prepare(count);
        std::vector<id_type> made(count);
        clone_into(made, prototype);
        return made;
    }
    void clone_into(std::span<id_type> out, at_type prototype) {
        (void)store_->require(prototype, "clone");
        resolve();
        store_->clone_many(out, prototype, store_->ensure_set(set_), {fragments_, addresses_});
    }

private:
    template <class>
    friend class basic_world;
    explicit basic_builder(detail::store<Layout>& from) noexcept : store_(&from) {}

    struct part {
        bool is_typed;     // its fragment is that of the type
        id_type fragment;  // else this one
        detail::type_index type;
        detail::boxed_value value;
    };

    void put(part&& made) {
        for (part& one : values_)
            if (one.is_typed == made.is_typed &&
                (one.is_typed ? one.type == made.type : one.fragment == made.fragment)) {
                one = std::move(made);
                return;
            }
        values_.push_back(std::move(made));
    }

    /// Finds the fragments anew, since one may have been destroyed meanwhile.
    void resolve() {
        set_.clear();
        fragments_.clear();
        addresses_.clear();
        for (const part& one : values_) {
            if (one.value) {
                detail::fragment_data& fragment =
                    one.is_typed ? store_->ensure_fragment(one.type, *one.value.type)
                                 : store_->ensure_fragment(one.fragment, one.type, *one.value.type);
                fragments_.push_back(&fragment);
                addresses_.push_back(one.value.room);
            }
            set_.push_back(one.value ? fragments_.back()
                                     : &store_->typed_or_tag(one.fragment, nullptr));
        }
    }

    detail::store<Layout>* store_;
    std::vector<part> values_;
    detail::array_list<detail::fragment_data*> set_;        // found by `resolve`: all
    detail::array_list<detail::fragment_data*> fragments_;  // those with a value
    detail::array_list<const void*> addresses_;             // of the value for each
};
using builder = basic_builder<>;

}  // namespace muster
