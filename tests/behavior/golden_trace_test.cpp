// The golden trace: what version 0.1 did in a long random story that uses every kind of change. The digest covers
// returned ids, error codes, the order of hook calls, rows and values, observers, and the next ids. A change of the
// library must reproduce it, whatever happens inside. Calls that 0.2 has given another meaning in scopes occur only
// outside of them; the digests were then recorded with 0.1 again.
//
// MUSTER_GOLDEN_STEPS sets another length: the test then prints the digests instead of comparing them, so that two
// versions of the library can be compared over millions of operations.
#include <muster/muster.hpp>
#include <muster/system/parallel.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "support/about_chunks.hpp"

namespace muster {
namespace {

struct position {
    int x = 0, y = 0;
};
struct velocity {
    int speed = 0;
};
struct label {
    std::string text = "no label";
};
struct turret {  // needs a position
    int shots = 3;
};
struct burning {  // sparse
    int heat = 1;
};
struct frozen {};
struct stunned {};  // sparse
struct refusal {};

/// A generator with one result everywhere, unlike those of the standard library.
struct dice {
    std::uint64_t state;
    std::uint64_t operator()() {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return state >> 33;
    }
};

struct digest {
    std::uint64_t value = 14695981039346656037u;
    void add(std::uint64_t word) {
        for (int i = 0; i < 8; ++i)
            value = (value ^ (word >> 8 * i & 0xFF)) * std::uint64_t{1099511628211u};
    }
    void add(int word) { add(static_cast<std::uint64_t>(word)); }
    void add(bool word) { add(std::uint64_t{word ? 1u : 0u}); }
    void add(const std::string& text) {
        for (const char c : text) add(static_cast<std::uint64_t>(c));
    }
    template <class Layout>
    void add(basic_id<Layout> e) {
        add(std::uint64_t{e.key()});
        add(std::uint64_t{e.version()});
    }
};

template <class Layout>
class story {
    using id_type = basic_id<Layout>;

public:
    explicit story(std::uint64_t seed) : roll_{seed} {
        w_.template define<turret>().template needs<position>();
        w_.template define<burning>().sparse();
        w_.template define<stunned>().sparse();
        w_.define(raw_).default_value(std::array<unsigned char, 12>{7});
        w_.define(owners_die_).when_destroyed(destroy_owners);
        known_.push_back(w_.spawn());
    }

    std::uint64_t run(std::uint64_t steps) {
        for (std::uint64_t i = 0; i < steps; ++i) {
            number_ = static_cast<int>(i);
            attempt([&] { step(); });
            if (i % 64 == 0) look();
            if (known_.size() > 600) known_.erase(known_.begin(), known_.begin() + 300);
        }
        while (w_.depth() != 0) attempt([&] { w_.commit(); });
        look();
        for (int i = 0; i < 40; ++i) attempt([&] { seen_.add(w_.spawn()); });
        return seen_.value;
    }

private:
    template <class Call>
    void attempt(Call call) {
        try {
            call();
        } catch (const error& thrown) {
            seen_.add(1000 + static_cast<int>(thrown.code()));
        } catch (const refusal&) {
            seen_.add(2000);
        }
    }
    id_type any() { return known_[roll_() % known_.size()]; }
    void learn(id_type e) {
        seen_.add(e);
        known_.push_back(e);
    }
    void learn(const std::vector<id_type>& all) {
        for (const id_type e : all) learn(e);
    }

    void step() {
        const std::uint64_t kind = roll_() % 100;
        if (kind < 20)
            create(kind);
        else if (kind < 55)
            change(kind - 20);
        else if (kind < 70)
            erase(kind - 55);
        else if (kind < 80)
            scope(kind - 70);
        else if (kind < 90)
            many(kind - 80);
        else
            meaning(kind - 90);
    }

    void create(std::uint64_t kind) {
        const int i = number_;
        switch (kind) {
        case 0: learn(w_.spawn()); break;
        case 1: learn(w_.spawn(position{i, 1}, velocity{i})); break;
        case 2: learn(w_.spawn(label{std::to_string(i)}, frozen{})); break;
        case 3: learn(w_.spawn(turret{i})); break;
        case 4: learn(w_.spawn(burning{i}, position{i, 2})); break;
        case 5: learn(w_.spawn(stunned{})); break;
        case 6: learn(w_.spawn(with(health_, i), with(enemy_))); break;
        case 7: learn(w_.spawn(with(health_, i), position{}, burning{i})); break;
        case 8: learn(w_.spawn_many(roll_() % 5, position{i, 3}, label{"many"})); break;
        case 9: learn(w_.spawn_many(roll_() % 5, burning{i}, velocity{i})); break;
        case 10:
            w_.spawn_rows(
                roll_() % 4,
                [&](basic_rows<Layout> rows) {
                    for (position& p : rows.template components<position>()) p.x = ++counter_;
                },
                position{}, velocity{i});
            break;
        case 11: {
            const std::vector<position> first{{i, 1}, {i, 2}};
            const std::vector<velocity> second{{i}, {-i}};
            learn(w_.spawn_columns(first, second));
            break;
        }
        case 12:
        case 13: learn(w_.clone(any())); break;
        case 14: learn(w_.clone(any(), position{i, 4}, burning{i})); break;
        case 15: {
            const std::size_t count = roll_() % 4;  // before `any`: arguments have no order
            learn(w_.clone_many(count, any(), label{"clone"}));
            break;
        }
        case 16: {
            const id_type old = any();
            learn(w_.spawn_at(old, velocity{i}));
            break;
        }
        case 17: learn(w_.builder().set(position{i, 5}).set(health_, i).spawn()); break;
        case 18: {
            basic_command_buffer<Layout> buffer{w_};
            const id_type e = buffer.spawn(position{i, 6});
            buffer.set(e, velocity{i});
            buffer.set(any(), label{"buffer"});
            buffer.template remove<frozen>(any());
            buffer.destroy(any());
            learn(e);
            w_.submit(buffer);
            break;
        }
        case 19: learn(w_.spawn(with(raw_, std::array<unsigned char, 12>{1, 2, 3}))); break;
        }
    }

    void change(std::uint64_t kind) {
        const int i = number_;
        const id_type e = any();
        switch (kind) {
        case 0:
        case 1: w_.set(e, position{i, 7}); break;
        case 2:
        case 3: w_.set(e, velocity{i}); break;
        case 4: w_.set(e, label{std::to_string(i)}); break;
        case 5: w_.set(e, position{i, 8}, frozen{}, label{"three"}); break;
        case 6: w_.set(e, turret{i}); break;
        case 7:
        case 8: w_.set(e, burning{i}); break;
        case 9: w_.set(e, burning{i}, velocity{i}, stunned{}); break;
        case 10: w_.set(e, health_, i); break;
        case 11: w_.set(e, enemy_); break;
        case 12: w_.set(e, with(health_, i), with(enemy_), position{i, 9}); break;
        case 13: seen_.add(w_.template add<turret, velocity>(e)); break;
        case 14: seen_.add(w_.template add<burning>(e)); break;
        case 15: seen_.add(w_.add(e, health_)); break;
        case 16: seen_.add(w_.template emplace<label>(e).text); break;
        case 17:
            if (w_.depth() != 0) break;  // since 0.2 it adds a pending value
            w_.template get_or_emplace<velocity>(e).speed += 1;
            break;
        case 18:
            if (w_.depth() != 0) break;  // since 0.2 it changes the value in place
            w_.template patch<position>(e, [](position& p) { ++p.x; });
            break;
        case 19: w_.template touch<velocity>(e); break;
        case 20: seen_.add(w_.template get<position>(e).x); break;
        case 21: seen_.add(w_.template get<burning>(e).heat); break;
        case 22: seen_.add(w_.get(e, health_)); break;
        case 23: seen_.add(w_.template remove<position>(e)); break;
        case 24: seen_.add(w_.template remove<velocity, frozen>(e)); break;
        case 25:
        case 26: seen_.add(w_.template remove<burning>(e)); break;
        case 27: seen_.add(w_.template remove<stunned, label>(e)); break;
        case 28: seen_.add(w_.remove(e, health_)); break;
        case 29: seen_.add(w_.clear(e)); break;
        case 30: w_.name(e, "name " + std::to_string(i % 7)); break;
        case 31: w_.set_single(turret{i}); break;
        case 32: w_.add(e, raw_); break;
        case 33: w_.set(e, owners_die_); break;
        case 34: w_.set(e, prefab); break;
        }
    }

    void erase(std::uint64_t kind) {
        switch (kind) {
        case 10: {
            const id_type first = any(), second = any(), third = any();
            seen_.add(std::uint64_t{w_.destroy(first, second, third)});
            break;
        }
        case 11:
            if (roll_() % 8 == 0)
                seen_.add(std::uint64_t{w_.destroy_if([](id_type e) { return e.key() % 5 == 0; })});
            break;
        case 12:
            if (roll_() % 40 == 0) w_.destroy(owners_die_), owners_die_ = w_.tag();
            w_.define(owners_die_).when_destroyed(destroy_owners);
            break;
        case 13:
            if (roll_() % 40 == 0) w_.destroy(health_), health_ = w_.template fragment<int>();
            break;
        default: seen_.add(w_.destroy(any()));
        }
    }

    void scope(std::uint64_t kind) {
        if (kind < 4) {
            if (w_.depth() < 3) seen_.add(w_.defer());
        } else if (kind < 9) {
            if (w_.depth() != 0) seen_.add(w_.commit());
        } else {
            if (w_.depth() != 0) seen_.add(w_.cancel());
        }
    }

    void many(std::uint64_t kind) {
        const int i = number_;
        auto frozen_ones = w_.query().template with<frozen>();
        switch (kind) {
        case 0: seen_.add(std::uint64_t{frozen_ones.set(velocity{i})}); break;
        case 1: seen_.add(std::uint64_t{frozen_ones.template remove<frozen>()}); break;
        case 2:
            if (roll_() % 4 == 0) seen_.add(std::uint64_t{frozen_ones.destroy()});
            break;
        case 3:
            seen_.add(std::uint64_t{w_.template query<velocity>().set(with(health_, i))});
            break;
        case 4:
            w_.template query<position, velocity*>().each([&](id_type e, position& p, velocity* v) {
                p.y += v == nullptr ? 1 : v->speed;
                if (p.y % 16 == 0) w_.template add<frozen>(e);
                if (p.y % 64 == 1) w_.destroy(e);
            });
            break;
        case 5:
            w_.template query<const burning>().each([&](id_type e, const burning& b) {
                if (b.heat % 8 == 0) w_.template remove<burning>(e);
            });
            break;
        case 6:
            w_.template query<position>().par_each(threads_, 0, [&](id_type e, position& p) {
                if (++p.x % 32 == 0) w_.spawn(velocity{p.x}, burning{p.x});
                if (p.x % 64 == 5) w_.set(e, label{"parallel"});
                if (p.x % 64 == 9) w_.destroy(e);
            });
            break;
        case 7: seen_.add(std::uint64_t{w_.template clear<label>()}); break;
        case 8: w_.copy_fragment(health_, copied_); break;
        case 9:
            seen_.add(std::uint64_t{w_.template query<velocity>().without(prefab).count()});
            break;
        }
    }

    void meaning(std::uint64_t kind) {
        if (roll_() % 8 != 0) return;
        switch (kind) {
        case 0:
            w_.template on_insert<velocity>(
                [this](id_type e, velocity& v) { heard(1, e, v.speed); });
            break;
        case 1:
            w_.template on_remove<position>([this](id_type e, position& p) { heard(2, e, p.x); });
            break;
        case 2:
            w_.template on_set<label>([this](id_type e, label& l) {
                heard(3, e, static_cast<int>(l.text.size()));
                if (e.key() % 11 == 0) w_.template add<frozen>(e);
                if (e.key() % 97 == 0) throw refusal{};
            });
            break;
        case 3:
            w_.template on_remove<burning>([this](id_type e, burning& b) { heard(4, e, b.heat); });
            break;
        case 4: w_.on_spawn([this](id_type e) { heard(5, e, 0); }); break;
        case 5: w_.on_destroy([this](id_type e) { heard(6, e, 0); }); break;
        case 6: w_.on_assign(health_, [this](id_type e, int& value) { heard(7, e, value); }); break;
        case 7:
            w_.template sort<burning>(
                [](const burning& a, const burning& b) { return a.heat < b.heat; });
            break;
        case 8: w_.collect_garbage(); break;
        case 9:
            w_.template on_insert<frozen>([this](id_type e, frozen&) {
                heard(8, e, 0);
                if (e.key() % 13 == 0) w_.template remove<velocity>(e);
                if (e.key() % 17 == 0) w_.set(e, position{-1, -1});
            });
            break;
        }
    }

    void heard(int what, id_type e, int value) {
        seen_.add(what);
        seen_.add(e);
        seen_.add(value);
    }

    /// Adds everything that can be seen.
    void look() {
        seen_.add(std::uint64_t{w_.size()});
        for (const id_type e : w_.entities()) {
            seen_.add(e);
            const auto [chunk, row] = w_.locate(e);
            seen_.add(std::uint64_t{row});
            if (row == 0 && chunk)
                for (const id_type fragment : chunk.fragments()) seen_.add(fragment);
            if (const position* p = w_.template try_get<position>(e))
                seen_.add(p->x), seen_.add(p->y);
            if (const velocity* v = w_.template try_get<velocity>(e)) seen_.add(v->speed);
            if (const label* l = w_.template try_get<label>(e)) seen_.add(l->text);
            if (const turret* t = w_.template try_get<turret>(e)) seen_.add(t->shots);
            if (const burning* b = w_.template try_get<burning>(e)) seen_.add(b->heat);
            if (const int* h = w_.try_get(e, health_)) seen_.add(*h);
            seen_.add(w_.template has<frozen>(e));
            seen_.add(w_.template has<stunned>(e));
            seen_.add(std::string(w_.name(e)));
        }
        w_.template query<const burning>().each([&](id_type e, const burning&) { seen_.add(e); });
        for (const id_type e : added_.take()) seen_.add(e);
        for (const id_type e : removed_.take()) seen_.add(e);
    }

    /// Registers the types one by one, so that no order of arguments decides their ids.
    static void add_types(basic_world<Layout>& w) {
        w.template component<position>();
        w.template component<velocity>();
        w.template component<label>();
        w.template component<turret>();
        w.template component<burning>();
        w.template component<frozen>();
        w.template component<stunned>();
        w.template component<prefab_t>();
    }

    struct typed_world : basic_world<Layout> {
        typed_world() { add_types(*this); }
    };
    typed_world w_;
    dice roll_;
    digest seen_;
    int number_ = 0;
    int counter_ = 0;
    std::vector<id_type> known_;
    sequential_executor threads_;
    basic_fragment<int, Layout> health_ = w_.template fragment<int>("health");
    basic_fragment<int, Layout> copied_ = w_.template fragment<int>("copied");
    id_type enemy_ = w_.tag("enemy");
    id_type owners_die_ = w_.tag();
    basic_fragment<std::array<unsigned char, 12>, Layout> raw_ =
        w_.template fragment<std::array<unsigned char, 12>>("raw");
    basic_observer<Layout> added_ = w_.template observer<>().template added<velocity, burning>();
    basic_observer<Layout> removed_ = w_.template observer<>().template removed<position>();
};

/// The digest of several stories, `steps` operations in all.
template <class Layout>
std::uint64_t trace(std::uint64_t steps) {
    digest all;
    constexpr std::uint64_t each = 4000;
    for (std::uint64_t seed = 1; steps != 0; ++seed) {
        const std::uint64_t count = steps < each ? steps : each;
        all.add(story<Layout>(seed).run(count));
        steps -= count;
    }
    return all.value;
}

template <class Layout>
void check(const char* name, std::uint64_t expected) {
    MUSTER_ABOUT_CHUNKS();
    if (const char* const steps = std::getenv("MUSTER_GOLDEN_STEPS"))
        std::cout << name << " " << steps << " " << trace<Layout>(std::strtoull(steps, nullptr, 10))
                  << std::endl;
    else
        EXPECT_EQ(trace<Layout>(40'000), expected);
}

TEST(golden_trace, of_bound_ids_is_that_of_0_1) {
    check<layouts::bound>("bound", 11820861031667253197u);
}
TEST(golden_trace, of_exact_ids_is_that_of_0_1) {
    check<layouts::exact>("exact", 15987271049716243635u);
}

}  // namespace
}  // namespace muster
