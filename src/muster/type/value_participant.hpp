// value_participant: a room that takes part when the values of a fragment change, because it keeps
// state in step with them: the targets of links know their sources, for example.
//
//     combine    several recorded changes of one entity become one
//     begin      reserves memory for some entities
//     leaving    the value is still there, and will be removed or replaced
//                   ... `call_before` and the hooks of removed values, the move ...
//     arrived    the value is there
//                   ... `call_after` and the hooks of inserted values ...
//     commit     nothing can prevent the change any more
//
// All but `commit` may throw, which prevents the change. The room hears nothing of that: the next
// `begin` ends what was not committed. If an entity is destroyed, only `ending` is called for its
// values; see `destroy_participant`.
#pragma once

#include <muster/base/config.hpp>
#include <muster/base/slice.hpp>

#include <cstddef>
#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

/// A participant must not change the world in these calls. Only `call_before`, `call_after` and
/// `ending` may call hooks.
class MUSTER_API value_participant {
public:
    /// The result of combining the changes of an entity.
    enum class outcome : std::uint8_t {
        none,      // the value stays as it is
        puts,      // one of the given values is stored
        touches,   // the room changes the value that is there, in `commit`
        removes,   // the value is removed, if there is one
        destroys,  // the entity is destroyed instead
    };

    value_participant() = default;
    value_participant(const value_participant&) = delete;
    value_participant& operator=(const value_participant&) = delete;

    /// Combines the recorded changes of an entity. `present` is its value, or null. `given` has the
    /// values that it receives, in their order; null: a removal. `puts` sets `which` to the index of
    /// the value to store.
    virtual outcome combine(std::uint64_t e, const void* present, slice<void* const> given,
                            std::size_t& which) = 0;
    /// Returns the word of an entity that receives this value, if the fragment has words.
    [[nodiscard]] virtual std::uint64_t word_of(const void*) const { return 0; }
    /// Puts entities into the order in which a batch removes their values, one by one. Returns false
    /// if removing the value of an entity concerns no other: the batch may then remove them by chunk.
    [[nodiscard]] virtual bool arrange(slice<std::uint64_t>) const { return false; }
    virtual void begin(std::size_t count) = 0;
    /// `is_removed`: the value will not be replaced.
    virtual void leaving(std::uint64_t e, const void* value, bool is_removed) = 0;
    /// `value` may be modified. `is_new`: the entity had no value.
    virtual void arrived(std::uint64_t e, void* value, bool is_new) = 0;
    // A value that a new entity receives, or that ends with its entity, if no one else is to be
    // notified: these calls replace all others.
    /// Whether the room has no hooks to call.
    [[nodiscard]] virtual bool is_quiet() const noexcept { return false; }
    /// Makes all steps for this value that may throw, before the entity is created.
    virtual void prepare_first(const void*) {}
    /// `value` may be modified.
    virtual void commit_first(std::uint64_t, void*) noexcept {}
    /// The value ends together with its entity, on which no other depends.
    virtual void end_quietly(std::uint64_t, const void*) noexcept {}
    /// All values of the operation have arrived. Reserves what `commit` needs, before the first hook.
    virtual void reserve() {}
    /// Call the room's own hooks, for the entity that has last left or arrived.
    virtual void call_before(std::uint64_t) {}
    virtual void call_after(std::uint64_t) {}
    virtual void commit(std::uint64_t e) noexcept = 0;
    /// The value ends together with its entity, or because another one is destroyed.
    virtual void ending(std::uint64_t e, const void* value) = 0;

protected:
    ~value_participant() = default;
};

}  // namespace MUSTER_NAMESPACE::detail
