// id_model: the required behaviour of an id pool, written as plainly as possible with a map and a
// list. It shares only the packing of ids with the pool.
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
        if (free_count_ != 0) {
            while (free_list_.front().claimed) free_list_.pop_front();
            const std::uint64_t key = free_list_.front().key;
            free_list_.pop_front();
            --free_count_;
            return issue(key, keys_.at(key).version);
        }
        while (unused_ <= last_ && keys_.contains(unused_)) ++unused_;
        if (unused_ > last_) return errc::id_overflow;
        return issue(unused_, first_version_);
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
            if (known->second.unavailable) return errc::id_stale;
        }
        for (auto at = free_list_.begin(); at != free_list_.end(); ++at)
            if (at->key == key) {
                at->claimed = true;
                --free_count_;
                break;
            }
        return issue(key, version);
    }

    bool destroy(id_type e) {
        if (!alive(e)) return false;
        const std::uint64_t key = e.key();
        state& slot = keys_.at(key);
        slot.alive = false;
        slot.version = e.version() + 1;
        const bool exhausted = slot.version > Layout::last_version ||
                               (!wraps && slot.version == Layout::last_version) ||
                               id_type::pack(key, slot.version, world_).is_null();
        if (exhausted && !wraps) {
            slot.unavailable = true;
            if (Layout::on_exhaustion == exhaustion::tombstone) tombstones_.push_back(key);
            return true;
        }
        if (exhausted) {
            slot.version = first_version_;
            unused_version_ = Layout::last_issued_version + 1;
        }
        link(key);
        return true;
    }

    bool alive(id_type e) const {
        for (const auto at = keys_.find(e.key()); at != keys_.end();)
            return at->second.alive && id_type::pack(e.key(), at->second.version, world_) == e;
        return false;
    }

    std::size_t recycle_tombstones() {
        const std::size_t count = tombstones_.size();
        for (const std::uint64_t key : tombstones_) {
            keys_.at(key).unavailable = false;
            keys_.at(key).version = first_version_;
            link(key);
        }
        tombstones_.clear();
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
            count += Layout::on_exhaustion == exhaustion::retire && known.unavailable ? 1u : 0u;
        return count;
    }
    std::size_t tombstones() const { return tombstones_.size(); }
    std::uint64_t unused_version() const { return unused_version_; }

    /// The number of ids that `create` can still issue.
    std::uint64_t available() const {
        std::uint64_t used = 0;
        for (const auto& [key, known] : keys_) used += owns(key) ? 1u : 0u;
        return free_count_ + (last_ - first_ + 1) - used;
    }

    /// The whole state of the model as text.
    std::string state_text() const {
        std::string text;
        for (const auto& [key, known] : keys_)
            text += std::to_string(key) +
                    (known.alive         ? "+"
                     : known.unavailable ? "x"
                                         : "-") +
                    std::to_string(known.version) + " ";
        text += "|";
        for (const auto& entry : free_list_)
            text += std::to_string(entry.key) + (entry.claimed ? "c " : " ");
        text += "|";
        for (const std::uint64_t key : tombstones_) text += std::to_string(key) + " ";
        return text;
    }

private:
    static constexpr bool wraps = Layout::on_exhaustion == exhaustion::wrap;

    struct state {
        bool alive = false;
        bool unavailable = false;   // retired or a tombstone
        std::uint64_t version = 0;  // of the living id, or of the next id
    };
    struct free_entry {
        std::uint64_t key = 0;
        bool claimed = false;  // alive by create_at, but still linked
    };

    bool owns(std::uint64_t key) const { return key >= first_ && key <= last_; }

    void link(std::uint64_t key) {
        if (!owns(key)) return;
        ++free_count_;
        for (auto& entry : free_list_)
            if (entry.key == key) {
                entry.claimed = false;
                return;
            }
        if (reuse_ == reuse::lifo)
            free_list_.push_front({key});
        else
            free_list_.push_back({key});
    }

    outcome issue(std::uint64_t key, std::uint64_t version) {
        keys_[key] = {true, false, version};
        unused_version_ = std::max(unused_version_, version + 1);
        return id_type::pack(key, version, world_);
    }

    std::uint64_t world_, first_, last_, first_version_;
    muster::reuse reuse_;
    std::uint64_t unused_;                   // all smaller keys of the range are in use
    std::uint64_t unused_version_;           // no id has had this or a later version
    std::map<std::uint64_t, state> keys_;    // all keys ever issued
    std::list<free_entry> free_list_;        // the next key first
    std::size_t free_count_ = 0;             // entries that are not claimed
    std::vector<std::uint64_t> tombstones_;  // tombstones, oldest first
};

}  // namespace muster::test
