#include <muster/base/scope_guard.hpp>
#include <muster/engine/run.hpp>

#include <algorithm>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

engine::engine(entity_directory& directory, world_number&& taken, const layout_facts& facts,
               bool keeps_provenance, settings)
    : graph(facts.id_type, facts.chunk_limit, facts.row_limit),
      sparse(facts.ids),
      entities(directory),
      number(std::move(taken)),
      components(directory, graph, sparse),
      errors(directory, components, names, deaths, pending, gate, number.value()),
      catalog({gate, marks, bundles, fragments, graph, sparse, names, pending, directory,
               components, errors}),
      writes(catalog, fragments, graph, sparse, gate),
      transaction(*this),
      notifier(catalog, components, directory, fragments, graph, sparse, gate, transaction),
      mover{gate, graph, sparse, directory, scratch},
      applier(catalog, notifier, mover, writes, transaction),
      changes(*this),
      batch(*this),
      spawner(*this),
      destroyer(*this),
      sorter(components, gate, writes),
      exchange(*this),
      parallel(*this),
      writer(gate) {
    gate.keeps_provenance = keeps_provenance;
    if (keeps_provenance) marks.set_all();
}

engine::~engine() = default;

void engine::end(std::uint64_t unused_version) noexcept {
    if (gate.is_ended) return;
    gate.is_ended = true;
    notifier.end_observers();
    number.retire_versions(unused_version);
    transaction.cancel_all();
    transaction.rewind({});
    gate.begin_change();
    const scope_guard end_extensions([&] { extensions.clear(); });
    const auto is_nontrivial = [](const chunk_data* chunk) { return chunk->is_nontrivial; };
    const auto ends_values = [](const sparse_set* set) {
        return set != nullptr && set->fragment->type->destroy != nullptr;
    };
    if (extensions.empty() && std::ranges::none_of(graph.all(), is_nontrivial) &&
        std::ranges::none_of(sparse.all(), ends_values))
        return;
    // Destructors of components may query the world, which is intact, but has no living entities.
    for (std::uint64_t e = entities.next_living(0); e != entities.null();
         e = entities.next_living(entities.key_of(e) + 1))
        entities.destroy(e);
    entities.forget_guests();
    catalog.forget_world_owned();
    destroyer.end_values();
}

void engine::collect_garbage() {
    const writer_guard guard(*this, "collect_garbage");
    gate.refuse_in_scope("collect_garbage");
    catalog.forget_chunks();
    graph.collect_garbage();
    sparse.trim();
    parallel.collect_garbage();
    entities.trim();
    pending.free();
    scratch.free();
}

}  // namespace MUSTER_NAMESPACE::detail
