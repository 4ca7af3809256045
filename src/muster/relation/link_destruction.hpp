// link_destruction: the part of a relation in destructions: which entities are destroyed, too, and what becomes
// of the links of those that survive. See `destroy_participant` for the calls.
#pragma once

#include <muster/base/array_list.hpp>
#include <muster/relation/link_notes.hpp>
#include <muster/relation/relation_levels.hpp>
#include <muster/relation/relation_ref.hpp>

#include <cstdint>
#include <vector>

namespace MUSTER_NAMESPACE::detail {

struct engine;
class destroy_set;
struct fragment_loss;
class relation_data;

class MUSTER_API link_destruction {
public:
    link_destruction(engine& owner, relation_data& of) noexcept : engine_(owner), of_(of) {}
    link_destruction(const link_destruction&) = delete;
    link_destruction& operator=(const link_destruction&) = delete;

    void collect(destroy_set& dying, std::uint64_t e) const;
    void check(const destroy_set& dying) const;
    void release(const destroy_set& dying, array_list<fragment_loss>& losses);
    void prepare(const destroy_set& dying);
    void cancel(const destroy_set& dying) noexcept;
    void finish(const destroy_set& dying) noexcept;
    void abandon(std::uint64_t e) noexcept;

private:
    /// The effect of a destruction on the links of entities that survive.
    struct effect {
        const destroy_set* of;
        array_list<link_step> passed_on;  // links that it moves to other targets
        array_list<link_step> shrunk;     // links that it removes from lists that stay
        array_list<relation_levels::entry> levels;
        link_notes notes;
    };

    void refuse_end(const destroy_set& dying, std::uint64_t e) const;
    [[nodiscard]] std::uint64_t survivor(std::uint64_t target, const destroy_set& dying) const;
    void list_notes(const destroy_set& dying, effect& made) const;
    bool leave_survivors(const destroy_set& dying) noexcept;

    engine& engine_;
    relation_data& of_;
    std::vector<effect> effects_;  // the innermost destruction last
};

}  // namespace MUSTER_NAMESPACE::detail
