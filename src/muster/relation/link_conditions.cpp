#include <muster/base/atomic_word.hpp>
#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/relation/link_conditions.hpp>

namespace MUSTER_NAMESPACE::detail {

/// Each query that ends with this condition is a user, and each node that follows it.
struct link_conditions::node {
    link_condition what;
    link_conditions before;
    std::size_t count;
    mutable atomic_word<std::uint32_t> users{1};
};

link_conditions::link_conditions(const link_conditions& other) noexcept : last_(other.last_) {
    if (last_ != nullptr) (void)last_->users.fetch_add_relaxed(1);
}

link_conditions::~link_conditions() {
    if (last_ != nullptr && last_->users.fetch_sub(1) == 1) delete last_;
}

void link_conditions::add(link_condition&& wanted) {
    const std::size_t count = last_ == nullptr ? 1 : last_->count + 1;
    if (count > limit)
        raise(errc::limit, text("a query has at most ", limit, " conditions on links"));
    const node* const made = new node{std::move(wanted), *this, count};
    link_conditions changed;
    changed.last_ = made;
    std::swap(last_, changed.last_);
}

std::size_t link_conditions::list(const link_condition* (&all)[limit]) const noexcept {
    const std::size_t count = last_ == nullptr ? 0 : last_->count;
    std::size_t at = count;
    for (const node* here = last_; here != nullptr; here = here->before.last_)
        all[--at] = &here->what;
    return count;
}

}  // namespace MUSTER_NAMESPACE::detail
