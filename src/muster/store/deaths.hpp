// deaths: where entities were destroyed, for worlds that are asked to know it.
#pragma once

#include <muster/base/config.hpp>

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>
#include <string_view>

namespace muster::detail {

/// "ai.cpp:88": the file's own name, and the line.
MUSTER_API std::string place_text(const std::source_location& where);

/// The last death of each key.
class MUSTER_API deaths {
public:
    struct entry {
        std::uint64_t version = 0;
        std::source_location where;
        std::string name;
        std::string_view system;  // that destroyed it; empty: none did
    };

    deaths() = default;
    deaths(const deaths&) = delete;
    deaths& operator=(const deaths&) = delete;
    ~deaths();

    /// Notes that this version of the key is about to die. `system` is not copied. `std::bad_alloc`
    /// changes nothing.
    void note(std::uint64_t key, std::uint64_t version, const std::source_location& where,
              std::string_view name, std::string_view system = {});
    /// Null if this version's death is not known.
    [[nodiscard]] const entry* find(std::uint64_t key, std::uint64_t version) const noexcept;

private:
    struct table;
    table* table_ = nullptr;
};

}  // namespace muster::detail
