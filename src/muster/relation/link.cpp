#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/base/text.hpp>
#include <muster/relation/link.hpp>

#include <new>

namespace MUSTER_NAMESPACE::detail {

void link_array::reserve(std::size_t count) {
    constexpr std::size_t most = 0xFFFF'FFF0;
    if (count > most - all_.size())
        raise(errc::limit, "an entity cannot have more than 4,294,967,280 links of a relation");
    const std::size_t wanted = all_.size() + count;
    if (wanted <= all_.capacity()) return;
    const std::size_t more = larger(4, 2 * all_.size());
    all_.reserve(larger(wanted, more));
}

link_list::link_list(const link_list& other)
    : is_removal(other.is_removal), type_(other.type_), has_values_(other.has_values_) {
    if (other.size() == 0) return;
    const bool copies = type_->size != 0 && has_values_;
    if (copies && !type_->can_copy())
        raise(errc::not_copyable,
              text("links cannot be copied: their values, of type ", type_->name, ", cannot"));
    reserve(other.size());
    scope_guard rollback([&] {
        for (std::uint32_t i = 0; copies && type_->destroy != nullptr && i < ends_.places(); ++i)
            type_->destroy(value_at(i), 1);
        ::operator delete(values_, std::align_val_t(type_->alignment));
    });
    for (std::uint32_t i = other.ends_.next(0); i < other.ends_.places();
         i = other.ends_.next(i + 1)) {
        if (copies) type_->copy_values(next_value(), other.value_at(i), 1, 0);
        (void)append(other.ends_[i].other);
    }
    rollback.dismiss();
}

link_list::~link_list() {
    if (values_ == nullptr) return;
    if (type_->destroy != nullptr && has_values_)
        for (std::uint32_t i = ends_.next(0); i < ends_.places(); i = ends_.next(i + 1))
            type_->destroy(value_at(i), 1);
    ::operator delete(values_, std::align_val_t(type_->alignment));
}

void link_list::swap(link_list& other) noexcept {
    std::swap(type_, other.type_);
    std::swap(ends_, other.ends_);
    std::swap(values_, other.values_);
    std::swap(capacity_, other.capacity_);
    std::swap(has_values_, other.has_values_);
    std::swap(is_removal, other.is_removal);
}

void link_list::reserve(std::size_t count) {
    ends_.reserve(count);
    const std::size_t wanted = ends_.places() + count + 1;  // one is spare; see `swap_value`
    if (type_->size == 0 || wanted <= capacity_) return;
    const std::size_t more = wanted < 2 * capacity_ ? 2 * capacity_ : wanted;
    auto* const grown = static_cast<std::byte*>(
        ::operator new(more * type_->size, std::align_val_t(type_->alignment)));
    for (std::uint32_t i = ends_.next(0); i < ends_.places(); i = ends_.next(i + 1))
        type_->relocate_values(grown + i * type_->size, value_at(i), 1);
    if (values_ != nullptr) ::operator delete(values_, std::align_val_t(type_->alignment));
    values_ = grown;
    capacity_ = more;
}

std::uint32_t link_list::take(link_list& from, std::uint32_t at) noexcept {
    if (type_->size != 0) type_->relocate_values(next_value(), from.value_at(at), 1);
    const std::uint32_t place = append(from.ends_[at].other);
    from.ends_.erase(at);
    return place;
}

void link_list::swap_value(std::uint32_t place, link_list& other, std::uint32_t at) noexcept {
    if (type_->size == 0) return;
    void* const spare = other.spare();
    type_->relocate_values(spare, value_at(place), 1);
    type_->relocate_values(value_at(place), other.value_at(at), 1);
    type_->relocate_values(other.value_at(at), spare, 1);
}

void link_list::erase(std::uint32_t place) noexcept {
    if (type_->destroy != nullptr) type_->destroy(value_at(place), 1);
    ends_.erase(place);
}

}  // namespace MUSTER_NAMESPACE::detail
