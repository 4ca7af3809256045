// observer: collects the entities whose components have changed, to read them later.
//
//     auto moved = w.observer<position>();               // added, set, patched or touched
//     ...
//     moved.each([](entity e, position& p) { ... });     // each once; then it starts over
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/query/query.hpp>
#include <muster/type/change_log.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace MUSTER_NAMESPACE {

namespace detail {
/// The calls for links, in <muster/relation/link_observer.hpp>.
template <class Observer>
class link_events;
}  // namespace detail

/// The changes since the last read: each entity once, in order of its first change. Does not see
/// writes through a reference; `patch` and `touch` report a change. Sees recorded changes when
/// their scope is applied. Does not see changes that a hook has undone.
///
/// Reading shows the entities that then have `Ts` and match `with` and `without`; it skips others.
/// An observer without types and terms shows all collected ids, including dead ones: check `alive`.
/// Reading opens a scope, like a loop; changes made meanwhile are kept for the next read. If it
/// ends early, by `break` or an exception, unread entities are kept, too. An exception also keeps
/// the current entity.
///
/// Movable, not copyable. Collects until it is destroyed. May outlive its world, and is empty then,
/// like a default-constructed observer, which belongs to no world: refining it throws
/// `errc::world_ended` or `errc::null_handle`.
///
/// Sees the removals when a fragment is destroyed. The next use of the type creates a new fragment,
/// which it does not observe. Each change of an observed fragment costs about 30 ns more. Beginning
/// and ending, pausing and resuming cost O(observed fragments).
///
/// All calls require exclusive access to the world, like changes. In a parallel phase, `size`,
/// `empty`, `connected`, `with` and `without` may be called. `added`, `changed`, `removed` and
/// reading throw `errc::in_scope`; `clear`, `pause` and `resume` return false. An observer that is
/// destroyed there collects nothing more. Changes of the phase are collected when it ends.
template <class Layout, class... Ts>
class basic_observer : public detail::link_events<basic_observer<Layout, Ts...>> {
    using store_type = detail::store<Layout>;
    using query_type = basic_query<Layout, Ts...>;
    template <class T>
    using argument = detail::term_traits<T>;
    static constexpr unsigned added_bits = detail::to_bits(detail::hook_kind::insert);
    static constexpr unsigned changed_bits = detail::to_bits(detail::hook_kind::assign);
    static constexpr unsigned removed_bits = detail::to_bits(detail::hook_kind::remove);

public:
    using id_type = basic_id<Layout>;

    /// Collects nothing. Assign an observer of a world to it.
    basic_observer() noexcept = default;
    basic_observer(basic_observer&& other) noexcept
        : store_(std::exchange(other.store_, {})),
          query_(std::exchange(other.query_, {})),
          log_(std::exchange(other.log_, nullptr)) {}
    basic_observer& operator=(basic_observer&& other) noexcept {
        basic_observer taken(std::move(other));
        std::swap(store_, taken.store_);
        std::swap(query_, taken.query_);
        std::swap(log_, taken.log_);
        return *this;
    }
    ~basic_observer() {
        if (log_ == nullptr) return;
        if (is_in_phase()) {  // other threads read the hooks
            log_->is_abandoned = true;
            return;
        }
        if (store_type* const store = store_.find()) store->notifier.remove_observer(*log_);
        log_->release();
    }

    // ---- what it collects ----------------------------------------------------------------------

    /// Also collects entities to which these are added.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_observer added() && {
        (subscribe(added_bits, fragment_of<Us>()), ...);
        return std::move(*this);
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    basic_observer added(const Fs&... fragments) && {
        (subscribe(added_bits, query_.id_of(fragments)), ...);
        return std::move(*this);
    }
    /// Also collects entities whose value of these is assigned, patched or touched.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_observer changed() && {
        (subscribe(changed_bits, fragment_of<Us>()), ...);
        return std::move(*this);
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    basic_observer changed(const Fs&... fragments) && {
        (subscribe(changed_bits, query_.id_of(fragments)), ...);
        return std::move(*this);
    }
    /// Also collects entities from which these are removed, or that are destroyed with them.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_observer removed() && {
        (subscribe(removed_bits, fragment_of<Us>()), ...);
        return std::move(*this);
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    basic_observer removed(const Fs&... fragments) && {
        (subscribe(removed_bits, query_.id_of(fragments)), ...);
        return std::move(*this);
    }

    // ---- what reading shows --------------------------------------------------------------------

    /// Shows only entities that also have these when they are read.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_observer with() && {
        query_ = query_.template with<Us...>();
        return std::move(*this);
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    basic_observer with(const Fs&... fragments) && {
        query_ = query_.with(fragments...);
        return std::move(*this);
    }
    /// Shows only entities that have none of these when they are read.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_observer without() && {
        query_ = query_.template without<Us...>();
        return std::move(*this);
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    basic_observer without(const Fs&... fragments) && {
        query_ = query_.without(fragments...);
        return std::move(*this);
    }

    // ---- reading -------------------------------------------------------------------------------

    /// Calls `callback(components...)`, `callback(entity, components...)` or `callback(entity)` for
    /// each entity. O(collected entities).
    template <class Callback>
    void each(Callback&& callback) {
        const auto call = [&](id_type e, typename argument<Ts>::value... values) {
            if constexpr (std::is_invocable_v<Callback&, id_type,
                                              typename argument<Ts>::value...>) {
                callback(e, values...);
            } else if constexpr (std::is_invocable_v<Callback&, id_type>) {
                callback(e);
            } else {
                constexpr bool fits =
                    std::is_invocable_v<Callback&, typename argument<Ts>::value...>;
                static_assert(fits,
                              "muster: the callback takes the components of the observer in "
                              "order, optionally preceded by the entity.");
                if constexpr (fits) callback(values...);
            }
        };
        for (iterator at = begin(); at != end(); ++at) std::apply(call, *at);
    }

    class iterator;
    /// `for (auto [e, p, v] : observer)`; each element is a tuple of the entity and its components.
    [[nodiscard]] iterator begin() {
        refuse_in_phase();
        return iterator(*this);
    }
    struct sentinel {};
    [[nodiscard]] sentinel end() const noexcept { return {}; }

    /// Returns all collected ids, dead or alive, and starts over. O(collected entities).
    [[nodiscard]] std::vector<id_type> take() {
        refuse_in_phase();
        std::vector<id_type> made;
        if (log_ == nullptr) return made;
        const detail::array_list<std::uint64_t> values = log_->begin_reading();
        const unread_guard guard{*log_, values};
        made.reserve(values.size());
        for (const std::uint64_t value : values) made.push_back(detail::to_id<Layout>(value));
        guard.read = values.size();
        return made;
    }

    /// The number of collected ids, whether or not they match. O(1), like `empty`.
    [[nodiscard]] std::size_t size() const noexcept { return log_ == nullptr ? 0 : log_->size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// Drops all collected ids. Returns false in a parallel phase, and does nothing.
    bool clear() noexcept {
        if (is_in_phase()) return false;
        if (log_ != nullptr) log_->clear();
        return true;
    }

    // ---- pause and resume ----------------------------------------------------------------------

    /// Stops collecting until `resume`, and costs nothing meanwhile. Returns false if it was paused
    /// before, its world has ended, or a parallel phase runs.
    bool pause() noexcept { return connect(false); }
    bool resume() noexcept { return connect(true); }
    [[nodiscard]] bool connected() const noexcept {
        return store_.find() != nullptr && !log_->is_paused;
    }

private:
    template <class>
    friend class hook_calls;
    friend detail::link_events<basic_observer>;

    basic_observer(store_type& store, query_type&& query)
        : store_(store, store.life.ref()), query_(query), log_(new detail::change_log) {
        struct rollback {
            store_type& store;
            detail::change_log* made;
            ~rollback() {
                if (made == nullptr) return;
                store.notifier.remove_observer(*made);
                made->release();
            }
        };
        rollback guard{store, log_};
        store.notifier.add_observer(*log_);
        (subscribe(added_bits | changed_bits, fragment_of<typename argument<Ts>::type>()), ...);
        guard.made = nullptr;
    }

    /// Guard: puts unread ids back into the log when it is destroyed.
    struct unread_guard {
        detail::change_log& log;
        const detail::array_list<std::uint64_t>& all;
        mutable std::size_t read = 0;
        ~unread_guard() { log.end_reading(all, read); }
    };

    template <class U>
    [[nodiscard]] id_type fragment_of() const {
        store_type& store = store_.get();
        return store.id_of(store.template ensure_fragment<U>());
    }
    /// One call for each fragment, in order: the first use of a type gives it its id.
    void subscribe(unsigned kinds, id_type fragment) {
        store_type& store = store_.get();
        store.gate.refuse_in_change("observing");
        store.notifier.subscribe(*log_, store.catalog.open(fragment.value()), kinds);
    }
    [[nodiscard]] bool is_in_phase() const noexcept {
        const store_type* const store = store_.find();
        return store != nullptr && store->gate.is_parallel();
    }
    /// A log has one reader at a time.
    void refuse_in_phase() const {
        if (const store_type* const store = store_.find())
            store->gate.refuse_in_phase("reading an observer");
    }
    bool connect(bool wanted) noexcept {
        store_type* const store = store_.find();
        if (store == nullptr || log_->is_paused != wanted) return false;
        return store->notifier.connect_observer(*log_, wanted);
    }

    detail::lifetime_ptr<store_type> store_;
    query_type query_;
    detail::change_log* log_ = nullptr;  // holds a reference; null: belongs to no world
};
template <class... Ts>
using observer = basic_observer<layouts::bound, Ts...>;

template <class Layout, class... Ts>
class basic_observer<Layout, Ts...>::iterator {
public:
    using value_type = std::tuple<id_type, typename detail::term_traits<Ts>::value...>;
    using difference_type = std::ptrdiff_t;

    value_type operator*() const {
        const id_type e = detail::to_id<Layout>(all_[at_]);
        return value_type(e, value_of<Ts>(e)...);
    }
    iterator& operator++() {
        ++at_;
        find_next();
        return *this;
    }
    void operator++(int) { ++*this; }
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
            log_->end_reading(all_,
                              store_.find() == nullptr ? all_.size() : at_ + (is_read ? 1 : 0));
            log_->release();
        }
        if (changes_.is_open() && !has_failed) changes_.commit();
    }

private:
    friend class basic_observer;
    using scope = typename store_type::scope;
    // Copies all it needs: the observer may be destroyed or moved while it is read.
    explicit iterator(basic_observer& owner)
        : store_(owner.store_),
          query_(owner.query_),
          log_(owner.log_),
          all_(log_ != nullptr ? log_->begin_reading() : detail::array_list<std::uint64_t>()),
          changes_(store_.find() != nullptr ? scope(store_.get()) : scope()) {
        if (log_ == nullptr) return;
        log_->hold();
        find_next();
    }
    [[nodiscard]] bool shows(id_type e) const noexcept {
        return query_.has_no_terms() || query_.is_match(e);
    }
    void find_next() noexcept {
        if (store_.find() == nullptr) at_ = all_.size();  // the world has ended: so does the loop
        while (at_ < all_.size() && !shows(detail::to_id<Layout>(all_[at_]))) ++at_;
    }
    template <class T>
    [[nodiscard]] typename detail::term_traits<T>::value value_of(id_type e) const noexcept {
        using type = typename detail::term_traits<T>::type;
        type* const found = query_.store_->template find_value<type>(e);
        if constexpr (detail::term_traits<T>::is_optional)
            return found;
        else
            return *found;
    }

    detail::lifetime_ptr<store_type> store_;
    query_type query_;
    detail::change_log* log_;  // holds a reference; null: the observer belongs to no world
    detail::array_list<std::uint64_t> all_;
    scope changes_;
    std::size_t at_ = 0;
    int exceptions_ = std::uncaught_exceptions();
};

}  // namespace MUSTER_NAMESPACE
