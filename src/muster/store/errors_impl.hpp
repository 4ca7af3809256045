// The part of store_impl.hpp that says what went wrong.
#pragma once

#include <muster/base/text.hpp>
#include <muster/store/store.hpp>

#include <string>

namespace muster::detail {

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
    const record_type* const found = pool_.find(e.key());
    const record_type slot = found == nullptr ? record_type{} : found->seen();
    const bool is_id = id_type::assemble(e.key(), e.version(), e.world()) == e;
    const std::uint64_t reached =
        found == nullptr ? 0 : slot.version() + (slot.is_live(e.key()) ? 1u : 0u);
    // Where versions start over, a higher one may have been here.
    const bool was_here = Layout::on_exhaustion != exhaustion::retire || e.version() < reached;
    if (found == nullptr || !is_id || !was_here || e.version() < pool_.first_version())
        return "no entity was ever made with this id";
    const std::string now = slot.version() <= Layout::last_issued_version
                                ? text("slot ", e.key(), " is now at version ", slot.version())
                                : text("slot ", e.key(), " has spent its last version");
    if (const deaths::entry* const known = find_death(e))
        return text("destroyed at ", place_text(known->where),
                    known->system.empty() ? "" : text(" by system \"", known->system, "\""), "; ",
                    now);
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
void store<Layout>::raise_missing(at_type who, const char* call, std::string_view type,
                                  const fragment_data& fragment) const {
    if (find(who.id) == nullptr) raise_not_alive(who, call);
    std::string has;
    for (const fragment_data* one : fragments_of(who.id))
        has += text(has.empty() ? "" : ", ", one->name);
    const bool is_recorded = journal_.has_value_of(fragment, who.id.value());
    raise(errc::missing_component,
          text(describe(who.id), " has no ", type, ": it has ",
               has.empty() ? std::string("no components") : has,
               is_recorded ? "; one is recorded, and arrives when the scope is closed" : "", " (",
               call, " at ", place_text(who.where), ")"));
}

template <class Layout>
void store<Layout>::raise_no_default(const fragment_data& fragment, std::string_view type) const {
    raise(errc::no_default, text(&fragment == &no_fragment ? type : fragment.name,
                                 " has no default value: give one, or define it"));
}

template <class Layout>
void store<Layout>::raise_no_clone(at_type prototype, const fragment_data& fragment) const {
    raise(errc::not_copyable, text(describe(prototype.id), " cannot be cloned: its ", fragment.name,
                                   " cannot be copied; give the clone one, or remove it (clone at ",
                                   place_text(prototype.where), ")"));
}

template <class Layout>
void store<Layout>::raise_given_twice(const fragment_data& fragment) {
    raise(errc::given_twice,
          text(fragment.name, " is given twice: an entity has one value of a fragment"));
}

template <class Layout>
void store<Layout>::raise_no_fragment(id_type f, const char* call,
                                      const std::source_location* where) const {
    const std::string place =
        where == nullptr ? std::string() : text(" (", call, " at ", place_text(*where), ")");
    if (is_foreign(f))
        raise(errc::foreign_entity, text("fragment ", to_string(f), " belongs to world W:",
                                         f.world(), ", not to W:", number(), place));
    std::string who = describe(f);
    who.replace(0, std::string_view("entity").size(), "fragment");
    if (alive(f))
        raise(errc::type_mismatch,
              text(who,
                   " has no type yet: give an entity a value of it, or make it by fragment() or "
                   "tag()",
                   place));
    raise(errc::dead_fragment, text(who, " is dead: ", why_dead(f), place));
}

template <class Layout>
void store<Layout>::raise_mismatch(const fragment_data& fragment, std::string_view wanted,
                                   const char* call, const std::source_location* where) const {
    const std::string place =
        where == nullptr ? std::string() : text(" (", call, " at ", place_text(*where), ")");
    const std::string holds = fragment.type->size == 0
                                  ? std::string("is a tag and holds no values")
                                  : text("holds values of ", fragment.type->name);
    raise(errc::type_mismatch, text("fragment ", fragment.name, " ", holds, ", not ",
                                    wanted.empty() ? "a tag" : wanted, place));
}

template <class Layout>
void store<Layout>::raise_missing(at_type who, const char* call, id_type f, type_index type,
                                  std::string_view type_name) const {
    if (find(who.id) == nullptr) raise_not_alive(who, call);
    const fragment_data& fragment = find_fragment(f);
    if (&fragment != &no_fragment && !fragment.is_open) {
        if (type != fragment.value_type) raise_mismatch(fragment, type_name, call, &who.where);
        raise_missing(who, call, fragment.name, fragment);
    }
    if (!alive(f)) raise_no_fragment(f, call, &who.where);
    raise_missing(who, call, text("fragment ", to_string(f)), fragment);
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
    if (is_shared())
        raise(
            errc::in_scope,
            text(call,
                 " is not possible in a parallel phase, in which threads may spawn, destroy, set, "
                 "add, remove and clear, and read: do it when the phase is over"));
    if (busy_ >= one_change)
        raise(errc::in_scope,
              text(call,
                   " is not possible here: the world is in the middle of another change (in a "
                   "component's copy constructor or destructor)"));
    raise(errc::in_scope,
          text(call,
               " is not possible in a scope (in a loop, a callback or a hook, or after defer()): "
               "do it when the scope is closed"));
}

template <class Layout>
void store<Layout>::raise_unbalanced(const char* call) const {
    raise(errc::unbalanced_scope,
          innermost_ == nullptr
              ? text(call, "() without defer(): no scope is open")
              : text(call,
                     "() without defer(): the innermost scope is that of a loop, a callback or "
                     "a hook, or of a `deferred`, which closes it by itself"));
}

}  // namespace muster::detail
