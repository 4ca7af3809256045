#include <muster/query/walk_impl.hpp>

namespace MUSTER_NAMESPACE::detail {

template class MUSTER_API walk<layouts::bound>;  // walk_presets.cpp has the remaining presets

}  // namespace MUSTER_NAMESPACE::detail
