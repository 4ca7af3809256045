#include <muster/base/integer.hpp>
#include <muster/base/reserve.hpp>
#include <muster/type/fragment_table.hpp>

#include <algorithm>
#include <cstring>

namespace muster::detail {

constinit const fragment_data no_fragment;

fragment_data::~fragment_data() = default;

fragment_table::fragment_table() {
    by_type_.grow(8);
    by_type_[types_++] = &no_fragment;
}

fragment_table::~fragment_table() {
    for (fragment_data* one : all_) delete one;
}

fragment_data& fragment_table::add(type_index type, const type_info& info) {
    const auto at = static_cast<std::size_t>(type);
    if (at >= by_type_.capacity()) by_type_.grow(larger(at + 1, by_type_.capacity() * 2));
    while (types_ <= at) by_type_[types_++] = &no_fragment;
    reserve_more(all_, 1);
    auto* const made = new fragment_data;
    made->type = &info;
    made->index = fragment_index{last_++};
    made->name = info.name;
    all_.push_back(made);
    by_type_[at] = made;
    return *made;
}

void fragment_table::remove(const fragment_data& fragment) noexcept {
    std::replace(by_type_.data(), by_type_.data() + types_, &fragment, &no_fragment);
    std::erase(all_, &fragment);
    delete &fragment;
}

fragment_data* fragment_table::find_id(const void* id, std::size_t size) const noexcept {
    for (fragment_data* one : all_)
        if (std::memcmp(one->id, id, size) == 0) return one;
    return nullptr;
}

}  // namespace muster::detail
