#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/engine/extensions.hpp>

namespace MUSTER_NAMESPACE::detail {

void* extensions::add(type_index type, const recipe& how, void* owner) {
    gate_.refuse_in_change("the first use of an extension");
    for (const construction* open = innermost_; open != nullptr; open = open->outer)
        if (open->type == type)
            raise(errc::in_scope,
                  text("the extension ", how.name, " is not there yet: its constructor runs"));
    const construction here{type, innermost_};
    innermost_ = &here;
    const scope_guard close([&] { innermost_ = here.outer; });
    void* const made = how.make(owner);
    scope_guard rollback([&] { how.destroy(made); });
    // The constructor may have added others: reserve afterwards.
    reserve_more(all_, 1);
    const auto at = static_cast<std::size_t>(type);
    if (at >= by_type_.size()) by_type_.resize(at + 1, nullptr);
    rollback.dismiss();
    all_.push_back({type, made, how.destroy});
    return by_type_[at] = made;
}

void extensions::clear() noexcept {
    while (!all_.empty()) {
        const entry last = all_.back();
        all_.pop_back();
        by_type_[static_cast<std::size_t>(last.type)] = nullptr;
        last.destroy(last.object);
    }
}

}  // namespace MUSTER_NAMESPACE::detail
