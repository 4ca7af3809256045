// floor_world: what one would write by hand for one program: an array for each component, indexed by the
// key itself, and a bit mask of what each entity has. It knows its component types beforehand, leaves
// holes where entities died, and checks nothing but the version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/components.hpp"
#include "support/floor_ids.hpp"

namespace muster::bench {

class floor_world {
public:
    using id_type = floor_ids::id_type;

    id_type spawn(position p, velocity v) {
        const id_type e = ids_.create();
        positions.push_back(p);
        velocities.push_back(v);
        has.push_back(3);
        return e;
    }
    id_type spawn(position p, velocity v, const payload& d) {
        payloads.push_back(d);
        return spawn(p, v);
    }
    void spawn_many(const std::vector<position>& p, const std::vector<velocity>& v,
                    std::vector<id_type>& out) {
        positions.insert(positions.end(), p.begin(), p.end());
        velocities.insert(velocities.end(), v.begin(), v.end());
        has.resize(has.size() + p.size(), 3);
        ids_.create(out);
    }

    bool alive(id_type e) const { return ids_.alive(e); }
    position* try_get(id_type e) { return alive(e) ? &positions[floor_ids::key(e)] : nullptr; }

    void add(id_type e, extra x) {
        if (!alive(e)) return;
        extras.resize(positions.size());
        extras[floor_ids::key(e)] = x;
        has[floor_ids::key(e)] |= 4;
    }
    void add_tag(id_type e) {
        if (alive(e)) has[floor_ids::key(e)] |= 4;
    }
    void remove(id_type e) {
        if (alive(e)) has[floor_ids::key(e)] &= ~4u;
    }
    void destroy(id_type e) {
        if (!alive(e)) return;
        has[floor_ids::key(e)] = 0;
        ids_.destroy(e);
    }

    std::vector<position> positions;
    std::vector<velocity> velocities;
    std::vector<payload> payloads;
    std::vector<extra> extras;
    std::vector<std::uint32_t> has;

private:
    floor_ids ids_;
};

}  // namespace muster::bench
