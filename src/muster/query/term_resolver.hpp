// term_resolver: lets a later room give a term a meaning of its own, and order the chunks of a
// query. A term names its resolver by number; 0 is a term for one fragment, which costs nothing
// more. For example, in a room of relations:
//
//     (likes, any)     expand   [ likes of bob ][ likes of eve ]     one of these fragments
//     inherited mass   outside  the prefab's value                   one value for all rows
//     parents first    before   the chunk with the smaller depth
#pragma once

#include <muster/base/slice.hpp>
#include <muster/query/terms.hpp>
#include <muster/storage/chunk_data.hpp>
#include <muster/type/fragment_data.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// Threads of a parallel phase may call all functions at the same time; `version` does not change
/// during a phase.
class MUSTER_API term_resolver {
public:
    /// Only grows, whenever another function may return something else. A list of chunks is then
    /// built again when it is next read.
    [[nodiscard]] virtual std::uint64_t version() const noexcept = 0;
    /// Returns the fragments that the term stands for: an entity has the term if it has one of
    /// them. Stays valid until the version changes.
    [[nodiscard]] virtual slice<const fragment_data* const> expand(
        const term& wanted) const noexcept = 0;
    /// Returns a value with which all rows of the chunk satisfy the term, or null. Not called if
    /// the chunk has one of the fragments, or for entities outside of chunks. Rows with a sparse value
    /// of their own show that. A query may show the value only to `const` arguments.
    [[nodiscard]] virtual const void* outside(const term& wanted,
                                              const chunk_data& chunk) const noexcept;
    /// Whether a loop visits chunk `a` before chunk `b`. Chunks that it does not order keep the
    /// order of creation.
    [[nodiscard]] virtual bool before(const chunk_data& a, const chunk_data& b) const noexcept;

protected:
    term_resolver() = default;
    term_resolver(const term_resolver&) = default;
    term_resolver& operator=(const term_resolver&) = default;
    ~term_resolver() = default;
};

/// How the rows of a chunk satisfy a term.
struct term_match {
    enum class source : std::uint8_t {
        none,
        own,      // the chunk has a fragment of the term
        outside,  // `value` stands for all rows
    };
    source from = source::none;
    const void* value = nullptr;

    explicit operator bool() const noexcept { return from != source::none; }
};

}  // namespace MUSTER_NAMESPACE::detail
