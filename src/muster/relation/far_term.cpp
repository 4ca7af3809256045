#include <muster/engine/engine.hpp>
#include <muster/relation/far_term.hpp>
#include <muster/relation/link_test.hpp>

namespace MUSTER_NAMESPACE::detail {

std::uint64_t above_finder::find(std::uint64_t from) {
    constexpr std::size_t few = 8;
    const entity_directory& entities = owner_.entities;
    const std::uint64_t null = entities.null();
    path_.clear();
    std::uint64_t found = from;
    while (found != null && !shows_component(owner_, found, component_, is_read_)) {
        if (const std::uint64_t* const known = known_.find(entities.key_of(found))) {
            found = *known;
            break;
        }
        // More steps than entities: links lead in a circle.
        if (path_.size() > entities.size()) {
            found = null;
            break;
        }
        path_.push_back(found);
        found = by_.target_of(found);
    }
    if (path_.size() > few)
        for (const std::uint64_t passed : path_) known_.ensure(entities.key_of(passed), found);
    return found;
}

}  // namespace MUSTER_NAMESPACE::detail
