// The part of store_impl.hpp that composes error messages.
#pragma once

#include <muster/base/text.hpp>
#include <muster/store/store.hpp>

#include <string>

namespace muster::detail {

/// Returns null for ids that this world did not issue: they may share the key and version of
/// another id.
template <class Layout>
const provenance::entry* store<Layout>::find_provenance(id_type e) const noexcept {
    const bool is_ours =
        id_type::assemble(e.key(), e.version(), pool_.world()) == e && !e.is_null();
    return is_ours ? provenance_.find(e.key(), e.version()) : nullptr;
}

template <class Layout>
std::string store<Layout>::describe(id_type e) const {
    std::string name(names_.find(e.value()));
    if (name.empty())
        if (const provenance::entry* const known = find_provenance(e)) name = known->name;
    std::string made = text("entity ", to_string(e));
    if (!name.empty()) made += text(" \"", name, "\"");
    return made;
}

template <class Layout>
std::string store<Layout>::why_dead(id_type e) const {
    if (e.is_null()) return "it is the null id, which names no entity";
    const record_type* const found = pool_.find(e.key());
    const record_type slot = found == nullptr ? record_type{} : found->seen();
    const bool is_id = id_type::assemble(e.key(), e.version(), e.world()) == e;
    const std::uint64_t reached =
        found == nullptr ? 0 : slot.version() + (slot.is_live(e.key()) ? 1u : 0u);
    // Where versions start over, a higher version may have lived before.
    const bool was_here = Layout::on_exhaustion != exhaustion::retire || e.version() < reached;
    if (found == nullptr || !is_id || !was_here || e.version() < pool_.first_version())
        return "no entity ever had this id";
    const std::string now = slot.version() <= Layout::last_issued_version
                                ? text("slot ", e.key(), " is now at version ", slot.version())
                                : text("slot ", e.key(), " has used its last version");
    if (const provenance::entry* const known = find_provenance(e))
        return text("destroyed at ", place_text(known->where),
                    known->system.empty() ? "" : text(" by system \"", known->system, "\""), "; ",
                    now);
    return keeps_provenance_
               ? now
               : text(now, "; set world_options.provenance to record where entities are destroyed");
}

template <class Layout>
void store<Layout>::raise_not_alive(at_type target, const char* call) const {
    const std::string place = text(" (", call, " at ", place_text(target.where), ")");
    if (is_foreign(target.id))
        raise(errc::foreign_entity, text("entity ", to_string(target.id), " belongs to world W:",
                                         target.id.world(), ", not to W:", number(), place));
    raise(errc::dead_entity, text(describe(target.id), " is dead: ", why_dead(target.id), place));
}

template <class Layout>
void store<Layout>::raise_missing(at_type target, const char* call, std::string_view type,
                                  const fragment_data& fragment) const {
    if (find(target.id) == nullptr) raise_not_alive(target, call);
    std::string has;
    for (const fragment_data* owned : fragments_of(target.id))
        has += text(has.empty() ? "" : ", ", owned->name);
    const bool is_recording = journal_.has_value_of(fragment, target.id.value());
    raise(errc::missing_component,
          text(describe(target.id), " has no ", type, ": it has ",
               has.empty() ? std::string("no components") : has,
               is_recording ? "; a value is pending and is added when the scope closes" : "", " (",
               call, " at ", place_text(target.where), ")"));
}

template <class Layout>
void store<Layout>::raise_no_default(const fragment_data& fragment, std::string_view type) const {
    raise(errc::no_default, text(&fragment == &no_fragment ? type : fragment.name,
                                 " has no default value: pass a value or define a default"));
}

template <class Layout>
void store<Layout>::raise_no_clone(at_type prototype, const fragment_data& fragment) const {
    raise(errc::not_copyable,
          text(describe(prototype.id), " cannot be cloned: its ", fragment.name,
               " cannot be copied; pass a value for the clone or remove the component (clone at ",
               place_text(prototype.where), ")"));
}

template <class Layout>
void store<Layout>::raise_given_twice(const fragment_data& fragment) {
    raise(errc::given_twice,
          text(fragment.name, " is passed twice: an entity has at most one value per fragment"));
}

template <class Layout>
void store<Layout>::raise_no_fragment(id_type f, const char* call,
                                      const std::source_location* where) const {
    const std::string place =
        where == nullptr ? std::string() : text(" (", call, " at ", place_text(*where), ")");
    if (is_foreign(f))
        raise(errc::foreign_entity, text("fragment ", to_string(f), " belongs to world W:",
                                         f.world(), ", not to W:", number(), place));
    std::string e = describe(f);
    e.replace(0, std::string_view("entity").size(), "fragment");
    if (alive(f))
        raise(errc::type_mismatch,
              text(e,
                   " has no type yet: set a value of it on an entity, or create it with "
                   "fragment() or tag()",
                   place));
    raise(errc::dead_fragment, text(e, " is dead: ", why_dead(f), place));
}

template <class Layout>
void store<Layout>::raise_mismatch(const fragment_data& fragment, std::string_view wanted,
                                   const char* call, const std::source_location* where) const {
    const std::string place =
        where == nullptr ? std::string() : text(" (", call, " at ", place_text(*where), ")");
    const std::string holds =
        fragment.type->size == 0
            ? text("is a tag: it holds no values", wanted.empty() ? "" : " of ", wanted)
            : text("holds values of ", fragment.type->name,
                   wanted.empty() ? ": it is not a tag" : ", not ", wanted);
    raise(errc::type_mismatch, text("fragment ", fragment.name, " ", holds, place));
}

template <class Layout>
void store<Layout>::raise_missing(at_type target, const char* call, id_type f, type_index type,
                                  std::string_view type_name) const {
    if (find(target.id) == nullptr) raise_not_alive(target, call);
    const fragment_data& fragment = find_fragment(f);
    if (&fragment != &no_fragment && !fragment.is_untyped) {
        if (type != fragment.value_type) raise_mismatch(fragment, type_name, call, &target.where);
        raise_missing(target, call, fragment.name, fragment);
    }
    if (!alive(f)) raise_no_fragment(f, call, &target.where);
    raise_missing(target, call, text("fragment ", to_string(f)), fragment);
}

template <class Layout>
void store<Layout>::raise_no_single(std::string_view type,
                                    const std::source_location& where) const {
    raise(errc::missing_component,
          text("world W:", number(), " has no singleton ", type,
               ": call set_single first (single at ", place_text(where), ")"));
}

template <class Layout>
void store<Layout>::raise_busy(const char* call) const {
    if (is_parallel())
        raise(errc::in_scope,
              text(call,
                   " is not possible in a parallel phase, which permits only reading, spawn, "
                   "destroy, set, add, remove and clear: do it after the phase"));
    if (busy_ >= change_unit)
        raise(errc::in_scope,
              text(call,
                   " is not possible here: the world is in the middle of another change (in a "
                   "component's copy constructor or destructor)"));
    raise(errc::in_scope,
          text(call,
               " is not possible in a scope (in a loop, a callback or a hook, or after defer()): "
               "do it after the scope closes"));
}

template <class Layout>
void store<Layout>::raise_unbalanced(const char* call) const {
    raise(errc::unbalanced_scope,
          innermost_ == nullptr
              ? text(call, "() without defer(): no scope is open")
              : text(call,
                     "() without defer(): the innermost scope belongs to a loop, a callback, a "
                     "hook or a `deferred`, which closes it itself"));
}

}  // namespace muster::detail
