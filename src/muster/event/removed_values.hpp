// removed_values: an observer that keeps the last values of removed components, to read them later.
//
//     auto dropped = w.removed_values<item>();             // removed, or destroyed with its entity
//     ...
//     for (auto [e, last] : dropped) ...                   // each once; then it starts over
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/store/store.hpp>
#include <muster/type/value_log.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace MUSTER_NAMESPACE {

/// The values of T that entities have lost since the last read, in order, each with its entity. An
/// entity that loses a T twice occurs twice. Its id may be dead: check `alive`.
///
/// The value is moved out of the component when nothing can prevent its removal any more, so T need
/// not be copyable. Does not see removals that a hook prevents, those of a cancelled scope, and the
/// end of the world. Sees recorded changes when their scope is applied, and all removals of `reset`
/// and of a destroyed fragment. Assigning a component removes nothing. All observers of a component
/// share the values: move from one only if no other reads it.
///
/// Reading opens a scope, like a loop. If it ends early, by `break` or an exception, unread values
/// are kept; an exception also keeps the current one.
///
/// Movable, not copyable. Collects until it is destroyed. May outlive its world, and is empty then,
/// like a default-constructed one. A removal costs an allocation more.
///
/// All calls require exclusive access to the world. In a parallel phase, `size`, `empty` and
/// `connected` may be called; reading throws `errc::in_scope`; `clear`, `pause` and `resume` return
/// false. One that is destroyed there collects nothing more.
template <class Layout, class T>
class basic_removed_values {
    using store_type = detail::store<Layout>;
    static_assert(detail::is_component<T>);
    static_assert(!detail::is_tag<T>,
                  "muster: a tag has no value to keep: use observer().removed<T>().");
    static_assert(!detail::is_pinned<T>,
                  "muster: this value cannot be kept, because it cannot be moved without failing: "
                  "read it in an on_remove hook.");

public:
    using id_type = basic_id<Layout>;
    /// An entity, and the value that it had.
    struct value_type {
        id_type e;
        T& last;
    };

    /// Belongs to no world. Assign `w.removed_values<T>()` to it.
    basic_removed_values() noexcept = default;
    basic_removed_values(basic_removed_values&& other) noexcept
        : store_(other.store_), log_(std::exchange(other.log_, nullptr)) {}
    basic_removed_values& operator=(basic_removed_values&& other) noexcept {
        basic_removed_values taken(std::move(other));
        std::swap(store_, taken.store_);
        std::swap(log_, taken.log_);
        return *this;
    }
    ~basic_removed_values() {
        if (log_ == nullptr) return;
        if (is_in_phase()) {  // other threads read the hooks
            log_->is_abandoned = true;
            return;
        }
        if (log_->has_world) store_->notifier.remove_value_log(*log_);
        log_->release();
    }

    /// Calls `callback(entity, T&)` or `callback(T&)` for each value. O(values).
    template <class Callback>
    void each(Callback&& callback) {
        for (auto [e, last] : *this) {
            if constexpr (std::is_invocable_v<Callback&, id_type, T&>)
                callback(e, last);
            else
                callback(last);
        }
    }

    class iterator;
    /// `for (auto [e, last] : removed)`.
    [[nodiscard]] iterator begin() { return iterator(*this); }
    struct sentinel {};
    [[nodiscard]] sentinel end() const noexcept { return {}; }

    /// The number of collected values. O(1), like `empty`.
    [[nodiscard]] std::size_t size() const noexcept { return log_ == nullptr ? 0 : log_->size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// Drops all collected values. Returns false in a parallel phase, and does nothing.
    bool clear() noexcept {
        if (is_in_phase()) return false;
        if (log_ != nullptr) log_->clear();
        return true;
    }

    /// Stops collecting until `resume`, and costs nothing meanwhile. Returns false if it was paused
    /// before, its world is destroyed, or a parallel phase runs.
    bool pause() noexcept { return connect(false); }
    bool resume() noexcept { return connect(true); }
    [[nodiscard]] bool connected() const noexcept { return has_world() && !log_->is_paused; }

private:
    template <class>
    friend class hook_calls;

    basic_removed_values(store_type& store, id_type fragment)
        : store_(&store), log_(new detail::value_log) {
        struct rollback {
            detail::value_log* made;
            ~rollback() {
                if (made != nullptr) made->release();
            }
        };
        rollback guard{log_};
        store.gate.refuse_in_change("observing");
        store.notifier.add_value_log(
            *log_, store.template get_fragment<T>(fragment, "removed_values", nullptr),
            [](void* to, void* from) {
                // SAFETY: `from` is a value of the fragment, thus a T, which dies next.
                ::new (to) T(std::move(*static_cast<T*>(from)));
            });
        guard.made = nullptr;
    }
    [[nodiscard]] bool has_world() const noexcept { return log_ != nullptr && log_->has_world; }
    [[nodiscard]] bool is_in_phase() const noexcept {
        return has_world() && store_->gate.is_parallel();
    }
    bool connect(bool wanted) noexcept {
        if (!has_world() || is_in_phase() || log_->is_paused != wanted) return false;
        store_->notifier.connect_value_log(*log_, wanted);
        return true;
    }

    store_type* store_ = nullptr;
    detail::value_log* log_ = nullptr;  // holds a reference; null: belongs to no world
};
template <class T>
using removed_values = basic_removed_values<layouts::bound, T>;

template <class Layout, class T>
class basic_removed_values<Layout, T>::iterator {
public:
    using value_type = basic_removed_values::value_type;
    using difference_type = std::ptrdiff_t;

    value_type operator*() const noexcept {
        const detail::last_value& kept = *all_[at_];
        // SAFETY: the log collects values of type T only.
        return {detail::to_id<Layout>(kept.e), *static_cast<T*>(kept.value.room)};
    }
    iterator& operator++() noexcept {
        ++at_;
        return *this;
    }
    void operator++(int) noexcept { ++at_; }
    friend bool operator==(const iterator& it, sentinel) noexcept {
        return it.at_ == it.all_.size();
    }

    iterator(const iterator&) = delete;
    iterator& operator=(const iterator&) = delete;
    /// Applies the changes made while reading, or drops them if an exception leaves the loop.
    /// Throws like `commit`.
    ~iterator() noexcept(false) {
        const bool has_failed = std::uncaught_exceptions() != exceptions_;
        const bool is_read = !has_failed && at_ < all_.size();
        if (log_ != nullptr) {
            log_->end_reading(all_, at_ + (is_read ? 1 : 0));
            log_->release();
        }
        if (changes_.is_open() && !has_failed) changes_.commit();
    }

private:
    friend class basic_removed_values;
    using scope = typename store_type::scope;
    // Copies all it needs: the observer may be destroyed or moved while it is read.
    explicit iterator(basic_removed_values& owner)
        : log_(owner.log_),
          all_(taken(owner)),
          changes_(owner.has_world() ? scope(*owner.store_) : scope()) {
        if (log_ != nullptr) log_->hold();
    }
    [[nodiscard]] static detail::array_list<detail::last_value*> taken(
        basic_removed_values& owner) {
        if (owner.has_world()) owner.store_->gate.refuse_in_phase("reading an observer");
        return owner.log_ == nullptr ? detail::array_list<detail::last_value*>()
                                     : owner.log_->begin_reading();
    }

    detail::value_log* log_;  // holds a reference
    detail::array_list<detail::last_value*> all_;
    scope changes_;
    std::size_t at_ = 0;
    int exceptions_ = std::uncaught_exceptions();
};

}  // namespace MUSTER_NAMESPACE
