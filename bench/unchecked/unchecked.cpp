#include "unchecked/unchecked.hpp"

#include "support/scene.hpp"

namespace muster::bench {

static_assert(MUSTER_UNCHECKED == 1);

struct unchecked_scene::hidden {
    scene all;
    std::vector<entity> order;
    explicit hidden(std::size_t count) : all(count), order(shuffled(all.entities, 42)) {}
};

unchecked_scene::unchecked_scene(std::size_t count) : hidden_(new hidden(count)) {}
unchecked_scene::~unchecked_scene() {
    delete hidden_;
}

double unchecked_scene::sum_of_x() const {
    double sum = 0;
    for (const entity e : hidden_->order)
        sum += static_cast<double>(hidden_->all.world.get<position>(e).x);
    return sum;
}

}  // namespace muster::bench
