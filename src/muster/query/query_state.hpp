// query_state: the part of a query that does not depend on its component types: the terms, the
// cached list, and the answers that only need these.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/slice.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/query/walk.hpp>
#include <muster/store/store.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace MUSTER_NAMESPACE::detail {

/// The world that a query of `Layout` reads, and the scopes that its loops open. `const Layout`
/// stands for a const world: its queries open no scope, create no fragment and share no state but
/// the lists of the world, under a lock. So several threads may use them at the same time.
template <class Layout>
struct query_world {
    static constexpr bool is_const = false;
    using layout = Layout;
    using store_type = store<Layout>;
    using open_scope = detail::open_scope;
    using scope = detail::scope;
    using closing = detail::closing;
};
template <class Layout>
struct query_world<const Layout> {
    static constexpr bool is_const = true;
    using layout = Layout;
    using store_type = const store<Layout>;
    struct open_scope {
        explicit open_scope(const engine&) noexcept {}
        [[nodiscard]] static bool is_open() noexcept { return false; }
        static void commit() noexcept {}
    };
    using scope = open_scope;
    struct closing {
        const open_scope& changes;
        bool is_done = false;
    };
};

template <class Layout>
class query_state {
    using world_type = query_world<Layout>;

public:
    using id_type = basic_id<typename world_type::layout>;

    /// Whether the entity matches; false for any id that is not alive.
    [[nodiscard]] bool matches(id_type e) const {
        world_.require();
        return is_match(e);
    }
    /// Returns a sentence that states whether the entity matches, and why, term by term. Accepts
    /// any id.
    [[nodiscard]] std::string explain(id_type e) const {
        world_.require();
        return explain_as(e, is_match(e), {});
    }

protected:
    /// Explains why the entity matches or not. `more` describes conditions besides the terms.
    [[nodiscard]] std::string explain_as(id_type e, bool matches, const std::string& more) const {
        const auto* const found = store_->find(e);
        if (found == nullptr)
            return text(store_->errors.describe(e.value()), " does not match: it is not alive");
        const chunk_data& chunk = store_->graph.at(found->chunk());
        std::string why = cache_->explain(terms_, chunk, e.value());
        if (!more.empty()) why += text(why.empty() ? "" : "; ", more);
        if (!store_->components.has_any(e.value()))
            return text(store_->errors.describe(e.value()),
                        " does not match: it has no components, and queries "
                        "return only entities with components");
        return text(store_->errors.describe(e.value()), matches ? " matches" : " does not match",
                    why.empty() ? "" : ": ", why);
    }

    using store_type = typename world_type::store_type;
    using here_type = walk_here<typename world_type::layout>;
    static constexpr bool is_const = world_type::is_const;

    query_state() noexcept = default;
    query_state(store_type& store, query_cache& cache) noexcept
        : world_(store.life.ref()), store_(&store), cache_(&cache) {}

    // ---- terms ---------------------------------------------------------------------------------

    template <class T>
    [[nodiscard]] term_name typed() const {
        world_.require();
        return ensure_typed<T>();
    }
    /// Like `typed`, for a query whose world is alive.
    template <class T>
    [[nodiscard]] term_name ensure_typed() const {
        static_assert(is_component<T>);
        // Creates the fragment now, so that its number does not depend on which entity is first.
        if constexpr (!is_const) (void)store_->template ensure_fragment<T>();
        return {static_cast<std::uint64_t>(ensure_type_index<T>()), true};
    }
    /// Adds a component that loops show. Throws `errc::type_mismatch` for a relation. If they do not
    /// write it, the resolver of the fragment takes part.
    template <class T>
    void add_shown(term_kind kind, bool is_written) {
        const term_name fragment = ensure_typed<T>();
        const fragment_data& known = store_->template find_fragment<T>();
        if (known.alias != nullptr) [[unlikely]]
            error_reporter::raise_alias(type_name<T>());
        terms_.add({.type_or_id = fragment.type_or_id,
                    .kind = kind,
                    .is_typed = true,
                    .group = 0,
                    .resolver = resolver_index{is_written ? std::uint8_t{0} : known.resolver},
                    .is_shown = true});
    }
    template <class F>
    [[nodiscard]] term_name named(const F& fragment) const {
        world_.require();
        if constexpr (fragment_argument<F>)
            return {id_type(fragment).value(), false};
        else
            return typed<F>();
    }
    template <class... Ts>
    [[nodiscard]] std::array<term_name, sizeof...(Ts)> typed_list() const {
        static_assert(all_differ<Ts...>,
                      "muster: a list of a query names each component type only once.");
        return {typed<Ts>()...};
    }
    template <class... Fs>
    [[nodiscard]] std::array<term_name, sizeof...(Fs)> list_of(const Fs&... fragments) const {
        return {named(fragments)...};
    }
    [[nodiscard]] array_list<term_name> list_of(std::span<const id_type> fragments) const {
        array_list<term_name> made;
        made.reserve(fragments.size());
        for (const id_type fragment : fragments) made.push_back(named(fragment));
        return made;
    }
    template <class F>
    [[nodiscard]] id_type id_of(const F& fragment) const {
        world_.require();
        if constexpr (fragment_argument<F>)
            return id_type(fragment);
        else
            return store_->id_of(store_->template ensure_fragment<F>());
    }
    void add_list(term_kind kind, std::span<const term_name> list) {
        cache_->add_list(terms_, kind, list);
        list_ = nullptr;
    }
    void add_terms(const terms& others) {
        terms_.add(others);
        list_ = nullptr;
    }
    [[nodiscard]] bool has_no_terms() const noexcept { return terms_.size() == 0; }
    /// Like `matches`, for a query whose world is alive.
    [[nodiscard]] bool is_match(id_type e) const noexcept {
        const auto* const found = store_->find(e);
        return found != nullptr &&
               cache_->matches(terms_, store_->graph.at(found->chunk()), e.value());
    }

    // ---- lists and walks -----------------------------------------------------------------------

    [[nodiscard]] match_list& list() const {
        if (list_ == nullptr) list_ = &cache_->ensure(terms_);
        return *list_;
    }
    /// Like `list`, and up to date; threads may call it at the same time, in a parallel phase or
    /// for a const world.
    [[nodiscard]] match_list& shared_list() const {
        if (list_ != nullptr) return *list_;
        return cache_->ensure_shared(terms_, store_->gate.is_parallel() || store_->depth() != 0);
    }
    /// Starts a walk over a list that is not plain and was just read.
    template <class Walk>
    [[nodiscard]] Walk start_for(slice<const fragment_data* const> wanted) const {
        return Walk(*store_, *cache_,
                    is_const || store_->gate.is_parallel() ? shared_list() : *list_, wanted);
    }
    /// Starts a walk that shows the components of all terms, except `without`.
    [[nodiscard]] here_type start_rows() const {
        const fragment_data* wanted[terms::limit];
        std::size_t count = 0;
        for (const term& term : terms_)
            if (term.kind != term_kind::without) wanted[count++] = &cache_->fragment_of(term);
        return start_for<here_type>({wanted, count});
    }
    [[nodiscard]] target_finder finder() const {
        return {&walk<Layout>::find, store_, cache_,
                store_->gate.is_parallel() ? &shared_list() : &list()};
    }
    /// The number of entities in `all`, which was just read.
    [[nodiscard]] std::size_t count_in(const chunk_range& all) const {
        std::size_t sum = 0;
        if (!all.is_plain)
            for (here_type walk = start_for<here_type>({}); walk->next();) sum += walk->size();
        else
            for (const chunk_data* chunk : all) sum += chunk->size;
        return sum;
    }
    /// The first entity in `all`, which was just read, or the null id.
    [[nodiscard]] id_type first_in(const chunk_range& all) const {
        if (!all.is_plain) {
            here_type walk = start_for<here_type>({});
            return walk->next() ? walk->ids()[std::countr_zero(walk->left())] : id_type{};
        }
        for (const chunk_data* chunk : all)
            // SAFETY: the column of ids stores values of type `id_type`.
            if (chunk->size != 0) return *reinterpret_cast<const id_type*>(chunk->ids.data);
        return {};
    }

private:
    template <class>
    friend class link_terms;

protected:
    lifetime_ref world_;  // every public call begins with `require`
    store_type* store_ = nullptr;
    query_cache* cache_ = nullptr;
    terms terms_;
    mutable match_list* list_ = nullptr;  // null: not looked up yet
};

}  // namespace MUSTER_NAMESPACE::detail
