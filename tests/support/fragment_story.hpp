// fragment_story: bytes choose operations on fragments of every kind, made at run time or of C++
// types. The story applies them to a world and to its model. After each operation it compares the
// affected ids, and sometimes everything.
#pragma once

#include <muster/world/world.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <iterator>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "byte_source.hpp"
#include "fragment_model.hpp"

namespace muster::test::fragment_stories {

template <class Layout>
class fragment_story {
public:
    using id_type = basic_id<Layout>;
    using world_type = basic_world<Layout>;
    using model_type = fragment_model<Layout>;
    using part = typename model_type::part;
    using parts = typename model_type::parts;
    using plan_type = typename model_type::plan;
    using values = typename model_type::values;

    /// `how` many fragments are sparse. For `some`, `mask` selects the C++ types.
    enum class sparse { none, some, all };
    fragment_story(const world_options& options, sparse how, unsigned mask)
        : world_(options), sparse_(how), sparse_types_(mask) {
        register_types();
        foreign_ = {foreign_world_.spawn(1), foreign_world_.tag(),
                    foreign_world_.template component<int>()};
        for (int i = 0; i < 4; ++i) (void)make_fragment(i, i);
    }

    void run(std::span<const std::uint8_t> bytes) {
        byte_source from(bytes);
        while (!from.done() && !over_) step(from);
        if (!over_) look_at_all();
    }
    std::size_t steps() const { return steps_; }

private:
    // ---- operations ----------------------------------------------------------------------------

    void step(byte_source& from) {
        ++steps_;
        fuse_ = from.byte() % 16 == 0 ? from.byte() % 3 : -1;
        const int which = from.byte() % 64;
        const int value = from.byte() * 5 + 1;
        const id_type e = any_id(from);
        const id_type f = from.byte() % 16 == 0 ? e : any_fragment(from);
        const bool crowded = model_.living.size() > 90;
        if (which < 8 && crowded) return destroy({any_id(from), any_id(from), any_id(from)});
        switch (which) {
        case 0:
        case 1: return spawn(from, value);
        case 2: return spawn_at(from, value, spawnable(from));
        case 3: return spawn_many(from, value, from.byte() % 6 + 1u);
        case 4:
        case 5: return clone(from, e, value);
        case 6: return clone_many(from, e, value, from.byte() % 4 + 1u);
        case 7: return build(from, e, value);
        case 8:
        case 9:
        case 10:
        case 11: return set_bundle(from, e, value);
        case 12:
        case 13:
        case 14:
        case 15: return set_one(e, f, from.byte() % cpp_kinds, value);
        case 16:
        case 17: return set_default(e, f);
        case 18:
        case 19: return add(e, f);
        case 20:
        case 21:
        case 22: return set_raw(e, f, value);
        case 23: return remove_type(e, from.byte() % cpp_kinds);
        case 24: return remove(e, {f});
        case 25:
        case 26: return remove(e, {f, any_fragment(from), any_fragment(from)});
        case 27: return patch(e, f, from.byte() % cpp_kinds, value);
        case 28: return clear(e);
        case 29: return rarely(from, 4, [&] { clear_fragment(f); });
        case 30: return copy_fragment(f, any_fragment(from));
        case 58: return copy_fragment(f, fragment_for(from, model_.kind_of(f), false));
        case 31: return chunk({f, any_fragment(from)});
        case 32:
        case 33: return rarely(from, 2, [&] { destroy({e}); });
        case 34: return rarely(from, 4, [&] { destroy({f}); });
        case 35: return rarely(from, 4, [&] { destroy({e, f, any_id(from)}); });
        case 36:
        case 37:
        case 38: return make_fragment(from.byte() % 8, value);
        case 39:
        case 40:
        case 41: return needs(f, any_fragment(from), any_fragment(from), from.byte() % 3);
        case 42:
        case 43: return default_value(f, from.byte() % cpp_kinds, value);
        case 44: return duplicate(f, value);
        case 45:
        case 46:
        case 47: return flags(f, from.byte());
        case 48: return name(from.byte() % 2 ? e : f, value % 4);
        case 49: return rarely(from, 24, [&] { reset(); });
        case 50: return rarely(from, 2, [&] { world_.collect_garbage(); });
        case 51: return stale_definition();
        case 52: return rarely(from, 4, [&] { look_at_all(); });
        case 53: return typed_definition(from.byte() % cpp_kinds, value);
        case 54:
        case 55: return set_one(f, f, model_.kind_of(f) % cpp_kinds, value);
        case 56: return set_default(f, f);
        case 57: return set_from(e, any_id(from), f, value);
        case 59:
            if (sparse_ != sparse::none) return make_sparse(f);
            [[fallthrough]];
        default: return set_one(e, f, model_.kind_of(f) % cpp_kinds, value);
        }
    }

    template <class Call>
    void rarely(byte_source& from, int how, Call call) {
        if (from.byte() % how == 0) call();
    }

    // ---- creating entities ---------------------------------------------------------------------

    /// The fragments and values for the arguments of a bundle.
    parts parts_for(byte_source& from, int which, int value) {
        parts made;
        with_bundle<bundle_count>(which, [&]<class... Args>(bundle<Args...>) {
            (made.push_back({fragment_for(from, Args::kind, Args::by_type), Args::kind,
                             kept(Args::kind, value + static_cast<int>(made.size()))}),
             ...);
        });
        return made;
    }

    /// Calls `call` with the arguments of a bundle, chosen from the first `Count`.
    template <int Count, class Call>
    void call_with(int which, const parts& arguments, Call call) {
        with_bundle<Count>(which, [&]<class... Args>(bundle<Args...>) {
            [&]<std::size_t... I>(std::index_sequence<I...>) {
                call(argument<Args>(arguments[I])...);
            }(std::index_sequence_for<Args...>{});
        });
    }
    template <class Arg>
    auto argument(const part& item) {
        if constexpr (Arg::by_type)
            return made_as<typename Arg::type>(item.value);
        else if constexpr (Arg::kind == kind_tag)
            return with(item.fragment);
        else
            return with(item.fragment, made_as<typename Arg::type>(item.value));
    }

    void spawn(byte_source& from, int value) {
        const int which = from.byte() % bundle_count;
        const parts arguments = parts_for(from, which, value);
        log("spawn", id_type{}, arguments);
        create("spawn", model_.insert({}, arguments, true), 1, [&](std::vector<id_type>& made) {
            call_with<bundle_count>(which, arguments, [&](auto&&... all) {
                made.push_back(world_.spawn(std::move(all)...));
            });
        });
    }

    void spawn_at(byte_source& from, int value, id_type wanted_id) {
        const int which = from.byte() % bundle_count;
        const parts arguments = parts_for(from, which, value);
        log("spawn_at", wanted_id, arguments);
        auto plan = model_.insert({}, arguments, true);
        plan.allowed = {errc::id_taken, errc::id_stale, errc::id_out_of_range, errc::id_overflow,
                        errc::foreign_entity};
        create("spawn_at", plan, 0, [&](std::vector<id_type>& made) {
            call_with<bundle_count>(which, arguments, [&](auto&&... all) {
                made.push_back(world_.spawn_at(wanted_id, std::move(all)...));
            });
            expect("the requested id", made[0] == wanted_id);
        });
    }

    void spawn_many(byte_source& from, int value, std::size_t count) {
        const int which = from.byte() % copyable_count;
        const parts arguments = parts_for(from, which, value);
        log("spawn_many " + std::to_string(count), id_type{}, arguments);
        create("spawn_many", model_.insert({}, arguments, true), count,
               [&](std::vector<id_type>& made) {
                   call_with<copyable_count>(which, arguments, [&](const auto&... all) {
                       made = world_.spawn_many(count, all...);
                   });
               });
    }

    void clone(byte_source& from, id_type e, int value) {
        const int which = from.byte() % bundle_count;
        const parts arguments = parts_for(from, which, value);
        log("clone", e, arguments);
        create("clone", model_.clone(e, arguments), 1, [&](std::vector<id_type>& made) {
            call_with<bundle_count>(which, arguments, [&](auto&&... all) {
                made.push_back(world_.clone(e, std::move(all)...));
            });
        });
    }

    void clone_many(byte_source& from, id_type e, int value, std::size_t count) {
        const int which = from.byte() % copyable_count;
        const parts arguments = parts_for(from, which, value);
        log("clone_many " + std::to_string(count), e, arguments);
        create("clone_many", model_.clone(e, arguments), count, [&](std::vector<id_type>& made) {
            call_with<copyable_count>(which, arguments, [&](const auto&... all) {
                made = world_.clone_many(count, e, all...);
            });
        });
    }

    /// Keeps the recipe, so that its fragments may be dead at the next use.
    void build(byte_source& from, id_type e, int value) {
        if (recipe_.size() > 4 || from.byte() % 8 == 0) {
            recipe_.clear();
            builder_.clear();
        }
        const int which = from.byte() % copyable_count;
        const parts more = parts_for(from, which, value);
        with_bundle<copyable_count>(which, [&]<class... Args>(bundle<Args...>) {
            std::size_t i = 0;
            (set_in_builder<Args>(more[i++]), ...);
        });
        expect("builder size", builder_.size() == recipe_.size());
        const bool clones = from.byte() % 2 == 0;
        const std::size_t count = from.byte() % 3 + 1u;
        plan_type plan;
        parts arguments;
        for (const auto& [by_type, entry] : recipe_) {
            arguments.push_back(entry);
            if (by_type) arguments.back().fragment = types_[static_cast<std::size_t>(entry.kind)];
            if (entry.kind != kind_tag || !has_values(model_.kind_of(entry.fragment))) continue;
            arguments.back().kind = model_.kind_of(entry.fragment);
            arguments.back().value = model_.default_of(entry.fragment).value_or(0);
            if (!model_.default_of(entry.fragment)) plan.troubles.insert(errc::no_default);
        }
        log("builder", clones ? e : id_type{}, arguments);
        const auto rest = clones ? model_.clone(e, arguments) : model_.insert({}, arguments, true);
        plan.troubles.insert(rest.troubles.begin(), rest.troubles.end());
        plan.adopted = rest.adopted;
        plan.result = rest.result;
        create("builder", plan, count, [&](std::vector<id_type>& made) {
            made = clones ? builder_.clone_many(count, e) : builder_.spawn_many(count);
        });
    }
    template <class Arg>
    void set_in_builder(const part& item) {
        if constexpr (Arg::by_type)
            builder_.set(made_as<typename Arg::type>(item.value));
        else if constexpr (Arg::kind == kind_tag)
            builder_.set(item.fragment);
        else
            builder_.set(item.fragment, made_as<typename Arg::type>(item.value));
        for (auto& [by_type, entry] : recipe_)
            if (by_type == Arg::by_type &&
                (by_type ? entry.kind == item.kind : entry.fragment == item.fragment)) {
                entry = item;
                return;
            }
        recipe_.emplace_back(Arg::by_type, item);
    }

    /// Compares the plan with `call`, which creates `count` entities.
    template <class Call>
    void create(const char* what, plan_type plan, std::size_t count, Call call) {
        if (key_room() < count) plan.troubles.insert(errc::id_overflow);
        std::vector<id_type> made;
        if (!compare(what, plan, [&] { call(made); })) return;
        model_.adopt(plan);
        expect("the requested count", count == 0 || made.size() == count);
        for (const id_type e : made) {
            expect("a new id", model_.add(e, plan.result));
            remember(e);
            look_at(e);
        }
    }

    // ---- adding components ---------------------------------------------------------------------

    void set_bundle(byte_source& from, id_type e, int value) {
        const int which = from.byte() % bundle_count;
        const parts arguments = parts_for(from, which, value);
        if (arguments.empty()) return;
        log("set", e, arguments);
        change("set", e, model_.set(e, arguments), [&] {
            call_with<bundle_count>(which, arguments, [&](auto&&... all) {
                if constexpr (sizeof...(all) != 0) world_.set(e, std::move(all)...);
            });
        });
    }

    void set_one(id_type e, id_type f, int kind, int value) {
        log("set_one", e, {{f, kind, value}});
        with_type(kind, [&]<class T>() {
            const auto plan = model_.set(e, {{f, kind, kept(kind, value)}});
            if (value % 2 == 0)
                change("set", e, plan, [&] { world_.set(e, f, made_as<T>(value)); });
            else
                change("set", e, plan, [&] {
                    const T made = made_as<T>(value);
                    if constexpr (std::is_copy_constructible_v<T>)
                        world_.set(e, basic_fragment<T, Layout>(f), made);
                    else
                        world_.set(e, basic_fragment<T, Layout>(f), made_as<T>(value));
                });
        });
    }

    void set_default(id_type e, id_type f) {
        log("set default", e, {{f, 0, 0}});
        change("set default", e, model_.set_default(e, f), [&] { world_.set(e, f); });
    }

    void add(id_type e, id_type f) {
        log("add", e, {{f, 0, 0}});
        const bool has = model_.has(e, f);
        const auto plan = has ? model_.keep(e) : model_.set_default(e, f);
        bool added = false;
        if (change("add", e, plan, [&] { added = world_.add(e, f); }))
            expect("result of add", added == !has);
    }

    void set_raw(id_type e, id_type f, int value) {
        const int kind = model_.kind_of(f);
        log("set_raw", e, {{f, kind, value}});
        const auto plan = model_.set_raw(e, f, value);
        if (kind >= kind_tag)
            return (void)change("set_raw", e, plan, [&] { world_.set_raw(e, f, nullptr); });
        with_type(kind, [&]<class T>() {
            const T made = made_as<T>(value);
            change("set_raw", e, plan, [&] { world_.set_raw(e, f, &made); });
        });
    }

    /// Passes values stored in the world, which may move during the call.
    void set_from(id_type e, id_type source, id_type f, int value) {
        log("set_from", e, {{source, 0, 0}, {f, 0, value}});
        if (const void* const raw = world_.try_get_raw(source, f))
            change("set_raw", e, model_.set_raw(e, f, model_.living.at(source).has.at(f)),
                   [&] { world_.set_raw(e, f, raw); });
        const id_type type = types_[kind_of<over_aligned>];
        const auto* const there = std::as_const(world_).template try_get<over_aligned>(source);
        if (there == nullptr) return;
        const parts arguments{{type, kind_of<over_aligned>, there->value},
                              {f, kind_of<int>, kept(kind_of<int>, value)}};
        if (value % 2 == 0)
            change("set", e, model_.set(e, arguments),
                   [&] { world_.set(e, *there, with(f, value)); });
        else
            create("spawn", model_.insert({}, arguments, true), 1, [&](std::vector<id_type>& made) {
                made.push_back(world_.spawn(*there, with(f, value)));
            });
    }

    void patch(id_type e, id_type f, int kind, int value) {
        log("patch", e, {{f, kind, value}});
        with_type(kind, [&]<class T>() {
            auto plan = model_.get(e, f, kind);
            if (plan.troubles.empty() && kind < kind_marker) plan.result[f] = kept(kind, value);
            change("patch", e, plan, [&] {
                world_.template patch<T>(e, f, [&](T& there) {
                    there = made_as<T>(value);
                    plan_type refused;
                    refused.troubles = {errc::in_scope};
                    compare("reset in patch", refused, [&] { world_.reset(); });
                    world_.defer();
                    world_.destroy(e);
                    world_.destroy(f);
                    world_.cancel();
                });
            });
        });
    }

    /// Compares a call that changes `e`. Returns whether the call succeeded.
    template <class Call>
    bool change(const char* what, id_type e, const plan_type& plan, Call call) {
        const bool done = compare(what, plan, call);
        if (done) {
            model_.adopt(plan);
            model_.living.at(e).has = plan.result;
        }
        look_at(e);
        return done;
    }

    void copy_fragment(id_type from, id_type to) {
        log("copy_fragment", from, {{to, 0, 0}});
        auto plan = model_.copy_fragment(from, to);
        plan.in_parts = true;
        if (!plan.adopted.empty() && model_.count(from) == 0) return;
        std::size_t count = 0;
        if (compare("copy_fragment", plan, [&] { count = world_.copy_fragment(from, to); })) {
            model_.adopt(plan);
            const std::size_t wanted = from == to ? 0 : model_.copy_all(from, to);
            expect("copy_fragment counts", count == wanted);
        } else if (plan.troubles.contains(errc::no_default)) {
            over_ = true;
        }
        if (!over_) look_at_all();
    }

    // ---- removing components -------------------------------------------------------------------

    void remove(id_type e, const std::vector<id_type>& fs) {
        log("remove", e, as_parts(fs));
        auto plan = model_.removal(e, fs);
        bool removed = false;
        const bool done = compare("remove", plan, [&] {
            removed =
                fs.size() == 1 ? world_.remove(e, fs[0]) : world_.remove(e, fs[0], fs[1], fs[2]);
        });
        if (done) expect("result of remove", removed == model_.remove(e, fs));
        look_at(e);
    }

    void remove_type(id_type e, int kind) {
        log("remove type " + std::to_string(kind), e, {});
        auto plan = model_.removal(e, {});
        bool removed = false;
        with_type(kind, [&]<class T>() {
            if (compare("remove", plan, [&] { removed = world_.template remove<T>(e); }))
                expect("result of remove", removed == model_.remove(e, {types_[kind_of<T>]}));
        });
        look_at(e);
    }

    void clear(id_type e) {
        log("clear", e, {});
        auto plan = model_.removal(e, {});
        bool cleared = false;
        if (compare("clear", plan, [&] { cleared = world_.clear(e); })) {
            const bool wanted = model_.alive(e) && !model_.living.at(e).has.empty();
            expect("result of clear", cleared == wanted);
            if (wanted) model_.living.at(e).has.clear();
        }
        look_at(e);
    }

    void clear_fragment(id_type f) {
        log("clear_fragment", f, {});
        const std::size_t wanted = model_.count(f);
        expect("clear_fragment counts", world_.clear_fragment(f) == wanted);
        for (auto& [e, state] : model_.living) state.has.erase(f);
        look_at_all();
    }

    // ---- destroying ids ------------------------------------------------------------------------

    void destroy(const std::vector<id_type>& all) {
        log("destroy", id_type{}, as_parts(all));
        plan_type plan;
        for (const id_type e : all)
            if (model_.is_foreign(e)) plan.troubles.insert(errc::foreign_entity);
        std::size_t count = 0;
        if (!compare("destroy", plan, [&] {
                count = all.size() == 1 ? std::size_t{world_.destroy(all[0])} : world_.destroy(all);
            }))
            return look_at(all[0]);
        std::size_t wanted = 0;
        for (const id_type e : all) wanted += model_.destroy(e) ? 1u : 0u;
        expect("destroy counts", count == wanted);
        register_types();
        if (!over_) look_at_all();
    }

    void reset() {
        log("reset", id_type{}, {});
        world_.reset();
        model_.reset();
        look_at_all();
    }

    // ---- fragments -----------------------------------------------------------------------------

    void make_fragment(int which, int value) {
        log("make " + std::to_string(which) + " " + std::to_string(value), id_type{}, {});
        const std::string text = value % 3 == 0 ? "" : "fragment " + std::to_string(value % 4);
        plan_type plan;
        if (key_room() < (which < 2 ? 2u : 1u)) plan.troubles.insert(errc::id_overflow);
        int kind = kind_none;
        std::vector<id_type> made;
        if (!compare("make", plan, [&] {
                if (which < 2) {
                    const auto both = world_.template ids<2>();
                    made.assign(both.begin(), both.end());
                } else if (which == 2) {
                    kind = kind_tag;
                    made.push_back(world_.tag(text));
                } else if (which < 6) {
                    kind = value % cpp_kinds;
                    with_type(kind, [&]<class T>() {
                        made.push_back(world_.template fragment<T>(text));
                    });
                } else {
                    kind = kind_bytes + value % 3;
                    made.push_back(world_.fragment(run_time_type(kind), text));
                }
            }))
            return;
        for (const id_type e : made) {
            expect("a new id", model_.add(e, {}));
            if (kind != kind_none) {
                model_.fragments[e].kind = kind;
                model_.living.at(e).name = text;
            }
            remember(e);
            if (sparse_ == sparse::all || (sparse_ == sparse::some && value / 3 % 2 != 0))
                make_sparse(e);
            look_at(e);
        }
    }

    void make_sparse(id_type f) {
        log("sparse", f, {});
        const auto plan = model_.make_sparse(f);
        if (!compare("sparse", plan, [&] { world_.define(f).sparse(); })) return;
        model_.fragments[f].sparse = true;
        expect("is_sparse", world_.define(f).is_sparse());
    }

    void needs(id_type f, id_type a, id_type b, int how) {
        log("needs " + std::to_string(how), f, {{a, 0, 0}, {b, 0, 0}});
        auto plan = model_.define(f);
        std::vector<id_type> all{a};
        if (how == 1) all.push_back(b);
        if (how == 2) all = {types_[0], types_[1]};
        for (const id_type e : all) model_.use_as_tag(plan, e);
        if (compare("needs", plan, [&] {
                if (how == 0) world_.define(f).needs(a);
                if (how == 1) world_.define(f).needs(a, b);
                if (how == 2) world_.define(f).template needs<int, std::string>();
            })) {
            model_.adopt(plan);
            auto& traits = model_.fragments[f];
            for (const id_type e : all)
                if (e != f) traits.needs.insert(e);
        }
    }

    void default_value(id_type f, int kind, int value) {
        log("default_value", f, {{f, kind, value}});
        auto plan = model_.define(f);
        model_.use(plan, {f, kind, 0});
        with_type(kind, [&]<class T>() {
            if constexpr (std::is_copy_constructible_v<T>)
                if (compare("default_value", plan,
                            [&] { world_.define(f).default_value(made_as<T>(value)); })) {
                    model_.adopt(plan);
                    model_.fragments[f].default_value = kept(kind, value);
                }
        });
    }

    void duplicate(id_type f, int value) {
        log("duplicate", f, {});
        const int kind = model_.kind_of(f);
        if (!has_values(kind)) return;
        const int more = value % 8;
        with_type(kind, [&]<class T>() {
            const auto copy = [more](const T& element) {
                return made_as<T>(read_as(element) + more);
            };
            if (value % 2 == 0 && !is_run_time(kind))
                world_.define(basic_fragment<T, Layout>(f)).duplicate(copy);
            else
                world_.define(f).duplicate([copy](void* to, const void* from) {
                    ::new (to) T(copy(*static_cast<const T*>(from)));
                });
        });
        model_.fragments[f].duplicate = more;
    }

    void flags(id_type f, int which) {
        log("flags " + std::to_string(which), f, {});
        const bool on = which % 3 != 0;
        auto plan = model_.define(f);
        if (!compare("define", plan, [&] {
                auto defined = world_.define(f);
                switch (which % 4) {
                case 0: defined.hidden(on); break;
                case 1: defined.unique(on).internal(on); break;
                default: defined.when_destroyed(on ? destroy_owners : remove_fragment); break;
                }
            }))
            return;
        auto& traits = model_.fragments[f];
        if (which % 4 == 0) traits.hidden = on;
        if (which % 4 == 1) traits.unique = on;
        if (which % 4 > 1) traits.destroys_owners = on;
        expect("is_unique", world_.define(f).is_unique() == traits.unique);
        expect("is_hidden", world_.define(f).is_hidden() == traits.hidden);
    }

    void typed_definition(int kind, int value) {
        log("typed_definition " + std::to_string(kind), id_type{}, {});
        with_type(kind, [&]<class T>() {
            auto& traits = model_.fragments.at(types_[kind_of<T>]);
            if (value % 2 == 0) {
                world_.template define<T>().unique(value % 4 == 0);
                traits.unique = value % 4 == 0;
            } else if constexpr (std::is_copy_constructible_v<T>) {
                world_.template define<T>().default_value(made_as<T>(value));
                traits.default_value = kept(kind, value);
            }
        });
    }

    void stale_definition() {
        if (key_room() < 2) return;
        const id_type f = world_.tag();
        auto defined = world_.define(f);
        expect("a new id", model_.add(f, {}));
        world_.destroy(f);
        model_.living.erase(f);
        plan_type plan;
        plan.troubles = {errc::dead_fragment};
        compare("stale needs", plan, [&] { defined.template needs<int>(); });
        compare("stale unique", plan, [&] { defined.unique(); });
        compare("stale default", plan, [&] { defined.default_value(1); });
        compare("stale is_hidden", plan, [&] { (void)defined.is_hidden(); });
        compare("stale name", plan, [&] { defined.name("x"); });
    }

    void name(id_type e, int which) {
        const std::string text = which == 0 ? "" : "fragment " + std::to_string(which);
        log("name " + text, e, {});
        auto plan = model_.keep(e);
        if (compare("name", plan, [&] { world_.name(e, text); })) model_.living.at(e).name = text;
        std::vector<id_type> wanted;
        for (const auto& [id, state] : model_.living)
            if (!text.empty() && state.name == text) wanted.push_back(id);
        auto got = world_.lookup_all(text);
        const id_type first = world_.lookup(text);
        expect("lookup", first == (got.empty() ? id_type{} : got[0]));
        std::sort(got.begin(), got.end());
        std::sort(wanted.begin(), wanted.end());
        expect("lookup_all", got == wanted);
    }

    void chunk(const std::vector<id_type>& fs) {
        log("chunk", id_type{}, as_parts(fs));
        const auto plan = model_.chunk(fs);
        basic_chunk<Layout> got;
        if (!compare("chunk", plan, [&] { got = world_.chunk(fs[0], fs[1]); })) return;
        std::vector<id_type> has(got.fragments().begin(), got.fragments().end());
        std::sort(has.begin(), has.end());
        std::vector<id_type> wanted = fs;
        std::sort(wanted.begin(), wanted.end());
        expect("chunk fragments", has == wanted);
        std::size_t rows = 0;
        for (const auto& [e, state] : model_.living)
            rows += model_.inside(state.has) == std::set<id_type>(fs.begin(), fs.end());
        expect("chunk size", got.size() == rows);
        kept_chunk_ = got;
        kept_fragments_ = wanted;
    }

    /// A stored chunk handle is valid or throws `dead_chunk`.
    void look_at_kept_chunk() {
        plan_type plan;
        for (const id_type f : kept_fragments_)
            if (!model_.alive(f) || model_.is_sparse(f)) plan.troubles.insert(errc::dead_chunk);
        plan.allowed = {errc::dead_chunk};
        std::vector<id_type> has;
        if (!compare("kept chunk", plan, [&] {
                has.assign(kept_chunk_.fragments().begin(), kept_chunk_.fragments().end());
            }))
            return;
        std::sort(has.begin(), has.end());
        expect("kept chunk", has == kept_fragments_);
    }

    // ---- comparing the state -------------------------------------------------------------------

    void look_at_all() {
        expect("size", world_.size() == model_.size());
        std::size_t living = 0;
        for (const id_type e : world_.entities()) {
            expect("entities", model_.alive(e) && !model_.is_world_owned(e));
            ++living;
        }
        expect("entities are all", living == model_.size());
        for (const auto& [e, state] : model_.living) look_at(e);
        for (const id_type e : seen_) {
            look_at(e);
            expect("count", world_.count(e) == model_.count(e));
        }
        look_at_kept_chunk();
        for (int i = 0; i < 3; ++i) look_at_query();
        expect("misused", counted::misused == 0);
    }

    /// Compares the result of every call that reads `e`, for any id.
    void look_at(id_type e) {
        const auto found = model_.living.find(e);
        if (found == model_.living.end()) return look_at_dead(e);
        const values& has = found->second.has;
        expect("alive", world_.alive(e));
        expect("empty", world_.empty(e) == has.empty());
        expect("name", world_.name(e) == found->second.name);
        const auto [chunk, row] = world_.locate(e);
        const std::size_t inside = model_.inside(has).size();
        expect("in a chunk", static_cast<bool>(chunk) == (inside != 0));
        expect("fragments", chunk.fragments().size() == inside);
        if (inside != 0) expect("row", chunk.entities()[row] == e);
        std::size_t fragments = 0;
        world_.each_fragment(e, [&](id_type f, void* value) {
            ++fragments;
            expect("each_fragment", has.contains(f) && value == world_.try_get_raw(e, f));
        });
        expect("each_fragment is all", fragments == has.size());
        for (const auto& [f, value] : has) look_at_value(e, f, value, chunk, row);
        look_at_addresses(e, has);
    }

    /// A sparse value keeps its address while it exists. Every operation that changes an entity
    /// calls `look_at` afterwards.
    void look_at_addresses(id_type e, const values& has) {
        std::map<id_type, const void*>& addresses = addresses_[e];
        std::erase_if(addresses, [&](const auto& entry) { return !has.contains(entry.first); });
        for (const auto& [f, value] : has) {
            if (!model_.is_sparse(f)) continue;
            const void* const now = std::as_const(world_).try_get_raw(e, f);
            const auto [at, is_new] = addresses.emplace(f, now);
            expect("a sparse value has moved", is_new || at->second == now);
        }
    }

    /// Compares a query over any fragments, sparse or not.
    void look_at_query() {
        const auto next = [&] { return seen_[++asked_ * 7919u % seen_.size()]; };
        const std::vector<id_type> with{next()};
        const std::vector<id_type> without{next()};
        std::vector<id_type> any{next(), next()};
        if (any[0] == any[1]) any.pop_back();  // a list names it once
        const auto count_of = [](const std::vector<id_type>& all, id_type f) {
            return std::count(all.begin(), all.end(), f);
        };
        const bool has_with = asked_ % 3 != 0;
        const bool has_any = asked_ % 2 != 0;
        auto query = world_.template query<const int*, counted*>().without(without);
        if (has_with) query = query.with(with);
        if (has_any) query = query.any(any);
        std::set<id_type> wanted;
        for (const auto& [e, state] : model_.living) {
            const values& has = state.has;
            bool fits = !has.empty() && !has.contains(without[0]) &&
                        (!has_with || has.contains(with[0])) &&
                        (!has_any || has.contains(any[0]) || has.contains(any.back()));
            for (const auto& [f, value] : has)
                fits = fits && (!model_.fragments.at(f).hidden || (has_with && f == with[0]) ||
                                (has_any && count_of(any, f) != 0) || f == types_[kind_of<int>] ||
                                f == types_[kind_of<counted>]);
            if (fits) wanted.insert(e);
            expect("matches", query.matches(e) == fits);
        }
        expect("a query counts", query.count() == wanted.size());
        query.each([&](id_type e, const int* number, counted* value) {
            expect("a loop shows those that match, once", wanted.erase(e) != 0);
            expect("a loop shows values", number == world_.template try_get<int>(e) &&
                                              value == world_.template try_get<counted>(e));
        });
        expect("a loop shows all", wanted.empty());
    }

    void look_at_value(id_type e, id_type f, int value, basic_chunk<Layout> chunk,
                       std::size_t row) {
        const int kind = model_.kind_of(f);
        const bool is_inside = !model_.is_sparse(f);
        expect("has", world_.has(e, f) && world_.has_all(e, f, f));
        expect("in its chunk", chunk.has(f) == is_inside);
        const void* const raw = std::as_const(world_).try_get_raw(e, f);
        expect("raw", (raw != nullptr) == has_values(kind));
        if (kind == kind_tag) return;
        with_type(kind, [&]<class T>() {
            const T* const typed = world_.template try_get<T>(e, f);
            expect("try_get", (typed != nullptr) == !is_run_time(kind));
            if (kind == kind_marker) return;
            expect("value", read_as(*static_cast<const T*>(raw)) == value);
            if (typed != nullptr) expect("the same", typed == &world_.template get<T>(e, f));
            if constexpr (!std::is_empty_v<T>)
                if (typed != nullptr && is_inside)
                    expect("row", typed == &chunk.template components<T>(f)[row]);
            if (types_[kind_of<T>] == f) expect("by type", typed == world_.template try_get<T>(e));
        });
        expect("other type", world_.template try_get<other>(e, f) == nullptr);
    }

    void look_at_dead(id_type e) {
        expect("dead", !world_.alive(e) && world_.empty(e) && world_.name(e).empty());
        expect("has nothing", !world_.has_any(e, e, types_[0]) && !world_.template has<int>(e));
        expect("no value", world_.template try_get<int>(e, types_[0]) == nullptr &&
                               world_.try_get_raw(types_[0], e) == nullptr);
        const auto plan = model_.keep(e);
        compare("get", plan, [&] { (void)world_.template get<int>(e, types_[0]); });
        compare("locate", plan, [&] { (void)world_.locate(e); });
        compare("each_fragment", plan, [&] { world_.each_fragment(e, [](id_type, void*) {}); });
        compare("chunk", model_.chunk({e}), [&] { (void)world_.chunk(e); });
    }

    // ---- ids -----------------------------------------------------------------------------------

    /// Registers the types that have no living fragment.
    void register_types() {
        for (int kind = 0; kind < cpp_kinds && !over_; ++kind) {
            id_type& known = types_[static_cast<std::size_t>(kind)];
            if (known != id_type{} && model_.alive(known)) continue;
            if (key_room() == 0) {
                over_ = true;
                return;
            }
            with_type(kind, [&]<class T>() { known = world_.template component<T>(); });
            expect("a new id", model_.add(known, {}));
            model_.fragments[known].kind = kind;
            model_.fragments[known].world_owned = true;
            remember(known);
            if (sparse_ == sparse::all || (sparse_ == sparse::some && sparse_types_ >> kind & 1u))
                make_sparse(known);
        }
    }

    /// A living, dead, null, foreign or similar id, or any bits.
    id_type any_id(byte_source& from) {
        const std::uint8_t kind = from.byte();
        const id_type known = seen_[from.below(seen_.size())];
        switch (kind % 24) {
        case 0: return {};
        case 1: return foreign_[from.below(foreign_.size())];
        case 2: return id_type::from_value(static_cast<typename id_type::rep>(from.word()));
        case 3:
            return id_type::pack(known.key(),
                                 (known.version() + from.byte() % 3) % (Layout::last_version + 1),
                                 known.world());
        case 4: return types_[from.below(types_.size())];
        default: break;
        }
        if (model_.alive(known)) return known;
        return kind % 8 == 7 ? known : model_.any_living(from.below(256));
    }
    id_type any_fragment(byte_source& from) {
        return from.byte() % 4 == 0 ? any_id(from) : model_.any_fragment(from.below(256));
    }
    id_type fragment_for(byte_source& from, int kind, bool by_type) {
        if (by_type) return types_[static_cast<std::size_t>(kind)];
        const std::uint8_t how = from.byte();
        if (how % 16 == 0) return any_fragment(from);
        if (how % 8 == 1) return any_id(from);
        return model_.any_fragment(from.below(256), kind);
    }
    id_type spawnable(byte_source& from) {
        const id_type known = any_id(from);
        const std::uint8_t how = from.byte();
        if (how % 2 == 0) return known;
        const std::uint64_t key = how % 4 == 1 ? from.word() >> 1 : known.key() + from.byte();
        return id_type::pack(key % (Layout::last_key + 1), known.version(), known.world());
    }

    void remember(id_type e) {
        if (seen_.size() < 160)
            seen_.push_back(e);
        else
            seen_[e.value() * 0x9E3779B97F4A7C15u % seen_.size()] = e;
    }

    std::size_t key_room() const {
        return Layout::key_bits > 10 ? 1000 : model_.free_keys(Layout::last_key + 1);
    }

    // ---- comparing calls -----------------------------------------------------------------------

    /// Compares the outcome of `call` with the plan. Returns whether it succeeded.
    template <class Call>
    bool compare(const char* what, const plan_type& plan, Call call) {
        std::optional<errc> got;
        if (plan.adopted.empty()) counted::fuse = fuse_;
        fuse_ = -1;
        try {
            call();
        } catch (const error& e) {
            got = e.code();
        } catch (const broken_copy&) {
            counted::fuse = -1;
            over_ = plan.in_parts;
            if (!over_) look_at_all();
            return false;
        }
        counted::fuse = -1;
        const bool is_right = got ? plan.troubles.contains(*got) || plan.allowed.contains(*got)
                                  : plan.troubles.empty();
        if (!is_right)
            fail(std::string(what) + ": " + (got ? to_string(*got) : "no error") +
                 wanted_text(plan));
        return !got;
    }
    static std::string wanted_text(const plan_type& plan) {
        std::string made = ", wanted";
        for (const errc trouble : plan.troubles) made += std::string(" ") + to_string(trouble);
        return made;
    }
    void expect(const char* what, bool holds) const {
        if (!holds) fail(what);
    }
    [[noreturn]] void fail(const std::string& what) const {
        std::string all = what + ", after " + std::to_string(steps_) + " steps; the last were\n";
        for (const std::string& text : log_) all += text;
        throw difference(all);
    }

    static parts as_parts(const std::vector<id_type>& all) {
        parts made;
        for (const id_type e : all) made.push_back({e, 0, 0});
        return made;
    }
    void log(const std::string& what, id_type e, const parts& arguments) {
        std::string line = "  " + what + " " + to_string(e);
        for (const part& item : arguments)
            line += " (" + to_string(item.fragment) + " " + std::to_string(item.kind) + " " +
                    std::to_string(item.value) + ")";
        log_.push_back(line + "\n");
        if (log_.size() > 60) log_.pop_front();
    }

    world_type world_;
    world_type foreign_world_;
    basic_builder<Layout> builder_ = world_.builder();
    std::vector<std::pair<bool, part>> recipe_;  // .first: whether it is passed by type
    model_type model_;
    std::array<id_type, cpp_kinds> types_{};
    std::array<id_type, 3> foreign_{};
    std::vector<id_type> seen_;
    basic_chunk<Layout> kept_chunk_;
    std::vector<id_type> kept_fragments_;
    std::deque<std::string> log_;
    std::map<id_type, std::map<id_type, const void*>> addresses_;  // addresses of sparse values
    std::size_t steps_ = 0;
    std::size_t asked_ = 0;
    sparse sparse_;
    unsigned sparse_types_;
    int fuse_ = -1;      // copies until a failure
    bool over_ = false;  // no key is left, or the extent of a partial change is unknown
};

/// Returns the number of steps. Throws `difference`.
template <class Layout>
std::size_t run_story(std::span<const std::uint8_t> bytes) {
    world_options options;
    if (!bytes.empty()) {
        options.reuse = bytes[0] & 1 ? reuse::fifo : reuse::lifo;
        options.provenance = (bytes[0] & 2) != 0;
    }
    using sparse = typename fragment_story<Layout>::sparse;
    sparse how = sparse::none;
    unsigned mask = 0;
    if (bytes.size() > 3) {
        how = std::array{sparse::none, sparse::some, sparse::some, sparse::all}[bytes[1] % 4];
        mask = bytes[2] | unsigned{bytes[3]} << 8;
    }
    const long living = counted::living;
    std::size_t steps = 0;
    {
        fragment_story<Layout> story(options, how, mask);
        story.run(bytes);
        steps = story.steps();
    }
    if (counted::living != living) throw difference("values were lost or doubled");
    return steps;
}

}  // namespace muster::test::fragment_stories
