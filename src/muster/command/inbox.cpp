#include <muster/base/first_error.hpp>
#include <muster/command/inbox.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

namespace muster::detail {

struct inbox::parts {
    parts() { empty.reserve(16); }  // so many are kept

    std::mutex guard;
    std::vector<recorder*> mail;
    std::vector<recorder*> empty;
    array_list<std::uint64_t> ids;
};

inbox::inbox() : parts_(new parts) {}

inbox::~inbox() {
    for (const recorder* one : parts_->mail) delete one;
    for (const recorder* one : parts_->empty) delete one;
    delete parts_;
}

recorder* inbox::take_empty() {
    {
        const std::lock_guard lock(parts_->guard);
        if (!parts_->empty.empty()) {
            recorder* const found = parts_->empty.back();
            parts_->empty.pop_back();
            return found;
        }
    }
    return new recorder;
}

recorder* inbox::hand_over(recorder* changes) {
    std::unique_ptr<recorder> next(take_empty());
    const std::lock_guard lock(parts_->guard);
    parts_->mail.push_back(changes);
    count_.store(static_cast<std::uint32_t>(parts_->mail.size()));
    return next.release();
}

recorder* inbox::discard(recorder* changes) noexcept {
    changes->discard();
    recorder* next = changes;
    first_error ignored;  // without memory, their keys are not used again
    if (changes->size() != 0) ignored.attempt([&] { next = hand_over(changes); });
    if (next == changes) changes->rewind({});
    return next;
}

void inbox::put_back(recorder* empty) noexcept {
    empty->rewind({});
    const std::lock_guard lock(parts_->guard);
    if (parts_->empty.size() == parts_->empty.capacity())
        delete empty;
    else
        parts_->empty.push_back(empty);
}

std::vector<recorder*> inbox::take_all() {
    const std::lock_guard lock(parts_->guard);
    count_.store(0);
    return std::exchange(parts_->mail, {});
}

void inbox::take_ids(array_list<std::uint64_t>& out, std::size_t count) {
    const std::lock_guard lock(parts_->guard);
    array_list<std::uint64_t>& all = parts_->ids;
    count = std::min(count, all.size());
    out.insert(out.end(), all.end() - static_cast<std::ptrdiff_t>(count), all.end());
    all.resize(all.size() - count);
}

std::size_t inbox::count_ids() const noexcept {
    const std::lock_guard lock(parts_->guard);
    return parts_->ids.size();
}

void inbox::put_ids(array_list<std::uint64_t>& unused) noexcept {
    const std::lock_guard lock(parts_->guard);
    array_list<std::uint64_t>& all = parts_->ids;
    if (all.empty()) return std::swap(all, unused);
    first_error ignored;  // as above
    ignored.attempt([&] { all.insert(all.end(), unused.begin(), unused.end()); });
    unused.clear();
}

}  // namespace muster::detail
