// id_model: what an id pool must do, written as plainly as possible, with a map and a list. It shares no
// code with the pool but the packing of an id.
#pragma once

#include <muster/id/id.hpp>
#include <muster/id/slot_pool.hpp>

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace muster::test {

template <class Layout>
class id_model {
public:
    using id_type = basic_id<Layout>;
    using outcome = std::variant<id_type, errc>;

    explicit id_model(const id_pool_options& options)
        : world_(Layout::world_bits == 0 ? 0 : options.world),
          first_(std::max(options.first_key, Layout::first_key)),
          last_(std::min(options.last_key, Layout::last_key)),
          first_version_(std::max(options.first_version, Layout::first_version)),
          reuse_(options.reuse),
          unused_(first_),
          unused_version_(first_version_) {}

    outcome create() {
        if (waiting_ != 0) {
            while (line_.front().claimed) line_.pop_front();
            const std::uint64_t key = line_.front().key;
            line_.pop_front();
            --waiting_;
            return come_alive(key, keys_.at(key).version);
        }
        while (unused_ <= last_ && keys_.contains(unused_)) ++unused_;
        if (unused_ > last_) return errc::id_overflow;
        return come_alive(unused_, first_version_);
    }

    outcome create_at(id_type wanted) {
        const auto [key, version, world] = wanted.unpack();
        if (wanted.is_null() || id_type::pack(key, version, world) != wanted)
            return errc::id_out_of_range;
        if (key < Layout::first_key || version < Layout::first_version)
            return errc::id_out_of_range;
        if (!wraps && version == Layout::last_version) return errc::id_out_of_range;
        if (Layout::world_bits != 0 && world == 0) return errc::id_out_of_range;
        if (world != world_) return errc::foreign_entity;
        const auto known = keys_.find(key);
        if (known == keys_.end()) {
            if (version < first_version_) return errc::id_stale;
        } else {
            if (version < known->second.version) return errc::id_stale;
            if (known->second.alive) return errc::id_taken;
            if (known->second.away) return errc::id_stale;
        }
        for (auto at = line_.begin(); at != line_.end(); ++at)
            if (at->key == key) {
                at->claimed = true;
                --waiting_;
                break;
            }
        return come_alive(key, version);
    }

    bool destroy(id_type e) {
        if (!alive(e)) return false;
        const std::uint64_t key = e.key();
        state& was = keys_.at(key);
        was.alive = false;
        was.version = e.version() + 1;
        const bool spent = was.version > Layout::last_version ||
                           (!wraps && was.version == Layout::last_version) ||
                           id_type::pack(key, was.version, world_).is_null();
        if (spent && !wraps) {
            was.away = true;
            if (Layout::on_exhaustion == exhaustion::tombstone) parked_.push_back(key);
            return true;
        }
        if (spent) {
            was.version = first_version_;
            unused_version_ = Layout::last_issued_version + 1;
        }
        wait(key);
        return true;
    }

    bool alive(id_type e) const {
        for (const auto at = keys_.find(e.key()); at != keys_.end();)
            return at->second.alive && id_type::pack(e.key(), at->second.version, world_) == e;
        return false;
    }

    std::size_t recycle_tombstones() {
        const std::size_t count = parked_.size();
        for (const std::uint64_t key : parked_) {
            keys_.at(key).away = false;
            keys_.at(key).version = first_version_;
            wait(key);
        }
        parked_.clear();
        return count;
    }

    std::vector<id_type> living() const {
        std::vector<id_type> all;
        for (const auto& [key, known] : keys_)
            if (known.alive) all.push_back(id_type::pack(key, known.version, world_));
        return all;
    }
    std::size_t retired() const {
        std::size_t count = 0;
        for (const auto& [key, known] : keys_)
            count += Layout::on_exhaustion == exhaustion::retire && known.away ? 1u : 0u;
        return count;
    }
    std::size_t tombstones() const { return parked_.size(); }
    std::uint64_t unused_version() const { return unused_version_; }

    /// How many ids `create` can still give.
    std::uint64_t available() const {
        std::uint64_t used = 0;
        for (const auto& [key, known] : keys_) used += owns(key) ? 1u : 0u;
        return waiting_ + (last_ - first_ + 1) - used;
    }

    /// Everything that decides what happens next, as text.
    std::string state_text() const {
        std::string text;
        for (const auto& [key, known] : keys_)
            text += std::to_string(key) +
                    (known.alive  ? "+"
                     : known.away ? "x"
                                  : "-") +
                    std::to_string(known.version) + " ";
        text += "|";
        for (const auto& one : line_) text += std::to_string(one.key) + (one.claimed ? "c " : " ");
        text += "|";
        for (const std::uint64_t key : parked_) text += std::to_string(key) + " ";
        return text;
    }

private:
    static constexpr bool wraps = Layout::on_exhaustion == exhaustion::wrap;

    struct state {
        bool alive = false;
        bool away = false;          // retired or a tombstone
        std::uint64_t version = 0;  // of the living id, or of the next one
    };
    struct place {
        std::uint64_t key = 0;
        bool claimed = false;  // alive by create_at, but keeps its place
    };

    bool owns(std::uint64_t key) const { return key >= first_ && key <= last_; }

    void wait(std::uint64_t key) {
        if (!owns(key)) return;
        ++waiting_;
        for (auto& one : line_)
            if (one.key == key) {
                one.claimed = false;
                return;
            }
        if (reuse_ == reuse::lifo)
            line_.push_front({key});
        else
            line_.push_back({key});
    }

    outcome come_alive(std::uint64_t key, std::uint64_t version) {
        keys_[key] = {true, false, version};
        unused_version_ = std::max(unused_version_, version + 1);
        return id_type::pack(key, version, world_);
    }

    std::uint64_t world_, first_, last_, first_version_;
    muster::reuse reuse_;
    std::uint64_t unused_;                 // no key of the range below it is unused
    std::uint64_t unused_version_;         // no id had it, nor a later one
    std::map<std::uint64_t, state> keys_;  // all that were ever issued
    std::list<place> line_;                // next one first
    std::size_t waiting_ = 0;              // places that are not claimed
    std::vector<std::uint64_t> parked_;    // tombstones, oldest first
};

}  // namespace muster::test
