#include <muster/query/walk_impl.hpp>

namespace muster::detail {

template class MUSTER_API walk<layouts::bound>;  // walk_presets.cpp has the remaining presets

}  // namespace muster::detail
