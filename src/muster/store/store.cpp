#include <muster/store/store_impl.hpp>

namespace muster::detail {

// As the end of beside.hpp says. The others are in store_presets.cpp.
template class store<layouts::bound>;

}  // namespace muster::detail
