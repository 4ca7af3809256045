// The floor: the code that a programmer would write by hand for a single program. It has an array
// for each component, indexed by the key, and if needed a bit mask of the components of each
// entity. Its component types are built in. It leaves holes where entities were destroyed, and
// checks versions only if the workload is about them. For entities of several kinds, it has arrays
// for each kind.
#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "questions/all.hpp"
#include "support/floor_ids.hpp"
#include "support/second_thread.hpp"

namespace muster::bench {
namespace {

/// A growing array that, unlike a vector, does not initialise its elements.
template <class T>
struct bare_array {
    T* data = nullptr;

    bare_array() = default;
    bare_array(const bare_array&) = delete;
    bare_array& operator=(const bare_array&) = delete;
    ~bare_array() { std::free(data); }

    void grow(std::size_t capacity) {
        data = static_cast<T*>(std::realloc(data, capacity * sizeof(T)));
    }
    T* begin() const { return data; }
};

class floor_world {
public:
    using id_type = floor_ids::id_type;

    std::vector<id_type> entities;

    id_type create() { return ids_.create(); }
    void create(std::span<id_type> out) { ids_.create(out); }
    void destroy(id_type e) {
        ids_.destroy(e);
        --size_;
    }
    [[nodiscard]] bool alive(id_type e) const { return ids_.alive(e); }

    void spawn(std::span<id_type> out) {
        std::size_t capacity = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (i == capacity) grow(capacity = capacity == 0 ? 64 : capacity * 2);
            out[i] = ids_.create();
            positions_.data[i] = position_of(i);
            velocities_.data[i] = velocity_of(i);
        }
        reach_ = size_ = out.size();
    }
    void spawn_bulk(std::span<id_type> out, const std::vector<position>& positions,
                    const std::vector<velocity>& velocities) {
        grow(out.size());
        ids_.create(out);
        std::memcpy(positions_.data, positions.data(), positions.size() * sizeof(position));
        std::memcpy(velocities_.data, velocities.data(), velocities.size() * sizeof(velocity));
        reach_ = size_ = out.size();
    }
    void spawn_deferred(std::span<id_type> out) {
        struct command {
            id_type who;
            position p;
            velocity v;
        };
        bare_array<command> recorded;
        std::size_t capacity = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
            if (i == capacity) recorded.grow(capacity = capacity == 0 ? 64 : capacity * 2);
            recorded.data[i] = {out[i] = ids_.create(), position_of(i), velocity_of(i)};
        }
        clobber();
        grow(out.size());
        for (std::size_t i = 0; i < out.size(); ++i) {
            positions_.data[i] = recorded.data[i].p;
            velocities_.data[i] = recorded.data[i].v;
        }
        reach_ = size_ = out.size();
    }
    void fill(std::size_t count, bool with_payload) {
        entities.resize(count);
        spawn(entities);
        if (with_payload) payloads_.resize(count);
        masks_.assign(count, 3);
        extras_.resize(count);
    }
    void fill_kinds(std::size_t count, std::size_t kinds) {
        kinds_.resize(kinds);
        for (std::size_t i = 0; i < count; ++i) kinds_[i % kinds].push_back(position_of(i));
    }
    void enlarge() {}
    void destroy_all() {
        for (const id_type e : entities) ids_.destroy(e);
        size_ = 0;
    }

    [[nodiscard]] double sum_of_x() const {
        double sum = 0;
        for (std::size_t i = 0; i < reach_; ++i) sum += static_cast<double>(positions_.data[i].x);
        for (const auto& kind : kinds_)
            for (const position& p : kind) sum += static_cast<double>(p.x);
        return sum;
    }
    [[nodiscard]] std::size_t count_moving() const { return size_; }
    [[nodiscard]] double sum_of(const std::vector<id_type>& ids) const {
        double sum = 0;
        for (const id_type e : ids)
            if (alive(e)) sum += static_cast<double>(positions_.data[floor_ids::key(e)].x);
        return sum;
    }
    double query_once() {
        double sum = 0;
        for (std::size_t i = 0; i < reach_; ++i)
            sum += static_cast<double>(positions_.data[i].x + velocities_.data[i].x);
        return sum;
    }

    template <class T>
    void give(const std::vector<id_type>& ids) {
        for (const id_type e : ids) {
            if constexpr (std::same_as<T, extra>) extras_[floor_ids::key(e)] = {1};
            masks_[floor_ids::key(e)] |= 4;
        }
        clobber();
    }
    template <class T>
    void take(const std::vector<id_type>& ids) {
        for (const id_type e : ids) masks_[floor_ids::key(e)] &= ~4u;
    }
    /// Checks only the last entity: counting all would take as long as changing them.
    template <class T>
    [[nodiscard]] std::size_t count() const {
        return (masks_.back() & 4) != 0 ? masks_.size() : 0;
    }
    void give_sparse(const std::vector<id_type>& ids) { give<extra>(ids); }
    void take_sparse(const std::vector<id_type>& ids) { take<extra>(ids); }
    [[nodiscard]] std::size_t count_sparse() const { return count<extra>(); }
    void set_sparse(id_type e, float value) {
        extras_[floor_ids::key(e)] = {value};
        masks_[floor_ids::key(e)] |= 4;
    }
    [[nodiscard]] double sum_of_sparse(const std::vector<id_type>& ids) const {
        double sum = 0;
        for (const id_type e : ids)
            if (alive(e)) sum += static_cast<double>(extras_[floor_ids::key(e)].value);
        return sum;
    }
    /// All entities have the component.
    auto loop_sparse() {
        return [this] {
            for (extra& one : extras_) step_sparse(one.value);
        };
    }
    /// Loops over a list of the entities that have the component, and their values. Relies on the
    /// fact that they do not change.
    auto loop_with_sparse() {
        std::vector<std::uint32_t> who;
        std::vector<float> values;
        for (std::size_t i = 0; i < masks_.size(); ++i)
            if ((masks_[i] & 4) != 0) {
                who.push_back(static_cast<std::uint32_t>(i));
                values.push_back(extras_[i].value);
            }
        return [p = positions_.data, who = std::move(who), values = std::move(values)] {
            for (std::size_t i = 0; i < who.size(); ++i) step_with_sparse(p[who[i]], values[i]);
        };
    }

    auto loop_1() {
        return [this] {
            for (std::size_t i = 0; i < reach_; ++i) step_1(positions_.data[i]);
            for (auto& kind : kinds_)
                for (position& p : kind) step_1(p);
        };
    }
    auto loop_2() {
        return [p = positions_.data, v = velocities_.data, count = reach_] {
            for (std::size_t i = 0; i < count; ++i) step_2(p[i], v[i]);
        };
    }
    auto loop_3() {
        return [p = positions_.data, v = velocities_.data, d = payloads_.data(), count = reach_] {
            for (std::size_t i = 0; i < count; ++i) step_3(p[i], v[i], d[i]);
        };
    }
    auto heavy_1() {
        return [this] { work(0, reach_); };
    }
    auto heavy_2() {
        return [this, other = std::make_shared<second_thread>()] {
            other->run([this] { work(0, reach_ / 2); }, [this] { work(reach_ / 2, reach_); });
        };
    }

private:
    void grow(std::size_t capacity) {
        positions_.grow(capacity);
        velocities_.grow(capacity);
    }
    void work(std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) work_hard(positions_.data[i], velocities_.data[i]);
    }

    floor_ids ids_;
    std::size_t reach_ = 0;  // rows, including those of destroyed entities
    std::size_t size_ = 0;
    bare_array<position> positions_;
    bare_array<velocity> velocities_;
    std::vector<payload> payloads_;
    std::vector<extra> extras_;
    std::vector<std::uint32_t> masks_;
    std::vector<std::vector<position>> kinds_;
};

/// Arrays for each kind, and loops over them.
class floor_garden {
public:
    void add(unsigned kind, const recipe& r) {
        group& to = groups_[kind];
        if (kind & placed) to.p.push_back(r.p);
        if (kind & moving) to.v.push_back(r.v);
        if (kind & minded) to.m.push_back(r.m);
        if (kind & bodied) {
            to.s.push_back(r.s);
            to.b.push_back(r.b);
            to.t.push_back(r.t);
            to.l.push_back(r.l);
        }
        ++to.size;
    }
    void run(picture& on) {
        each(placed | moving, move, &group::p, &group::v);
        each(minded, live, &group::m);
        each(placed | moving | minded, turn, &group::p, &group::v, &group::m);
        each(bodied, grow, &group::b);
        each(bodied, be_bitten, &group::b, &group::t);
        each(bodied, choose_look, &group::l, &group::s, &group::b);
        each(
            placed | bodied, [&on](const place& p, const look& l) { draw(on, p, l); }, &group::p,
            &group::l);
    }
    result sum() {
        result made;
        each(minded, [&](const mind& m) { made.add(m); }, &group::m);
        each(bodied, [&](const body& b, const look& l) { made.add(b, l); }, &group::b, &group::l);
        return made;
    }

private:
    struct group {
        std::size_t size = 0;
        std::vector<place> p;
        std::vector<speed> v;
        std::vector<mind> m;
        std::vector<species> s;
        std::vector<body> b;
        std::vector<teeth> t;
        std::vector<look> l;
    };
    template <class Call, class... Cs>
    [[gnu::always_inline]] void each(unsigned kind, Call call,
                                     std::vector<Cs> group::*... columns) {
        for (std::size_t at = 0; at < groups_.size(); ++at)
            if ((at & kind) == kind) loop(groups_[at].size, call, (groups_[at].*columns).data()...);
    }
    template <class Call, class... Cs>
    [[gnu::always_inline]] static void loop(std::size_t size, Call call, Cs*... columns) {
        for (std::size_t i = 0; i < size; ++i) call(columns[i]...);
    }
    std::array<group, 16> groups_;
};

[[maybe_unused]] const int registered = [] {
    ask_about_ids<floor_world>("floor", 10 * million);
    ask_about_entities<floor_world>("floor", 10 * million);
    ask_about_components<floor_world>("floor", 10 * million);
    ask_about_sparse<floor_world>("floor", 10 * million);
    ask_about_frames<floor_garden>("floor");
    return 0;
}();

}  // namespace
}  // namespace muster::bench
