#include <muster/engine/engine.hpp>
#include <muster/query/single.hpp>

namespace MUSTER_NAMESPACE::detail {

void* get_single(const engine& owner, type_index type, std::string_view name, bool is_written) {
    const fragment_data& fragment = owner.fragments.find(type);
    if (!owner.components.has(fragment.id, fragment)) owner.errors.raise_no_single(name, nullptr);
    if constexpr (checks_threads)
        if (owner.gate.is_parallel()) owner.parallel.check_access(type, is_written, name);
    if (is_written) owner.changes.mark_written(fragment.id, fragment);
    return owner.components.find(fragment.id, fragment);
}

}  // namespace MUSTER_NAMESPACE::detail
