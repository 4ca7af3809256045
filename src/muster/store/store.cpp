#include <muster/store/store_impl.hpp>

namespace MUSTER_NAMESPACE::detail {

template class entity_table<layouts::bound>;
template class entity_adapter<layouts::bound>;
template class component_access<layouts::bound>;
template class store<layouts::bound>;  // store_presets.cpp has the others

}  // namespace MUSTER_NAMESPACE::detail
