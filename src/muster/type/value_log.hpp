// value_log: the last values of removed components, in the order of their removal: the data of an
// observer that keeps them.
//
//     fragment       [ spare value ][ spare value ]     reserved before a removal, filled by it
//
//     log            [ e7 ]-----------+----> last_value   shared by all logs of the fragment
//     another log    [ e2 ][ e7 ]-----+
//
// A removal that can no longer fail moves the value out of the component, which then dies. So the
// values need not be copyable.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/config.hpp>
#include <muster/base/integer.hpp>
#include <muster/type/boxed_value.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// A removed value, and the entity that had it. The last log that has it deletes it.
struct last_value {
    explicit last_value(const type_info& type) : value(type) {}
    void release() noexcept {
        if (--holders == 0) delete this;
    }

    std::uint64_t e = 0;
    std::uint32_t holders = 1;
    boxed_value value;
};

class MUSTER_API value_log {
public:
    value_log() = default;
    value_log(const value_log&) = delete;
    value_log& operator=(const value_log&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
    /// Makes room, so that the next `more` calls of `add` cannot fail. May throw `std::bad_alloc`.
    void reserve(std::size_t more) {
        const std::size_t wanted = all_.size() + unread_ + more;
        if (wanted > all_.capacity()) all_.reserve(larger(wanted, 2 * all_.capacity()));
    }
    /// Adds a value, unless the log is paused. A log that was subscribed after `reserve` loses the
    /// value if memory runs out.
    void add(last_value& kept) noexcept;

    /// Takes out all values, for reading. Removals during the reading belong to the next reading.
    /// `std::bad_alloc` changes nothing.
    [[nodiscard]] array_list<last_value*> begin_reading();
    /// Ends a reading. Releases the values before index `first`, and puts the others back, before
    /// those added since.
    void end_reading(const array_list<last_value*>& read, std::size_t first) noexcept;
    void clear() noexcept;

    /// Reference count: the last `release` deletes the log.
    void hold() noexcept { ++holders_; }
    void release() noexcept {
        if (--holders_ == 0) delete this;
    }

    bool is_paused = false;  // `add` does nothing
    bool has_world = true;   // false once the world is destroyed
    // Its observer was destroyed in a parallel phase, whose end releases it.
    bool is_abandoned = false;

private:
    ~value_log() { clear(); }

    array_list<last_value*> all_;  // each holds a reference
    std::size_t unread_ = 0;       // taken out by readings; may be put back
    std::uint32_t holders_ = 1;
};

}  // namespace MUSTER_NAMESPACE::detail
