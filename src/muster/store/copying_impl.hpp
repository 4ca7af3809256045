// The part of store_impl.hpp that gives all who have one fragment another, chunk by chunk.
#pragma once

#include <muster/base/first_error.hpp>
#include <muster/base/text.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace muster::detail {

template <class Layout>
std::size_t store<Layout>::copy_fragment(id_type from, id_type to,
                                         const std::source_location& where) {
    const bool must_wait = waits("copy_fragment");
    const fragment_data& source = get_fragment(from, "copy_fragment", &where);
    if (!source.can_copy() && source.type->size != 0)
        raise(errc::not_copyable,
              text("the values of ", source.name, " cannot be copied (copy_fragment at ",
                   place_text(where), ")"));
    fragment_data* target = fragments_.find(to.value());
    if (target == nullptr || target->is_open) {
        target = &adopt_like(source, to, where);
    }
    if (!target->holds_like(source))
        raise_mismatch(*target, source.type->name, "copy_fragment", &where);
    if (target == &source) return 0;
    if (!must_wait && !has_hooks()) return copy_fragment_now(source, *target);
    const std::size_t had_it = count(source);
    scope whole(*this);
    journal_.annotate(journal_.add_barrier(from.value(), change_kind::copy_fragment, target),
                      {where, 0});
    whole.commit();
    return had_it;
}

template <class Layout>
std::size_t store<Layout>::copy_fragment_now(const fragment_data& source, fragment_data& target) {
    const chunk_data& more = ensure_alone(target);
    // Those that have both come first: the others join them.
    std::vector<chunk_data*> both;
    std::vector<chunk_data*> others;
    for (const chunk_index owner : source.chunks) {
        chunk_data& one = graph_.at(owner);
        if (one.size != 0) (one.has(target) ? both : others).push_back(&one);
    }
    std::size_t count = 0;
    first_error error;
    const auto each = [&](auto change) {  // a hook that throws keeps its chunk as it was
        if (has_hooks())
            error.attempt(change);
        else
            change();
    };
    for (chunk_data* one : both)
        each([&] {
            assign_all(*one, source, target);
            count += one->size;
        });
    for (chunk_data* one : others)
        each([&] {
            const std::size_t size = one->size;
            copy_all(*one, source, target, graph_.with(*one, more));
            count += size;
            target.is_open = false;
        });
    error.rethrow();
    return count;
}

/// A living id takes the type of another fragment.
template <class Layout>
fragment_data& store<Layout>::adopt_like(const fragment_data& source, id_type f,
                                         const std::source_location& where) {
    if (source.own_type == nullptr) return adopt(f, source.value_type, *source.type, &where);
    struct rollback {
        const type_info* kept;
        ~rollback() { delete kept; }
    };
    rollback guard{new type_info(*source.own_type)};
    fragment_data& made = adopt(f, no_type, *guard.kept, &where);
    if (made.type == guard.kept) std::swap(made.own_type, guard.kept);
    return made;
}

/// All rows of a chunk that has both; all or none.
template <class Layout>
void store<Layout>::assign_all(const chunk_data& chunk, const fragment_data& source,
                               fragment_data& target) {
    const type_info& type = *source.type;
    scope changes(*this);
    struct rollback {  // copies that have not arrived, or old values until the hooks have returned
        column kept;
        column other;
        store& owner;
        std::byte* base;
        std::size_t count = 0;  // of `kept`
        void change_places() noexcept {
            other.relocate(other.data, base, count);
            kept.relocate(base, kept.data, count);
            std::swap(kept.data, other.data);
            std::swap(kept.block, other.block);
        }
        ~rollback() {
            const busy_scope nobody_else(owner);
            kept.destroy(kept.data, count);
            kept.free();
            other.free();
        }
    };
    rollback guard{column(type, nullptr), column(type, nullptr), *this, target.base(chunk.index)};
    if (type.size != 0) {
        if (!guard.kept.resize(0, chunk.size, {}) || !guard.other.resize(0, chunk.size, {}))
            raise_out_of_memory();
        const busy_scope nobody_else(*this);
        for (; guard.count < chunk.size; ++guard.count)
            source.copy_value(guard.kept.at(guard.count),
                              source.base(chunk.index) + guard.count * type.size, 1);
        guard.change_places();
    }
    struct undo {
        rollback& guard;
        bool is_done = false;
        ~undo() {
            const busy_scope nobody_else(guard.owner);
            if (!is_done) guard.change_places();
        }
    };
    undo back{guard};
    if (target.hooks.has(assign_hooks))
        for (std::size_t row = 0; row < chunk.size; ++row) tell_assigned(ids(chunk)[row], target);
    back.is_done = true;
    changes.commit();
}

/// All rows move to the chunk that has the target, too; all or none.
template <class Layout>
void store<Layout>::copy_all(chunk_data& here, const fragment_data& source,
                             const fragment_data& target, const edge& way) {
    chunk_data& to = *way.target;
    // Hooks may end the other. NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
    const edge back_way = way;
    const std::size_t first = to.size;
    to.make_room(here.size, row_limit, {});
    const row_origin origin{nullptr, nullptr, 0, &here, &graph_.at(target.alone), nullptr};
    refuse_unstartable(to, origin, {});
    const std::size_t which = to.find_column(target);
    struct rollback {
        store& owner;
        const column* made;  // null: a tag
        std::byte* first;
        std::size_t count = 0;
        ~rollback() {
            const busy_scope nobody_else(owner);
            if (made != nullptr) made->destroy(first, count);
        }
    };
    scope changes(*this);
    {
        rollback guard{*this, nullptr, nullptr};
        const busy_scope nobody_else(*this);
        if (which < to.columns.size()) {
            guard.made = &to.columns[which];
            guard.first = guard.made->at(first);
            for (; guard.count < here.size; ++guard.count)
                source.copy_value(guard.made->at(first + guard.count),
                                  source.base(here.index) + guard.count * source.type->size, 1);
        }
        if (way.has_needed) write_rows(to, here.size, {}, origin);
        guard.count = 0;
        move_all(here, way);
    }
    if (back_way.is_told) {
        struct undo {
            store& owner;
            chunk_data& here;
            const edge& way;
            std::size_t first;
            bool is_done = false;
            ~undo() {
                if (!is_done) owner.return_all(here, way, first);
            }
        };
        undo back{*this, here, back_way, first};
        for (std::size_t row = first; row < to.size; ++row)
            for (fragment_data* one : to.fragments) {
                if (here.has(*one)) continue;
                call_hooks(hook_kind::insert, ids(to)[row], *one);
                call_hooks(hook_kind::set, ids(to)[row], *one);
            }
        back.is_done = true;
    }
    changes.commit();
}

/// Undoes `move_all`: the rows from `first` on go back to the chunk they came from, which is empty.
template <class Layout>
void store<Layout>::return_all(chunk_data& from, const edge& way, std::size_t first) noexcept {
    chunk_data& to = *way.target;
    const std::size_t count = to.size - first;
    const busy_scope nobody_else(*this);
    for (std::size_t i = 0; i < to.columns.size(); ++i) {
        const column& one = to.columns[i];
        if (std::find(way.columns.begin(), way.columns.end(), i) == way.columns.end())
            one.destroy(one.at(first), count);
    }
    for (std::size_t i = 0; i < from.columns.size(); ++i)
        from.columns[i].relocate(from.columns[i].data, to.columns[way.columns[i]].at(first), count);
    std::copy_n(ids(to) + first, count, ids(from));
    for (std::size_t row = 0; row < count; ++row)
        find_record(ids(from)[row].key())->place(from.index, row);
    from.size = count;
    to.size = first;
}

}  // namespace muster::detail
