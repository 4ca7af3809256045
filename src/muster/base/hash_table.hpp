// hash_table: finds objects by a hash that they store themselves.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/base/integer.hpp>

#include <cstddef>

namespace MUSTER_NAMESPACE::detail {

/// Pointers to objects, which the user owns, in open addressing with linear probing. `Hash` is the
/// member of an object with its hash, which must not change while the object is in the table.
template <class T, std::size_t T::* Hash>
class hash_table {
public:
    /// Returns the object with this hash for which `is_it(object)` holds, or null.
    template <class Predicate>
    [[nodiscard]] T* find(std::size_t hash, Predicate is_it) const noexcept {
        if (places_.empty()) return nullptr;
        for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
            T* const found = places_[at];
            if (found == nullptr || (found->*Hash == hash && is_it(*found))) return found;
        }
    }
    /// Makes room for one more object. `std::bad_alloc` changes nothing.
    void reserve_one() {
        if ((size_ + 1) * 2 <= places_.size()) return;
        array_list<T*> before(larger(places_.size() * 2, 16), nullptr);
        before.swap(places_);
        for (T* const kept : before)
            if (kept != nullptr) put(*kept);
    }
    /// Inserts an object that is not in the table, after `reserve_one`.
    void insert(T& added) noexcept {
        put(added);
        ++size_;
    }
    /// Erases an object of the table, and moves the objects that collided with it.
    void erase(const T& gone) noexcept {
        std::size_t hole = gone.*Hash & mask();
        while (places_[hole] != &gone) hole = (hole + 1) & mask();
        for (std::size_t at = (hole + 1) & mask(); places_[at] != nullptr; at = (at + 1) & mask()) {
            const std::size_t home = places_[at]->*Hash & mask();
            // An object must not move to a place before its first one.
            if (((at - home) & mask()) < ((at - hole) & mask())) continue;
            places_[hole] = places_[at];
            hole = at;
        }
        places_[hole] = nullptr;
        --size_;
    }

private:
    [[nodiscard]] std::size_t mask() const noexcept { return places_.size() - 1; }
    void put(T& added) noexcept {
        std::size_t at = added.*Hash & mask();
        while (places_[at] != nullptr) at = (at + 1) & mask();
        places_[at] = &added;
    }

    array_list<T*> places_;  // a power of two, at most half full
    std::size_t size_ = 0;
};

}  // namespace MUSTER_NAMESPACE::detail
