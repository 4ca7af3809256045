// gaia-ecs, with its fastest idioms: components by id instead of by type, new entities by `copy`
// and `copy_n` of a first entity, cached queries with typed functions or with views of chunks.
// gaia-ecs defers destruction: the rows include the `update` that applies it.
#include <gaia.h>

#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "questions/all.hpp"

namespace muster::bench {
namespace {

namespace ecs = gaia::ecs;
using id = ecs::Entity;

struct sparse_extra {
    GAIA_STORAGE(Sparse);
    float value;
};

class gaia_world {
    auto heavy(ecs::QueryExecType how) {
        return [q = world_.query().all<position&>().all<velocity>(), how]() mutable {
            q.each(
                [](ecs::Iter& it) {
                    position* const p = it.view_mut<position>(0).data();
                    const velocity* const v = it.view<velocity>(1).data();
                    const auto size = it.size();
                    for (std::uint32_t i = 0; i < size; ++i) work_hard(p[i], v[i]);
                },
                how);
        };
    }

public:
    using id_type = id;

    std::vector<id> entities;

    gaia_world() { (void)world_.add<payload>(); }

    id create() { return world_.add(); }
    void create(std::span<id> out) {
        id* next = out.data();
        world_.add_n(static_cast<std::uint32_t>(out.size()), [&](id e) { *next++ = e; });
    }
    void destroy(id e) { world_.del(e); }
    void finish_frame() { world_.update(); }
    [[nodiscard]] bool alive(id e) const { return world_.valid(e); }

    void spawn(std::span<id> out) {
        out[0] = first_of_all(position_of(0), velocity_of(0));
        for (std::size_t i = 1; i < out.size(); ++i) {
            out[i] = world_.copy(out[0]);
            auto values = world_.acc_mut(out[i]);
            values.smut<position>(position_) = position_of(i);
            values.smut<velocity>(velocity_) = velocity_of(i);
        }
    }
    void spawn_bulk(std::span<id> out, const std::vector<position>& positions,
                    const std::vector<velocity>& velocities) {
        out[0] = first_of_all(positions[0], velocities[0]);
        std::size_t done = 1;
        world_.copy_n(out[0], static_cast<std::uint32_t>(out.size() - 1), [&](ecs::CopyIter& it) {
            const std::size_t size = it.size();
            std::memcpy(&out[done], &it.view<id>()[0], size * sizeof(id));
            std::memcpy(&it.view_mut<position>()[0], &positions[done], size * sizeof(position));
            std::memcpy(&it.view_mut<velocity>()[0], &velocities[done], size * sizeof(velocity));
            done += size;
        });
    }
    void fill(std::size_t count, bool with_payload) {
        entities.resize(count);
        const id first = entities[0] = world_.add();
        {
            auto all = world_.build(first);
            all.add<position>().add<velocity>();
            if (with_payload) all.add<payload>();
            all.commit();
        }
        std::size_t next = 1;
        if (count > 1)
            world_.add_n(first, static_cast<std::uint32_t>(count - 1),
                         [&](id e) { entities[next++] = e; });
        for (std::size_t i = 0; i < count; ++i) {
            auto values = world_.acc_mut(entities[i]);
            values.mut<position>() = position_of(i);
            values.mut<velocity>() = velocity_of(i);
            if (with_payload) values.mut<payload>() = payload{};
        }
    }
    void fill_kinds(std::size_t count, std::size_t kinds) {
        for (std::size_t i = 0; i < count; ++i) {
            const id e = world_.add();
            world_.add<position>(e, position_of(i));
            if (kinds == 26)
                set_variety(e, i % kinds, std::make_index_sequence<26>());
            else
                set_marks(e, i % kinds, std::make_index_sequence<8>());
        }
    }
    void enlarge() {
        for (const id e : entities) add_fillers(e, std::make_index_sequence<6>());
    }

    [[nodiscard]] double sum_of_x() {
        double sum = 0;
        world_.uquery().all<position>().each(
            [&](const position& p) { sum += static_cast<double>(p.x); });
        return sum;
    }
    [[nodiscard]] std::size_t count_moving() {
        return world_.uquery().all<position>().all<velocity>().count();
    }
    [[nodiscard]] double sum_of(const std::vector<id>& ids) {
        double sum = 0;
        for (const id e : ids) {
            const auto found = world_.get_raw(e, position_);
            if (found.valid())
                sum += static_cast<double>(static_cast<const position*>(found.data)->x);
        }
        return sum;
    }
    double query_once() {
        double sum = 0;
        world_.uquery().all<position>().all<velocity>().each(
            [&](const position& p, const velocity& v) { sum += static_cast<double>(p.x + v.x); });
        return sum;
    }

    template <class T>
    void give(const std::vector<id>& ids) {
        const id what = id_of<T>();
        for (const id e : ids) {
            world_.add(e, what);
            if constexpr (!std::is_empty_v<T>)
                *static_cast<T*>(world_.mut_raw(e, what).data) = T{1};
        }
    }
    template <class T>
    void take(const std::vector<id>& ids) {
        const id what = id_of<T>();
        for (const id e : ids) world_.del(e, what);
    }
    template <class T>
    [[nodiscard]] std::size_t count() {
        return world_.uquery().template all<T>().count();
    }
    void give_sparse(const std::vector<id>& ids) {
        (void)sparse();
        for (const id e : ids) world_.add<sparse_extra>(e, sparse_extra{1});
    }
    void take_sparse(const std::vector<id>& ids) {
        for (const id e : ids) world_.del<sparse_extra>(e);
    }
    /// Checks only the last entity.
    [[nodiscard]] std::size_t count_sparse() const {
        return world_.has<sparse_extra>(entities.back()) ? entities.size() : 0;
    }
    void set_sparse(id e, float value) {
        (void)sparse();
        world_.add<sparse_extra>(e, sparse_extra{value});
    }
    [[nodiscard]] double sum_of_sparse(const std::vector<id>& ids) {
        const id what = sparse();
        double sum = 0;
        for (const id e : ids) {
            const auto found = world_.get_raw(e, what);
            if (found.valid())
                sum += static_cast<double>(static_cast<const sparse_extra*>(found.data)->value);
        }
        return sum;
    }
    auto loop_sparse() {
        return [q = world_.query().all<sparse_extra&>()]() mutable {
            q.each([](sparse_extra& one) { step_sparse(one.value); });
        };
    }
    auto loop_with_sparse() {
        return [q = world_.query().all<position&>().all<sparse_extra>()]() mutable {
            q.each([](position& p, const sparse_extra& one) { step_with_sparse(p, one.value); });
        };
    }

    auto loop_1() {
        return [q = world_.query().all<position&>()]() mutable {
            q.each([](ecs::Iter& it) {
                position* const p = it.sview_mut<position>(0).data();
                const auto size = it.size();
                for (std::uint32_t i = 0; i < size; ++i) step_1(p[i]);
            });
        };
    }
    auto loop_2() {
        return [q = world_.query().all<position&>().all<velocity>()]() mutable {
            q.each([](ecs::Iter& it) {
                position* const p = it.sview_mut<position>(0).data();
                const velocity* const v = it.view<velocity>(1).data();
                const auto size = it.size();
                for (std::uint32_t i = 0; i < size; ++i) step_2(p[i], v[i]);
            });
        };
    }
    auto loop_3() {
        return [q = world_.query().all<position&>().all<velocity>().all<payload&>()]() mutable {
            q.each([](ecs::Iter& it) {
                position* const p = it.view_mut<position>(0).data();
                const velocity* const v = it.view<velocity>(1).data();
                payload* const d = it.view_mut<payload>(2).data();
                const auto size = it.size();
                for (std::uint32_t i = 0; i < size; ++i) step_3(p[i], v[i], d[i]);
            });
        };
    }
    auto heavy_1() { return heavy(ecs::QueryExecType::Default); }
    auto heavy_2() { return heavy(ecs::QueryExecType::Parallel); }

private:
    id first_of_all(position p, velocity v) {
        const id e = world_.add();
        world_.build(e).add<position>().add<velocity>().commit();
        auto values = world_.acc_mut(e);
        values.mut<position>() = p;
        values.mut<velocity>() = v;
        return e;
    }
    /// Registers the component on first use.
    id sparse() {
        if (sparse_ == ecs::EntityBad) {
            sparse_ = world_.add<sparse_extra>().entity;
            world_.add(sparse_, ecs::DontFragment);
        }
        return sparse_;
    }
    template <class T>
    id id_of() const {
        return std::is_empty_v<T> ? tag_ : extra_;
    }
    template <std::size_t... Is>
    void set_variety(id e, std::size_t kind, std::index_sequence<Is...>) {
        ((kind == Is ? void(world_.add<variety<Is>>(e, variety<Is>{1})) : void()), ...);
    }
    template <std::size_t... Is>
    void set_marks(id e, std::size_t kind, std::index_sequence<Is...>) {
        auto all = world_.build(e);
        (((kind >> Is & 1) != 0 ? void(all.template add<mark<Is>>()) : void()), ...);
        all.commit();
    }
    template <std::size_t... Is>
    void add_fillers(id e, std::index_sequence<Is...>) {
        {
            auto all = world_.build(e);
            (all.template add<filler<Is>>(), ...);
            all.commit();
        }
        auto values = world_.acc_mut(e);
        ((values.template mut<filler<Is>>() = filler<Is>{1, 2}), ...);
    }

    ecs::World world_;
    id position_ = world_.add<position>().entity;
    id velocity_ = world_.add<velocity>().entity;
    id extra_ = world_.add<extra>().entity;
    id tag_ = world_.add<tag>().entity;
    id sparse_ = ecs::EntityBad;
};

/// Seven cached queries.
class gaia_garden {
public:
    void add(unsigned kind, const recipe& r) {
        const id e = world_.add();
        if (kind & placed) world_.add<place>(e, r.p);
        if (kind & moving) world_.add<speed>(e, r.v);
        if (kind & minded) world_.add<mind>(e, r.m);
        if (kind & bodied) {
            world_.add<species>(e, r.s);
            world_.add<body>(e, r.b);
            world_.add<teeth>(e, r.t);
            world_.add<look>(e, r.l);
        }
    }
    void run(picture& on) {
        movers_.each([](place& p, const speed& v) { move(p, v); });
        minds_.each([](mind& m) { live(m); });
        turners_.each([](const place& p, speed& v, mind& m) { turn(p, v, m); });
        bodies_.each([](body& b) { grow(b); });
        bitten_.each([](body& b, const teeth& t) { be_bitten(b, t); });
        looks_.each([](look& l, const species& s, const body& b) { choose_look(l, s, b); });
        drawn_.each([&](const place& p, const look& l) { draw(on, p, l); });
    }
    result sum() {
        result made;
        minds_.each([&](mind& m) { made.add(m); });
        world_.uquery().all<body>().all<look>().each(
            [&](const body& b, const look& l) { made.add(b, l); });
        return made;
    }

private:
    ecs::World world_;
    ecs::Query movers_ = world_.query().all<place&>().all<speed>();
    ecs::Query minds_ = world_.query().all<mind&>();
    ecs::Query turners_ = world_.query().all<place>().all<speed&>().all<mind&>();
    ecs::Query bodies_ = world_.query().all<body&>();
    ecs::Query bitten_ = world_.query().all<body&>().all<teeth>();
    ecs::Query looks_ = world_.query().all<look&>().all<species>().all<body>();
    ecs::Query drawn_ = world_.query().all<place>().all<look>();
};

/// Records into a command buffer, which does not return the final ids.
void record_and_commit(trial& t) {
    struct contestant {
        ecs::World world;
    };
    const double sum = sum_of_x(t.size());
    measure(
        t, [] { return std::make_unique<contestant>(); },
        [&](contestant& c) {
            ecs::CommandBufferST buffer(c.world);
            for (std::size_t i = 0; i < t.size(); ++i) {
                const id e = buffer.add();
                buffer.add<position>(e, position_of(i));
                buffer.add<velocity>(e, velocity_of(i));
                // The buffer grows by a fixed step, so committing now and then is faster.
                if (i % 1024 == 1023) buffer.commit();
            }
            buffer.commit();
        },
        [&](contestant& c) {
            double found = 0;
            c.world.uquery().all<position>().all<velocity>().each(
                [&](const position& p, const velocity&) { found += static_cast<double>(p.x); });
            return found == sum;
        });
}

[[maybe_unused]] const int registered = [] {
    add_peer("gaia-ecs", std::to_string(GAIA_VERSION_MAJOR) + "." +
                             std::to_string(GAIA_VERSION_MINOR) + "." +
                             std::to_string(GAIA_VERSION_PATCH));
    ask_about_ids<gaia_world>("gaia-ecs", million);
    ask_about_entities<gaia_world>("gaia-ecs", million);
    ask_about_components<gaia_world>("gaia-ecs", million);
    ask_about_sparse<gaia_world>("gaia-ecs", million);
    ask_about_frames<gaia_garden>("gaia-ecs");
    add("deferred", "gaia-ecs", record_and_commit, million);
    return 0;
}();

}  // namespace
}  // namespace muster::bench
