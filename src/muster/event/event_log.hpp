// event_log: the events of one type that some reader may still see, and how far each reader is.
//
//     numbers   7 8 9 10 11 12 | 13 14          each event has a number
//               ^              ^     ^
//               first          visible  end     events from `visible` on wait for a commit; each
//     cursors        ^ a     ^ b                number in `pending_` is a record of the journal
//     blocks    [ 7 8 9 10 ][ 11 12 13 14 . . . . ]
//
// Values stay where they are until they are dropped: when all cursors have passed them, at the end of
// a loop or before the run of a system; and by `end_frame`, if they are two frames old. Nothing is
// dropped while a reader visits events. A log without cursors stores nothing.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/change/scoped_log.hpp>
#include <muster/type/type_index.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace MUSTER_NAMESPACE::detail {

struct engine;
class event_log;
using event_number = std::uint64_t;

/// The type of events, erased.
struct event_type {
    std::size_t size;
    std::size_t alignment;
    void (*destroy)(void* at, std::size_t count) noexcept = nullptr;  // null: nothing to do
};

/// Where a reader is in its log. Its owner calls `abandon` instead of deleting it.
struct MUSTER_API event_cursor {
    event_log* log;                         // null: the world has ended
    event_number seen;                      // events before this one
    event_number start = ~event_number{0};  // of a system: `seen` at the beginning of its run
    std::uint32_t readings = 0;             // loops that visit events now
    bool is_abandoned = false;

    void pass(event_number until) noexcept {
        if (seen < until) seen = until;
    }
    /// Like `pass`. Threads of a phase may call it at the same time.
    void pass_shared(event_number until) noexcept;
    /// While a reading is open, the log drops nothing.
    void begin_reading() noexcept;
    void end_reading() noexcept;
    /// Ends all loops of the reader. Any thread of a phase may call it.
    void abandon() noexcept;
};

class MUSTER_API event_log final : public scoped_log {
public:
    event_log(engine& owner, const event_type& type) noexcept : owner_(owner), type_(type) {}
    event_log(const event_log&) = delete;
    event_log& operator=(const event_log&) = delete;
    ~event_log();

    // ---- sending -------------------------------------------------------------------------------

    [[nodiscard]] bool has_readers() const noexcept { return !cursors_.empty(); }
    /// Whether the next event has a room, and is recorded, if a scope is open, like the last one. A
    /// log without readers has no room.
    [[nodiscard]] bool is_ready() const noexcept { return next_ != limit_; }
    [[nodiscard]] bool continues(std::uint64_t captures) const noexcept {
        return captures_ == captures;
    }
    [[nodiscard]] void* room() const noexcept { return next_; }
    /// Adds the event that was constructed in `room`.
    void add(std::size_t size) noexcept { next_ += size; }
    /// Makes the log ready for an event, which is recorded if `is_deferred`. `std::bad_alloc` and
    /// `errc::limit` change nothing.
    void prepare(bool is_deferred);
    /// Like `add`, after `prepare`.
    void add_prepared(bool is_deferred) noexcept;
    void deliver() noexcept override;
    void take_back() noexcept override;

    // ---- reading -------------------------------------------------------------------------------

    [[nodiscard]] event_number first() const noexcept { return first_; }
    /// The number after the last event that readers see.
    [[nodiscard]] event_number visible() const noexcept {
        return pending_.empty() ? end() : pending_.front();
    }
    /// An event, and the end of its block.
    struct place {
        void* at = nullptr;
        void* limit = nullptr;
    };
    [[nodiscard]] place find(event_number which) const noexcept;
    /// Adds a cursor, which sees later events only. Throws `errc::in_scope` in a parallel phase.
    /// `std::bad_alloc` changes nothing.
    [[nodiscard]] event_cursor& add_cursor();
    [[nodiscard]] bool is_in_phase() const noexcept;
    /// Throws `errc::in_scope` in a parallel phase.
    void refuse_in_phase(const char* call) const;

    // ---- frames --------------------------------------------------------------------------------

    void end_frame() noexcept;
    /// Drops what all readers have passed, and no run of a system needs any more.
    void drop_seen() noexcept;
    /// All cursors pass all visible events.
    void clear() noexcept;

private:
    friend struct event_cursor;
    friend class event_logs;
    struct block {
        std::byte* data;
        event_number first;
        std::size_t capacity;
    };

    /// The number after the last event.
    [[nodiscard]] event_number end() const noexcept;
    /// Makes `next_` the room of an event in the last block.
    void set_next(event_number which) noexcept;
    void grow();
    void remove(event_cursor& cursor) noexcept;
    void remove_abandoned() noexcept;
    void drop_before(event_number kept) noexcept;
    void destroy(event_number from, event_number until) noexcept;
    void release_front() noexcept;
    void free(const block& gone) const noexcept;

    engine& owner_;
    const event_type& type_;
    std::byte* next_ = nullptr;   // in the last block
    std::byte* limit_ = nullptr;  // its end
    std::uint64_t captures_ = 0;  // of the journal, when the last of `pending_` began; 0: none
    event_number first_ = 0;
    event_number frame_ = 0;            // `visible` at the end of the last frame
    event_number recent_ = 0;           // how many were dropped at a time, decaying
    std::uint32_t readings_ = 0;        // of all cursors
    array_list<event_number> pending_;  // where each record of the journal begins
    array_list<block> blocks_;
    array_list<event_cursor*> cursors_;
};

/// Under its number, the log of E is an extension of the world.
template <class E>
struct event_log_of {};

/// The logs of a world: those of the types that ever had a reader.
class MUSTER_API event_logs {
public:
    event_logs() noexcept = default;
    event_logs(const event_logs&) = delete;
    event_logs& operator=(const event_logs&) = delete;

    /// Returns the log with this number, or null: its type never had a reader.
    [[nodiscard]] static event_log* find(const engine& owner, type_index log) noexcept;
    /// `std::bad_alloc` changes nothing. `how` must outlive the log.
    [[nodiscard]] static event_log& ensure(engine& owner, type_index log, const event_type& how);

    /// Drops the events that all readers have seen, and those of the frame before this one.
    static void end_frame(const engine& owner) noexcept;
    /// All readers pass all events.
    static void clear(const engine& owner) noexcept;

private:
    struct maker;
    array_list<event_log*> all_;  // in the order of their creation
};

}  // namespace MUSTER_NAMESPACE::detail
