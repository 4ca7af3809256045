#include <muster/store/store_impl.hpp>

namespace muster::detail {

template class MUSTER_API store<layouts::bound>;  // the others are in store_presets.cpp

}  // namespace muster::detail
