#include <muster/base/integer.hpp>
#include <muster/base/reserve.hpp>
#include <muster/base/scope_guard.hpp>
#include <muster/engine/engine.hpp>
#include <muster/event/event_log.hpp>

#include <utility>

namespace MUSTER_NAMESPACE::detail {

namespace {

constexpr event_number all_events = ~event_number{0};

}  // namespace

// ---- cursors -----------------------------------------------------------------------------------

void event_cursor::pass_shared(event_number until) noexcept {
    const atomic_word_ref<event_number> word(&seen);
    event_number now = word.load_relaxed();
    while (now < until && !word.compare_exchange(now, until)) {
    }
}

void event_cursor::begin_reading() noexcept {
    ++readings;
    ++log->readings_;
}

void event_cursor::end_reading() noexcept {
    --readings;
    if (log != nullptr) --log->readings_;
    if (!is_abandoned && log != nullptr && start == all_events) log->drop_seen();
    if (!is_abandoned || readings != 0) return;
    if (log != nullptr)
        log->remove(*this);
    else
        delete this;
}

void event_cursor::abandon() noexcept {
    is_abandoned = true;
    seen = all_events;
    if (readings != 0) return;  // the last loop removes it
    if (log == nullptr)
        delete this;
    else if (!log->is_in_phase())  // else other threads read the log, and `end_frame` removes it
        log->remove(*this);
}

event_cursor& event_log::add_cursor() {
    refuse_in_phase("reading events");
    reserve_more(cursors_, 1);
    auto* const made = new event_cursor{this, end()};
    cursors_.push_back(made);
    return *made;
}

void event_log::remove(event_cursor& cursor) noexcept {
    cursors_.erase_value(&cursor);
    delete &cursor;
    if (cursors_.empty()) drop_seen();
}

bool event_log::is_in_phase() const noexcept {
    return owner_.gate.is_parallel();
}

void event_log::refuse_in_phase(const char* call) const {
    owner_.gate.refuse_in_phase(call);
}

// ---- sending -----------------------------------------------------------------------------------

event_number event_log::end() const noexcept {
    if (blocks_.empty()) return first_;
    const block& last = blocks_.back();
    return last.first + static_cast<std::size_t>(next_ - last.data) / type_.size;
}

void event_log::set_next(event_number which) noexcept {
    const block& last = blocks_.back();
    next_ = last.data + (which - last.first) * type_.size;
    limit_ = last.data + last.capacity * type_.size;
}

void event_log::grow() {
    constexpr std::size_t bytes = 1024;  // of the first block
    reserve_more(blocks_, 1);
    const std::size_t capacity =
        blocks_.empty() ? larger(4, bytes / type_.size) : blocks_.back().capacity * 2;
    // SAFETY: bytes need no construction.
    auto* const data =
        static_cast<std::byte*>(move_elements(nullptr, 0, capacity, type_.size, type_.alignment));
    const event_number which = end();
    blocks_.push_back({data, which, capacity});
    set_next(which);
}

void event_log::prepare(bool is_deferred) {
    if (is_deferred) {
        reserve_more(pending_, 1);
        owner_.pending.reserve_one();
    }
    if (next_ == limit_) grow();
}

void event_log::add_prepared(bool is_deferred) noexcept {
    if (is_deferred && !continues(owner_.pending.captures())) {
        pending_.push_back(end());
        captures_ = owner_.pending.captures();
        owner_.pending.add_record(*this);
    }
    add(type_.size);
}

void event_log::deliver() noexcept {
    pending_.erase(pending_.begin());
    captures_ = 0;
    if (cursors_.empty()) drop_seen();
}

void event_log::take_back() noexcept {
    const event_number from = pending_.back();
    const event_number until = end();
    pending_.pop_back();
    captures_ = 0;
    // A reader that was created after these events has not seen the next ones with their numbers.
    for (event_cursor* cursor : cursors_)
        if (!cursor->is_abandoned && cursor->seen > from) cursor->seen = from;
    destroy(from, until);
    while (blocks_.size() > 1 && blocks_.back().first > from) {
        free(blocks_.back());
        blocks_.pop_back();
    }
    set_next(from);
}

// ---- reading -----------------------------------------------------------------------------------

auto event_log::find(event_number which) const noexcept -> place {
    for (std::size_t i = blocks_.size(); i-- != 0;)
        if (const block& owner = blocks_[i]; owner.first <= which)
            return {owner.data + (which - owner.first) * type_.size,
                    owner.data + owner.capacity * type_.size};
    return {};
}

// ---- dropping ----------------------------------------------------------------------------------

void event_log::end_frame() noexcept {
    const event_number oldest = std::exchange(frame_, visible());
    if (blocks_.empty() || readings_ != 0) return;
    remove_abandoned();
    event_number kept = visible();
    for (const event_cursor* cursor : cursors_) kept = smaller(kept, cursor->seen);
    drop_before(larger(kept, smaller(oldest, visible())));
}

void event_log::drop_seen() noexcept {
    // In a change, the event that is being constructed may lie in a block of this log.
    if (readings_ != 0 || owner_.gate.is_changing()) return;
    event_number kept = visible();
    for (const event_cursor* cursor : cursors_)
        kept = smaller(kept, smaller(cursor->seen, cursor->start));
    if (kept > first_ || cursors_.empty()) drop_before(kept);
}

void event_log::clear() noexcept {
    const event_number all = visible();
    for (event_cursor* cursor : cursors_) {
        cursor->pass(all);
        if (cursor->start < all) cursor->start = all;
    }
    drop_seen();
}

void event_log::remove_abandoned() noexcept {
    for (std::size_t i = cursors_.size(); i-- != 0;)
        if (cursors_[i]->is_abandoned) {
            delete cursors_[i];
            cursors_.erase(cursors_.begin() + i);
        }
}

void event_log::drop_before(event_number kept) noexcept {
    const event_number from = std::exchange(first_, larger(first_, kept));
    recent_ = larger(first_ - from, recent_ - recent_ / 4);
    for (event_cursor* cursor : cursors_) cursor->pass(first_);
    // The destructors of events may look at the log, so only the memory is left to release.
    ++readings_;
    destroy(from, first_);
    --readings_;
    release_front();
}

/// Frees the blocks before the first event. Keeps the last one, unless it is far too large.
void event_log::release_front() noexcept {
    while (blocks_.size() > 1 && blocks_[1].first <= first_) {
        free(blocks_.front());
        blocks_.erase(blocks_.begin());
    }
    if (blocks_.empty() || first_ != end()) return;
    block& only = blocks_.front();
    const bool is_large = recent_ * 8 < only.capacity && only.capacity * type_.size > 4096;
    if (cursors_.empty() || is_large) {
        free(only);
        blocks_.clear();
        next_ = limit_ = nullptr;
        return;
    }
    only.first = first_;
    set_next(first_);
}

void event_log::destroy(event_number from, event_number until) noexcept {
    if (type_.destroy == nullptr) return;
    const busy_guard busy(owner_.gate);
    while (from < until) {
        const place here = find(from);
        const auto room = static_cast<std::size_t>(static_cast<std::byte*>(here.limit) -
                                                   static_cast<std::byte*>(here.at));
        const event_number count = smaller(until - from, room / type_.size);
        type_.destroy(here.at, count);
        from += count;
    }
}

void event_log::free(const block& gone) const noexcept {
    (void)move_elements(gone.data, 0, 0, type_.size, type_.alignment);
}

event_log::~event_log() {
    for (event_cursor* cursor : cursors_) {
        cursor->log = nullptr;
        cursor->seen = all_events;
        if (cursor->is_abandoned && cursor->readings == 0) delete cursor;
    }
    cursors_.clear();
    pending_.clear();
    drop_before(end());
}

// ---- all logs ----------------------------------------------------------------------------------

struct event_logs::maker {
    engine& owner;
    const event_type& type;

    static event_logs* find_all(const engine& owner) noexcept {
        return static_cast<event_logs*>(owner.extensions.find(find_type_index<event_logs>()));
    }
    /// The logs end before the object that lists them, which is created first.
    static event_logs& ensure_all(engine& owner) {
        static constexpr extensions::recipe how{
            "events", [](void*) -> void* { return new event_logs; },
            [](void* object) noexcept { delete static_cast<event_logs*>(object); }};
        return *static_cast<event_logs*>(
            owner.extensions.ensure(ensure_type_index<event_logs>(), how, nullptr));
    }
    static void* make(void* given) {
        const maker& self = *static_cast<maker*>(given);
        array_list<event_log*>& all = ensure_all(self.owner).all_;
        reserve_more(all, 1);
        all.push_back(new event_log(self.owner, self.type));
        return all.back();
    }
    static void destroy(void* object) noexcept {
        auto* const log = static_cast<event_log*>(object);
        find_all(log->owner_)->all_.erase_value(log);
        delete log;
    }
};

event_log& event_logs::ensure(engine& owner, type_index log, const event_type& how) {
    static constexpr extensions::recipe recipe{"the log of an event", &maker::make,
                                               &maker::destroy};
    maker given{owner, how};
    return *static_cast<event_log*>(owner.extensions.ensure(log, recipe, &given));
}

void event_logs::end_frame(const engine& owner) noexcept {
    if (const event_logs* const logs = maker::find_all(owner))
        for (event_log* log : logs->all_) log->end_frame();
}

void event_logs::clear(const engine& owner) noexcept {
    if (const event_logs* const logs = maker::find_all(owner))
        for (event_log* log : logs->all_) log->clear();
}

}  // namespace MUSTER_NAMESPACE::detail
