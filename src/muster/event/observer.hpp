// observer: gathers the entities whose components have changed, to be read when it suits.
//
//     auto moved = w.observer<position>();               // got one, or it was set, patched or touched
//     ...
//     moved.each([](entity e, position& p) { ... });     // each once; from now on it gathers anew
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

namespace muster {

/// What has happened since it was last read, each entity once, in the order of the first time. Writing
/// through a reference is not seen: `patch` or `touch` say that something has changed. What a scope has
/// recorded is seen when it is applied; what a hook has undone is not.
///
/// Reading shows the entities that have `Ts` by then and match `with` and `without`; others are left
/// out. An observer without types and terms shows all ids that it has gathered, also of the dead: ask
/// `alive`. Reading is a scope, as a loop is; what changes meanwhile is kept for the next reading. If it
/// ends early, by `break` or an exception, those that were not read are kept, too; so is the one whose
/// turn it was when an exception came.
///
/// Moved, not copied; it stops when it ends. Its world may end before it, and it is empty then. What
/// becomes of a fragment that is destroyed is seen, too; its next use is another fragment, which is not
/// watched. A change of what it watches costs about 30 ns more. All calls must run alone, as changes of
/// the world.
template <class Layout, class... Ts>
class basic_observer {
    using store_type = detail::store<Layout>;
    using query_type = basic_query<Layout, Ts...>;
    template <class T>
    using argument = detail::query_argument<T>;
    static constexpr unsigned added_bits = detail::to_bits(detail::hook_kind::insert);
    static constexpr unsigned changed_bits = detail::to_bits(detail::hook_kind::assign);
    static constexpr unsigned removed_bits = detail::to_bits(detail::hook_kind::remove);

public:
    using id_type = basic_id<Layout>;

    basic_observer(basic_observer&& other) noexcept
        : store_(other.store_), query_(other.query_), log_(other.log_) {
        other.log_ = nullptr;
    }
    basic_observer& operator=(basic_observer&& other) noexcept {
        std::swap(store_, other.store_);
        std::swap(query_, other.query_);
        detail::change_log* const log = log_;
        log_ = other.log_;
        other.log_ = log;
        return *this;
    }
    ~basic_observer() {
        if (log_ == nullptr) return;
        if (log_->has_world) store_->remove_observer(*log_);
        log_->release();
    }

    // ---- what it gathers -----------------------------------------------------------------------

    /// Also entities that get these.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_observer added() && {
        return std::move(watch(added_bits, fragment_of<Us>()...));
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    basic_observer added(const Fs&... fragments) && {
        return std::move(watch(added_bits, query_.id_of(fragments)...));
    }
    /// Also those whose value of these is assigned, patched or touched.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_observer changed() && {
        return std::move(watch(changed_bits, fragment_of<Us>()...));
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    basic_observer changed(const Fs&... fragments) && {
        return std::move(watch(changed_bits, query_.id_of(fragments)...));
    }
    /// Also those that lose these, or die with them.
    template <class... Us>
        requires(sizeof...(Us) > 0)
    basic_observer removed() && {
        return std::move(watch(removed_bits, fragment_of<Us>()...));
    }
    template <detail::fragment_or_tag... Fs>
        requires(sizeof...(Fs) > 0)
    basic_observer removed(const Fs&... fragments) && {
        return std::move(watch(removed_bits, query_.id_of(fragments)...));
    }

    // ---- what reading shows --------------------------------------------------------------------

    /// Only those that have these, too, when they are read.
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
    /// Only those that have none of these.
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

    /// Calls `look(components...)`, `look(entity, components...)` or `look(entity)` for each.
    /// O(gathered).
    template <class Look>
    void each(Look&& look) {
        const auto call = [&](id_type e, typename argument<Ts>::value... values) {
            if constexpr (std::is_invocable_v<Look&, id_type, typename argument<Ts>::value...>) {
                look(e, values...);
            } else if constexpr (std::is_invocable_v<Look&, id_type>) {
                look(e);
            } else {
                static_assert(std::is_invocable_v<Look&, typename argument<Ts>::value...>,
                              "muster: the callback takes the components of the observer in its "
                              "order, with or without the entity before them.");
                look(values...);
            }
        };
        for (iterator at = begin(); at != end(); ++at) std::apply(call, *at);
    }

    class iterator;
    /// `for (auto [e, p, v] : observer)`; each element is a tuple of the entity and its components.
    [[nodiscard]] iterator begin() { return iterator(*this); }
    struct sentinel {};
    [[nodiscard]] sentinel end() const noexcept { return {}; }

    /// All ids that were gathered, whatever has become of them. O(gathered).
    [[nodiscard]] std::vector<id_type> take() {
        const detail::array_list<std::uint64_t> values = log_->begin_reading();
        std::vector<id_type> made;
        const giving_back guard{*log_, values};
        made.reserve(values.size());
        for (const std::uint64_t one : values) made.push_back(detail::to_id<Layout>(one));
        guard.read = values.size();
        return made;
    }

    /// How many ids it has gathered, whether or not they match. O(1), as the next.
    [[nodiscard]] std::size_t size() const noexcept { return log_->size(); }
    [[nodiscard]] bool empty() const noexcept { return size() == 0; }
    /// Forgets them.
    void clear() noexcept { log_->clear(); }

    // ---- off and on ----------------------------------------------------------------------------

    /// Gathers nothing until it is restored, and costs nothing. False if it was cut before.
    bool cut() noexcept { return connect(false); }
    bool restore() noexcept { return connect(true); }
    [[nodiscard]] bool is_connected() const noexcept { return log_->has_world && !log_->is_cut; }

private:
    template <class>
    friend class basic_world;

    basic_observer(store_type& store, query_type&& query)
        : store_(&store), query_(std::move(query)), log_(new detail::change_log) {
        struct rollback {
            store_type& store;
            detail::change_log* made;
            ~rollback() {
                if (made == nullptr) return;
                store.remove_observer(*made);
                made->release();
            }
        };
        rollback guard{store, log_};
        store.add_observer(*log_);
        (watch(added_bits | changed_bits, fragment_of<typename argument<Ts>::type>()), ...);
        guard.made = nullptr;
    }

    /// What was taken out and not read goes back.
    struct giving_back {
        detail::change_log& log;
        const detail::array_list<std::uint64_t>& all;
        mutable std::size_t read = 0;
        ~giving_back() { log.end_reading(all, read); }
    };

    template <class U>
    [[nodiscard]] id_type fragment_of() const {
        return store_->id_of(store_->template ensure_fragment<U>());
    }
    template <class... Ids>
    basic_observer& watch(unsigned kinds, Ids... fragments) {
        (store_->watch(*log_, fragments, kinds), ...);
        return *this;
    }
    bool connect(bool wanted) noexcept {
        if (!log_->has_world || log_->is_cut != wanted) return false;
        store_->connect_observer(*log_, wanted);
        return true;
    }

    store_type* store_;
    query_type query_;
    detail::change_log* log_;  // held; null: moved from
};
using observer = basic_observer<layouts::bound>;

template <class Layout, class... Ts>
class basic_observer<Layout, Ts...>::iterator {
public:
    using value_type = std::tuple<id_type, typename detail::query_argument<Ts>::value...>;
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
    friend bool operator==(const iterator& one, sentinel) noexcept {
        return one.at_ == one.all_.size();
    }

    iterator(const iterator&) = delete;
    iterator& operator=(const iterator&) = delete;
    /// Applies what was changed while reading, or drops it when an exception leaves. May throw as
    /// `commit` does.
    ~iterator() noexcept(false) {
        const bool has_failed = std::uncaught_exceptions() != exceptions_;
        const bool is_read = !has_failed && at_ < all_.size();
        log_->end_reading(all_, at_ + (is_read ? 1 : 0));
        log_->release();
        if (changes_.is_open() && !has_failed) changes_.commit();
    }

private:
    friend class basic_observer;
    using scope = typename store_type::scope;
    // The observer itself may end, or be moved, while it is read.
    explicit iterator(basic_observer& owner)
        : store_(owner.store_),
          query_(owner.query_),
          log_(owner.log_),
          all_(owner.log_->begin_reading()),
          changes_(owner.log_->has_world ? scope(*owner.store_) : scope()) {
        log_->hold();
        find_next();
    }
    [[nodiscard]] bool shows(id_type e) const noexcept {
        return query_.has_no_terms() || query_.matches(e);
    }
    void find_next() noexcept {
        while (at_ < all_.size() && !shows(detail::to_id<Layout>(all_[at_]))) ++at_;
    }
    template <class T>
    [[nodiscard]] typename detail::query_argument<T>::value value_of(id_type e) const noexcept {
        using type = typename detail::query_argument<T>::type;
        type* const found = store_->template find_value<type>(e);
        if constexpr (detail::query_argument<T>::is_optional)
            return found;
        else
            return *found;
    }

    store_type* store_;
    query_type query_;
    detail::change_log* log_;  // held
    detail::array_list<std::uint64_t> all_;
    scope changes_;
    std::size_t at_ = 0;
    int exceptions_ = std::uncaught_exceptions();
};

}  // namespace muster
