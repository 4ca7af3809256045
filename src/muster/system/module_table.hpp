// module_table: sets up modules, each once in a world. A module is an object whose constructor adds
// systems, hooks and the like. The world's extensions own it; this class finds circular uses, and
// removes the systems of a module whose constructor throws.
#pragma once

#include <muster/engine/extensions.hpp>
#include <muster/type/type_index.hpp>

#include <string>

namespace MUSTER_NAMESPACE::detail {

class schedule;
struct engine;

class MUSTER_API module_table {
public:
    /// Returns the module of this type. The first call makes it: `how.make(context)`. If that
    /// throws, the module is absent, and the systems that it has added are removed, except those of
    /// modules that it has used. Throws `errc::in_scope` in a scope, and `errc::module_circle` if
    /// the constructor of the module uses the module.
    void* ensure(engine& owner, schedule& systems, type_index type, const extensions::recipe& how,
                 void* context);

private:
    struct construction;

    [[noreturn]] void raise_circle(const construction& first) const;

    construction* innermost_ = nullptr;
};

}  // namespace MUSTER_NAMESPACE::detail
