// system_ref: which system a handle refers to, and the systems of a world.
#pragma once

#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/store/store.hpp>
#include <muster/system/schedule.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace muster {

class executor;

namespace detail {

template <class Layout>
struct systems;

/// The part of a system's handle that does not depend on functions: which system it is, and its
/// state.
template <class Layout>
class system_ref {
public:
    system_ref() = default;
    /// False for the null system, for a removed system, and after the end of the world.
    explicit operator bool() const noexcept {
        const systems<Layout>* const owner = owner_.find();
        return owner != nullptr && owner->all.find(number_) != nullptr;
    }
    friend bool operator==(const system_ref&, const system_ref&) = default;

    /// Unique in its world. A system that was added without a name is called "#" and its number.
    [[nodiscard]] std::string_view name() const { return data().name; }

    [[nodiscard]] bool is_enabled() const { return data().is_enabled; }
    /// Removes the system. Its members then have no group. Its functions are destroyed when no
    /// system runs.
    void remove() const { owner().all.remove(changed()); }

    // ---- timings -------------------------------------------------------------------------------

    /// Covers the runs that ended without an exception while `world::time_systems` was on. The time
    /// of a group includes its members.
    [[nodiscard]] system_timings timings() const {
        const system_time& time = data().time;
        return {time.last, time.count == 0 ? 0 : time.total / time.count, time.max, time.count};
    }
    void reset_timings() const { changed().time = {}; }

protected:
    friend struct systems<Layout>;
    system_ref(systems<Layout>& owner, std::uint64_t number) noexcept
        : owner_(owner, owner.entities.life.ref()), number_(number) {}

    [[nodiscard]] systems<Layout>& owner() const {
        if (owner_.is_null()) raise(errc::unknown_system, "this system handle is null");
        return owner_.get();
    }
    [[nodiscard]] system_data& data() const { return owner().all.get(number_); }
    /// Like `data`, for changes. Throws `errc::in_scope` in a parallel phase.
    [[nodiscard]] system_data& changed() const {
        owner().entities.gate.refuse_in_phase("changing a system");
        return data();
    }
    [[nodiscard]] std::string_view name_of(const system_ref& other) const {
        return owner().get(other).name;
    }
    [[nodiscard]] std::string_view name_of(std::string_view name) const { return name; }

private:
    lifetime_ptr<systems<Layout>> owner_;
    std::uint64_t number_ = 0;
};

/// The systems of a world, with its entities and queries.
template <class Layout>
struct systems {
    store<Layout>& entities;
    query_cache& queries;
    schedule all{};

    [[nodiscard]] system_data& get(const system_ref<Layout>& system) {
        if (&system.owner() != this)
            raise(errc::unknown_system,
                  text("the system \"", system.name(), "\" belongs to another world"));
        return all.get(system.number_);
    }
    /// Returns the group that an id stands for, and creates it if necessary.
    [[nodiscard]] system_data& ensure(basic_id<Layout> id) {
        entities.require(basic_at<Layout>(id), "group");
        const std::string_view name = entities.names.find(id.value());
        return all.ensure_group(id.value(), name.empty() ? std::string_view(to_string(id)) : name);
    }

    /// Finds a system to run, by handle, by name or by the id of a group; null: there is no such
    /// group.
    [[nodiscard]] system_data* find(const system_ref<Layout>& system) { return &get(system); }
    [[nodiscard]] system_data* find(std::string_view name) { return &all.get(name); }
    [[nodiscard]] system_data* find(basic_id<Layout> id) {
        entities.require(basic_at<Layout>(id), "process");
        return all.find_group(id.value());
    }

    template <class... Values>
    void run(std::span<system_data* const> some, const Values&... values) {
        entities.gate.refuse_in_change("process");
        entities.parallel.apply_submitted();
        const payload_value given[] = {payload_of(values)..., {}};
        all.run(some, {given, sizeof...(Values)}, entities.current_system);
    }
    /// Defined in <muster/system/parallel.hpp>.
    template <class... Values>
    void run_parallel(executor& threads, std::span<system_data* const> some,
                      const Values&... values);
};

}  // namespace detail
}  // namespace muster
