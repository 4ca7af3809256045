// The part of scope_story.hpp that chooses operations and calls the world.
#pragma once

#include "scope_story.hpp"

namespace muster::test::scopes {

template <class Layout>
auto scope_story<Layout>::any_operation(bool in_hook, int own_fragment) -> op {
    op next{any_verb(in_hook), any_id(), {}};
    next.value = roll(1000) + 1;
    next.slot = any_fragment();
    switch (next.what) {
    case verb::spawn_many:
        next.count = roll(4);
        next.slot = roll(3) == 0 ? -1 : roll(2) * kind_text;
        break;
    case verb::clone_many: next.count = roll(3); break;
    case verb::make_ids:
        next.count = 2;
        next.slot2 = is_sparse_next() ? 1 : 0;
        break;
    case verb::make_tag: next.slot2 = is_sparse_next() ? 1 : 0; break;
    case verb::spawn_at:
        if (roll(4) != 0 || !world_.alive(next.e))
            next.e = id_type::pack(next_key_++, first_version_,
                                   Layout::world_bits == 0 ? 0 : world_.number());
        break;
    case verb::destroy:
        if (roll(16) == 0) {
            next.slot = kind_aligned;
            next.e = typed_id(kind_aligned);
            next.count = 1;
        } else if (roll(4) == 0 && slots_.size() > typed_count) {
            next.e = slots_[static_cast<std::size_t>(any_made())].id;
        }
        break;
    case verb::destroy_two: next.other = roll(4) == 0 ? next.e : any_id(); break;
    case verb::set_wrong:
    case verb::touch:
    case verb::patch:
        if (slots_[static_cast<std::size_t>(next.slot)].is_made_by_ids ||
            (next.what == verb::set_wrong && next.slot < typed_count) ||
            (next.what == verb::patch && kind_of(next.slot) == kind_tag)) {
            next.slot = kind_number;
            if (next.what == verb::set_wrong) next.what = verb::set;
        }
        break;
    case verb::add:
        if (is_untyped(next.slot)) next.slot = kind_marker;
        break;
    case verb::emplace:
    case verb::get_or_emplace: next.slot = roll(typed_count); break;
    case verb::write: next.slot = roll(2) * kind_aligned; break;
    case verb::remove_two:
        next.slot = kind_number;
        next.slot2 = kind_text;
        if (slots_.size() > typed_count && roll(2) == 0) {
            next.slot = any_made();
            next.slot2 = any_made();
        }
        break;
    case verb::copy_fragment:
        next.slot2 = any_fragment();
        for (int tries = 0; tries < 4 && kind_of(next.slot2) != kind_of(next.slot); ++tries)
            next.slot2 = any_fragment();
        if (slots_[static_cast<std::size_t>(next.slot)].is_made_by_ids ||
            (slots_[static_cast<std::size_t>(next.slot2)].is_made_by_ids &&
             kind_of(next.slot) != kind_of(next.slot2)))
            next.slot = next.slot2 = kind_number;
        break;
    case verb::make_fragment:
        next.count = roll(2) * kind_text;
        next.slot2 = is_sparse_next() ? 1 : 0;
        break;
    case verb::needs:
        next.slot2 = any_fragment();
        if (is_untyped(next.slot2)) next.slot2 = kind_marker;
        [[fallthrough]];
    case verb::unique:
    case verb::policy:
    case verb::sparse:
        if (is_untyped(next.slot)) next.slot = kind_number;
        break;
    case verb::add_hook:
        next.slot = in_hook ? own_fragment : roll(4) == 0 ? -1 : any_fragment();
        if (next.slot >= 0 && is_untyped(next.slot)) next.slot = kind_number;
        next.count = next.slot < 0 ? roll(2) * static_cast<int>(hook_event::remove) : roll(4);
        next.value = static_cast<int>(hooks_.size());
        break;
    case verb::pause:
    case verb::resume:
        next.count = hooks_.empty() ? -1 : roll(static_cast<int>(hooks_.size()));
        if (hooks_.empty()) break;
        next.slot = hooks_[static_cast<std::size_t>(next.count)].fragment;
        if (in_hook && next.what == verb::resume && next.slot != own_fragment)
            next.what = verb::pause;
        break;
    default:
        if (next.what >= verb::batch_set && next.what <= verb::batch_destroy)
            next = batch_operation(next);
        else if (next.what >= verb::observe && next.what <= verb::read_observer)
            next = observer_operation(next);
    }
    return next;
}

template <class Layout>
verb scope_story<Layout>::any_verb(bool in_hook) {
    constexpr verb often[] = {verb::spawn_with, verb::spawn_two, verb::set,    verb::set,
                              verb::set,        verb::set_two,   verb::add,    verb::patch,
                              verb::touch,      verb::remove,    verb::remove, verb::destroy,
                              verb::defer,      verb::commit,    verb::commit, verb::cancel};
    for (;;) {
        const verb what = roll(2) == 0 ? often[roll(std::size(often))]
                                       : static_cast<verb>(roll(static_cast<int>(verb::stop)));
        const bool makes = what <= verb::clone_many || what == verb::make_ids ||
                           what == verb::make_tag || what == verb::make_fragment;
        if (makes && world_.size() > 40) continue;
        if (in_hook && (what == verb::write || what == verb::defer || what == verb::commit ||
                        what == verb::cancel || what == verb::destroy_if))
            continue;
        if (in_hook && what >= verb::observe && what <= verb::read_observer) continue;
        if (what == verb::sparse && (in_hook || !is_sparse_next())) continue;
        if (what == verb::batch_destroy && roll(3) != 0) continue;
        if (what == verb::observe && observers_.size() > 12) continue;
        if (what > verb::observe && what <= verb::read_observer && observers_.empty()) continue;
        if (what == verb::add_hook && hooks_.size() > 24) continue;
        if (what == verb::destroy_if && roll(4) != 0) continue;
        return what;
    }
}

template <class Layout>
void scope_story<Layout>::call(const op& operation, result& made) {
    basic_world<Layout>& w = world_;
    const id_type e = operation.e;
    const int f = operation.slot;
    const int value = operation.value;
    switch (operation.what) {
    case verb::spawn: made.made = {w.spawn()}; break;
    case verb::spawn_with: made.made = {spawn_with(f, value)}; break;
    case verb::spawn_two: made.made = {w.spawn(number{value}, text(value + 1))}; break;
    case verb::spawn_many:
        made.made = f < 0              ? w.spawn_many(size(operation.count))
                    : f == kind_number ? w.spawn_many(size(operation.count), number{value})
                                       : w.spawn_many(size(operation.count), text(value));
        break;
    case verb::spawn_at: made.made = {w.spawn_at(e, number{value})}; break;
    case verb::clone: made.made = {w.clone(e)}; break;
    case verb::clone_with: made.made = {w.clone(e, made_as<owner>(value))}; break;
    case verb::clone_many: made.made = w.clone_many(size(operation.count), e); break;
    case verb::destroy: made.count = w.destroy(e) ? 1u : 0u; break;
    case verb::destroy_two: made.count = w.destroy(e, operation.other); break;
    case verb::destroy_if:
        made.count = w.destroy_if([&](id_type x) { return model_type::chosen(x, value); });
        break;
    case verb::set_two: w.set(e, number{value}, text(value + 1)); break;
    case verb::set_wrong: w.set(e, id_of(f), aligned{1}); break;
    case verb::clear: made.count = w.clear(e) ? 1u : 0u; break;
    case verb::copy_fragment: made.count = w.copy_fragment(id_of(f), id_of(operation.slot2)); break;
    case verb::make_tag:
        keep_slots({made.made = {w.tag()}}, kind_tag, false);
        if (operation.slot2 != 0) w.define(made.made[0]).sparse();
        break;
    case verb::make_fragment:
        made.made = {operation.count == kind_text ? w.template fragment<text>().id()
                                                  : w.template fragment<number>().id()};
        keep_slots(made.made, operation.count, false);
        if (operation.slot2 != 0) w.define(made.made[0]).sparse();
        break;
    case verb::make_ids: {
        const auto all = w.template ids<2>();
        made.made.assign(all.begin(), all.end());
        keep_slots(made.made, kind_tag, true);
        if (operation.slot2 != 0 && w.alive(all[0])) w.define(all[0]).sparse();
        break;
    }
    case verb::needs: w.define(id_of(f)).needs(id_of(operation.slot2)); break;
    case verb::unique: w.define(id_of(f)).unique(value % 2 != 0); break;
    case verb::policy:
        w.define(id_of(f)).when_destroyed(value % 2 != 0 ? destruction::destroy_owners
                                                         : destruction::remove_fragment);
        break;
    case verb::sparse: w.define(id_of(f)).sparse(); break;
    case verb::defer: made.count = w.defer() ? 1u : 0u; break;
    case verb::commit: made.count = w.commit() ? 1u : 0u; break;
    case verb::cancel: made.count = w.cancel() ? 1u : 0u; break;
    case verb::add_hook: add_hook(operation); break;
    case verb::pause:
    case verb::resume:
        if (operation.count >= 0) {
            auto& which = hooks_[size(operation.count)].connection;
            made.count = (operation.what == verb::pause ? which.pause() : which.resume()) ? 1u : 0u;
        }
        break;
    default:
        if (operation.what >= verb::batch_set && operation.what <= verb::batch_destroy)
            call_batch(operation, made);
        else if (operation.what >= verb::observe && operation.what <= verb::read_observer)
            call_observer(operation, made);
        else if (f < typed_count)
            with_type(f, [&]<class T>() { call_typed<T>(operation, made); });
        else
            call_made(operation, made);
    }
}

template <class Layout>
auto scope_story<Layout>::spawn_with(int f, int value) -> id_type {
    if (f < typed_count)
        return with_type(f, [&]<class T>() { return world_.spawn(made_as<T>(value)); });
    if (kind_of(f) == kind_tag) return world_.spawn(with(id_of(f)));
    if (kind_of(f) == kind_text) return world_.spawn(with(id_of(f), text(value)));
    return world_.spawn(with(id_of(f), number{value}));
}

template <class Layout>
template <class T>
void scope_story<Layout>::call_typed(const op& operation, result& made) {
    basic_world<Layout>& w = world_;
    const id_type e = operation.e;
    const auto change = [&](T& it) {
        if constexpr (!std::is_empty_v<T>) it = made_as<T>(read_as(it) + operation.value);
    };
    switch (operation.what) {
    case verb::set: w.set(e, made_as<T>(operation.value)); break;
    case verb::add: made.count = w.template add<T>(e) ? 1u : 0u; break;
    case verb::emplace:
        made.count = size(read_as(w.template emplace<T>(e, made_as<T>(operation.value))));
        break;
    case verb::get_or_emplace:
        made.count = size(read_as(w.template get_or_emplace<T>(e, made_as<T>(operation.value))));
        break;
    case verb::patch: made.count = size(read_as(w.template patch<T>(e, change))); break;
    case verb::touch: w.template touch<T>(e); break;
    case verb::write:
        if (T* const found = w.template try_get<T>(e)) {
            change(*found);
            made.count = 1;
        }
        break;
    case verb::remove: made.count = w.template remove<T>(e) ? 1u : 0u; break;
    case verb::remove_two: made.count = w.template remove<number, text>(e) ? 1u : 0u; break;
    default: made.count = w.template clear<T>();
    }
}

template <class Layout>
void scope_story<Layout>::call_made(const op& operation, result& made) {
    basic_world<Layout>& w = world_;
    const id_type e = operation.e;
    const id_type f = id_of(operation.slot);
    const int kind = kind_of(operation.slot);
    const auto by_type = [&](auto use) {
        kind == kind_text ? use.template operator()<text>() : use.template operator()<number>();
    };
    switch (operation.what) {
    case verb::set:
        if (kind == kind_tag)
            w.set(e, f);
        else
            by_type([&]<class T>() { w.set(e, f, made_as<T>(operation.value)); });
        break;
    case verb::add: made.count = w.add(e, f) ? 1u : 0u; break;
    case verb::patch:
        by_type([&]<class T>() {
            made.count = size(read_as(w.template patch<T>(
                e, f, [&](T& it) { it = made_as<T>(read_as(it) + operation.value); })));
        });
        break;
    case verb::touch: w.touch(e, f); break;
    case verb::remove: made.count = w.remove(e, f) ? 1u : 0u; break;
    case verb::remove_two: made.count = w.remove(e, f, id_of(operation.slot2)) ? 1u : 0u; break;
    default: made.count = w.clear_fragment(f);
    }
}

template <class Layout>
void scope_story<Layout>::add_hook(const op& operation) {
    const auto event = static_cast<hook_event>(operation.count);
    const int n = operation.value;
    const int f = operation.slot;
    basic_connection<Layout> made;
    const auto add = [&](const auto& on, auto hook) {
        switch (event) {
        case hook_event::insert: return world_.on_insert(on, hook);
        case hook_event::assign: return world_.on_assign(on, hook);
        case hook_event::set: return world_.on_set(on, hook);
        default: return world_.on_remove(on, hook);
        }
    };
    if (f < 0) {
        const auto hook = [=, this](id_type e) { hooked(n, event, f, e, 0); };
        made = event == hook_event::insert ? world_.on_spawn(hook) : world_.on_destroy(hook);
    } else if (f < typed_count) {
        with_type(f, [&]<class T>() {
            made = add(world_.template component<T>(),
                       [=, this](id_type e, T& value) { hooked(n, event, f, e, read_as(value)); });
        });
    } else {
        made = add(id_of(f), [=, this, kind = kind_of(f)](id_type e, void* value) {
            hooked(n, event, f, e, read_raw(kind, value));
        });
    }
    hooks_.push_back({made, f});
}

}  // namespace muster::test::scopes
