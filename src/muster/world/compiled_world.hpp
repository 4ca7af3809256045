// compiled_world: the library has the calls of a world for the default layout. A file that uses a world
// inlines them, but emits no copies. `basic_world` itself is not there: its constructor is compiled by the
// file whose settings it passes on.
#pragma once

#include <muster/world/world.hpp>

namespace MUSTER_NAMESPACE {

extern template class MUSTER_API detail::world_base<layouts::bound>;
extern template class MUSTER_API entity_calls<layouts::bound>;
extern template class MUSTER_API spawn_calls<layouts::bound>;
extern template class MUSTER_API fragment_calls<layouts::bound>;
extern template class MUSTER_API component_calls<layouts::bound>;
extern template class MUSTER_API value_calls<layouts::bound>;
extern template class MUSTER_API query_calls<layouts::bound>;
extern template class MUSTER_API hook_calls<layouts::bound>;
extern template class MUSTER_API event_calls<layouts::bound>;
extern template class MUSTER_API system_calls<layouts::bound>;
extern template class MUSTER_API thread_calls<layouts::bound>;
extern template class MUSTER_API extension_calls<layouts::bound>;
extern template class MUSTER_API program_calls<layouts::bound>;
extern template class MUSTER_API relation_calls<layouts::bound>;
extern template class MUSTER_API prefab_calls<layouts::bound>;

}  // namespace MUSTER_NAMESPACE
