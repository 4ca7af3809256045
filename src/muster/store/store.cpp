#include <muster/store/store_impl.hpp>

namespace MUSTER_NAMESPACE::detail {

template class MUSTER_API entity_table<layouts::bound>;
template class MUSTER_API entity_adapter<layouts::bound>;
template class MUSTER_API component_access<layouts::bound>;
template class MUSTER_API store<layouts::bound>;  // store_presets.cpp has the others

}  // namespace MUSTER_NAMESPACE::detail
