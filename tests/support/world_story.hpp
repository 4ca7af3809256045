// world_story: bytes choose operations, which the story applies to a world and to its model. After
// each operation it compares the affected ids, and sometimes everything.
#pragma once

#include <muster/world/world.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "byte_source.hpp"
#include "world_model.hpp"
#include "world_stories.hpp"

namespace muster::test {

template <class Layout>
class world_story {
public:
    using id_type = basic_id<Layout>;
    using model_type = world_model<Layout>;
    using values = typename model_type::values;

    /// `sparse` has a bit for each kind that is sparse.
    world_story(const world_options& options, unsigned sparse, bool is_logging = false)
        : world_(options),
          foreign_world_(world_options{}),
          // The first id reveals the first version of this world.
          model_(world_.number(),
                 {.world = world_.number(),
                  .first_key = options.first_key,
                  .last_key = options.last_key,
                  .reuse = options.reuse,
                  .first_version = world_.template component<kind<0>>().id().version()}),
          sparse_kinds_(sparse),
          is_logging_(is_logging) {
        (void)model_.register_kinds({0});
        model_.collect_garbage();
        make_sparse();
        foreign_ = foreign_world_.spawn(number{1});
    }

    void run(std::span<const std::uint8_t> bytes) {
        byte_source from(bytes);
        while (!from.done()) step(from);
        look_at_all();
    }

    std::size_t steps() const { return steps_; }

    /// Runs one operation. Throws `difference`.
    void step(byte_source& from) {
        ++steps_;
        const int which = from.byte() % 40;
        const int value = from.byte() * 7 + 1;
        const int set = static_cast<int>(from.byte()) % set_count;
        const int item = static_cast<int>(from.byte()) % kind_count;
        switch (which) {
        case 0:
        case 1:
        case 2:
        case 3: spawn(set, value); break;
        case 4: spawn_many(set, value, from.byte() % 20); break;
        case 5: spawn_rows(set, value, from.byte() % 20); break;
        case 6: spawn_at(any_id(from), set, value); break;
        case 7:
        case 8: clone(any_id(from), set, value); break;
        case 9: clone_many(any_id(from), set, value, from.byte() % 5); break;
        case 10:
        case 11:
        case 12:
        case 13: set_one(any_id(from), item, value); break;
        case 14:
        case 15: set_many(any_id(from), set, value); break;
        case 16: add_many(any_id(from), set); break;
        case 17: emplace(any_id(from), value, from.byte() % 2 == 0); break;
        case 18: patch(any_id(from), value); break;
        case 19:
        case 20: remove_one(any_id(from), item); break;
        case 21:
        case 22: remove_many(any_id(from), set); break;
        case 23: clear(any_id(from)); break;
        case 24:
        case 25:
        case 26:
        case 27: destroy(any_id(from)); break;
        case 28: destroy_several(any_id(from), any_id(from)); break;
        case 29: destroy_if(from.byte()); break;
        case 30: clear_kind(item); break;
        case 31: rarely(from, [&] { collect_garbage(); }); break;
        case 32: copy_between(any_id(from), any_id(from), item); break;
        case 33: name(any_id(from), value % 5); break;
        case 34: single(item, value); break;
        case 35:
            rarely(from, [&] {
                destroy_kind(item);
                if (from.byte() % 2 == 0) make_sparse();
            });
            break;
        case 36: rarely(from, [&] { rarely(from, [&] { reset(); }); }); break;
        case 37: rarely(from, [&] { recycle(); }); break;
        case 38: build(set, value, any_id(from)); break;
        case 39: rarely(from, [&] { look_at_all(); }); break;
        }
    }

    void look_at_all() {
        const std::vector<id_type> living = model_.living();
        expect("size", world_.size(), living.size());
        std::vector<id_type> seen;
        for (const id_type e : world_.entities()) seen.push_back(e);
        expect("entities", seen, living);
        for (const auto& [e, state] : model_.all()) {
            look_at(e);
            if (model_.set_of(state.has).empty()) continue;
            const auto chunk = world_.locate(e).chunk;
            std::vector<id_type> rows(chunk.entities().begin(), chunk.entities().end());
            std::vector<id_type> wanted = model_.rows(model_.set_of(state.has));
            if (!model_.is_plain()) {
                std::ranges::sort(rows);
                std::ranges::sort(wanted);
            }
            expect("rows", rows, wanted);
        }
        for (const id_type e : seen_) look_at(e);
        for (int value = 0; value < kind_count; ++value)
            with_kind(value, [&]<int Kind>() {
                expect("count", world_.template count<kind<Kind>>(), model_.count(Kind));
            });
        for (int value = 1; value < 64; value += 7)
            if (model_.is_plain())
                expect("find", world_.find(number{value}), model_.find(0, value));
            else
                expect("found", model_.is_found(world_.find(number{value}), 0, value), true);
        look_at_loop<0, 3, 4>();
        look_at_loop<3, 0, 8>();
        look_at_loop<5, 1, 2>();
        look_at_loop<2, 9, 0>();
    }

    /// Compares a loop over the entities with the first kind and without the last. The second is
    /// optional.
    template <int With, int Maybe, int Without>
    void look_at_loop() {
        if (!model_.fragment(With) || !model_.fragment(Maybe) || !model_.fragment(Without)) return;
        std::vector<id_type> wanted;
        for (const auto& [e, state] : model_.all())
            if (state.has.contains(With) && !state.has.contains(Without)) wanted.push_back(e);
        std::vector<id_type> seen;
        const auto query = world_.template query<const kind<With>, kind<Maybe>*>()
                               .template without<kind<Without>>();
        expect("a query counts", query.count(), wanted.size());
        query.each([&](id_type e, const kind<With>& value, const kind<Maybe>* other) {
            seen.push_back(e);
            expect("a loop shows", read(value), model_.at(e).has.at(With));
            expect("a loop may show", other != nullptr, model_.has(e, Maybe));
            if (other != nullptr) expect("a loop shows", read(*other), model_.at(e).has.at(Maybe));
        });
        std::ranges::sort(seen);
        std::ranges::sort(wanted);
        expect("a loop", seen, wanted);
    }

    /// Compares the result of every call that reads `e`, for any id.
    void look_at(id_type e) {
        const bool alive = model_.alive(e);
        expect("alive", world_.alive(e), alive);
        const values has = alive ? model_.at(e).has : values{};
        expect("empty", world_.empty(e), has.empty());
        expect("name", std::string(world_.name(e)), alive ? model_.at(e).name : std::string());
        for (int item = 0; item < kind_count; ++item)
            with_kind(item, [&]<int Kind>() {
                const auto wanted = has.find(Kind);
                expect("has", world_.template has<kind<Kind>>(e), wanted != has.end());
                const auto* const value = std::as_const(world_).template try_get<kind<Kind>>(e);
                expect("try_get", value != nullptr, wanted != has.end());
                if (value != nullptr) expect("value", read(*value), wanted->second);
                if (value != nullptr) look_at_address(e, Kind, value);
            });
        if (!alive) {
            compare("get", [&] { (void)world_.template get<number>(e); }, model_.trouble(e));
            compare("locate", [&] { (void)world_.locate(e); }, model_.trouble(e));
            return;
        }
        const auto [chunk, row] = world_.locate(e);
        const auto inside = model_.set_of(has);
        const auto& rows = model_.rows(inside);
        expect("in a chunk", static_cast<bool>(chunk), !inside.empty());
        expect("chunk size", chunk.size(), rows.size());
        expect("fragments", chunk.fragments().size(), inside.size());
        if (inside.empty()) return;
        expect("row", chunk.entities()[row], e);
        if (model_.is_plain()) expect("rows", rows[row], e);
        for (const auto& [kind, value] : has)
            expect("chunk has", chunk.has(*model_.fragment(kind)), inside.contains(kind));
    }

    /// A sparse value keeps its address while it exists.
    template <class T>
    void look_at_address(id_type e, int kind, const T* value) {
        if (!model_.is_sparse(kind) || std::is_same_v<T, marker>) return;
        const std::pair<int, const void*> now{model_.life(e, kind), value};
        auto& known = addresses_[{e, kind}];
        if (known.first == now.first) expect("address", known.second, now.second);
        known = now;
    }

private:
    void make_sparse() {
        for (int value = 0; value < kind_count; ++value)
            if ((sparse_kinds_ >> value & 1u) != 0 && !model_.is_sparse(value) &&
                model_.count(value) == 0)
                with_kind(value, [&]<int Kind>() {
                    log("sparse", Kind, 0);
                    const auto trouble = model_.register_kind(Kind);
                    compare(
                        "sparse", [&] { world_.template define<kind<Kind>>().sparse(); }, trouble);
                    if (!trouble) model_.make_sparse(Kind);
                });
    }

    // ---- creating entities ---------------------------------------------------------------------

    template <int... Kinds>
    static values values_of(set_of_kinds<Kinds...>, [[maybe_unused]] int value) {
        return {{Kinds, kept<kind<Kinds>>(value)}...};
    }
    template <int... Kinds>
    static std::vector<int> list_of(set_of_kinds<Kinds...>) {
        return {Kinds...};
    }

    void spawn(int set, int value) {
        log("spawn", set, value);
        with_set(set, [&]<int... Kinds>(set_of_kinds<Kinds...> kinds) {
            const auto wanted = [&]() -> typename model_type::outcome {
                if (const auto trouble = model_.register_kinds(list_of(kinds))) return *trouble;
                return model_.spawn(values_of(kinds, value));
            }();
            compare_id(
                "spawn", [&] { return world_.spawn(made_of<kind<Kinds>>(value)...); }, wanted);
        });
    }

    void spawn_at(id_type wanted_id, int set, int value) {
        log("spawn_at " + to_string(wanted_id), set, value);
        with_set(set, [&]<int... Kinds>(set_of_kinds<Kinds...> kinds) {
            const auto wanted = [&]() -> typename model_type::outcome {
                if (const auto trouble = model_.register_kinds(list_of(kinds))) return *trouble;
                return model_.spawn_at(wanted_id, values_of(kinds, value));
            }();
            compare_id(
                "spawn_at",
                [&] { return world_.spawn_at(wanted_id, made_of<kind<Kinds>>(value)...); }, wanted);
        });
    }

    /// Spawns `count` entities in the model, or none.
    std::optional<errc> expect_many(const std::vector<int>& kinds, std::size_t count,
                                    const values& has, std::vector<id_type>& wanted) {
        if (model_.available() < count) return errc::id_overflow;
        if (const auto trouble = model_.register_kinds(kinds)) return trouble;
        if (model_.available() < count) return errc::id_overflow;
        for (std::size_t i = 0; i < count; ++i)
            wanted.push_back(std::get<id_type>(model_.spawn(has)));
        return {};
    }

    void spawn_many(int set, int value, std::size_t count) {
        log("spawn_many " + std::to_string(count), set, value);
        with_set<copyable_set_count>(set, [&]<int... Kinds>(set_of_kinds<Kinds...> kinds) {
            std::vector<id_type> wanted;
            std::vector<id_type> got;
            const auto trouble =
                expect_many(list_of(kinds), count, values_of(kinds, value), wanted);
            const auto spawn = [&] {
                if constexpr (sizeof...(Kinds) != 0)
                    if (value % 2 == 0) {
                        got = world_.spawn_columns(
                            std::vector<kind<Kinds>>(count, made_of<kind<Kinds>>(value))...);
                        return;
                    }
                got = world_.spawn_many(count, made_of<kind<Kinds>>(value)...);
            };
            compare("spawn_many", spawn, trouble);
            remember_all("spawn_many", got, wanted);
        });
    }

    void spawn_rows(int set, int value, std::size_t count) {
        log("spawn_rows " + std::to_string(count), set, value);
        with_set<copyable_set_count>(set, [&]<int... Kinds>(set_of_kinds<Kinds...> kinds) {
            if constexpr (sizeof...(Kinds) != 0) {
                std::vector<id_type> wanted;
                std::vector<id_type> got;
                auto trouble = expect_many(list_of(kinds), count, values_of(kinds, value), wanted);
                compare(
                    "spawn_rows",
                    [&] {
                        world_.spawn_rows(
                            count,
                            [&](basic_rows<Layout> rows) {
                                got.assign(rows.entities().begin(), rows.entities().end());
                                compare("reset in fill", [&] { world_.reset(); }, errc::in_scope);
                                world_.defer();
                                for (const id_type e : got) world_.destroy(e);
                                world_.cancel();
                            },
                            made_of<kind<Kinds>>(value)...);
                    },
                    trouble);
                remember_all("spawn_rows", got, wanted);
            }
        });
    }

    /// The components of a clone, or the error of cloning.
    template <class Kinds>
    std::variant<values, errc> cloned(id_type prototype, Kinds kinds, int value,
                                      std::size_t count = 1, bool many = false) {
        if (const auto trouble = model_.trouble(prototype)) return *trouble;
        if (many && model_.available() < count) return errc::id_overflow;
        if (const auto trouble = model_.register_kinds(list_of(kinds))) return *trouble;
        values has = values_of(kinds, value);
        const values& old = model_.at(prototype).has;
        const bool copies_owner = old.contains(4) && !has.contains(4);
        has.insert(old.begin(), old.end());
        model_.make_chunk(model_.set_of(has));
        if (model_.available() < count) return errc::id_overflow;
        if (copies_owner) return errc::not_copyable;
        return has;
    }

    void clone(id_type prototype, int set, int value) {
        log("clone " + to_string(prototype), set, value);
        with_set(set, [&]<int... Kinds>(set_of_kinds<Kinds...> kinds) {
            auto has = cloned(prototype, kinds, value);
            const auto wanted = [&]() -> typename model_type::outcome {
                if (const errc* trouble = std::get_if<errc>(&has)) return *trouble;
                return model_.spawn(std::get<values>(has));
            }();
            compare_id(
                "clone", [&] { return world_.clone(prototype, made_of<kind<Kinds>>(value)...); },
                wanted);
        });
    }

    void clone_many(id_type prototype, int set, int value, std::size_t count) {
        log("clone_many " + to_string(prototype), set, value);
        with_set<copyable_set_count>(set, [&]<int... Kinds>(set_of_kinds<Kinds...> kinds) {
            auto has = cloned(prototype, kinds, value, count, true);
            std::optional<errc> trouble;
            if (const errc* known = std::get_if<errc>(&has)) trouble = *known;
            std::vector<id_type> wanted;
            std::vector<id_type> got;
            if (!trouble) trouble = expect_many({}, count, std::get<values>(has), wanted);
            compare(
                "clone_many",
                [&] { got = world_.clone_many(count, prototype, made_of<kind<Kinds>>(value)...); },
                trouble);
            remember_all("clone_many", got, wanted);
        });
    }

    void build(int set, int value, id_type prototype) {
        log("build", set, value);
        with_set<copyable_set_count>(set, [&]<int... Kinds>(set_of_kinds<Kinds...> kinds) {
            auto builder = world_.builder();
            (builder.set(made_of<kind<Kinds>>(value)), ...);
            const auto wanted = [&]() -> typename model_type::outcome {
                if (const auto trouble = model_.register_kinds(list_of(kinds))) return *trouble;
                return model_.spawn(values_of(kinds, value));
            }();
            compare_id("build", [&] { return builder.spawn(); }, wanted);
            auto has = cloned(prototype, kinds, value);
            const auto copy = [&]() -> typename model_type::outcome {
                if (const errc* trouble = std::get_if<errc>(&has)) return *trouble;
                return model_.spawn(std::get<values>(has));
            }();
            compare_id("build a clone", [&] { return builder.clone(prototype); }, copy);
        });
    }

    // ---- values --------------------------------------------------------------------------------

    /// Sets these values in the model. Returns the expected error; empty if there is none.
    std::optional<errc> put(id_type e, const std::vector<int>& kinds, const values& arguments,
                            bool keep) {
        if (const auto trouble = model_.trouble(e)) return trouble;
        // A single existing component is found without its chunk.
        if (kinds.size() != 1 || !model_.has(e, kinds[0]))
            if (const auto trouble = model_.register_kinds(kinds)) return trouble;
        values has = model_.at(e).has;
        for (const auto& [kind, value] : arguments)
            if (!keep || !has.contains(kind)) has[kind] = value;
        model_.replace_all(e, has);
        return {};
    }

    void set_one(id_type e, int item, int value) {
        log("set " + to_string(e), item, value);
        with_kind(item, [&]<int Kind>() {
            const auto trouble = put(e, {Kind}, {{Kind, kept<kind<Kind>>(value)}}, false);
            compare("set", [&] { world_.set(e, made_of<kind<Kind>>(value)); }, trouble);
        });
        look_at(e);
    }

    void set_many(id_type e, int set, int value) {
        log("set many " + to_string(e), set, value);
        with_set(set, [&]<int... Kinds>(set_of_kinds<Kinds...> kinds) {
            if constexpr (sizeof...(Kinds) != 0) {
                const auto trouble = put(e, list_of(kinds), values_of(kinds, value), false);
                compare(
                    "set many", [&] { world_.set(e, made_of<kind<Kinds>>(value)...); }, trouble);
            }
        });
        look_at(e);
    }

    void add_many(id_type e, int set) {
        log("add " + to_string(e), set, 0);
        // Only kinds whose default can be read as a number.
        const bool added = model_.alive(e) && !(model_.has(e, 0) && model_.has(e, 2));
        bool got = false;
        const auto trouble = put(e, {0, 2}, {{0, 0}, {2, 0}}, true);
        compare("add", [&] { got = world_.template add<number, marker>(e); }, trouble);
        expect("added", got, added && !trouble);
        look_at(e);
    }

    void emplace(id_type e, int value, bool only_if_missing) {
        log("emplace " + to_string(e), 3, value);
        const std::string made = made_of<std::string>(value);
        const bool keep = only_if_missing && model_.has(e, 3);
        const auto trouble = keep ? std::nullopt : put(e, {3}, {{3, value}}, false);
        compare(
            "emplace",
            [&] {
                std::string& now =
                    only_if_missing ? world_.template get_or_emplace<std::string>(e, made.c_str())
                                    : world_.template emplace<std::string>(e, made.c_str());
                expect("emplaced", read(now), model_.at(e).has.at(3));
            },
            trouble);
        look_at(e);
    }

    void patch(id_type e, int value) {
        log("patch " + to_string(e), 0, value);
        auto trouble = model_.trouble(e);
        if (!trouble && !model_.has(e, 0)) trouble = errc::missing_component;
        if (!trouble) {
            values has = model_.at(e).has;
            has[0] = value;
            model_.replace_all(e, has);
        }
        compare(
            "patch",
            [&] { world_.template patch<number>(e, [&](number& now) { now.value = value; }); },
            trouble);
        look_at(e);
    }

    /// Copies a value from one entity to another by reference into the world.
    void copy_between(id_type from, id_type to, int item) {
        log("copy from " + to_string(from) + " to " + to_string(to), item, 0);
        with_kind(item, [&]<int Kind>() {
            using type = kind<Kind>;
            if constexpr (std::is_copy_constructible_v<type> && Kind != 2) {
                if (!model_.has(from, Kind)) return;
                const int value = model_.at(from).has.at(Kind);
                const auto trouble = put(to, {Kind}, {{Kind, value}}, false);
                compare("copy", [&] { world_.set(to, world_.template get<type>(from)); }, trouble);
                look_at(from);
            }
        });
        look_at(to);
    }

    void remove_one(id_type e, int value) {
        log("remove " + to_string(e), value, 0);
        with_kind(value, [&]<int Kind>() {
            remove(e, {Kind}, [&] { return world_.template remove<kind<Kind>>(e); });
        });
    }
    void remove_many(id_type e, int set) {
        log("remove many " + to_string(e), set, 0);
        with_set(set, [&]<int... Kinds>(set_of_kinds<Kinds...>) {
            if constexpr (sizeof...(Kinds) != 0)
                remove(e, {Kinds...}, [&] { return world_.template remove<kind<Kinds>...>(e); });
        });
    }
    template <class Call>
    void remove(id_type e, const std::vector<int>& kinds, Call call) {
        const auto trouble = model_.foreign(e) ? std::optional(errc::foreign_entity) : std::nullopt;
        bool wanted = false;
        if (model_.alive(e)) {
            values has = model_.at(e).has;
            for (const int kind : kinds) wanted |= has.erase(kind) != 0;
            std::optional<errc> no_key;
            if (wanted) no_key = model_.register_kinds(kinds);
            if (no_key) {
                compare("remove", call, no_key);
                return;
            }
            if (wanted) model_.replace_all(e, has);
        }
        bool got = false;
        compare("remove", [&] { got = call(); }, trouble);
        expect("removed", got, wanted);
        look_at(e);
    }

    void clear(id_type e) {
        log("clear " + to_string(e), 0, 0);
        const auto trouble = model_.foreign(e) ? std::optional(errc::foreign_entity) : std::nullopt;
        const bool wanted = model_.alive(e) && !model_.at(e).has.empty();
        if (wanted) model_.replace_all(e, {});
        bool got = false;
        compare("clear", [&] { got = world_.clear(e); }, trouble);
        expect("cleared", got, wanted);
        look_at(e);
    }

    void clear_kind(int value) {
        log("clear kind", value, 0);
        with_kind(value, [&]<int Kind>() {
            expect("clear kind", world_.template clear<kind<Kind>>(), model_.clear_kind(Kind));
        });
    }

    void single(int item, int value) {
        log("single", item, value);
        with_kind(item, [&]<int Kind>() {
            using type = kind<Kind>;
            auto trouble = model_.fragment(Kind) ? std::nullopt : model_.register_kind(Kind);
            if (!trouble)
                trouble = put(*model_.fragment(Kind), {Kind}, {{Kind, kept<type>(value)}}, false);
            compare("set_single", [&] { world_.set_single(made_of<type>(value)); }, trouble);
            if (trouble) return;
            expect("has_single", world_.template has_single<type>(), true);
            expect("single", read(std::as_const(world_).template single<type>()),
                   kept<type>(value));
            if (value % 2 == 0) return;
            values has = model_.at(*model_.fragment(Kind)).has;
            has.erase(Kind);
            (void)model_.register_kinds({Kind});
            model_.replace_all(*model_.fragment(Kind), has);
            expect("remove_single", world_.template remove_single<type>(), true);
            expect("has no single", world_.template has_single<type>(), false);
        });
    }

    // ---- destroying entities -------------------------------------------------------------------

    void destroy(id_type e) {
        log("destroy " + to_string(e), 0, 0);
        const auto trouble = model_.foreign(e) ? std::optional(errc::foreign_entity) : std::nullopt;
        const bool wanted = model_.destroy(e);
        bool got = false;
        compare("destroy", [&] { got = world_.destroy(e); }, trouble);
        expect("destroyed", got, wanted);
        look_at(e);
    }

    void destroy_several(id_type a, id_type b) {
        log("destroy " + to_string(a) + " and " + to_string(b), 0, 0);
        std::optional<errc> trouble;
        if (model_.foreign(a) || model_.foreign(b)) trouble = errc::foreign_entity;
        std::size_t wanted = 0;
        if (!trouble) {
            wanted += model_.destroy(a) ? 1u : 0u;
            wanted += model_.destroy(b) ? 1u : 0u;
        }
        std::size_t got = 0;
        compare("destroy several", [&] { got = world_.destroy(a, b); }, trouble);
        expect("destroyed several", got, wanted);
    }

    void destroy_if(std::uint8_t mask) {
        log("destroy_if", mask, 0);
        if (mask % 4 != 0) return;  // otherwise few entities would live long
        std::size_t wanted = 0;
        const auto chosen = [&](id_type e) { return (e.key() & mask) == mask; };
        for (const id_type e : model_.living())
            if (chosen(e)) wanted += model_.destroy(e) ? 1u : 0u;
        expect("destroy_if", world_.destroy_if(chosen), wanted);
    }

    void destroy_kind(int value) {
        if (const auto fragment = model_.fragment(value)) destroy(*fragment);
    }

    void reset() {
        log("reset", 0, 0);
        world_.reset();
        model_.reset();
        look_at_all();
    }

    // ---- other calls ---------------------------------------------------------------------------

    void collect_garbage() {
        log("collect_garbage", 0, 0);
        world_.collect_garbage();
        model_.collect_garbage();
        look_at_all();
    }

    void recycle() {
        log("recycle", 0, 0);
        expect("recycle", world_.recycle_tombstones(), model_.recycle_tombstones());
    }

    void name(id_type e, int which) {
        const std::string text = which == 0 ? "" : "name " + std::to_string(which);
        log("name " + to_string(e) + " " + text, 0, 0);
        const auto trouble = model_.trouble(e);
        if (!trouble) model_.name(e, text);
        compare("name", [&] { world_.name(e, text); }, trouble);
        if (text.empty()) return;
        const std::vector<id_type> all = model_.named(text);
        expect("lookup_all", world_.lookup_all(text), all);
        expect("lookup", world_.lookup(text), all.empty() ? id_type{} : all[0]);
    }

    template <class Call>
    void rarely(byte_source& from, Call call) {
        if (from.byte() % 8 == 0) call();
    }

    /// A living, dead, null, foreign or similar id, a fragment, or any bits.
    id_type any_id(byte_source& from) {
        const std::uint8_t kind = from.byte();
        const id_type known = seen_.empty() ? id_type{} : seen_[from.below(seen_.size())];
        switch (kind % 16) {
        case 0: return {};
        case 1: return foreign_;
        case 2: return id_type::from_value(static_cast<typename id_type::rep>(from.word()));
        case 3:
            return id_type::pack(
                known.key(), (known.version() + from.byte()) & Layout::last_version, known.world());
        case 4: return model_.fragment(from.byte() % kind_count).value_or(known);
        case 5:
            return id_type::pack((known.key() + from.byte()) & Layout::last_key, known.version(),
                                 known.world());
        default: return known;
        }
    }

    void remember(id_type e) {
        if (seen_.size() < 256)
            seen_.push_back(e);
        else
            seen_[e.value() * 0x9E3779B97F4A7C15u % seen_.size()] = e;
    }
    void remember_all(const char* what, const std::vector<id_type>& got,
                      const std::vector<id_type>& wanted) {
        expect(what, got, wanted);
        for (const id_type e : got) remember(e);
        if (!got.empty()) look_at(got.back());
    }

    template <class Call>
    void compare(const char* what, Call call, std::optional<errc> wanted) {
        std::optional<errc> got;
        try {
            call();
        } catch (const error& e) {
            got = e.code();
            if (std::string(e.what()).empty()) fail(what, "an error without a message");
        }
        if (got != wanted)
            fail(what, std::string(got ? to_string(*got) : "no error") + " instead of " +
                           (wanted ? to_string(*wanted) : "none"));
    }

    template <class Call>
    void compare_id(const char* what, Call call, typename model_type::outcome wanted) {
        std::optional<errc> trouble;
        if (const errc* code = std::get_if<errc>(&wanted)) trouble = *code;
        id_type got;
        compare(what, [&] { got = call(); }, trouble);
        if (trouble) return;
        expect(what, got, std::get<id_type>(wanted));
        remember(got);
        look_at(got);
    }

    template <class T>
    void expect(const char* what, const T& got, const T& wanted) {
        if (!(got == wanted)) fail(what, "differs from the model");
    }

    [[noreturn]] void fail(const char* what, const std::string& how) {
        throw difference(std::string(what) + ": " + how + ", after " + std::to_string(steps_) +
                         " steps\n" + log_);
    }

    void log(const std::string& what, int set, int value) {
        if (is_logging_)
            log_ +=
                "  " + what + " / " + std::to_string(set) + " / " + std::to_string(value) + "\n";
    }

    basic_world<Layout> world_;
    basic_world<Layout> foreign_world_;
    model_type model_;
    std::vector<id_type> seen_;
    id_type foreign_;
    std::map<std::pair<id_type, int>, std::pair<int, const void*>> addresses_;
    std::size_t steps_ = 0;
    unsigned sparse_kinds_;
    bool is_logging_;
    std::string log_;
};

template <class Layout>
std::size_t run_world_story(std::span<const std::uint8_t> bytes) {
    world_options options;
    if (!bytes.empty()) {
        options.reuse = bytes[0] & 1 ? reuse::fifo : reuse::lifo;
        options.provenance = (bytes[0] & 2) != 0;
        if (bytes[0] & 4) options.first_key = 16;
        if (bytes[0] & 8) options.last_key = 100;
    }
    unsigned sparse = 0;
    if (bytes.size() > 3 && bytes[1] % 4 != 0)  // no, some or all kinds
        sparse = bytes[1] % 4 == 3 ? ~0u : bytes[2] | unsigned{bytes[3]} << 8;
    const long living_before = living_empty::count;
    const auto run = [&](bool is_logging) {
        world_story<Layout> story(options, sparse, is_logging);
        story.run(bytes);
        return story.steps();
    };
    std::size_t steps = 0;
    try {
        steps = run(false);
    } catch (const difference&) {
        run(true);
        throw;
    }
    if (living_empty::count != living_before) throw difference("values were lost or doubled");
    return steps;
}

}  // namespace muster::test
