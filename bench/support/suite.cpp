#include "support/suite.hpp"

namespace muster::bench {

std::vector<contestant>& contestants() {
    static std::vector<contestant> all;
    return all;
}

std::vector<peer>& peers() {
    static std::vector<peer> all;
    return all;
}

}  // namespace muster::bench
