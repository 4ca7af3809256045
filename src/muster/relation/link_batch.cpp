#include <muster/engine/engine.hpp>
#include <muster/relation/link_batch.hpp>

namespace MUSTER_NAMESPACE::detail {

target_finder link_batches::finder(engine& owner, link_question&& asked) {
    static constexpr extensions::recipe how{
        "batches by links", [](void*) -> void* { return new link_batches; },
        [](void* object) noexcept { delete static_cast<link_batches*>(object); }};
    auto& batches = *static_cast<link_batches*>(
        owner.extensions.ensure(ensure_type_index<link_batches>(), how, nullptr));
    if (owner.depth() == 0) batches.all_.clear();  // no scope has a batch any more
    auto made = std::make_unique<kept>(kept{*asked.question, std::move(asked)});
    made->asked.question = &made->question;
    batches.all_.push_back(std::move(made));
    return {&find, nullptr, nullptr, batches.all_.back().get()};
}

void link_batches::find(void*, void*, void* list, batch_targets& found) {
    // SAFETY: `finder` stores a pointer of this type.
    link_walk all(static_cast<const kept*>(list)->asked);
    while (all.next()) {
        const link_walk::block& block = all.now();
        // SAFETY: the chunks of a world that may change are not const.
        if (block.chunk != nullptr)
            found.chunks.push_back(const_cast<chunk_data*>(block.chunk));
        else
            found.ids.insert(found.ids.end(), block.ids, block.ids + block.size);
    }
    found.is_by_id = !found.ids.empty();
    if (!found.is_by_id) return;
    for (const chunk_data* chunk : found.chunks)
        for (std::size_t row = 0; row < chunk->size; ++row) found.ids.push_back(chunk->id_at(row));
    found.chunks.clear();
}

}  // namespace MUSTER_NAMESPACE::detail
