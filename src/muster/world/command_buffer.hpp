// command_buffer: changes for a world, recorded by a thread of the user (a network thread, a
// loader). It may record at any time, whatever the world does, and submits when it is ready.
//
//     command_buffer b{w};                     // in the thread
//     entity e = b.spawn(position{});          // a real id, used by no other entity
//     b.set(e, velocity{1, 0});
//     w.submit(b);
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/event/send_event.hpp>
#include <muster/fwd.hpp>
#include <muster/relation/link_argument.hpp>
#include <muster/store/store.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace MUSTER_NAMESPACE {

/// A buffer of commands for a world. Recording for a world that has ended, and submitting, throw
/// `errc::world_ended`; in a buffer that was moved from, they throw `errc::null_handle`.
///
/// Values are moved into the buffer, so they need not be copyable. An invalid id is detected at
/// once: null throws `errc::dead_entity`, or `errc::dead_fragment` as a fragment; an id of another
/// world throws `errc::foreign_entity`. A type that cannot be moved throws `errc::not_movable`. All
/// other errors appear when the buffer is applied. Commands for an entity that is dead by then are
/// dropped, and only these.
///
/// A buffer has neither `patch` nor `touch`: its thread must not write into the world, so it has
/// nothing to report.
///
/// A call that fails, also with `std::bad_alloc`, records nothing. Calls invalidate nothing and
/// cost O(values). Only one thread at a time may use a buffer. Creating a buffer, recording and
/// submitting never wait for the world, and the world does not wait for them.
template <class Layout>
class basic_command_buffer {
    template <class Arg>
    using argument = detail::recorded_argument<Arg>;
    template <class... Ts>
    static constexpr bool may_repeat = (... || (detail::is_with<std::remove_cvref_t<Ts>> ||
                                                detail::is_to<std::remove_cvref_t<Ts>>));
    template <auto R>
    using type_of = std::remove_cvref_t<decltype(R)>;
    template <class R>
    using value_of = detail::link_value_of<R>;
    using kind = detail::change_kind;
    using store_type = detail::store<Layout>;

public:
    using id_type = basic_id<Layout>;
    using at_type = basic_at<Layout>;

    /// Creates an empty buffer. Any thread may call it at any time.
    explicit basic_command_buffer(basic_world<Layout>& w)
        : store_(w.store_, w.store_.life.ref()), changes_(w.store_.submissions.take_empty()) {}
    /// Moves the commands. Afterwards `other` is empty and belongs to no world.
    basic_command_buffer(basic_command_buffer&& other) noexcept
        : store_(std::exchange(other.store_, {})),
          changes_(std::exchange(other.changes_, nullptr)),
          ids_(std::move(other.ids_)) {}
    basic_command_buffer& operator=(const basic_command_buffer&) = delete;
    /// Discards the commands that were not submitted.
    ~basic_command_buffer() {
        store_type* const store = store_.find();
        if (store == nullptr) {
            delete changes_;
            return;
        }
        drop();
        store->submissions.put_back(changes_);
        store->submissions.put_ids(ids_);
    }

    /// Records an entity with these components and links. Reserves its id at once; the entity is alive when
    /// the buffer is applied. Throws `errc::id_overflow`: see docs/threads.md. O(components); some
    /// calls take a lock, just long enough to hand out 64 ids.
    template <class... Ts>
    id_type spawn(Ts&&... values) {
        static_assert(detail::all_differ<std::remove_cvref_t<Ts>...> || may_repeat<Ts...>,
                      "muster: component types must be distinct.");
        return spawn_of<Ts...>(argument<Ts>(std::forward<Ts>(values))...);
    }

    /// Records `world::set`. This call and those below do what their namesakes of the world do,
    /// when the buffer is applied. The changes of one call are then applied all or, if one fails,
    /// none.
    template <class... Ts>
        requires(sizeof...(Ts) > 0 && !(... || detail::fragment_argument<Ts>))
    void set(at_type e, Ts&&... values) {
        static_assert(detail::all_differ<std::remove_cvref_t<Ts>...> || may_repeat<Ts...>,
                      "muster: component types must be distinct.");
        set_of<Ts...>(e, argument<Ts>(std::forward<Ts>(values))...);
    }
    /// Records `world::set` of a fragment.
    template <detail::fragment_argument F, class T>
    void set(at_type e, const F& fragment, T&& value) {
        set(e, with(fragment, std::forward<T>(value)));
    }
    /// Records `world::set` of a tag or a default value.
    template <detail::fragment_argument F>
    void set(at_type e, const F& fragment) {
        const detail::change list[] = {default_of(kind::put, name_of(fragment))};
        record(e, "set", list);
    }

    /// Records `world::add`.
    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    void add(at_type e) {
        static_assert((... && detail::is_component<Ts>));
        const detail::change list[] = {default_of(kind::keep, detail::fragment_name::of<Ts>())...};
        record(e, "add", list);
    }
    /// Records `world::add` of a fragment.
    template <detail::fragment_or_tag F>
    void add(at_type e, const F& fragment) {
        const detail::change list[] = {default_of(kind::keep, name_of(fragment))};
        record(e, "add", list);
    }

    template <class T>
        requires(!detail::fragment_or_tag<T>)
    void add(at_type, T&&) {
        detail::refuse_add<T>();
    }

    /// Records `world::remove`.
    template <class... Ts>
        requires(sizeof...(Ts) > 0)
    void remove(at_type e) {
        static_assert((... && detail::is_component<Ts>));
        const detail::change list[] = {
            {.fragment = detail::fragment_name::of<Ts>(), .kind = kind::remove}...};
        record(e, "remove", list);
    }
    /// Records `world::remove` of a fragment.
    template <detail::fragment_or_tag F>
    void remove(at_type e, const F& fragment) {
        const detail::change list[] = {{.fragment = name_of(fragment), .kind = kind::remove}};
        record(e, "remove", list);
    }

    /// Records `world::relate`. The target may be an id that this buffer has spawned. If it is dead
    /// when the buffer is applied, the policy of the relation decides, as at the end of a scope. An
    /// unknown relation throws `errc::not_a_relation` then.
    template <class R>
    void relate(at_type source, at_type target, std::type_identity_t<R> value = R()) {
        record_relate<R>(detail::fragment_name::of<R>(), source, target, std::move(value));
    }
    template <auto R>
    void relate(at_type source, at_type target) {
        relate<type_of<R>>(source, target);
    }
    template <detail::relation_argument R>
    void relate(const R& relation, at_type source, at_type target, value_of<R> value = {}) {
        record_relate<R>(detail::name_of_relation(relation), source, target, std::move(value));
    }
    /// Records `world::unrelate` of a link.
    template <class R>
    void unrelate(at_type source, at_type target) {
        record_unrelate<R>(detail::fragment_name::of<R>(), source, target);
    }
    template <auto R>
    void unrelate(at_type source, at_type target) {
        unrelate<type_of<R>>(source, target);
    }
    template <detail::relation_argument R>
    void unrelate(const R& relation, at_type source, at_type target) {
        record_unrelate<R>(detail::name_of_relation(relation), source, target);
    }
    /// Records `world::unrelate` of all links of a source.
    template <class R>
    void unrelate(at_type source) {
        record_link(source, "unrelate",
                    detail::link_record<R>::describe_all(detail::fragment_name::of<R>()));
    }
    template <auto R>
    void unrelate(at_type source) {
        unrelate<type_of<R>>(source);
    }
    template <detail::relation_argument R>
    void unrelate(const R& relation, at_type source) {
        record_link(source, "unrelate",
                    detail::link_record<R>::describe_all(detail::name_of_relation(relation)));
    }

    // A tag as the entity, and a plain id as the fragment: refused; see `basic_tag_id`.
    template <class F>
        requires detail::names_plain_id<id_type, F>
    bool set(basic_tag_id<Layout>, const F&) {
        return detail::refuse_swapped<F>();
    }
    template <class F>
        requires detail::names_plain_id<id_type, F>
    bool add(basic_tag_id<Layout>, const F&) {
        return detail::refuse_swapped<F>();
    }
    template <class F>
        requires detail::names_plain_id<id_type, F>
    bool remove(basic_tag_id<Layout>, const F&) {
        return detail::refuse_swapped<F>();
    }

    /// Records `world::clear`.
    void clear(at_type e) { record_whole(e, "clear", kind::clear); }
    /// Records `world::destroy`.
    void destroy(at_type e) { record_whole(e, "destroy", kind::destroy); }

    /// Records `world::send`.
    template <class E>
    void send(E&& event) {
        using type = std::remove_cvref_t<E>;
        constexpr bool fits = detail::is_event<type> && std::is_constructible_v<type, E&&>;
        static_assert(fits, "muster: send takes an object that can be moved or copied.");
        store_.require();
        if constexpr (fits) {
            detail::recording all(*changes_);
            changes_->add(detail::describe_event<type, E>(event), {0, {}});
            all.keep();
        }
    }

    /// Returns the number of commands not yet submitted; `spawn` with two components is three.
    /// O(1).
    [[nodiscard]] std::size_t pending() const noexcept {
        return changes_ == nullptr ? 0 : changes_->size();
    }
    /// Returns whether there are no commands.
    [[nodiscard]] bool empty() const noexcept { return pending() == 0; }
    /// Drops all commands and destroys their values; ids that `spawn` returned are never alive.
    /// O(pending), never throws.
    void discard() noexcept { drop(); }

private:
    template <class>
    friend class thread_calls;

    template <class... Args>
    id_type spawn_of(argument<Args>... values) {
        store_type& store = store_.get();
        const detail::change list[] = {values.describe(kind::put)..., {}};
        detail::recording all(*changes_);
        changes_->add(kind::spawn, 0);
        record_values(store, {0, {}}, "spawn", {list, sizeof...(Args)});
        if (ids_.empty()) store.parallel.reserve_ids(ids_);
        const std::uint64_t made = ids_.back();
        ids_.pop_back();
        all.keep(made);
        return detail::to_id<Layout>(made);
    }
    template <class... Args>
    void set_of(at_type e, argument<Args>... values) {
        const detail::change list[] = {values.describe(kind::put)...};
        record(e, "set", list);
    }
    template <class R>
    void record_relate(const detail::fragment_name& relation, at_type source, at_type target,
                       value_of<R>&& value) {
        const detail::link_record<R> link(relation, target, std::move(value));
        record_link(source, "relate", link.describe(kind::put));
    }
    template <class R>
    void record_unrelate(const detail::fragment_name& relation, at_type source, at_type target) {
        const detail::link_record<R> link(relation, target);
        record_link(source, "unrelate", link.describe(kind::put));
    }
    void record_link(at_type source, const char* call, const detail::change& link) {
        const detail::change list[] = {link};
        record(source, call, list);
    }
    void record_values(store_type& store, detail::target of, const char* call,
                       detail::slice<const detail::change> list) {
        for (const detail::change& given : list) {
            store.parallel.refuse_impossible(given.fragment, of.where);
            if (given.replay != nullptr) detail::refuse_impossible_link(store, given, call);
        }
        for (const detail::change& given : list) changes_->add(given, of);
    }
    void record(at_type e, const char* call, detail::slice<const detail::change> list) {
        store_type& store = store_.get();
        store.parallel.refuse_impossible(e, call);
        detail::recording all(*changes_);
        record_values(store, e, call, list);
        all.keep();
    }
    /// Records a change of the whole entity.
    void record_whole(at_type e, const char* call, kind what) {
        store_.get().parallel.refuse_impossible(e, call);
        changes_->add(what, e.id.value()).where = e.where;
    }
    [[nodiscard]] static detail::change default_of(kind what, detail::fragment_name fragment) {
        return {.fragment = fragment, .kind = what, .is_default = true};
    }
    template <class F>
    [[nodiscard]] static detail::fragment_name name_of(const F& fragment) {
        if constexpr (std::is_convertible_v<const F&, id_type>)
            return {std::uint64_t{id_type(fragment).value()}};
        else
            return detail::fragment_name::of<F>();
    }

    void drop() noexcept {
        if (store_type* const store = store_.find())
            changes_ = store->submissions.discard(changes_);
        else if (changes_ != nullptr)
            changes_->rewind({});
    }
    /// Passes the commands to the world.
    void hand_over() {
        store_type& store = store_.get();
        if (!empty()) changes_ = store.submissions.hand_over(changes_);
    }

    detail::lifetime_ptr<store_type> store_;
    detail::recorder* changes_;              // owned; null: moved from
    detail::array_list<std::uint64_t> ids_;  // reserved and unused
};
using command_buffer = basic_command_buffer<layouts::bound>;

}  // namespace MUSTER_NAMESPACE
