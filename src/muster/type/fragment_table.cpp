#include <muster/base/integer.hpp>
#include <muster/base/reserve.hpp>
#include <muster/type/fragment_table.hpp>

#include <algorithm>

namespace muster::detail {

constinit const fragment_data no_fragment;

fragment_data::~fragment_data() {
    {
        const boxed_value last = std::move(default_value);
    }  // it needs the type
    delete own_type;
}

void fragment_data::copy_value(void* to, const void* from, std::size_t count) const {
    if (duplicate.call == nullptr) return type->copy_values(to, from, count, 0);
    struct rollback {
        const type_info& type;
        std::byte* values;
        std::size_t made = 0;
        bool done = false;
        ~rollback() {
            if (!done && type.destroy != nullptr) type.destroy(values, made);
        }
    };
    rollback guard{*type, static_cast<std::byte*>(to)};
    for (; guard.made < count; ++guard.made)
        duplicate.call(duplicate.function.room, guard.values + guard.made * type->size, from);
    guard.done = true;
}

void fragment_data::start_values(void* at, std::size_t count) const {
    if (default_value)
        copy_value(at, default_value.room, count);
    else
        type->construct_values(at, count);
}

fragment_table::fragment_table() {
    by_type_.grow(8);
    by_type_[types_++] = &no_fragment;
    by_id_.grow(16);
    mask_ = 15;
    rehash();
}

fragment_table::~fragment_table() {
    for (fragment_data* one : all_) delete one;
}

fragment_data& fragment_table::add(type_index type, const type_info& info, std::uint64_t id) {
    const auto at = static_cast<std::size_t>(type);
    if (at >= by_type_.capacity()) by_type_.grow(larger(at + 1, by_type_.capacity() * 2));
    while (types_ <= at) by_type_[types_++] = &no_fragment;
    reserve_more(all_, 1);
    if (all_.size() * 2 >= mask_) {
        by_id_.grow((mask_ + 1) * 2);
        mask_ = mask_ * 2 + 1;
        rehash();
    }
    auto* const made = new fragment_data;
    made->type = &info;
    made->index = fragment_index{last_++};
    made->id = id;
    made->name = info.name;
    made->is_unique = info.unique;
    made->is_hidden = info.hidden;
    made->is_internal = info.internal;
    all_.push_back(made);
    insert(*made);
    if (type != no_type) by_type_[at] = made;
    return *made;
}

void fragment_table::remove(const fragment_data& fragment) noexcept {
    std::replace(by_type_.data() + 1, by_type_.data() + types_, &fragment, &no_fragment);
    std::erase(all_, &fragment);
    for (fragment_data* one : all_) std::erase(one->needs, &fragment);
    rehash();
    delete &fragment;
}

void fragment_table::insert(fragment_data& one) noexcept {
    std::uint64_t at = one.id & mask_;
    while (by_id_[at].fragment != nullptr) at = (at + 1) & mask_;
    by_id_[at] = {one.id, &one};
}

void fragment_table::rehash() noexcept {
    std::fill_n(by_id_.data(), mask_ + 1, entry{});
    for (fragment_data* one : all_) insert(*one);
}

}  // namespace muster::detail
