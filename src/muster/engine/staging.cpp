#include <muster/base/error.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/engine/run.hpp>
#include <muster/engine/staging.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

array_list<fragment_data*> fragments_for(const engine& owner, const chunk_data& given,
                                         const target* prototype) {
    array_list<fragment_data*> added;
    if (prototype != nullptr)
        for (fragment_data* fragment : owner.components.fragments_of(prototype->id))
            if (!fragment->is_unique) added.push_back(fragment);
    added.insert(added.end(), given.fragments.begin(), given.fragments.end());
    return fragments_after({}, added);
}

staging::staging(engine& owner, std::size_t count) : engine_(owner), count_(count) {
    staged_.ids = column(*owner.graph.empty_chunk().ids.type, nullptr);
    if (!staged_.ids.resize(0, count, {})) raise_out_of_memory();
}

staging::~staging() {
    {
        const busy_guard busy(engine_.gate);
        for (slots& group : slots_)
            for (std::size_t i = 0; i < group.all.size(); ++i)
                if (i < group.filled)
                    group.set->drop(group.all[i]);
                else
                    group.set->give_back(group.all[i]);
        staged_.destroy_values(0, staged_.size);
        staged_.size = 0;
    }
    if (is_committed_ || !is_created_) return;
    for (std::size_t i = count_; i-- != 0;) engine_.destroyer.rollback_spawn(ids().at(i));
}

void staging::create() {
    engine_.entities.create_all(ids());
    is_created_ = true;
}

bool staging::is_copied(const fragment_data& fragment, const chunk_data& given_chunk,
                        const target* prototype) const {
    return prototype != nullptr && !given_chunk.has(fragment) && !fragment.is_unique &&
           engine_.components.has(prototype->id, fragment);
}

void staging::refuse_missing(const chunk_data& given_chunk, const row_values& given,
                             const target* prototype) const {
    for (const fragment_data* fragment : fragments_) {
        if (fragment->type->size == 0 || given.find(fragment) != nullptr) continue;
        if (is_copied(*fragment, given_chunk, prototype)) {
            if (!fragment->can_copy()) engine_.errors.raise_no_clone(*prototype, *fragment);
        } else if (!fragment->has_default()) {
            error_reporter::raise_no_default(*fragment, fragment->name);
        }
    }
}

void staging::construct(const chunk_data& given_chunk, const row_values& given,
                        const target* prototype, slice<change> moved) {
    fragments_ = fragments_for(engine_, given_chunk, prototype);
    refuse_missing(given_chunk, given, prototype);
    const chunk_data& original = prototype != nullptr ? engine_.components.chunk_of(prototype->id)
                                                      : engine_.graph.empty_chunk();
    for (const fragment_data* fragment : fragments_)
        if (fragment->has_word)  // it is not sparse
            words_.push_back(catalog::joined_word(original, given_chunk, *fragment));
    // SAFETY: `to` has room for `count` values of the fragment's type.
    const auto make = [&](fragment_data& fragment, std::byte* to, std::size_t first,
                          std::size_t count) {
        const busy_guard busy(engine_.gate);
        const void* const* const value = given.find(&fragment);
        if (value != nullptr && !moved.empty())
            moved[static_cast<std::size_t>(value - &given.values[0])].construct_at(
                to, fragment.type->size);
        else if (value != nullptr)
            fragment.type->copy_values(
                to,
                static_cast<const std::byte*>(*value) + first * given.step * fragment.type->size,
                count, given.step);
        else if (is_copied(fragment, given_chunk, prototype))
            fragment.copy_value(to, engine_.components.find(prototype->id, fragment), count);
        else
            fragment.default_construct(to, count);
    };
    staged_.columns.reserve(fragments_.size());
    staged_.fragments.reserve(fragments_.size());
    slots_.reserve(fragments_.size());
    staged_.size = staged_.capacity = count_;
    for (fragment_data* fragment : fragments_) {
        if (fragment->type->size != 0 && !fragment->type->pinned) {
            column values(*fragment->type, fragment);
            scope_guard free([&] { values.free(); });
            if (!values.resize(0, count_, {})) raise_out_of_memory();
            make(*fragment, values.data, 0, count_);
            free.dismiss();
            staged_.columns.push_back(values);  // `staged_` owns the values from here on
        }
        if (!fragment->type->pinned) staged_.fragments.push_back(fragment);
        if (fragment->sparse_values == nullptr) continue;
        slots& group = slots_.emplace_back(slots{fragment->sparse_values, {}});
        group.all.reserve(count_);
        for (std::size_t i = 0; i < count_; ++i) {
            group.all.push_back(fragment->sparse_values->take());
            if (!fragment->type->pinned) continue;
            if (fragment->type->size != 0)
                make(*fragment, fragment->sparse_values->at(group.all.back()), i, 1);
            ++group.filled;
        }
    }
}

/// Moves the staged values to the new rows and slots.
void staging::move_values(chunk_data& into) noexcept {
    const busy_guard busy(engine_.gate);
    for (const column& source : staged_.columns) {
        if (sparse_set* const set = source.fragment->sparse_values) {
            const slots& group = *std::ranges::find(slots_, set, &slots::set);
            for (std::size_t i = 0; i < count_; ++i)
                source.relocate(set->at(group.all[i]), source.at(i), 1);
        } else {
            const column& target = into.columns[into.find_column(*source.fragment)];
            source.relocate(target.at(into.size), source.data, count_);
        }
    }
    staged_.size = 0;
}

void staging::commit() {
    (void)place();
    engine_.notifier.inserted(ids(), fragments_);
    is_committed_ = true;
}

chunk_data& staging::place() {
    array_list<fragment_data*> inside;
    for (fragment_data* fragment : fragments_)
        if (fragment->sparse_values == nullptr) inside.push_back(fragment);
    chunk_data& into = engine_.graph.ensure(inside, words_);
    const bool has_rows = into.index != chunk_index{};
    if (has_rows) into.prepare_rows(count_, engine_.graph.row_limit(), {});
    if (!is_created_) create();
    for (const slots& group : slots_)
        for (std::size_t i = 0; i < count_; ++i) {
            engine_.catalog.mark_for_destroy(ids().at(i));
            engine_.mover.prepare_sparse(*group.set, ids().at(i));
        }
    move_values(into);
    for (slots& group : slots_) {
        for (std::size_t i = 0; i < count_; ++i) group.set->attach(ids().at(i), group.all[i]);
        group.all.clear();
        engine_.writes.mark(*group.set->fragment, {});
    }
    if (has_rows) {
        for (std::size_t i = 0; i < count_; ++i) into.set_id(into.size + i, ids().at(i));
        engine_.entities.place_rows(into, into.size, count_, into.index);
        into.size += count_;
        into.note_appended(into.size - count_, count_);
    }
    if (count_ != 0) engine_.catalog.fix_types(fragments_);
    return into;
}

}  // namespace MUSTER_NAMESPACE::detail
