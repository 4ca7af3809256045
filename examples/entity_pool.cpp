// An entity pool done right. It never reuses a handle: an old handle to a released bullet must not
// refer to the next bullet. Ids are cheap, and the world reuses their keys itself. The pool keeps
// only the part that is expensive to create, here the memory of a trail.
#include <muster/muster.hpp>

#include <cstdio>
#include <utility>
#include <vector>

struct bullet {
    float x, y;
};
struct trail {
    std::vector<bullet> points;
};

class bullet_pool {
public:
    explicit bullet_pool(muster::world& w) : world_(w) {}

    /// Creates a new entity, with recycled memory if there is any.
    muster::entity acquire() {
        trail used;
        if (spare_.empty()) {
            ++made_;
            used.points.reserve(1000);
        } else {
            used = std::move(spare_.back());
            spare_.pop_back();
        }
        return world_.spawn(bullet{0, 0}, std::move(used));
    }

    /// Returns false if `e` was released already or is no bullet.
    bool release(muster::entity e) {
        trail* const used = world_.try_get<trail>(e);  // null if `e` is dead
        if (used == nullptr) return false;
        used->points.clear();
        spare_.push_back(std::move(*used));
        return world_.destroy(e);
    }

    int made() const { return made_; }

private:
    muster::world& world_;
    std::vector<trail> spare_;
    int made_ = 0;
};

int main() {
    muster::world w;
    bullet_pool pool(w);
    const muster::entity first = pool.acquire();
    w.get<trail>(first).points.push_back({1, 1});
    pool.release(first);
    const muster::entity second = pool.acquire();
    std::printf("%s was released, %s was acquired: the first is %s, the second %s\n",
                to_string(first).c_str(), to_string(second).c_str(),
                w.alive(first) ? "alive" : "dead", w.alive(second) ? "alive" : "dead");
    std::printf("its trail has %zu points and room for %s\n", w.get<trail>(second).points.size(),
                w.get<trail>(second).points.capacity() >= 1000 ? "a thousand" : "none");
    std::printf("released twice: %s\n", pool.release(first) ? "yes" : "no");

    for (int shot = 0; shot < 500; ++shot) pool.release(pool.acquire());
    std::printf("after 500 shots: bullets: %zu, trails that were made: %d\n", w.count<bullet>(),
                pool.made());
}
