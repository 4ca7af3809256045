// A pool of entities that are used again and again, done right: what is released is cleared, not
// destroyed, so that what the pool hands out is alive. And who kept a handle of a released entity?
// The pool gives it a new life with a new version when it is released, so that old handles are dead.
#include <muster/muster.hpp>

#include <cstdio>
#include <vector>

struct bullet {
    float x, y;
};

class bullet_pool {
public:
    explicit bullet_pool(muster::world& w) : world_(w) {}

    muster::entity acquire() {
        if (idle_.empty()) return world_.spawn(bullet{0, 0});
        const muster::entity e = idle_.back();
        idle_.pop_back();
        world_.set(e, bullet{0, 0});
        return e;
    }

    /// False if it was released already.
    bool release(muster::entity e) {
        if (!world_.destroy(e)) return false;
        idle_.push_back(world_.spawn());  // the same key, at the next version
        return true;
    }

private:
    muster::world& world_;
    std::vector<muster::entity> idle_;
};

int main() {
    muster::world w;
    bullet_pool pool(w);
    const muster::entity first = pool.acquire();
    pool.release(first);
    const muster::entity second = pool.acquire();
    std::printf("the same key: %s, and the old handle is %s\n",
                first.key() == second.key() ? "yes" : "no", w.alive(first) ? "alive" : "dead");
    std::printf("released twice: %s\n", pool.release(first) ? "yes" : "no");
    std::printf("%s is alive and has a bullet: %s\n", to_string(second).c_str(),
                w.has<bullet>(second) ? "yes" : "no");
}
