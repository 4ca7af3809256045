// provenance: where entities were destroyed, for worlds that record it.
#pragma once

#include <muster/base/text.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

/// The last destruction of each key.
class MUSTER_API provenance {
public:
    struct entry {
        std::uint64_t version = 0;
        std::source_location where;
        std::string name;
        std::string_view system;  // the system that destroyed it; empty: none
    };

    provenance() = default;
    provenance(const provenance&) = delete;
    provenance& operator=(const provenance&) = delete;
    ~provenance();

    /// Records that this version of the key is about to be destroyed. Does not copy `system`.
    /// `std::bad_alloc` changes nothing.
    void note(std::uint64_t key, std::uint64_t version, const std::source_location& where,
              std::string_view name, std::string_view system = {});
    /// Returns null if the destruction of this version is not recorded.
    [[nodiscard]] const entry* find(std::uint64_t key, std::uint64_t version) const noexcept;

private:
    struct table;
    table* table_ = nullptr;
};

}  // namespace MUSTER_NAMESPACE::detail
