#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/catalog/error_reporter.hpp>

namespace MUSTER_NAMESPACE::detail {

/// Returns null for ids that this world did not issue: they may share the key and version of
/// another id.
const provenance::entry* error_reporter::find_death(std::uint64_t e) const noexcept {
    return entities_.is_well_formed(e) ? deaths_.find(entities_.key_of(e), entities_.version_of(e))
                                       : nullptr;
}

std::string error_reporter::describe(std::uint64_t e) const {
    std::string name(names_.find(e));
    if (name.empty())
        if (const provenance::entry* const known = find_death(e)) name = known->name;
    std::string made = text("entity ", entities_.text_of(e));
    if (!name.empty()) made += text(" \"", name, "\"");
    return made;
}

std::string error_reporter::why_dead(std::uint64_t e) const {
    if (e == entities_.null()) return "it is the null id, which names no entity";
    if (!entities_.has_lived(e)) return "no entity ever had this id";
    const std::string now = entities_.slot_text(e);
    if (const provenance::entry* const known = find_death(e))
        return text("destroyed at ", place_text(known->where),
                    known->system.empty() ? "" : text(" by system \"", known->system, "\""), "; ",
                    now);
    return gate_.keeps_provenance
               ? now
               : text(now, "; set world_options.provenance to record where entities are destroyed");
}

void error_reporter::raise_not_alive(target of, const char* call) const {
    const std::string place = place_of(call, &of.where);
    if (entities_.is_foreign(of.id) || entities_.is_guest(of.id))
        raise(errc::foreign_entity, text("entity ", entities_.text_of(of.id),
                                         " belongs to world W:", entities_.world_of(of.id),
                                         ", not to W:", world_, place));
    raise(errc::dead_entity, text(describe(of.id), " is dead: ", why_dead(of.id), place));
}

void error_reporter::raise_away(const target& of, const location& at, const char* call) const {
    raise(errc::away_entity,
          text(describe(of.id), " is in W:", at.row, ": its components can only be used there",
               place_of(call, &of.where)));
}

void error_reporter::raise_missing(target of, const char* call, std::string_view type,
                                   const fragment_data& fragment) const {
    location at;
    if (!entities_.find(of.id, at)) raise_not_alive(of, call);
    refuse_away(of, at, call);
    if (components_.has(of.id, fragment))  // `patch` looks at the pending changes
        raise(errc::missing_component,
              text(describe(of.id), " will have no ", type, ": it is removed when the scope closes",
                   place_of(call, &of.where)));
    if (fragment.inherited_from != nullptr)
        if (const std::uint64_t from = fragment.inherited_from(fragment.fallback.context, of.id);
            from != entities_.null())
            raise(
                errc::inherited_component,
                text(describe(of.id), " has no ", type, " of its own: it inherits that of ",
                     describe(from),
                     ". Read it as const, as in get<const T>, or give the entity its own copy with "
                     "own, set or patch",
                     place_of(call, &of.where)));
    std::string has;
    for (const fragment_data* owned : components_.fragments_of(of.id))
        has += text(has.empty() ? "" : ", ", owned->name);
    raise(errc::missing_component,
          text(describe(of.id), " has no ", type, ": it has ",
               has.empty() ? std::string("no components") : has,
               pending_.has_value_of(fragment, of.id)
                   ? "; a value is pending and is added when the scope closes"
                   : "",
               place_of(call, &of.where)));
}

void error_reporter::raise_missing(target of, const char* call, std::uint64_t f,
                                   const fragment_data& fragment, type_index type,
                                   std::string_view type_name) const {
    location at;
    if (!entities_.find(of.id, at)) raise_not_alive(of, call);
    refuse_away(of, at, call);
    if (&fragment != &no_fragment && !fragment.is_untyped) {
        if (type != fragment.value_type) raise_mismatch(fragment, type_name, call, &of.where);
        raise_missing(of, call, fragment.name, fragment);
    }
    if (!entities_.alive(f)) raise_no_fragment(f, call, &of.where);
    raise_missing(of, call, text("fragment ", entities_.text_of(f)), fragment);
}

void error_reporter::raise_no_default(const fragment_data& fragment, std::string_view type) {
    raise(errc::no_default, text(&fragment == &no_fragment ? type : fragment.name,
                                 " has no default value: pass a value or define a default"));
}

void error_reporter::raise_no_clone(target prototype, const fragment_data& fragment) const {
    raise(errc::not_copyable,
          text(describe(prototype.id), " cannot be cloned: its ", fragment.name,
               " cannot be copied; pass a value for the clone or remove the component",
               place_of("clone", &prototype.where)));
}

void error_reporter::raise_given_twice(const fragment_data& fragment) {
    raise(errc::given_twice,
          text(fragment.name, " is passed twice: an entity has at most one value per fragment"));
}

void error_reporter::raise_alias(std::string_view name) {
    raise(errc::type_mismatch,
          text(name,
               " is a relation, which cannot be a component: relate two entities with "
               "relate(), and query with to() or with()"));
}

void error_reporter::raise_no_fragment(std::uint64_t f, const char* call,
                                       const std::source_location* where) const {
    const std::string place = place_of(call, where);
    if (entities_.is_foreign(f))
        raise(errc::foreign_entity, text("fragment ", entities_.text_of(f), " belongs to world W:",
                                         entities_.world_of(f), ", not to W:", world_, place));
    std::string e = describe(f);
    e.replace(0, std::string_view("entity").size(), "fragment");
    if (entities_.alive(f))
        raise(errc::type_mismatch,
              text(e,
                   " has no type yet: set a value of it on an entity, or create it with "
                   "fragment() or tag()",
                   place));
    raise(errc::dead_fragment, text(e, " is dead: ", why_dead(f), place));
}

void error_reporter::raise_mismatch(const fragment_data& fragment, std::string_view wanted,
                                    const char* call, const std::source_location* where) {
    const std::string holds =
        fragment.type->size == 0
            ? text("is a tag: it holds no values", wanted.empty() ? "" : " of ", wanted)
            : text("holds values of ", fragment.type->name,
                   wanted.empty() ? ": it is not a tag" : ", not ", wanted);
    raise(errc::type_mismatch, text("fragment ", fragment.name, " ", holds, place_of(call, where)));
}

void error_reporter::raise_no_single(std::string_view type,
                                     const std::source_location* where) const {
    raise(errc::missing_component, text("world W:", world_, " has no singleton ", type,
                                        ": call set_single first", place_of("single", where)));
}

}  // namespace MUSTER_NAMESPACE::detail
