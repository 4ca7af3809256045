// entity_table: the entities of a world with this layout: a record for each key. The fast paths of
// `store` use it directly; all other code sees it through `entity_directory`.
//
// Inline functions call only pool functions of a few instructions, because all users compile them.
#pragma once

#include <muster/base/slice.hpp>
#include <muster/change/gate.hpp>
#include <muster/entity/entity_directory.hpp>
#include <muster/entity/guest_table.hpp>
#include <muster/entity/record.hpp>
#include <muster/id/slot_pool.hpp>
#include <muster/storage/chunk_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace MUSTER_NAMESPACE::detail {

template <class Layout>
class MUSTER_API entity_table {
public:
    using id_type = basic_id<Layout>;
    using record_type = record<Layout>;
    using pool_type = slot_pool<Layout, record_type>;

    static constexpr std::size_t row_limit = std::size_t{1} << record_type::row_bits;
    static constexpr std::size_t chunk_limit = std::size_t{1} << record_type::chunk_bits;

    explicit entity_table(const id_pool_options& options)
        : pool_(options), first_direct_(pool_.dense_first_key()) {}
    entity_table(const entity_table&) = delete;
    entity_table& operator=(const entity_table&) = delete;
    ~entity_table();

    [[nodiscard]] pool_type& pool() noexcept { return pool_; }
    [[nodiscard]] const pool_type& pool() const noexcept { return pool_; }

    /// The first key that lookups may find in the dense array without a call: that of the array. If
    /// there are guests, it is beyond all keys, so that all lookups make the call. This costs those
    /// of worlds without guests nothing, as a test would.
    [[nodiscard]] std::uint64_t first_direct_key() const noexcept { return first_direct_; }

    /// Exchanges the state of the pool; see `slot_pool::exchange`.
    void exchange(typename pool_type::pool_state& state) noexcept {
        pool_.exchange(state);
        if (!has_guests()) first_direct_ = pool_.dense_first_key();
    }

    /// Returns the record of a living entity, native or guest, or null.
    [[nodiscard]] const record_type* find(id_type e) const noexcept {
        const record_type* const records = pool_.dense();
        const id_type origin = pool_.origin();
        const std::uint64_t place = e.key() - first_direct_;
        if (place >= pool_.dense_count()) [[unlikely]]
            return find_overflow(e);
        return records[place].seen().is(e, origin) ? records + place : nullptr;
    }
    /// Like `find`, for keys outside of the dense array, for ids of the current phase, and for all
    /// ids if there are guests.
    [[gnu::pure]] const record_type* find_overflow(id_type e) const noexcept;

    /// Returns the record of a key, or null.
    [[nodiscard]] record_type* find_record(std::uint64_t key) const noexcept {
        if (pool_.is_dense(key)) [[likely]]
            return pool_.dense() + (key - pool_.dense_first_key());
        return find_overflow_record(key);
    }
    [[gnu::pure]] record_type* find_overflow_record(std::uint64_t key) const noexcept;

    [[nodiscard]] static id_type* ids(const chunk_data& chunk) noexcept {
        // SAFETY: the column stores ids, aligned for them.
        return reinterpret_cast<id_type*>(chunk.ids.data);
    }

    // ---- guests --------------------------------------------------------------------------------

    /// Whether entities that another world has issued may have rows here. Never without world bits.
    [[nodiscard]] bool has_guests() const noexcept {
        return Layout::world_bits != 0 && guests_ != nullptr;
    }
    [[nodiscard]] guest_table<Layout>* guests() const noexcept { return guests_; }
    /// Creates the table of guests with the first.
    guest_table<Layout>& ensure_guests();
    /// Returns the record of a native entity or of a guest, which must be alive.
    [[nodiscard]] record_type& record_of(id_type e) const noexcept;

    // ---- rows ----------------------------------------------------------------------------------

    /// Moves the row of an entity along a transition, whose target has room. The caller has
    /// constructed the values that arrive, in the row after the last.
    void move_row(id_type e, record_type& found, chunk_data& from, const transition& step,
                  gate& changes) noexcept;
    /// Removes the row of an entity and destroys its values.
    void remove_row(record_type& found, chunk_data& from, gate& changes) noexcept {
        const std::size_t row = found.row();
        found.place(chunk_index{}, 0);
        changes.begin_change(from.is_nontrivial);
        const bool has_tenant = from.destroy_row(row);
        changes.end_change(from.is_nontrivial);
        if (has_tenant) pool_.find(ids(from)[row].key())->place(from.index, row);
    }

    // ---- parallel phases -----------------------------------------------------------------------

    struct sharing;
    [[nodiscard]] sharing* shared() const noexcept { return sharing_; }
    void begin_sharing();
    void end_sharing();

private:
    void move_values(const chunk_data& from, const transition& step, std::size_t row,
                     std::size_t to_row, gate& changes) noexcept;

    pool_type pool_;
    std::uint64_t first_direct_;             // see `first_direct_key`
    sharing* sharing_ = nullptr;             // owned; while several threads create ids
    guest_table<Layout>* guests_ = nullptr;  // owned; null until the first guest arrives
};

/// What code without a layout sees of an `entity_table`.
template <class Layout>
class MUSTER_API entity_adapter final : public entity_directory {
public:
    explicit entity_adapter(entity_table<Layout>& table) noexcept
        : entity_directory(Layout::key_bits, std::uint64_t{basic_id<Layout>{}.value()}),
          table_(table) {}

    [[nodiscard]] bool find(std::uint64_t e, location& at) const noexcept override;
    [[nodiscard]] bool is_foreign(std::uint64_t e) const noexcept override;
    [[nodiscard]] std::uint64_t version_of(std::uint64_t e) const noexcept override;
    [[nodiscard]] std::uint64_t next_living(std::uint64_t key) const noexcept override;
    [[nodiscard]] bool is_dense(std::uint64_t e) const noexcept override;
    [[nodiscard]] std::size_t size() const noexcept override { return table_.pool().size(); }
    [[nodiscard]] std::size_t capacity() const noexcept override;

    void place(std::uint64_t e, location at) noexcept override;
    void place_rows(const chunk_data& chunk, std::size_t first, std::size_t count,
                    chunk_index where) noexcept override;
    bool move_bytes(std::uint64_t e, const transition& step,
                    slice<const pending_value> values) noexcept override;
    void move_row(std::uint64_t e, const transition& step, gate& changes) noexcept override;
    void remove_row(std::uint64_t e, chunk_data& from, gate& changes) noexcept override;

    void refuse_overflow(std::size_t count) override {
        ensure_keys(count);
        pool().refuse_overflow(count);
    }
    void prepare(std::size_t count) override;
    std::uint64_t create() override;
    void create_all(id_span out) override;
    void create_rows(chunk_data& into, std::size_t count) noexcept override;
    void undo_create(std::uint64_t e) noexcept override;
    void refuse_at(target wanted) const override;
    void create_at(std::uint64_t wanted) override;
    void refuse_at(id_span wanted) override;
    void create_rows_at(chunk_data& into, id_span wanted) override;
    [[nodiscard]] std::uint64_t highest_free_from(std::uint64_t from) override;
    bool destroy(std::uint64_t e) noexcept override;
    void adopt_rows(chunk_data& into, std::size_t count) override;
    void forget_guests() noexcept override;
    [[nodiscard]] bool find_guest(std::uint64_t e) const noexcept override;
    [[nodiscard]] std::uint64_t next_guest(std::uint64_t e) const noexcept override;
    [[nodiscard]] std::size_t guest_count() const noexcept override;
    [[nodiscard]] std::size_t next_marked(const chunk_data& chunk, std::size_t row,
                                          const destroy_marks& marks) const noexcept override;
    void destroy_rows(const chunk_data& chunk, std::size_t first, std::size_t count,
                      const destroy_marks& marks,
                      void (*destroy_marked)(void* context, std::uint64_t e) noexcept,
                      void* context) noexcept override;

    void reserve(std::size_t count) override;
    std::size_t recycle_tombstones() override;
    void trim() noexcept override;

    void take_reserved(array_list<std::uint64_t>& out) override;
    [[nodiscard]] bool has_open_keys() const noexcept override;
    [[nodiscard]] std::uint64_t available() const noexcept override;
    [[nodiscard]] std::size_t fair_count() const noexcept override;
    std::uint64_t reserve_id() override;
    bool claim_reserved(std::uint64_t e) override;
    void give_up(std::uint64_t e) override;

    void begin_sharing() override { table_.begin_sharing(); }
    [[nodiscard]] bool is_sharing() const noexcept override { return table_.shared() != nullptr; }
    std::uint64_t create_shared() override;
    void end_sharing() override { table_.end_sharing(); }

    [[nodiscard]] std::string text_of(std::uint64_t e) const override;
    [[nodiscard]] std::uint64_t world_of(std::uint64_t e) const noexcept override;
    [[nodiscard]] bool is_well_formed(std::uint64_t e) const noexcept override;
    [[nodiscard]] bool has_lived(std::uint64_t e) const noexcept override;
    [[nodiscard]] std::string slot_text(std::uint64_t e) const override;

private:
    using id_type = basic_id<Layout>;
    using record_type = record<Layout>;
    [[nodiscard]] static id_type typed(std::uint64_t e) noexcept { return to_id<Layout>(e); }
    [[nodiscard]] static std::span<id_type> typed(id_span ids) noexcept {
        // SAFETY: the caller's array has ids of this layout.
        return {reinterpret_cast<id_type*>(ids.data), ids.count};
    }
    [[nodiscard]] typename entity_table<Layout>::pool_type& pool() const noexcept {
        return table_.pool();
    }
    /// Releases the keys that command buffers have left reserved before `count` keys are missing.
    void ensure_keys(std::size_t count) {
        if (!pool().has_certainly(count)) [[unlikely]]
            entity_directory::release_unused_keys();
    }
    void release_if_reserved(std::uint64_t wanted) const {
        pool().sync_reserved();
        if (pool().is_reserved(key_of(wanted))) entity_directory::release_key_of(wanted);
    }
    [[nodiscard]] std::uint64_t find_free(std::uint64_t highest) const noexcept;

    entity_table<Layout>& table_;
};

}  // namespace MUSTER_NAMESPACE::detail
