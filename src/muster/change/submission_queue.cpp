#include <muster/base/first_error.hpp>
#include <muster/change/submission_queue.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

struct submission_queue::parts {
    parts() { empty.reserve(16); }  // `put_back` keeps at most this many

    std::mutex guard;
    std::vector<recorder*> submissions;
    std::vector<recorder*> empty;
    array_list<std::uint64_t> ids;
};

submission_queue::submission_queue() : parts_(new parts) {}

submission_queue::~submission_queue() {
    for (const recorder* buffer : parts_->submissions) delete buffer;
    for (const recorder* buffer : parts_->empty) delete buffer;
    delete parts_;
}

recorder* submission_queue::take_empty() {
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

recorder* submission_queue::hand_over(recorder* changes) {
    std::unique_ptr<recorder> next(take_empty());
    const std::lock_guard lock(parts_->guard);
    parts_->submissions.push_back(changes);
    count_.store(static_cast<std::uint32_t>(parts_->submissions.size()));
    return next.release();
}

recorder* submission_queue::discard(recorder* changes) noexcept {
    changes->discard();
    recorder* next = changes;
    first_error ignored;  // out of memory: the keys of these ids are never reused
    if (changes->size() != 0) ignored.attempt([&] { next = hand_over(changes); });
    if (next == changes) changes->rewind({});
    return next;
}

void submission_queue::put_back(recorder* empty) noexcept {
    empty->rewind({});
    const std::lock_guard lock(parts_->guard);
    if (parts_->empty.size() == parts_->empty.capacity())
        delete empty;
    else
        parts_->empty.push_back(empty);
}

std::vector<recorder*> submission_queue::take_all() {
    const std::lock_guard lock(parts_->guard);
    count_.store(0);
    return std::exchange(parts_->submissions, {});
}

std::vector<recorder*> submission_queue::take_discarded() {
    const std::lock_guard lock(parts_->guard);
    std::vector<recorder*>& all = parts_->submissions;
    std::vector<recorder*> found;
    found.reserve(all.size());
    std::erase_if(all, [&](recorder* buffer) {
        if (buffer->is_discarded()) found.push_back(buffer);
        return buffer->is_discarded();
    });
    count_.store(static_cast<std::uint32_t>(all.size()));
    return found;
}

void submission_queue::trim() noexcept {
    const std::lock_guard lock(parts_->guard);
    for (const recorder* buffer : parts_->empty) delete buffer;
    parts_->empty.clear();
}

void submission_queue::take_ids(array_list<std::uint64_t>& out, std::size_t count) {
    const std::lock_guard lock(parts_->guard);
    array_list<std::uint64_t>& all = parts_->ids;
    count = std::min(count, all.size());
    out.insert(out.end(), all.end() - static_cast<std::ptrdiff_t>(count), all.end());
    all.resize(all.size() - count);
}

bool submission_queue::take_id(std::uint64_t wanted, std::uint64_t key_mask,
                               std::uint64_t& found) noexcept {
    const std::lock_guard lock(parts_->guard);
    array_list<std::uint64_t>& all = parts_->ids;
    const auto at = std::ranges::find_if(
        all, [&](std::uint64_t id) { return ((id ^ wanted) & key_mask) == 0 && id <= wanted; });
    if (at == all.end()) return false;
    found = *at;
    all.erase(at);
    return true;
}

std::size_t submission_queue::count_ids() const noexcept {
    const std::lock_guard lock(parts_->guard);
    return parts_->ids.size();
}

void submission_queue::put_ids(array_list<std::uint64_t>& unused) noexcept {
    const std::lock_guard lock(parts_->guard);
    array_list<std::uint64_t>& all = parts_->ids;
    if (all.empty()) return std::swap(all, unused);
    first_error ignored;  // out of memory: the keys of these ids are never reused
    ignored.attempt([&] { all.insert(all.end(), unused.begin(), unused.end()); });
    unused.clear();
}

}  // namespace MUSTER_NAMESPACE::detail
