// extensions: objects of later rooms, and of users, that live and end with their world: one of each
// C++ type.
//
// The world destroys them after all components, in the reverse order of their creation: an object
// that another one creates in its constructor outlives the other.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/change/gate.hpp>
#include <muster/type/type_index.hpp>

#include <cstddef>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

class MUSTER_API extensions {
public:
    /// How to make and destroy an object.
    struct recipe {
        std::string_view name;
        void* (*make)(void* owner);  // may throw
        void (*destroy)(void* object) noexcept;
    };

    explicit extensions(const gate& changes) noexcept : gate_(changes) {}
    extensions(const extensions&) = delete;
    extensions& operator=(const extensions&) = delete;
    ~extensions() { clear(); }

    [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
    /// Returns the object of this type, or null. O(1).
    [[nodiscard]] void* find(type_index type) const noexcept {
        const auto at = static_cast<std::size_t>(type);
        return at < by_type_.size() ? by_type_[at] : nullptr;
    }
    /// Returns the object of this type. The first call makes it. If that throws, nothing remains.
    /// Throws `errc::in_scope` in a parallel phase, in user code of a component, after the end of
    /// the world, and if the constructor of the object asks for the object.
    void* ensure(type_index type, const recipe& how, void* owner) {
        void* const found = find(type);
        return found != nullptr ? found : add(type, how, owner);
    }
    /// Destroys all objects, the last first. An object does not find itself any more while it is
    /// destroyed; it finds those that are older.
    void clear() noexcept;

private:
    struct entry {
        type_index type;
        void* object;
        void (*destroy)(void* object) noexcept;
    };
    /// An object whose constructor runs.
    struct construction {
        type_index type;
        const construction* outer;
    };

    MUSTER_COLD void* add(type_index type, const recipe& how, void* owner);

    const gate& gate_;
    array_list<entry> all_;  // in the order of creation
    array_list<void*> by_type_;
    const construction* innermost_ = nullptr;
};

}  // namespace MUSTER_NAMESPACE::detail
