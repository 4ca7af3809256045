#include <muster/base/text.hpp>
#include <muster/system/system_registry.hpp>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

std::string_view system_registry::keep_name(std::string_view name) {
    const auto known = names_.find(name);
    return known != names_.end() ? known->first
                                 : names_.try_emplace(std::string(name)).first->first;
}

system_data& system_registry::add(std::string_view name) {
    auto made = std::make_unique<system_data>();
    std::string number = text("#", last_ + 1);
    while (name.empty() && find(number) != nullptr) number += "'";
    made->name = keep_name(name.empty() ? std::string_view(number) : name);
    made->number = last_ + 1;
    system_data& added = *all_.try_emplace(last_ + 1, std::move(made)).first->second;
    names_.find(added.name)->second = &added;
    ++last_;
    return added;
}

system_data& system_registry::add_group(std::uint64_t id, std::string_view name) {
    const std::string_view kept = keep_name(name);
    system_data*& entry = groups_[id];  // null until nothing can fail
    system_data& made = add({});
    names_.find(made.name)->second = nullptr;
    made.name = kept;
    made.is_id = true;
    made.group_id = id;
    return *(entry = &made);
}

void system_registry::forget(system_data& system) noexcept {
    system.is_gone = true;
    if (system.is_id)
        groups_.erase(system.group_id);
    else
        names_.find(system.name)->second = nullptr;
}

void system_registry::remove(system_data& system) noexcept {
    forget(system);
    removed_.insert(all_.extract(system.number));
}

void system_registry::remove_all() noexcept {
    for (auto& [number, system] : all_) forget(*system);
    removed_.merge(all_);
}

void system_registry::destroy_removed() noexcept {
    while (!removed_.empty()) {
        const auto ended = removed_.extract(removed_.begin());
        // `ended` destroys the system here, when no lookup leads to it any more.
    }
}

system_data* system_registry::find(std::uint64_t number) const noexcept {
    const auto found = all_.find(number);
    return found != all_.end() ? found->second.get() : nullptr;
}

system_data* system_registry::find(std::string_view name) const noexcept {
    const auto found = names_.find(name);
    return found != names_.end() ? found->second : nullptr;
}

system_data* system_registry::find_group(std::uint64_t id) const noexcept {
    const auto found = groups_.find(id);
    return found != groups_.end() ? found->second : nullptr;
}

// ---- missing names -----------------------------------------------------------------------------

system_registry::~system_registry() {
    while (missing_ != nullptr) std::free(std::exchange(missing_, missing_->older));
}

std::uint64_t system_registry::note_missing(std::string_view name) noexcept {
    for (const missing* known = missing_; known != nullptr; known = known->older)
        if (known->name == name) return known->number;
    void* const block = std::malloc(sizeof(missing) + name.size());
    if (block == nullptr) return 0;
    // SAFETY: the block has room for the entry and for its name, which follows it.
    char* const kept = static_cast<char*>(block) + sizeof(missing);
    std::copy(name.begin(), name.end(), kept);
    const std::uint64_t number = missing_ == nullptr ? 1 : missing_->number + 1;
    missing_ = ::new (block) missing{{kept, name.size()}, missing_, number};
    return number;
}

std::string_view system_registry::missing_name(std::uint64_t number) const noexcept {
    const missing* found = missing_;
    while (found->number != number) found = found->older;
    return found->name;
}

}  // namespace MUSTER_NAMESPACE::detail
