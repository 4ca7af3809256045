#include <muster/base/scope_guard.hpp>
#include <muster/entity/name_table.hpp>

#include <functional>
#include <map>
#include <string>

namespace MUSTER_NAMESPACE::detail {

struct name_table::tables {
    struct entry;
    /// Those with this name. Empty only while `set` runs.
    struct group {
        entry* first = nullptr;
        entry* last = nullptr;
    };
    using names = std::map<std::string, group, std::less<>>;
    struct entry : named {
        names::iterator name;
    };

    names by_name;
    std::map<std::uint64_t, entry> by_id;

    // SAFETY: all `named` are part of an `entry` of `by_id`, which is not const.
    static entry* entry_of(const named* part) noexcept {
        return const_cast<entry*>(static_cast<const entry*>(part));
    }
    /// Appends the entry to the list of this name.
    static void link(entry& added, names::iterator name) noexcept {
        group& list = name->second;
        added.name = name;
        added.previous = list.last;
        added.next = nullptr;
        if (list.last != nullptr)
            list.last->next = &added;
        else
            list.first = &added;
        list.last = &added;
    }
    /// Removes the entry from the list of its name, and the name with its last entry.
    void unlink(const entry& gone) noexcept {
        group& list = gone.name->second;
        entry* const previous = entry_of(gone.previous);
        entry* const next = entry_of(gone.next);
        if (previous != nullptr)
            previous->next = next;
        else
            list.first = next;
        if (next != nullptr)
            next->previous = previous;
        else
            list.last = previous;
        if (list.first == nullptr) by_name.erase(gone.name);
    }
};

name_table::~name_table() {
    delete tables_;
}

bool name_table::empty() const noexcept {
    return tables_ == nullptr || tables_->by_id.empty();
}

void name_table::set(std::uint64_t id, std::string_view name) {
    if (name.empty()) return erase(id);
    if (tables_ == nullptr) tables_ = new tables;
    if (find(id) == name) return;
    const auto place = tables_->by_name.try_emplace(std::string(name)).first;
    scope_guard rollback([&] {
        if (place->second.first == nullptr) tables_->by_name.erase(place);
    });
    const auto [known, is_new] = tables_->by_id.try_emplace(id);
    rollback.dismiss();
    tables::entry& owner = known->second;
    owner.id = id;
    if (!is_new) tables_->unlink(owner);
    tables::link(owner, place);
}

void name_table::erase(std::uint64_t id) noexcept {
    if (tables_ == nullptr) return;
    const auto known = tables_->by_id.find(id);
    if (known == tables_->by_id.end()) return;
    tables_->unlink(known->second);
    tables_->by_id.erase(known);
}

std::string_view name_table::find(std::uint64_t id) const noexcept {
    if (tables_ == nullptr) return {};
    const auto known = tables_->by_id.find(id);
    return known == tables_->by_id.end() ? std::string_view{} : known->second.name->first;
}

auto name_table::lookup(std::string_view name) const noexcept -> const named* {
    if (tables_ == nullptr) return nullptr;
    const auto place = tables_->by_name.find(name);
    return place == tables_->by_name.end() ? nullptr : place->second.first;
}

void name_table::visit(void (*call)(const void* what, std::uint64_t id, std::string_view name),
                       const void* what) const {
    if (tables_ == nullptr) return;
    for (const auto& [id, owner] : tables_->by_id) call(what, id, owner.name->first);
}

}  // namespace MUSTER_NAMESPACE::detail
