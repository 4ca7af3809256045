// EnTT, with its fastest idioms: kept storages, full-owning groups, and loops over the packed pages
// of storages.
#include <entt/config/version.h>

#include <algorithm>
#include <entt/entity/group.hpp>
#include <entt/entity/registry.hpp>
#include <entt/entity/storage.hpp>
#include <entt/entity/view.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "questions/all.hpp"

namespace muster::bench {
namespace {

using id = entt::entity;

/// Calls `each(values...)` for the first `count` rows of storages that are in the same order.
template <class Each, class First, class... Storages>
void each_row(std::size_t count, Each each, First& first, Storages&... others) {
    constexpr std::size_t page = entt::component_traits<typename First::value_type, id>::page_size;
    for (std::size_t begin = 0; begin < count; begin += page) {
        const std::size_t size = std::min(page, count - begin);
        const auto loop = [&](auto* const... rows) {
            for (std::size_t i = 0; i < size; ++i) each(rows[i]...);
        };
        loop(first.raw()[begin / page], others.raw()[begin / page]...);
    }
}

/// Entities of a registry without component storages: destroying an entity searches no storage.
class entt_ids {
public:
    using id_type = id;

    id create() { return registry_.create(); }
    void create(std::span<id> out) { registry_.create(out.begin(), out.end()); }
    void destroy(id e) { ids_.erase(e); }
    [[nodiscard]] bool alive(id e) const { return registry_.valid(e); }

private:
    entt::registry registry_;
    entt::storage_for_t<id>& ids_ = registry_.storage<id>();
};

class entt_world {
public:
    using id_type = id;

    std::vector<id> entities;

    void destroy(id e) { registry_.destroy(e); }
    [[nodiscard]] bool alive(id e) const { return registry_.valid(e); }

    void spawn(std::span<id> out) {
        for (std::size_t i = 0; i < out.size(); ++i) {
            const id e = out[i] = registry_.create();
            positions_.emplace(e, position_of(i));
            velocities_.emplace(e, velocity_of(i));
        }
    }
    void spawn_bulk(std::span<id> out, const std::vector<position>& positions,
                    const std::vector<velocity>& velocities) {
        registry_.create(out.begin(), out.end());
        positions_.insert(out.begin(), out.end(), positions.begin());
        velocities_.insert(out.begin(), out.end(), velocities.begin());
    }
    void fill(std::size_t count, bool with_payload) {
        entities.resize(count);
        spawn(entities);
        if (with_payload)
            for (const id e : entities) registry_.emplace<payload>(e);
    }
    void fill_kinds(std::size_t count, std::size_t kinds) {
        for (std::size_t i = 0; i < count; ++i) {
            const id e = registry_.create();
            positions_.emplace(e, position_of(i));
            if (kinds == 26)
                set_variety(e, i % kinds, std::make_index_sequence<26>());
            else
                set_marks(e, i % kinds, std::make_index_sequence<8>());
        }
    }
    void enlarge() {
        for (const id e : entities) add_fillers(e, std::make_index_sequence<6>());
    }
    void destroy_all() { registry_.destroy(entities.begin(), entities.end()); }
    void collect() {
        for (auto&& [name, storage] : registry_.storage()) storage.shrink_to_fit();
    }

    [[nodiscard]] double sum_of_x() {
        double sum = 0;
        for (const position& p : positions_) sum += static_cast<double>(p.x);
        return sum;
    }
    [[nodiscard]] std::size_t count_moving() {
        std::size_t count = 0;
        for ([[maybe_unused]] const id e : registry_.view<position, velocity>()) ++count;
        return count;
    }
    [[nodiscard]] double sum_of(const std::vector<id>& ids) const {
        double sum = 0;
        for (const id e : ids)
            if (positions_.contains(e)) sum += static_cast<double>(positions_.get(e).x);
        return sum;
    }
    double query_once() {
        double sum = 0;
        registry_.view<const position, const velocity>().each(
            [&](const position& p, const velocity& v) { sum += static_cast<double>(p.x + v.x); });
        return sum;
    }

    // These two functions inline the storage completely. Without the attributes, the compiler
    // inlines only a part, which varies, and the code takes a quarter to two thirds longer.
    template <class T>
    [[gnu::noinline, gnu::flatten]] void give(const std::vector<id>& ids) {
        auto& storage = registry_.storage<T>();
        for (const id e : ids) {
            if constexpr (std::is_empty_v<T>)
                storage.emplace(e);
            else
                storage.emplace(e, 1.0f);
        }
    }
    template <class T>
    [[gnu::noinline, gnu::flatten]] void take(const std::vector<id>& ids) {
        auto& storage = registry_.storage<T>();
        for (const id e : ids) storage.erase(e);
    }
    template <class T>
    [[nodiscard]] std::size_t count() {
        return registry_.storage<T>().size();
    }
    // All storages of EnTT are sparse sets.
    void give_sparse(const std::vector<id>& ids) { give<extra>(ids); }
    void take_sparse(const std::vector<id>& ids) { take<extra>(ids); }
    [[nodiscard]] std::size_t count_sparse() { return count<extra>(); }
    void set_sparse(id e, float value) { registry_.emplace<extra>(e, value); }
    [[nodiscard]] double sum_of_sparse(const std::vector<id>& ids) {
        const auto& storage = registry_.storage<extra>();
        double sum = 0;
        for (const id e : ids)
            if (storage.contains(e)) sum += static_cast<double>(storage.get(e).value);
        return sum;
    }
    auto loop_sparse() {
        return [&storage = registry_.storage<extra>()] {
            each_row(storage.size(), [](extra& one) { step_sparse(one.value); }, storage);
        };
    }
    /// Iterates over the smaller storage. A group would be faster, but adding and removing the
    /// component, the purpose of sparse components, would cost four times as much.
    auto loop_with_sparse() {
        return [this, &storage = registry_.storage<extra>()] {
            const id* who = storage.data();
            each_row(
                storage.size(),
                [&](const extra& one) {
                    const id e = *who++;
                    if (positions_.contains(e)) step_with_sparse(positions_.get(e), one.value);
                },
                storage);
        };
    }

    auto loop_1() {
        return [this] { each_row(positions_.size(), [](position& p) { step_1(p); }, positions_); };
    }
    auto loop_2() {
        return [this, group = registry_.group<position, velocity>()] {
            each_row(
                group.size(), [](position& p, const velocity& v) { step_2(p, v); }, positions_,
                velocities_);
        };
    }
    auto loop_3() {
        return [this, group = registry_.group<position, velocity, payload>()] {
            each_row(
                group.size(), [](position& p, const velocity& v, payload& d) { step_3(p, v, d); },
                positions_, velocities_, registry_.storage<payload>());
        };
    }
    auto heavy_1() {
        return [group = registry_.group<position, velocity>()] {
            group.each([](position& p, velocity& v) { work_hard(p, v); });
        };
    }

private:
    template <std::size_t... Is>
    void set_variety(id e, std::size_t kind, std::index_sequence<Is...>) {
        ((kind == Is ? void(registry_.emplace<variety<Is>>(e, 1.0f)) : void()), ...);
    }
    template <std::size_t... Is>
    void set_marks(id e, std::size_t kind, std::index_sequence<Is...>) {
        (((kind >> Is & 1) != 0 ? void(registry_.emplace<mark<Is>>(e)) : void()), ...);
    }
    template <std::size_t... Is>
    void add_fillers(id e, std::index_sequence<Is...>) {
        (registry_.emplace<filler<Is>>(e, 1.0f, 2.0f), ...);
    }

    entt::registry registry_;
    entt::storage_for_t<position>& positions_ = registry_.storage<position>();
    entt::storage_for_t<velocity>& velocities_ = registry_.storage<velocity>();
};

/// Groups own the components that most systems use. A component can be owned by only one group.
class entt_garden {
    auto movers() { return registry_.group<place, speed>(); }
    auto turners() { return registry_.group<mind>(entt::get<place, speed>); }
    auto bodies() { return registry_.group<body, teeth>(); }
    auto looks() { return registry_.group<look, species>(entt::get<body>); }

public:
    entt_garden() {
        (void)movers();
        (void)turners();
        (void)bodies();
        (void)looks();
    }
    void add(unsigned kind, const recipe& r) {
        const id e = registry_.create();
        if (kind & placed) registry_.emplace<place>(e, r.p);
        if (kind & moving) registry_.emplace<speed>(e, r.v);
        if (kind & minded) registry_.emplace<mind>(e, r.m);
        if (kind & bodied) {
            registry_.emplace<species>(e, r.s);
            registry_.emplace<body>(e, r.b);
            registry_.emplace<teeth>(e, r.t);
            registry_.emplace<look>(e, r.l);
        }
    }
    void run(picture& on) {
        auto& minds = registry_.storage<mind>();
        auto& all = registry_.storage<body>();
        each_row(
            movers().size(), [](place& p, const speed& v) { move(p, v); },
            registry_.storage<place>(), registry_.storage<speed>());
        each_row(minds.size(), [](mind& m) { live(m); }, minds);
        turners().each([](mind& m, place& p, speed& v) { turn(p, v, m); });
        each_row(all.size(), [](body& b) { grow(b); }, all);
        each_row(
            bodies().size(), [](body& b, const teeth& t) { be_bitten(b, t); }, all,
            registry_.storage<teeth>());
        looks().each([](look& l, species& s, body& b) { choose_look(l, s, b); });
        registry_.view<const look, const place>().each(
            [&](const look& l, const place& p) { draw(on, p, l); });
    }
    result sum() {
        result made;
        for (const mind& m : registry_.storage<mind>()) made.add(m);
        registry_.view<body, look>().each([&](body& b, look& l) { made.add(b, l); });
        return made;
    }

private:
    entt::registry registry_;
};

[[maybe_unused]] const int registered = [] {
    add_peer("EnTT", ENTT_VERSION);
    // Its ids have 20-bit keys.
    ask_about_ids<entt_ids>("EnTT", million);
    ask_about_entities<entt_world>("EnTT", million);
    ask_about_components<entt_world>("EnTT", million);
    ask_about_sparse<entt_world>("EnTT", million);
    ask_about_frames<entt_garden>("EnTT");
    return 0;
}();

}  // namespace
}  // namespace muster::bench
