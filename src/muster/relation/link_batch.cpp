#include <muster/engine/engine.hpp>
#include <muster/relation/link_batch.hpp>

#include <memory>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

namespace {

struct kept_question {
    terms question;
    link_question asked;
};

/// An extension of the world: the queries of the open scopes, or of the last batch.
struct kept_questions {
    std::vector<std::unique_ptr<kept_question>> all;
};

void find(void*, void*, void* list, batch_targets& found) {
    // SAFETY: `keep_for_batch` stores a pointer of this type.
    link_walk all(static_cast<const kept_question*>(list)->asked);
    while (all.next()) {
        const link_walk::block& block = all.now();
        if (block.chunk != nullptr)  // SAFETY: the chunks of a world that may change are not const.
            found.chunks.push_back(const_cast<chunk_data*>(block.chunk));
        else
            found.ids.insert(found.ids.end(), block.ids, block.ids + block.size);
    }
    found.is_by_id = !found.ids.empty();  // a walk without an order finds either
}

}  // namespace

target_finder keep_for_batch(engine& owner, const link_question& asked) {
    static constexpr extensions::recipe how{
        "muster::kept_questions", [](void*) -> void* { return new kept_questions; },
        [](void* object) noexcept { delete static_cast<kept_questions*>(object); }};
    auto& kept = *static_cast<kept_questions*>(
        owner.extensions.ensure(ensure_type_index<kept_questions>(), how, nullptr));
    if (owner.depth() == 0) kept.all.clear();  // no scope has a batch any more
    auto made = std::make_unique<kept_question>(kept_question{*asked.question, asked});
    made->asked.question = &made->question;
    made->asked.order = {};
    kept.all.push_back(std::move(made));
    return {&find, nullptr, nullptr, kept.all.back().get()};
}

}  // namespace MUSTER_NAMESPACE::detail
