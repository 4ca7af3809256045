#include <muster/query/walk_impl.hpp>

namespace MUSTER_NAMESPACE::detail {

template class MUSTER_API walk<layouts::compact>;
template class MUSTER_API walk<layouts::exact>;
template class MUSTER_API walk<layouts::packed>;

}  // namespace MUSTER_NAMESPACE::detail
