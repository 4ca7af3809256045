#include <muster/base/reserve.hpp>
#include <muster/entity/name_table.hpp>

#include <functional>
#include <map>
#include <string>

namespace muster::detail {

struct name_table::tables {
    std::map<std::string, array_list<std::uint64_t>, std::less<>> by_name;
    std::map<std::uint64_t, decltype(by_name)::iterator> by_id;
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
    // Steps that may throw come first. If they do, an empty list may remain: a name without ids.
    const auto place = tables_->by_name.try_emplace(std::string(name)).first;
    reserve_more(place->second, 1);
    const auto [known, is_new] = tables_->by_id.try_emplace(id, place);
    if (!is_new) {
        const auto before = known->second;
        before->second.erase_value(id);
        if (before->second.empty()) tables_->by_name.erase(before);
        known->second = place;
    }
    place->second.push_back(id);
}

void name_table::erase(std::uint64_t id) noexcept {
    if (tables_ == nullptr) return;
    const auto known = tables_->by_id.find(id);
    if (known == tables_->by_id.end()) return;
    const auto place = known->second;
    tables_->by_id.erase(known);
    place->second.erase_value(id);
    if (place->second.empty()) tables_->by_name.erase(place);
}

std::string_view name_table::find(std::uint64_t id) const noexcept {
    if (tables_ == nullptr) return {};
    const auto known = tables_->by_id.find(id);
    return known == tables_->by_id.end() ? std::string_view{} : known->second->first;
}

const array_list<std::uint64_t>& name_table::lookup(std::string_view name) const noexcept {
    static const array_list<std::uint64_t> none;
    if (tables_ == nullptr) return none;
    const auto place = tables_->by_name.find(name);
    return place == tables_->by_name.end() ? none : place->second;
}

}  // namespace muster::detail
