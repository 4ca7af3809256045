// The part of store_impl.hpp that moves all entities of a chunk, so that they can still go back: hooks
// are told when they have arrived, and one that throws undoes all of it. `exchange` does it with one.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/command/plan.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace muster::detail {

/// Where the values come from that all rows get.
struct value_source {
    const void* first = nullptr;  // null: each starts with its default value
    std::size_t step = 0;         // 0: one for all rows; 1: one for each
    const fragment_data* like =
        nullptr;  // copied as clones of its values are; null: as the type says

    /// Makes `count` values. May throw; then none is left.
    void fill(const fragment_data& fragment, std::byte* to, std::size_t count) const {
        const type_info& type = *fragment.type;
        if (first == nullptr)
            fragment.start_values(to, count);
        else if (like != nullptr && like->duplicate.call != nullptr)
            copy_each(*like, to, count);
        else
            type.copy_values(to, first, count, step);
    }

private:
    void copy_each(const fragment_data& fragment, std::byte* to, std::size_t count) const {
        struct rollback {
            const type_info& type;
            std::byte* to;
            std::size_t made = 0;
            bool is_done = false;
            ~rollback() {
                if (!is_done && type.destroy != nullptr) type.destroy(to, made);
            }
        };
        rollback guard{*fragment.type, to};
        const auto* const from = static_cast<const std::byte*>(first);
        for (const std::size_t size = fragment.type->size; guard.made < count; ++guard.made)
            fragment.copy_value(to + guard.made * size, from + guard.made * step * size, 1);
        guard.is_done = true;
    }
};

/// All entities of a chunk on the way that a plan says.
///
///     from   [ ids ][ position ][ health ]            health is dropped
///               |        |          \__ kept here until the hooks have returned
///     to     [ ids ][ position ][ velocity ]          velocity is new: filled before anything moves
///
/// Where the target is empty, columns are not copied: the chunks trade them.
template <class Layout>
class store<Layout>::chunk_exchange {
public:
    /// All that can fail. `values` has one for each change of the plan's shape.
    chunk_exchange(store& owner, const plan& way, std::span<const value_source> values)
        : store_(owner),
          way_(way),
          from_(*way.from),
          to_(*way.to),
          count_(from_.size),
          is_told_(way.calls && !way.present.empty()) {
        store_.is_exchanging_ = true;  // nothing else grows or shrinks meanwhile
        struct rollback {
            chunk_exchange* made;
            ~rollback() {
                if (made != nullptr) made->end();
            }
        };
        rollback guard{this};
        make_room();
        for (const plan::arrival& one : way.arrivals) {
            const column& target = to_.columns[one.column];
            const value_source source =
                one.given == plan::none ? value_source{} : values[one.given];
            if (source.first == nullptr && !target.fragment->can_start())
                store_.raise_no_default(*target.fragment, target.fragment->name);
            if (!moves() && is_written_over(target, source)) {
                at_once_.push_back({&target, source});
                continue;
            }
            filled_.reserve(way.arrivals.size());
            std::byte* const place =
                moves() ? target.at(first_) : add_aside(arriving_, target).data;
            const busy_scope nobody_else(store_);
            source.fill(*target.fragment, place, count_);
            filled_.push_back({&target, place});
        }
        leaving_.resize(from_.columns.size());
        for (std::size_t i = 0; i < leaving_.size(); ++i) {
            if (!is_kept(i)) continue;
            leaving_[i] = column(*from_.columns[i].type, nullptr);
            if (!resize(leaving_[i])) raise_out_of_memory();
        }
        guard.made = nullptr;
    }
    chunk_exchange(const chunk_exchange&) = delete;
    chunk_exchange& operator=(const chunk_exchange&) = delete;
    ~chunk_exchange() { end(); }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    /// Of those that have gone.
    [[nodiscard]] id_type who(std::size_t i) const noexcept {
        return has_rows() ? ids(to_)[first_ + i] : ids(from_)[i];
    }

    void go() noexcept {
        const busy_scope nobody_else(store_);
        for (std::size_t i = 0; i < leaving_.size(); ++i)
            if (is_kept(i))
                from_.columns[i].relocate(leaving_[i].data, from_.columns[i].data, count_);
        if (moves()) {
            move_columns(from_, 0, to_, first_);
            place_rows(to_, first_);
        } else {
            for (const filled& one : filled_)
                one.target->relocate(one.target->data, one.place, count_);
            for (const written& one : at_once_)
                one.source.fill(*one.target->fragment, one.target->data, count_);
        }
        filled_.clear();
        is_there_ = true;
        if (moves() && !is_told_)  // they are rows no more
            for (std::size_t i = 0; i < leaving_.size(); ++i)
                if (way_.columns[i] == edge::dropped)
                    from_.columns[i].destroy(from_.columns[i].data, count_);
    }

    void go_back() noexcept {
        const busy_scope nobody_else(store_);
        for (const plan::arrival& one : way_.arrivals) {
            const column& target = to_.columns[one.column];
            target.destroy(target.at(first_), count_);
        }
        if (moves()) {
            move_columns(to_, first_, from_, 0);
            place_rows(from_, 0);
        }
        for (std::size_t i = 0; i < leaving_.size(); ++i)
            if (is_kept(i))
                from_.columns[i].relocate(from_.columns[i].data, leaving_[i].data, count_);
        is_there_ = false;
    }

private:
    [[nodiscard]] bool moves() const noexcept { return &from_ != &to_; }
    [[nodiscard]] bool has_rows() const noexcept { return to_.index != chunk_index{}; }

    /// Whether a value that goes is kept until it cannot come back, or while a destructor may look.
    [[nodiscard]] bool is_kept(std::size_t column) const noexcept {
        return way_.columns[column] == edge::dropped &&
               (is_told_ || (!moves() && from_.columns[column].destroy_many != nullptr));
    }
    /// Bytes that nobody has to give back.
    [[nodiscard]] bool is_written_over(const column& target,
                                       const value_source& source) const noexcept {
        return !is_told_ && source.first != nullptr && target.type->copies_bytes &&
               target.destroy_many == nullptr &&
               (source.like == nullptr || source.like->duplicate.call == nullptr);
    }

    void make_room() {
        if (!moves() || !has_rows()) return;
        trades_ = to_.size == 0 && to_.capacity <= from_.capacity;
        if (trades_) {
            for (const plan::arrival& one : way_.arrivals) {
                column& target = to_.columns[one.column];
                if (!target.resize(0, from_.capacity, {})) raise_out_of_memory();
                target.fragment->bases[to_int(to_.index)] = target.data;
            }
        } else {
            to_.make_room(count_, row_limit, {});
        }
        first_ = to_.size;
    }
    [[nodiscard]] bool resize(column& one) const noexcept { return one.resize(0, count_, {}); }
    column& add_aside(array_list<column>& all, const column& like) {
        all.reserve(way_.arrivals.size());
        all.push_back(column(*like.type, nullptr));
        column& made = all.back();
        if (!resize(made)) raise_out_of_memory();
        return made;
    }

    /// What stays moves between the chunks, and the ids with it.
    void move_columns(chunk_data& source, std::size_t source_row, chunk_data& target,
                      std::size_t target_row) noexcept {
        const bool is_forth = &source == &from_;
        for (std::size_t i = 0; i < from_.columns.size(); ++i) {
            const std::uint32_t other = way_.columns[i];
            if (other == edge::dropped) continue;
            const column& here = source.columns[is_forth ? i : other];
            const column& there = target.columns[is_forth ? other : i];
            if (trades_)
                from_.trade(i, to_, other);
            else
                here.relocate(there.at(target_row), here.at(source_row), count_);
        }
        if (trades_) {
            std::swap(from_.ids.data, to_.ids.data);
            std::swap(from_.ids.block, to_.ids.block);
            std::swap(from_.capacity, to_.capacity);
        } else if (has_rows()) {
            std::copy_n(ids(source) + source_row, count_, ids(target) + target_row);
        }
    }

    /// The records say where the rows are, which have arrived in this chunk.
    void place_rows(chunk_data& there, std::size_t row) noexcept {
        const bool is_forth = &there == &to_;
        const id_type* const all = has_rows() ? ids(there) + row : ids(from_);
        const std::size_t step = there.index == chunk_index{} ? 0 : 1;
        for (std::size_t i = 0; i < count_; ++i)
            store_.find_record(all[i].key())->place(there.index, (row + i) * step);
        if (has_rows()) to_.size = is_forth ? first_ + count_ : first_;
        from_.size = is_forth ? 0 : count_;
    }

    void end() noexcept {
        store_.is_exchanging_ = false;
        const busy_scope nobody_else(store_);
        if (is_there_)
            for (std::size_t i = 0; i < leaving_.size(); ++i)
                if (is_kept(i)) leaving_[i].destroy(leaving_[i].data, count_);
        for (const filled& one : filled_) one.target->destroy(one.place, count_);
        for (column& one : leaving_) one.free();
        for (column& one : arriving_) one.free();
    }

    struct filled {  // values that were made and have not arrived
        const column* target;
        std::byte* place;
    };
    struct written {  // values that are written over the old ones
        const column* target;
        value_source source;
    };

    store& store_;
    const plan& way_;
    chunk_data& from_;
    chunk_data& to_;
    std::size_t count_;
    std::size_t first_ = 0;  // row in the target
    bool is_told_;           // hooks are called when all have arrived
    bool trades_ = false;
    bool is_there_ = false;
    std::vector<filled> filled_;
    std::vector<written> at_once_;
    array_list<column> arriving_;  // values beside the chunk, which they will replace
    array_list<column> leaving_;   // for each of the source, if `is_kept`: what has gone
};

}  // namespace muster::detail
