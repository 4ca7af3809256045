#include <muster/base/error.hpp>
#include <muster/base/lifetime.hpp>

#include <mutex>

namespace MUSTER_NAMESPACE::detail {

namespace {

struct lifetime_slots {
    std::mutex guard;
    lifetime_slot* first_free = nullptr;
    std::uint64_t last_number = 0;
};

// Never destroyed: objects in static storage end at program exit.
lifetime_slots& all_lifetimes() {
    static auto* const all = new lifetime_slots;
    return *all;
}

void write_number(lifetime_slot& slot, std::uint64_t number) noexcept {
    // Handles of earlier objects may read the slot on other threads.
    atomic_word_ref<std::uint64_t>(&slot.number).store_relaxed(number);
}

}  // namespace

lifetime::lifetime() {
    lifetime_slots& all = all_lifetimes();
    const std::lock_guard lock(all.guard);
    lifetime_slot* const slot = all.first_free != nullptr ? all.first_free : new lifetime_slot;
    all.first_free = slot->next_free;
    ref_ = lifetime_ref(*slot, ++all.last_number);
    write_number(*slot, all.last_number);
}

lifetime::~lifetime() {
    lifetime_slots& all = all_lifetimes();
    const std::lock_guard lock(all.guard);
    write_number(*ref_.slot_, 0);
    ref_.slot_->next_free = all.first_free;
    all.first_free = ref_.slot_;
}

void lifetime_ref::raise_not_alive(bool is_null) {
    if (is_null)
        raise(errc::null_handle,
              "this handle is null: assign what a world returns, as in q = w.query<position>()");
    raise(errc::world_ended, "the world of this handle has ended");
}

}  // namespace MUSTER_NAMESPACE::detail
