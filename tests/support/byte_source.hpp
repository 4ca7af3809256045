// byte_source: bytes that choose the operations of a story. Equal bytes produce equal stories,
// whether they come from a random generator, RapidCheck or a fuzzer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>

namespace muster::test {

/// The tested object and its model disagree. what() describes the difference and the operations
/// before it.
struct difference : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class byte_source {
public:
    explicit byte_source(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
    bool done() const { return at_ >= bytes_.size(); }
    std::uint8_t byte() { return done() ? std::uint8_t{0} : bytes_[at_++]; }
    std::uint64_t word() {
        std::uint64_t made = 0;
        for (int i = 0; i < 8; ++i) made = made << 8 | byte();
        return made;
    }
    /// A number from 0 up to, but not including, `end`.
    std::size_t below(std::size_t end) { return (std::size_t{byte()} << 8 | byte()) % end; }

private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
};

}  // namespace muster::test
