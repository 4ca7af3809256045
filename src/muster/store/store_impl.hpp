// The compiled half of `store`: included by store.cpp for the presets, and by
// <muster/world/instantiate.hpp> for a user's own layout.
#pragma once

#include <muster/base/text.hpp>
#include <muster/store/store.hpp>

#include <algorithm>
#include <cstring>

namespace muster::detail {

template <class Layout>
inline constexpr type_info id_type_info{
    "id", sizeof(basic_id<Layout>), alignof(basic_id<Layout>), nullptr, nullptr, nullptr};

template <class Layout>
store<Layout>::store(const world_options& options)
    : number_(world_number::take<Layout>(options.number)),
      pool_({.world = number_.value(),
             .first_key = options.first_key,
             .last_key = options.last_key,
             .reuse = options.reuse,
             .first_version = number_.first_version()}),
      graph_(id_type_info<Layout>, chunk_limit),
      provenance_(options.provenance) {
    if (provenance_) told_from_ = 0;
    by_list_.grow(8);
    by_list_[lists_++] = {};
}

template <class Layout>
store<Layout>::~store() {
    ++busy_;
    number_.spend(pool_.unused_version());
}

template <class Layout>
auto store<Layout>::find_far(id_type e) const noexcept -> const record_type* {
    const record_type* const found = pool_.find(e.key());
    return found != nullptr && found->is(e, pool_.origin()) ? found : nullptr;
}

template <class Layout>
auto store<Layout>::find_far_record(std::uint64_t key) const noexcept -> record_type* {
    // SAFETY: the pool is not const where the record is changed.
    return const_cast<record_type*>(pool_.find(key));
}

// ---- fragments ---------------------------------------------------------------------------------

template <class Layout>
auto store<Layout>::id_of(const fragment_data& fragment) const noexcept -> id_type {
    typename Layout::rep value;
    std::memcpy(&value, fragment.id, sizeof value);
    return id_type::from_value(value);
}

template <class Layout>
fragment_data* store<Layout>::find_fragment_of(id_type e) const noexcept {
    if (e.key() < own_from_) return nullptr;
    const auto value = e.value();
    return fragments_.find_id(&value, sizeof value);
}

template <class Layout>
auto store<Layout>::make_own_id() -> id_type {
    for (std::uint64_t key = Layout::last_key;; --key) {
        const record_type* const slot = pool_.find(key);
        const std::uint64_t version = slot == nullptr ? pool_.first_version() : slot->version();
        if ((slot == nullptr || !slot->is_live(key)) && version <= Layout::last_issued_version) {
            const id_type made = pool_.create_at(id_type::assemble(key, version, pool_.world()));
            own_from_ = smaller(own_from_, key);
            told_from_ = smaller(told_from_, key);
            return made;
        }
        if (key == Layout::first_key)
            raise(errc::id_overflow, "no key is left for the fragment of another component type");
    }
}

template <class Layout>
fragment_data& store<Layout>::add_fragment(type_index type, const type_info& info) {
    struct rollback {
        fragment_table& table;
        fragment_data* made;
        ~rollback() {
            if (made != nullptr) table.remove(*made);
        }
    };
    refuse_if_busy("the first use of a component type");
    rollback guard{fragments_, &fragments_.add(type, info)};
    const auto value = make_own_id().value();
    fragment_data& made = *guard.made;
    guard.made = nullptr;
    std::memcpy(made.id, &value, sizeof value);
    return made;
}

template <class Layout>
chunk_data& store<Layout>::add_list(std::size_t list, std::span<fragment_data* const> set) {
    std::vector<fragment_data*> sorted(set.begin(), set.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const fragment_data* a, const fragment_data* b) { return a->index < b->index; });
    chunk_data& found = graph_.ensure(sorted);
    if (list == static_cast<std::size_t>(no_list)) return found;
    if (list >= by_list_.capacity()) by_list_.grow(larger(list + 1, by_list_.capacity() * 2));
    while (lists_ <= list) by_list_[lists_++] = {};
    list_entry& entry = by_list_[list];
    entry.chunk = &found;
    for (std::size_t i = 0; i < smaller(set.size(), std::size(entry.columns)); ++i)
        entry.columns[i] = static_cast<std::uint8_t>(found.find_column(*set[i]));
    return found;
}

template <class Layout>
void store<Layout>::destroy_fragment(fragment_data& fragment) {
    clear_fragment(fragment);
    // No chunk that has it can have rows again.
    std::fill_n(by_list_.data(), lists_, list_entry{});
    graph_.collect_garbage(&fragment);
    fragments_.remove(fragment);
}

// ---- entities come -----------------------------------------------------------------------------

template <class Layout>
void store<Layout>::write_rows(chunk_data& into, std::size_t count, row_values given,
                               const chunk_data* skipped, const chunk_data* original,
                               std::size_t row) {
    struct rollback {
        const chunk_data& into;
        const chunk_data* skipped;
        std::size_t count;
        std::size_t done = 0;  // columns
        ~rollback() {
            for (std::size_t i = 0; i < done; ++i) {
                const column& one = into.columns[i];
                if (skipped == nullptr || !skipped->has(*one.fragment))
                    one.destroy(one.at(into.size), count);
            }
        }
    };
    const busy_scope nobody_else(*this);
    rollback guard{into, skipped, count};
    for (const column& one : into.columns) {
        const auto found = std::find(given.fragments.begin(), given.fragments.end(), one.fragment);
        const bool is_given = found != given.fragments.end();
        if (is_given || skipped == nullptr || !skipped->has(*one.fragment)) {
            const void* const value =
                is_given ? given.values[static_cast<std::size_t>(found - given.fragments.begin())]
                         : one.fragment->base(original->index) + row * one.type->size;
            one.type->copy(one.at(into.size), value, count, is_given ? given.step : 0);
        }
        ++guard.done;
    }
    guard.done = 0;
}

template <class Layout>
void store<Layout>::refuse_uncopyable(at_type prototype, const chunk_data& original,
                                      const chunk_data& given) const {
    for (const column& one : original.columns)
        if (one.type->copy == nullptr && !given.has(*one.fragment))
            raise(errc::not_copyable,
                  text(describe(prototype.id), " cannot be cloned: its ", one.type->name,
                       " cannot be copied; give the clone one, or remove it (clone at ",
                       place_text(prototype.where), ")"));
}

template <class Layout>
chunk_data& store<Layout>::copy_row(at_type prototype, const chunk_data& given, watched arguments) {
    const record_type& found = require(prototype, "clone");
    chunk_data& original = graph_.at(found.chunk());
    const std::size_t row = found.row();
    chunk_data& into = *graph_.with(original, given).target;
    pool_.prepare(1);
    if (&into == &graph_.nowhere()) return into;
    refuse_uncopyable(prototype, original, given);
    into.make_room(1, row_limit, arguments);
    write_rows(into, 1, {}, &given, &original, row);
    return into;
}

template <class Layout>
auto store<Layout>::enter(chunk_data& into) noexcept -> id_type {
    return enter_at(into, pool_.create());
}

template <class Layout>
auto store<Layout>::enter_at(chunk_data& into, id_type made) noexcept -> id_type {
    if (&into != &graph_.nowhere()) {
        find_record(made.key())->place(into.index, into.size);
        ids(into)[into.size++] = made;
    }
    return made;
}

template <class Layout>
void store<Layout>::claim(id_type wanted) {
    pool_.create_at(wanted);
}

template <class Layout>
void store<Layout>::enter_many(chunk_data& into, std::size_t count) noexcept {
    const std::size_t first = into.size;
    pool_.create_now(std::span<id_type>(ids(into) + first, count),
                     [index = into.index, first](record_type& made, std::size_t i) {
                         made.place(index, first + i);
                     });
    into.size += count;
}

template <class Layout>
void store<Layout>::spawn_many(std::span<id_type> out, chunk_data& into, row_values given) {
    if (&into == &graph_.nowhere()) {
        refuse_if_busy("spawn");
        pool_.create(out);
    } else {
        const std::size_t first = spawn_rows(out.size(), into, given);
        std::copy_n(ids(into) + first, out.size(), out.begin());
    }
}

template <class Layout>
std::size_t store<Layout>::spawn_rows(std::size_t count, chunk_data& into, row_values given) {
    refuse_if_busy("spawn");
    pool_.prepare(count);
    into.make_room(count, row_limit, given.values);
    write_rows(into, count, given, nullptr, nullptr, 0);
    enter_many(into, count);
    return into.size - count;
}

template <class Layout>
void store<Layout>::clone_many(std::span<id_type> out, at_type prototype, chunk_data& given_chunk,
                               row_values given) {
    refuse_if_busy("clone");
    const record_type& found = require(prototype, "clone");
    chunk_data& original = graph_.at(found.chunk());
    const std::size_t row = found.row();
    chunk_data& into = *graph_.with(original, given_chunk).target;
    pool_.prepare(out.size());
    if (&into == &graph_.nowhere()) return pool_.create(out);
    refuse_uncopyable(prototype, original, given_chunk);
    into.make_room(out.size(), row_limit, given.values);
    write_rows(into, out.size(), given, nullptr, &original, row);
    enter_many(into, out.size());
    std::copy_n(ids(into) + into.size - out.size(), out.size(), out.begin());
}

template <class Layout>
void store<Layout>::destroy_rows(chunk_data& chunk, std::size_t first) noexcept {
    const std::size_t count = chunk.size - first;
    chunk.size = first;
    for (std::size_t i = count; i-- != 0;) {
        const id_type e = ids(chunk)[first + i];
        names_.erase(e.value());
        pool_.destroy(e);
    }
    const busy_scope nobody_else(*this);
    chunk.destroy_values(first, count);
}

// ---- values go ---------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::move_row(id_type e, record_type& found, chunk_data& from,
                             const edge& way) noexcept {
    chunk_data& to = *way.target;
    const std::size_t row = found.row();
    if (from.runs_code) destroy_dropped(from, way, row);
    const std::size_t new_row = to.size++;
    ids(to)[new_row] = e;
    found.place(to.index, new_row);
    if (from.index == chunk_index{}) return;
    const std::size_t last = --from.size;
    id_type* const tenants = ids(from);
    if (row != last) {
        const id_type moved = tenants[row] = tenants[last];
        pool_.find(moved.key())->place(from.index, row);
    }
    if (from.runs_code) return move_values(from, way, row, new_row);
    const column* const targets = to.columns.data();
    const std::uint32_t* target = way.columns.data();
    for (const column& one : from.columns) {
        const std::uint32_t which = *target++;
        one.take_bytes(row, last, which == edge::dropped ? nullptr : targets + which, new_row);
    }
}

template <class Layout>
[[gnu::noinline]] void store<Layout>::destroy_dropped(const chunk_data& from, const edge& way,
                                                      std::size_t row) noexcept {
    const busy_scope nobody_else(*this);
    for (std::size_t i = 0; i < from.columns.size(); ++i)
        if (way.columns[i] == edge::dropped) from.columns[i].destroy(from.columns[i].at(row), 1);
}

/// The values of a row go where the edge says, those of the last row take their place.
template <class Layout>
[[gnu::noinline]] void store<Layout>::move_values(const chunk_data& from, const edge& way,
                                                  std::size_t row, std::size_t to_row) noexcept {
    const busy_scope nobody_else(*this);
    const std::size_t last = from.size;  // it is a row no more
    const std::uint32_t* target = way.columns.data();
    for (const column& one : from.columns) {
        const std::uint32_t which = *target++;
        std::byte* const value = one.at(row);
        if (which != edge::dropped) one.relocate(way.target->columns[which].at(to_row), value, 1);
        if (row != last) one.relocate(value, one.at(last), 1);
    }
}

template <class Layout>
void store<Layout>::leave_row(record_type& found) noexcept {
    chunk_data& from = graph_.at(found.chunk());
    const std::size_t row = found.row();
    found.place(chunk_index{}, 0);
    busy_ += from.runs_code;
    const bool has_tenant = from.destroy_row(row);
    busy_ -= from.runs_code;
    if (has_tenant) pool_.find(ids(from)[row].key())->place(from.index, row);
}

template <class Layout>
bool store<Layout>::clear(at_type who) {
    refuse_if_busy("clear");
    record_type* const found = find_own(who, "clear");
    if (found == nullptr || found->chunk() == chunk_index{}) return false;
    leave_row(*found);
    return true;
}

template <class Layout>
void store<Layout>::move_all(chunk_data& from, const edge& way) {
    chunk_data& to = *way.target;
    const std::size_t count = from.size;
    const std::size_t first = to.size;
    const bool to_nowhere = &to == &graph_.nowhere();
    if (!to_nowhere) to.make_room(count, row_limit, {});
    const busy_scope nobody_else(*this);
    for (std::size_t i = 0; i < from.columns.size(); ++i) {
        const column& one = from.columns[i];
        if (way.columns[i] == edge::dropped)
            one.destroy(one.data, count);
        else
            one.relocate(to.columns[way.columns[i]].at(first), one.data, count);
    }
    for (std::size_t i = 0; i < count; ++i)
        pool_.find(ids(from)[i].key())->place(to.index, to_nowhere ? 0 : first + i);
    if (!to_nowhere) {
        std::copy_n(ids(from), count, ids(to) + first);
        to.size += count;
    }
    from.size = 0;
}

template <class Layout>
std::size_t store<Layout>::clear_fragment(fragment_data& fragment) {
    refuse_if_busy("clear");
    fragment_data* const one[] = {&fragment};
    const chunk_data& less = graph_.ensure(one);
    const std::vector<chunk_index> owners = fragment.chunks;
    std::size_t count = 0;
    for (const chunk_index owner : owners) {
        chunk_data& from = graph_.at(owner);
        if (from.size == 0) continue;
        count += from.size;
        move_all(from, graph_.without(from, less));
    }
    return count;
}

// ---- entities go -------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::before_death(id_type e, const std::source_location& where) {
    if (provenance_) deaths_.note(e.key(), e.version(), where, names_.find(e.value()));
    if (fragment_data* const fragment = find_fragment_of(e)) destroy_fragment(*fragment);
    names_.erase(e.value());
}

/// `destroy` of an entity that has components and dies easily.
template <class Layout>
[[gnu::flatten]] bool store<Layout>::destroy_placed(id_type e, record_type& found) noexcept {
    leave_row(found);
    pool_.destroy_now(e);
    return true;
}

template <class Layout>
bool store<Layout>::destroy_slowly(at_type who) {
    refuse_if_busy("destroy");
    record_type* const found = find_own(who, "destroy");
    if (found == nullptr) return false;
    if (who.id.key() >= told_from_) before_death(who.id, who.where);
    if (found->chunk() != chunk_index{}) leave_row(*found);
    pool_.destroy(who.id);
    return true;
}

template <class Layout>
std::size_t store<Layout>::destroy(std::span<const id_type> all,
                                   const std::source_location& where) {
    refuse_if_busy("destroy");
    for (const id_type e : all)
        if (is_foreign(e)) raise_not_alive({e, where}, "destroy");
    if (provenance_)  // what can fail comes first
        for (const id_type e : all)
            if (alive(e)) deaths_.note(e.key(), e.version(), where, names_.find(e.value()));
    std::size_t count = 0;
    for (const id_type e : all) count += destroy(at_type(e, where)) ? 1u : 0u;
    return count;
}

template <class Layout>
void store<Layout>::reset(const std::source_location& where) {
    refuse_if_busy("reset");
    if (provenance_)
        for (id_type e = next_living(0); e; e = next_living(e.key() + 1))
            deaths_.note(e.key(), e.version(), where, names_.find(e.value()));
    for (const fragment_data* one : fragments_.all())
        pool_.find(id_of(*one).key())->place(chunk_index{}, 0);
    for (id_type e = next_living(0); e; e = next_living(e.key() + 1)) {
        names_.erase(e.value());
        pool_.destroy(e);
    }
    const busy_scope nobody_else(*this);
    for (chunk_data* one : graph_.all()) {
        const std::size_t count = one->size;
        one->size = 0;
        one->destroy_values(0, count);
    }
}

template <class Layout>
auto store<Layout>::next_living(std::uint64_t key) const noexcept -> id_type {
    id_type found = pool_.next_living(larger(key, Layout::first_key));
    while (found && find_fragment_of(found) != nullptr) found = pool_.next_living(found.key() + 1);
    return found;
}

// ---- room --------------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::reserve(std::size_t count) {
    refuse_if_busy("reserve");
    const std::size_t own = fragments_.all().size();
    pool_.reserve(count + own < count ? count : count + own);
}

template <class Layout>
void store<Layout>::prepare(std::size_t count) {
    refuse_if_busy("spawn");
    pool_.prepare(count);
}

template <class Layout>
std::size_t store<Layout>::recycle_tombstones() {
    refuse_if_busy("recycle_tombstones");
    return pool_.recycle_tombstones();
}

template <class Layout>
void store<Layout>::collect_garbage() {
    refuse_if_busy("collect_garbage");
    std::fill_n(by_list_.data(), lists_, list_entry{});
    graph_.collect_garbage();
    pool_.trim();
}

// ---- names -------------------------------------------------------------------------------------

template <class Layout>
void store<Layout>::name(at_type who, std::string_view name) {
    require(who, "name");
    names_.set(who.id.value(), name);
    told_from_ = 0;
}

template <class Layout>
std::string_view store<Layout>::name(id_type e) const noexcept {
    return alive(e) ? names_.find(e.value()) : std::string_view{};
}

// ---- errors ------------------------------------------------------------------------------------

/// Only for an id that this world issued: others may share its key and version.
template <class Layout>
const deaths::entry* store<Layout>::find_death(id_type e) const noexcept {
    const bool is_ours =
        id_type::assemble(e.key(), e.version(), pool_.world()) == e && !e.is_null();
    return is_ours ? deaths_.find(e.key(), e.version()) : nullptr;
}

template <class Layout>
std::string store<Layout>::describe(id_type e) const {
    std::string name(names_.find(e.value()));
    if (name.empty())
        if (const deaths::entry* const known = find_death(e)) name = known->name;
    std::string made = text("entity ", to_string(e));
    if (!name.empty()) made += text(" \"", name, "\"");
    return made;
}

template <class Layout>
std::string store<Layout>::why_dead(id_type e) const {
    if (e.is_null()) return "it is the null id, which names nothing";
    const record_type* const slot = pool_.find(e.key());
    const bool is_id = id_type::assemble(e.key(), e.version(), e.world()) == e;
    const std::uint64_t reached =
        slot == nullptr ? 0 : slot->version() + (slot->is_live(e.key()) ? 1u : 0u);
    // Where versions start over, a higher one may have been here.
    const bool was_here = Layout::on_exhaustion != exhaustion::retire || e.version() < reached;
    if (slot == nullptr || !is_id || !was_here || e.version() < pool_.first_version())
        return "no entity was ever made with this id";
    const std::string now = slot->version() <= Layout::last_issued_version
                                ? text("slot ", e.key(), " is now at version ", slot->version())
                                : text("slot ", e.key(), " has spent its last version");
    if (const deaths::entry* const known = find_death(e))
        return text("destroyed at ", place_text(known->where), "; ", now);
    return provenance_ ? now
                       : text(now, "; world_options.provenance would tell where it was destroyed");
}

template <class Layout>
void store<Layout>::raise_not_alive(at_type who, const char* call) const {
    const std::string place = text(" (", call, " at ", place_text(who.where), ")");
    if (is_foreign(who.id))
        raise(errc::foreign_entity, text("entity ", to_string(who.id), " belongs to world W:",
                                         who.id.world(), ", not to W:", number(), place));
    raise(errc::dead_entity, text(describe(who.id), " is dead: ", why_dead(who.id), place));
}

template <class Layout>
void store<Layout>::raise_missing(at_type who, const char* call, std::string_view type) const {
    const record_type* const found = find(who.id);
    if (found == nullptr) raise_not_alive(who, call);
    std::string has;
    for (const fragment_data* one : graph_.at(found->chunk()).fragments)
        has += text(has.empty() ? "" : ", ", one->name);
    raise(errc::missing_component, text(describe(who.id), " has no ", type, ": it has ",
                                        has.empty() ? std::string("no components") : has, " (",
                                        call, " at ", place_text(who.where), ")"));
}

template <class Layout>
void store<Layout>::raise_no_single(std::string_view type,
                                    const std::source_location& where) const {
    raise(errc::missing_component,
          text("world W:", number(), " has no singleton ", type,
               ": set_single gives it one (single at ", place_text(where), ")"));
}

template <class Layout>
void store<Layout>::raise_busy(const char* call) const {
    raise(errc::in_scope,
          text(call,
               " is not possible here: the world is in the middle of another change (in a "
               "callback, or in a component's copy constructor or destructor)"));
}

}  // namespace muster::detail
