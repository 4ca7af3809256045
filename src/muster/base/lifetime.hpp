// lifetime: lets a handle find out whether the object that it refers to still exists.
//
//     owner     [ lifetime: slot, 7 ]──┐
//     handle    [ object, slot, 7 ]────┴──► slot [ 7 ]      alive: the numbers are equal
//
// A lifetime takes a slot of the process and writes a new number into it, which no lifetime had
// before. When it ends, it resets the slot, and a later lifetime takes the slot again. Slots are
// never freed, so a handle may read its slot at any time. A new object at the same address has
// another number.
#pragma once

#include <muster/base/atomic_word.hpp>
#include <muster/base/config.hpp>

#include <cstdint>

namespace MUSTER_NAMESPACE::detail {

struct lifetime_slot {
    std::uint64_t number = 0;  // of the current lifetime; 0: free
    lifetime_slot* next_free = nullptr;
};
/// The slot of null handles, whose number 0 never equals that of the slot.
MUSTER_API inline constinit lifetime_slot no_lifetime{~std::uint64_t{0}, nullptr};

/// The part of a handle that knows whether its object is alive. Trivially copyable. Any thread may
/// call any function at any time; another thread sees the end when it synchronises with it.
class MUSTER_API lifetime_ref {
public:
    /// Refers to no object.
    constexpr lifetime_ref() noexcept = default;

    [[nodiscard]] bool is_null() const noexcept { return number_ == 0; }
    [[nodiscard]] bool is_alive() const noexcept { return read_once(slot_->number) == number_; }
    /// Throws `errc::world_ended` if the object has ended, and `errc::null_handle` if there is
    /// none. One comparison.
    void require() const {
        if (!is_alive()) [[unlikely]]
            raise_not_alive(is_null());
    }
    friend bool operator==(const lifetime_ref&, const lifetime_ref&) noexcept = default;

private:
    friend class lifetime;
    lifetime_ref(lifetime_slot& slot, std::uint64_t number) noexcept
        : slot_(&slot), number_(number) {}
    [[noreturn]] MUSTER_COLD static void raise_not_alive(bool is_null);

    lifetime_slot* slot_ = &no_lifetime;
    std::uint64_t number_ = 0;
};

/// Lets handles detect the end of its owner. Any thread may create or destroy objects at any time.
class MUSTER_API lifetime {
public:
    /// Throws `std::bad_alloc`.
    lifetime();
    lifetime(const lifetime&) = delete;
    lifetime& operator=(const lifetime&) = delete;
    ~lifetime();

    [[nodiscard]] const lifetime_ref& ref() const noexcept { return ref_; }

private:
    lifetime_ref ref_;
};

/// A pointer to an object with a lifetime, for handles. Trivially copyable.
template <class T>
class lifetime_ptr {
public:
    constexpr lifetime_ptr() noexcept = default;
    lifetime_ptr(T& object, const lifetime_ref& life) noexcept : object_(&object), life_(life) {}

    [[nodiscard]] bool is_null() const noexcept { return object_ == nullptr; }
    /// Returns null if the object has ended, or if there is none.
    [[nodiscard]] T* find() const noexcept { return life_.is_alive() ? object_ : nullptr; }
    /// Throws as `lifetime_ref::require` does.
    [[nodiscard]] T& get() const {
        life_.require();
        return *object_;
    }
    void require() const { life_.require(); }
    /// Whether both refer to the same object, alive or not.
    friend bool operator==(const lifetime_ptr&, const lifetime_ptr&) noexcept = default;

private:
    T* object_ = nullptr;
    lifetime_ref life_;
};

}  // namespace MUSTER_NAMESPACE::detail
