#include <muster/system/parallel.hpp>
#include <muster/world/compiled_world.hpp>

namespace MUSTER_NAMESPACE {

template class detail::world_base<layouts::bound>;
template class entity_calls<layouts::bound>;
template class spawn_calls<layouts::bound>;
template class fragment_calls<layouts::bound>;
template class component_calls<layouts::bound>;
template class value_calls<layouts::bound>;
template class query_calls<layouts::bound>;
template class hook_calls<layouts::bound>;
template class event_calls<layouts::bound>;
template class system_calls<layouts::bound>;
template class thread_calls<layouts::bound>;
template class extension_calls<layouts::bound>;
template class program_calls<layouts::bound>;
template class relation_calls<layouts::bound>;
template class prefab_calls<layouts::bound>;

}  // namespace MUSTER_NAMESPACE
