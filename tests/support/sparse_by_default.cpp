// Makes every C++ type of the program sparse if MUSTER_TEST_SPARSE is set. Programs with this
// source run twice.
#include <muster/type/type_info.hpp>

#include <cstdlib>

namespace {

[[maybe_unused]] const bool is_set = [] {
    muster::detail::sparse_by_default = std::getenv("MUSTER_TEST_SPARSE") != nullptr;
    return true;
}();

}  // namespace
