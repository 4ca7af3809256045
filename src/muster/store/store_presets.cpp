#include <muster/store/store_impl.hpp>

namespace MUSTER_NAMESPACE::detail {

template class MUSTER_API entity_table<layouts::compact>;
template class MUSTER_API entity_adapter<layouts::compact>;
template class MUSTER_API component_access<layouts::compact>;
template class MUSTER_API store<layouts::compact>;
template class MUSTER_API entity_table<layouts::exact>;
template class MUSTER_API entity_adapter<layouts::exact>;
template class MUSTER_API component_access<layouts::exact>;
template class MUSTER_API store<layouts::exact>;
template class MUSTER_API entity_table<layouts::packed>;
template class MUSTER_API entity_adapter<layouts::packed>;
template class MUSTER_API component_access<layouts::packed>;
template class MUSTER_API store<layouts::packed>;

}  // namespace MUSTER_NAMESPACE::detail
