// compiled_store: `store.hpp` for all files but those that compile a store. The library has the members
// of the store for the default layout: a file that uses a world inlines them, but emits no copies.
//
// Not in `store.hpp`: where the library defines these members, g++ 12 would inline less.
#pragma once

#include <muster/store/store.hpp>

namespace MUSTER_NAMESPACE::detail {

extern template class entity_table<layouts::bound>;
extern template class component_access<layouts::bound>;
extern template class store<layouts::bound>;

}  // namespace MUSTER_NAMESPACE::detail
