// command_buffer: changes that a thread of the user's own records, at any time, whatever the world does
// meanwhile, and submits when it is ready: a network thread, a loader.
//
//     command_buffer b{w};                     // in the thread
//     entity e = b.spawn(position{});          // a real id, which no other has
//     b.set(e, velocity{1, 0});
//     w.submit(b);
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/fwd.hpp>
#include <muster/store/store.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace muster {

/// One thread's own: not to be used by two at once. Making one, recording and submitting never wait for the
/// world, and the world never waits for them. It must not outlive its world.
///
/// Values are moved into the buffer, so that they need not be copyable; a type that cannot be moved is
/// `errc::not_movable`. What is wrong with an id alone is found at once: null is `errc::dead_entity`, as a
/// fragment `errc::dead_fragment`, one of another world `errc::foreign_entity`. All else shows when the buffer
/// is applied: commands for an entity that is dead by then are dropped, and nothing else. A call that
/// fails, also with `std::bad_alloc`, has recorded nothing; each is O(values), and invalidates nothing.
template <class Layout>
class basic_command_buffer {
    template <class Arg>
    using incoming = detail::incoming<Arg>;
    using kind = detail::recorded_kind;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;

    /// Any thread, at any time.
    explicit basic_command_buffer(basic_world<Layout>& w)
        : store_(&w.store_), changes_(store_->mail().take_empty()) {}
    /// `other` can only end then.
    basic_command_buffer(basic_command_buffer&& other) noexcept
        : store_(other.store_),
          changes_(std::exchange(other.changes_, nullptr)),
          ids_(std::move(other.ids_)) {}
    basic_command_buffer& operator=(const basic_command_buffer&) = delete;
    /// Discards what was not submitted.
    ~basic_command_buffer() {
        if (changes_ == nullptr) return;
        drop();
        store_->mail().put_back(changes_);
        store_->mail().put_ids(ids_);
    }

    /// An entity with these components. Its id is its own from now on, but it is alive only when the buffer
    /// is applied. `errc::id_overflow`: see docs/threads.md. O(components); now and then a lock, which is held
    /// for as long as it takes to hand over 64 ids.
    template <class... Ts>
    id_type spawn(Ts&&... values) {
        return spawn_of(incoming<Ts>(values)...);
    }

    /// The next ones do what those of the world do, when the buffer is applied. What one call gives comes as a
    /// whole or, if it fails then, not at all.
    template <class... Ts>
        requires(sizeof...(Ts) > 0 && !(... || detail::fragment_argument<Ts>))
    void set(at_type e, Ts&&... values) {
        set_of(e, incoming<Ts>(values)...);
    }
    template <detail::fragment_argument F, class T>
    void set(at_type e, const F& fragment, T&& value) {
        set(e, with(fragment, std::forward<T>(value)));
    }
    template <detail::fragment_argument F>
    void set(at_type e, const F& fragment) {
        note(e, "set", kind::start, name_of(fragment));
    }

    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    void add(at_type e) {
        static_assert((... && detail::is_component<Ts>));
        note(e, "add", kind::start_missing, detail::fragment_name::of<Ts>()...);
    }
    template <detail::fragment_or_tag F>
    void add(at_type e, const F& fragment) {
        note(e, "add", kind::start_missing, name_of(fragment));
    }

    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    void remove(at_type e) {
        static_assert((... && detail::is_component<Ts>));
        note(e, "remove", kind::remove, detail::fragment_name::of<Ts>()...);
    }
    template <detail::fragment_or_tag F>
    void remove(at_type e, const F& fragment) {
        note(e, "remove", kind::remove, name_of(fragment));
    }

    void clear(at_type e) { note(e, "clear", kind::clear, detail::fragment_name{}); }
    void destroy(at_type e) { note(e, "destroy", kind::destroy, detail::fragment_name{}); }

    /// How many commands wait to be submitted; `spawn` with two components is three. O(1).
    [[nodiscard]] std::size_t pending() const noexcept { return changes_->size(); }
    [[nodiscard]] bool empty() const noexcept { return pending() == 0; }
    /// Forgets them and ends their values: ids that were given are never alive. O(pending), never throws.
    void discard() noexcept { drop(); }

private:
    friend class basic_world<Layout>;

    template <class... Args>
    id_type spawn_of(incoming<Args>... values) {
        (store_->refuse_impossible(values.name(), {}), ...);
        detail::recording all(*changes_);
        changes_->add(kind::spawn, 0);
        (changes_->add_value(kind::put, 0, values), ...);
        if (ids_.empty()) store_->reserve_ids(ids_);
        const std::uint64_t made = ids_.back();
        ids_.pop_back();
        all.keep(made);
        return detail::to_id<Layout>(made);
    }
    template <class... Args>
    void set_of(at_type e, incoming<Args>... values) {
        store_->refuse_impossible(e, "set");
        (store_->refuse_impossible(values.name(), e.where), ...);
        detail::recording all(*changes_);
        (changes_->add_value(kind::put, e.id.value(), values, e.where), ...);
        all.keep();
    }
    template <class... Names>
    void note(at_type e, const char* call, kind what, Names... names) {
        store_->refuse_impossible(e, call);
        if (what != kind::clear && what != kind::destroy)
            (store_->refuse_impossible(names, e.where), ...);
        detail::recording all(*changes_);
        ((changes_->add(what, e.id.value(), names).where = e.where), ...);
        all.keep();
    }
    template <class F>
    [[nodiscard]] static detail::fragment_name name_of(const F& fragment) {
        if constexpr (std::is_convertible_v<const F&, id_type>)
            return {std::uint64_t{id_type(fragment).value()}};
        else
            return detail::fragment_name::of<F>();
    }

    void drop() noexcept { changes_ = store_->mail().discard(changes_); }
    /// What was recorded is the world's.
    void hand_over() {
        if (!empty()) changes_ = store_->mail().hand_over(changes_);
    }

    detail::store<Layout>* store_;
    detail::recorder* changes_;              // owned
    detail::array_list<std::uint64_t> ids_;  // reserved, and not used yet
};
using command_buffer = basic_command_buffer<layouts::bound>;

}  // namespace muster
