#include <muster/base/array_list.hpp>
#include <muster/base/error.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/engine.hpp>
#include <muster/system/module_table.hpp>
#include <muster/system/schedule.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace MUSTER_NAMESPACE::detail {

/// A module whose constructor runs. Systems have increasing numbers, so those that a module has added
/// are a range.
struct module_table::construction {
    struct range {
        std::uint64_t first;
        std::uint64_t last;
    };

    type_index type;
    std::string_view name;
    construction* outer;
    std::uint64_t first_system;
    array_list<range> used{};  // the systems of modules that it has used

    void remove_systems(schedule& systems) const {
        for (std::uint64_t number = first_system; number <= systems.last_number(); ++number) {
            const auto has = [&](const range& some) {
                return some.first <= number && number <= some.last;
            };
            system_data* const system = systems.find(number);
            if (system != nullptr && std::ranges::none_of(used, has)) systems.remove(*system);
        }
    }
};

void* module_table::ensure(engine& owner, schedule& systems, type_index type,
                           const extensions::recipe& how, void* context) {
    if (void* const found = owner.extensions.find(type)) return found;
    owner.gate.refuse_in_scope("the first use of a module");
    for (const construction* open = innermost_; open != nullptr; open = open->outer)
        if (open->type == type) raise_circle(*open);
    if (innermost_ != nullptr) reserve_more(innermost_->used, 1);
    construction here{type, how.name, innermost_, systems.last_number() + 1};
    innermost_ = &here;
    const scope_guard close([&] { innermost_ = here.outer; });
    scope_guard rollback([&] { here.remove_systems(systems); });
    void* const made = owner.extensions.ensure(type, how, context);
    rollback.dismiss();
    if (here.outer != nullptr)
        here.outer->used.push_back({here.first_system, systems.last_number()});
    return made;
}

void module_table::raise_circle(const construction& first) const {
    std::string names;
    for (const construction* open = innermost_;; open = open->outer) {
        names = text(open->name, " uses ", names);
        if (open == &first) break;
    }
    raise(errc::module_circle, text("modules use each other in a circle: ", names, first.name));
}

}  // namespace MUSTER_NAMESPACE::detail
