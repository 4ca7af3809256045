#include <muster/store/store_impl.hpp>

namespace muster::detail {

template class store<layouts::bound>;
template class store<layouts::compact>;
template class store<layouts::exact>;
template class store<layouts::packed>;

}  // namespace muster::detail
