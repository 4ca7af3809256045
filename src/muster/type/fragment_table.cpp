#include <muster/base/integer.hpp>
#include <muster/base/reserve.hpp>
#include <muster/type/fragment_table.hpp>

#include <algorithm>

namespace MUSTER_NAMESPACE::detail {

constinit const fragment_data no_fragment;

fragment_data::~fragment_data() {
    {
        const boxed_value last = std::move(default_value);
    }  // destroyed first: its destructor uses the type
    delete own_type;
}

bool fragment_data::implies_on_removal() const noexcept {
    return std::ranges::any_of(implied, &implied_change::is_on_removal);
}

bool fragment_data::has_same_type(const fragment_data& other) const noexcept {
    const type_info& a = *type;
    const type_info& b = *other.type;
    if (value_type != no_type || other.value_type != no_type) return value_type == other.value_type;
    return a.size == b.size && a.alignment == b.alignment && a.relocate == b.relocate &&
           a.destroy == b.destroy && a.copy == b.copy && a.construct == b.construct;
}

void fragment_data::copy_value(void* to, const void* from, std::size_t count) const {
    if (duplicate.call == nullptr) return type->copy_values(to, from, count, 0);
    struct rollback {
        const type_info& type;
        std::byte* values;
        std::size_t made = 0;
        bool done = false;
        ~rollback() {
            if (!done && type.destroy != nullptr) type.destroy(values, made);
        }
    };
    rollback guard{*type, static_cast<std::byte*>(to)};
    for (; guard.made < count; ++guard.made)
        duplicate.call(duplicate.function.room, guard.values + guard.made * type->size, from);
    guard.done = true;
}

void fragment_data::default_construct(void* at, std::size_t count) const {
    if (default_value)
        copy_value(at, default_value.room, count);
    else
        type->construct_values(at, count);
}

void fragment_data::grow_bases(std::size_t count) {
    if (tracks_writes) written.grow(count);
    bases.grow(count);
    update_chunk_zero();
}

void fragment_data::reserve_base(chunk_index chunk) {
    const std::uint32_t number = to_int(chunk);
    if (limit == 0) {
        // Bases that begin at chunk 0 need a check less. The others take memory for what they have.
        first = number < 64 ? 0 : number;
        grow_bases(number - first + 1);
    } else if (number >= first) {
        const std::size_t needed = number - first + 1;
        if (needed > bases.capacity()) grow_bases(larger(needed, bases.capacity() * 2));
    } else {
        // Leaves room for as many chunks before this one, so that repeated growth stays cheap.
        const auto spare = static_cast<std::uint32_t>(smaller(number, limit));
        const std::uint32_t moved = first - number + spare;
        grow_bases(std::size_t{limit} + moved);
        std::copy_backward(bases.data(), bases.data() + limit, bases.data() + limit + moved);
        std::fill_n(bases.data(), moved, nullptr);
        if (tracks_writes) {
            std::copy_backward(written.data(), written.data() + limit,
                               written.data() + limit + moved);
            std::fill_n(written.data(), moved, std::uint64_t{0});
        }
        limit += moved;
        first -= moved;
        update_chunk_zero();
        update_dense_end();
    }
}

fragment_table::fragment_table() {
    by_type_.grow(8);
    by_type_[types_++] = &no_fragment;
    by_id_.bits = 4;
    by_id_.clear();
}

fragment_table::~fragment_table() {
    for (fragment_data* fragment : all_) delete fragment;
}

fragment_data& fragment_table::add(type_index type, const type_info& info, std::uint64_t id) {
    const auto at = static_cast<std::size_t>(type);
    if (at >= by_type_.capacity()) by_type_.grow(larger(at + 1, by_type_.capacity() * 2));
    while (types_ <= at) by_type_[types_++] = &no_fragment;
    reserve_more(all_, 1);
    struct rollback {
        fragment_data* made;
        ~rollback() { delete made; }
    };
    rollback guard{new fragment_data};
    fragment_data* const made = guard.made;
    made->type = &info;
    made->value_type = type;
    made->index = fragment_index{last_++};
    made->id = id;
    made->name = info.name;
    made->is_unique = info.unique;
    made->is_hidden = info.hidden;
    made->is_internal = info.internal;
    made->codec = info.codec;
    made->tracks_writes = tracks_writes_;
    made->order = static_cast<std::uint32_t>(all_.size());
    made->hooks.be_counted_in(hooked_);
    place(*made);
    guard.made = nullptr;
    all_.push_back(made);
    if (type != no_type) by_type_[at] = made;
    return *made;
}

namespace {

std::size_t hash_of(const fragment_key& key) noexcept {
    std::uint64_t hash = key.kind;
    for (const std::uint64_t word : {key.a, key.b}) {
        hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
}

}  // namespace

fragment_data* fragment_table::find(const fragment_key& key) const noexcept {
    return by_key_.find(hash_of(key),
                        [&](const fragment_data& fragment) { return fragment.key == key; });
}

fragment_data& fragment_table::add(const fragment_key& key, const type_info& info,
                                   std::uint64_t id) {
    by_key_.reserve_one();
    fragment_data& made = add(no_type, info, id);
    made.key = key;
    made.key_hash = hash_of(key);
    by_key_.insert(made);
    return made;
}

array_list<fragment_data*> fragment_table::list(std::uint32_t kind) const {
    array_list<fragment_data*> found;
    for (fragment_data* fragment : all_)
        if (fragment != nullptr && fragment->key.kind == kind) found.push_back(fragment);
    std::ranges::sort(found, [](const fragment_data* one, const fragment_data* other) {
        const fragment_key& left = one->key;
        const fragment_key& right = other->key;
        return left.a != right.a ? left.a < right.a : left.b < right.b;
    });
    return found;
}

void fragment_table::track_writes(bool is_on) noexcept {
    tracks_writes_ = is_on;
    for (fragment_data* fragment : all_) {
        if (fragment == nullptr) continue;
        fragment->tracks_writes = is_on;
        if (!is_on) fragment->written.trim(0);
    }
}

void fragment_table::remove(const fragment_data& fragment) noexcept {
    if (fragment.key.kind != 0) by_key_.erase(fragment);
    const auto type = static_cast<std::size_t>(fragment.value_type);
    if (type < types_ && by_type_[type] == &fragment) by_type_[type] = &no_fragment;
    all_.erase(fragment.order, [](fragment_data* moved, std::size_t place) {
        moved->order = static_cast<std::uint32_t>(place);
    });
    for (const std::size_t at : {by_id_.first(fragment.id), by_id_.second(fragment.id)})
        if (by_id_.entries[at].fragment == &fragment) by_id_.entries[at] = {0, &no_fragment};
    delete &fragment;
}

/// Uses a free entry; if there is none, rehashes all fragments with another factor or more entries.
void fragment_table::place(const fragment_data& added) {
    for (const std::size_t at : {by_id_.first(added.id), by_id_.second(added.id)})
        if (by_id_.entries[at].fragment == &no_fragment) {
            by_id_.entries[at] = {added.id, &added};
            return;
        }
    id_table made;
    made.bits = by_id_.bits;
    for (std::uint64_t tries = 0;; ++tries) {
        if (tries % 4 == 0) ++made.bits;
        made.factor = made.factor * 0xD1342543DE82EF95u | 1;
        made.clear();
        const bool done = made.put({added.id, &added}) &&
                          std::all_of(all_.begin(), all_.end(), [&](const fragment_data* fragment) {
                              return fragment == nullptr || made.put({fragment->id, fragment});
                          });
        if (!done) continue;
        by_id_ = std::move(made);
        return;
    }
}

void fragment_table::id_table::clear() {
    entries.grow(std::size_t{1} << bits);
    std::fill_n(entries.data(), std::size_t{1} << bits, entry{0, &no_fragment});
}

/// Inserts the entry; an occupant moves to its other entry, and so on. False after 32 moves.
bool fragment_table::id_table::put(entry added) noexcept {
    std::size_t at = first(added.id);
    for (int moves = 0; moves < 32; ++moves) {
        std::swap(added, entries[at]);
        if (added.fragment == &no_fragment) return true;
        at = at == first(added.id) ? second(added.id) : first(added.id);
    }
    return false;
}

}  // namespace MUSTER_NAMESPACE::detail
