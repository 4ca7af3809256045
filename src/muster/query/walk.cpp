#include <muster/query/walk_impl.hpp>

namespace muster::detail {

template class MUSTER_API walk<layouts::bound>;  // the others are in walk_presets.cpp

}  // namespace muster::detail
