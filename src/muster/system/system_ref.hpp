// system_ref: which system a handle refers to, and the systems of a world.
#pragma once

#include <muster/base/error.hpp>
#include <muster/base/slice.hpp>
#include <muster/base/text.hpp>
#include <muster/query/query_cache.hpp>
#include <muster/store/store.hpp>
#include <muster/system/module_table.hpp>
#include <muster/system/schedule.hpp>
#include <muster/system/state_table.hpp>

#include <cstdint>
#include <source_location>
#include <string_view>
#include <type_traits>

namespace MUSTER_NAMESPACE {

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
    /// All null systems are equal.
    friend bool operator==(const system_ref& a, const system_ref& b) noexcept {
        return (a.is_null() && b.is_null()) || (a.owner_ == b.owner_ && a.number_ == b.number_);
    }

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
    [[nodiscard]] bool is_null() const noexcept {
        return owner_.is_null() || schedule::is_missing(number_);
    }

    lifetime_ptr<systems<Layout>> owner_;
    std::uint64_t number_ = 0;
};

/// Whether a first argument of `par_process` and the like is the executor.
template <class T>
inline constexpr bool is_executor = std::is_convertible_v<const T*, const executor*>;
template <class... Args>
inline constexpr bool begins_with_executor = false;
template <class First, class... Args>
inline constexpr bool begins_with_executor<First, Args...> = is_executor<First>;

/// A target of `process`: a system, its name, or the id of a group; and the call site.
template <class Layout>
struct basic_target {
    const system_ref<Layout>* system = nullptr;  // null: a name or an id
    std::string_view name{};
    basic_id<Layout> group{};
    std::source_location where;

    template <class T>
        requires(!is_executor<T>)
    // NOLINTNEXTLINE(google-explicit-constructor): the conversion captures the call site
    basic_target(const T& target, std::source_location place = std::source_location::current())
        : where(place) {
        constexpr bool is_system = std::is_convertible_v<const T*, const system_ref<Layout>*>;
        constexpr bool is_name = std::is_convertible_v<const T&, std::string_view>;
        constexpr bool is_group = std::is_convertible_v<const T&, basic_id<Layout>>;
        static_assert(is_system || is_name || is_group,
                      "muster: process takes systems, their names, and ids of groups. To pass "
                      "values to a system, use process_with.");
        if constexpr (is_system)
            system = &target;
        else if constexpr (is_name)
            name = text_or_empty(target);
        else if constexpr (is_group)
            group = target;
    }

private:
    [[nodiscard]] static std::string_view text_or_empty(std::string_view text) noexcept {
        return text.data() != nullptr ? text : "";
    }
};

/// The systems of a world, with its entities and queries.
template <class Layout>
struct systems {
    store<Layout>& entities;
    query_cache& queries;
    state_table states{};
    module_table modules{};
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

    /// Finds a system to run; null: there is no such group.
    [[nodiscard]] system_data* find(const basic_target<Layout>& target, const char* call) {
        if (target.system != nullptr) return &get(*target.system);
        if (target.name.data() != nullptr) return &all.get(target.name, call, &target.where);
        entities.require(basic_at<Layout>(target.group, target.where), call);
        return all.find_group(target.group.value());
    }

    template <class... Values>
    void run(slice<system_data* const> some, const Values&... values) {
        begin("process");
        const payload_value given[] = {payload_of(values)..., {}};
        all.run(some, {given, sizeof...(Values)}, entities.current_system);
    }
    /// Runs a frame of this world.
    template <class... Values>
    void run_frame(const void* of, const Values&... values) {
        begin("process_all");
        const payload_value given[] = {payload_of(values)..., {}};
        all.run_frame({of, entities, states}, {given, sizeof...(Values)}, entities.current_system);
    }
    /// Defined in <muster/system/parallel.hpp>.
    template <class... Values>
    void run_parallel(executor& threads, slice<system_data* const> some, const Values&... values);
    template <class... Values>
    void run_frame_parallel(executor& threads, const void* of, const Values&... values);

    /// Each run begins with it.
    void begin(const char* call) {
        entities.gate.refuse_in_change(call);
        entities.parallel.apply_submitted();
    }
};

}  // namespace detail
}  // namespace MUSTER_NAMESPACE
