// The table of the public calls of queries, hooks, observers, systems, scopes and buffers; see
// public_calls.cpp.
#include "support/public_calls.hpp"

#include <functional>

namespace muster_tests::phase_scene {

std::vector<row> public_calls::queries() {
    using enum outcome;
    return {
        {"query", reads,
         [](scene& s, entity, unsigned) {
             return s.w.query<velocity, const path*>().with<position>().without<marked>().count() ==
                    4;
         }},
        {"query of a sparse fragment", reads,
         [](scene& s, entity, unsigned) {
             int sum = 0;
             s.w.query<const burning>().each([&](const burning& b) { sum += b.left; });
             return sum == 20;
         }},
        {"query of a new type", refused,
         doing([](scene& s, entity) { (void)s.w.query<unused>(); })},
        {"terms of a new type", refused,
         doing([](scene& s, entity) { (void)s.positions.with<unused>(); })},
        {"terms", reads,
         [](scene& s, entity, unsigned) {
             return s.w.query().with(s.health).any(s.enemy, s.health).without(s.wealth).count() ==
                    4;
         }},
        {"each", reads,
         [](scene& s, entity, unsigned) {
             int count = 0;
             s.w.each([&](entity, const velocity&) { ++count; });
             for (auto [e, v] : s.w.query<const velocity>()) count += e && v.x > 0;
             s.w.query<const velocity>().each_chunk([&](chunk_view v) { count += int(v.size()); });
             return count == 15;
         }},
        {"each with changes", recorded, doing([](scene& s, entity) {
             s.w.query<const velocity>().each(
                 [&](entity e, const velocity&) { s.w.add<marked>(e); });
         })},
        {"reduce", reads,
         [](scene& s, entity, unsigned) {
             return s.w.query<const velocity>().reduce(0u, [](unsigned sum, const velocity&) {
                 return sum + 1;
             }) == s.w.query<const velocity>().count();
         }},
        {"par_reduce", reads,
         [](scene& s, entity, unsigned) {
             const auto add = [](std::size_t sum, const velocity&) { return sum + 1; };
             return s.w.query<const velocity>().par_reduce(s.four, std::size_t{0}, add,
                                                           std::plus<>{}) ==
                    s.w.query<const velocity>().count();
         }},
        {"par_each", reads,
         [](scene& s, entity, unsigned) {
             int count = 0;
             s.w.query<const velocity>().par_each(s.four, 1, [&](const velocity&) { ++count; });
             return count == 5;
         }},
        {"results", reads,
         [](scene& s, entity e, unsigned) {
             return s.positions.count() == 4 && !s.positions.empty() &&
                    s.positions.first() == s.own[0] && s.positions.matches(e) &&
                    !s.positions.explain(s.bare).empty();
         }},
        {"query::set", refused, doing([](scene& s, entity) { s.positions.set(marked{}); })},
        {"query::set of a new type", refused,
         doing([](scene& s, entity) { s.positions.set(unused{1}); })},
        {"query::set a fragment", refused,
         doing([](scene& s, entity) { s.positions.set(s.wealth, 1); })},
        {"query::set a tag", refused, doing([](scene& s, entity) { s.positions.set(s.enemy); })},
        {"query::add", refused, doing([](scene& s, entity) { s.positions.add<marked>(); })},
        {"query::add fragments", refused,
         doing([](scene& s, entity) { s.positions.add(s.enemy); })},
        {"query::remove", refused, doing([](scene& s, entity) { s.positions.remove<path>(); })},
        {"query::remove fragments", refused,
         doing([](scene& s, entity) { s.positions.remove(s.health); })},
        {"query::clear", refused, doing([](scene& s, entity) { s.positions.clear(); })},
        {"query::destroy", refused, doing([](scene& s, entity) { s.positions.destroy(); })},
        {"clear<T>", refused, doing([](scene& s, entity) { s.w.clear<velocity>(); })},
        {"clear<T> of a new type", refused, doing([](scene& s, entity) { s.w.clear<unused>(); })},
        {"clear_fragment", refused, doing([](scene& s, entity) { s.w.clear_fragment(s.health); })},
        {"count", reads,
         [](scene& s, entity, unsigned) {
             return s.w.count<velocity>() == 5 && s.w.count(s.health) == 4 &&
                    s.w.count<burning>() == 4 && s.w.count<unused>() == 0;
         }},
        {"copy_fragment", refused,
         doing([](scene& s, entity) { s.w.copy_fragment(s.health, s.untyped); })},
        {"find_if", reads,
         [](scene& s, entity, unsigned) {
             return s.w.find_if<velocity>([](const velocity& v) { return v.x == 1; }) ==
                    s.prototype;
         }},
        {"sort", refused, doing([](scene& s, entity) {
             s.w.sort<burning>([](const burning& a, const burning& b) { return a.left < b.left; });
         })},
        {"sort a new type", refused, doing([](scene& s, entity) {
             s.w.sort<unused>([](const unused& a, const unused& b) { return a.value < b.value; });
         })},
        {"sort_like", refused, doing([](scene& s, entity) { s.w.sort_like<burning, position>(); })},
    };
}

std::vector<row> public_calls::hooks() {
    using enum outcome;
    return {
        {"on_insert", refused, doing([](scene& s, entity) { s.w.on_insert<position>([] {}); })},
        {"on_assign", refused, doing([](scene& s, entity) { s.w.on_assign<position>([] {}); })},
        {"on_set", refused, doing([](scene& s, entity) { s.w.on_set<position>([] {}); })},
        {"on_remove", refused, doing([](scene& s, entity) { s.w.on_remove<position>([] {}); })},
        {"on_insert of a new type", refused,
         doing([](scene& s, entity) { s.w.on_insert<unused>([] {}); })},
        {"on_insert of a fragment", refused,
         doing([](scene& s, entity) { s.w.on_insert(s.health, [] {}); })},
        {"on_assign of a fragment", refused,
         doing([](scene& s, entity) { s.w.on_assign(s.health, [] {}); })},
        {"on_set of a fragment", refused,
         doing([](scene& s, entity) { s.w.on_set(s.health, [] {}); })},
        {"on_remove of an id", refused,
         doing([](scene& s, entity) { s.w.on_remove(s.untyped, [] {}); })},
        {"on_spawn", refused, doing([](scene& s, entity) { s.w.on_spawn([] {}); })},
        {"on_destroy", refused, doing([](scene& s, entity) { s.w.on_destroy([] {}); })},
        {"connection::pause", returns_false,
         [](scene& s, entity, unsigned) { return s.hook.pause(); }},
        {"connection::resume", returns_false,
         [](scene& s, entity, unsigned) { return s.paused_hook.resume(); }},
        {"connection::disconnect", returns_false,
         [](scene& s, entity, unsigned) { return s.hook.disconnect(); }},
        {"connection::connected", reads,
         [](scene& s, entity, unsigned) {
             const connection copy = s.hook;
             return copy.connected() && !s.paused_hook.connected();
         }},
    };
}

std::vector<row> public_calls::observers() {
    using enum outcome;
    return {
        {"observer", refused, doing([](scene& s, entity) { (void)s.w.observer<position>(); })},
        {"observer of a new type", refused,
         doing([](scene& s, entity) { (void)s.w.observer<unused>(); })},
        {"observer of nothing", refused, doing([](scene& s, entity) { (void)s.w.observer(); })},
        {"observer::added", refused,
         doing([](scene& s, entity, unsigned t) { (void)std::move(s.mine[t]).added<path>(); })},
        {"observer::changed", refused,
         doing([](scene& s, entity, unsigned t) { (void)std::move(s.mine[t]).changed(s.health); })},
        {"observer::removed", refused,
         doing([](scene& s, entity, unsigned t) { (void)std::move(s.mine[t]).removed<path>(); })},
        {"observer::with", reads, doing([](scene& s, entity, unsigned t) {
             s.mine[t] = std::move(s.mine[t]).with<path>().without(s.enemy);
         })},
        {"observer::each", refused, doing([](scene& s, entity) { s.seen->each([](position&) {}); }),
         also_in_change},
        {"observer::begin", refused, doing([](scene& s, entity) { (void)s.seen->begin(); }),
         also_in_change},
        {"observer::take", refused, doing([](scene& s, entity) { (void)s.seen->take(); }),
         also_in_change},
        {"observer::size", reads,
         [](scene& s, entity, unsigned) { return s.seen->size() == 4 && !s.seen->empty(); }},
        {"observer::clear", returns_false,
         [](scene& s, entity, unsigned) { return s.seen->clear(); }},
        {"observer::pause", returns_false,
         [](scene& s, entity, unsigned) { return s.seen->pause(); }},
        {"observer::resume", returns_false,
         [](scene& s, entity, unsigned) { return s.paused->resume(); }},
        {"observer::connected", reads,
         [](scene& s, entity, unsigned) { return s.seen->connected() && !s.paused->connected(); }},
    };
}

std::vector<row> public_calls::events() {
    using enum outcome;
    return {
        {"send", recorded, doing([](scene& s, entity) { s.w.send(cry{"new"}); })},
        {"send a kept event", recorded, doing([](scene& s, entity) {
             const cry kept{"a text that needs memory of its own"};
             s.w.send(kept);
         })},
        {"reader", refused, doing([](scene& s, entity) { (void)s.w.reader<cry>(); })},
        {"reader of a new type", refused,
         doing([](scene& s, entity) { (void)s.w.reader<unused>(); })},
        {"end_frame", refused, doing([](scene& s, entity) { s.w.end_frame(); })},
        {"event_reader::begin", refused, doing([](scene& s, entity) { (void)s.heard.begin(); }),
         also_in_change},
        {"event_reader::size", reads,
         [](scene& s, entity, unsigned) { return s.heard.size() == 1 && !s.heard.empty(); }},
        {"event_reader::clear", returns_false,
         [](scene& s, entity, unsigned) { return s.heard.clear(); }},
        {"event_reader that ends", reads,
         doing([](scene& s, entity, unsigned t) { event_reader<cry>(std::move(s.ears[t])); })},
        {"each with a singleton", reads,
         doing([](scene& s, entity) { s.w.each([](const position&, single<const config>) {}); })},
        {"query::each with a singleton", reads, doing([](scene& s, entity) {
             s.positions.each([](const position&, single<const config>) {});
         })},
        {"system::each_event", refused,
         doing([](scene& s, entity) { s.think.each_event([](const cry&) {}); }), also_in_change},
        {"system::each with events", refused,
         doing([](scene& s, entity) { s.think.each([](velocity&, muster::events<const cry>) {}); }),
         also_in_change},
    };
}

std::vector<row> public_calls::systems() {
    using enum outcome;
    return {
        {"system", refused, doing([](scene& s, entity) { s.w.system("new"); }), also_in_change},
        {"find_system", reads,
         [](scene& s, entity, unsigned) {
             return s.w.find_system("think") == s.think && !s.w.find_system("new");
         }},
        {"process", refused, doing([](scene& s, entity) { s.w.process(s.think, "act"); })},
        {"process_with", refused, doing([](scene& s, entity) { s.w.process_with("think", 1); })},
        {"process_all", refused, doing([](scene& s, entity) { s.w.process_all(); })},
        {"par_process", refused, doing([](scene& s, entity) { s.w.par_process(s.four, s.think); })},
        {"par_process_with", refused,
         doing([](scene& s, entity) { s.w.par_process_with(s.four, s.think, 1); })},
        {"par_process_all", refused, doing([](scene& s, entity) { s.w.par_process_all(s.four); })},
        {"system_order", refused, doing([](scene& s, entity) { (void)s.w.system_order(); }),
         also_in_change},
        {"system_order of a system", refused,
         doing([](scene& s, entity) { (void)s.w.system_order(s.think); }), also_in_change},
        {"system_conflicts", refused, doing([](scene& s, entity) { (void)s.w.system_conflicts(); }),
         also_in_change},
        {"system_conflicts of a system", refused,
         doing([](scene& s, entity) { (void)s.w.system_conflicts(s.think); }), also_in_change},
        {"time_systems", returns_false,
         [](scene& s, entity, unsigned) { return s.w.time_systems(true); }},
        {"system handles", reads,
         [](scene& s, entity, unsigned) {
             return s.think && s.think.name() == "think" && s.think.is_enabled() &&
                    s.think.elapsed() == 0 && s.think.timings().count == 0 && s.think != s.act;
         }},
        {"system::each", refused, doing([](scene& s, entity) { s.think.each([](position&) {}); }),
         also_in_change},
        {"system::each of a new type", refused,
         doing([](scene& s, entity) { s.think.each([](unused&) {}); }), also_in_change},
        {"system::execute", refused, doing([](scene& s, entity) { s.think.execute([] {}); }),
         also_in_change},
        {"system::query", refused,
         doing([](scene& s, entity) { s.think.query(s.positions).each([](position&) {}); }),
         also_in_change},
        {"system::with", refused, doing([](scene& s, entity) { s.think.with<path>(); }),
         also_in_change},
        {"system::without", refused, doing([](scene& s, entity) { s.think.without(s.enemy); }),
         also_in_change},
        {"system::any", refused, doing([](scene& s, entity) { s.think.any<path>(); }),
         also_in_change},
        {"system::prologue", refused, doing([](scene& s, entity) { s.think.prologue([] {}); }),
         also_in_change},
        {"system::epilogue", refused, doing([](scene& s, entity) { s.think.epilogue([] {}); }),
         also_in_change},
        {"system::reads", refused, doing([](scene& s, entity) { s.think.reads<path>(); }),
         also_in_change},
        {"system::writes", refused, doing([](scene& s, entity) { s.think.writes<path>(); }),
         also_in_change},
        {"system::group", refused, doing([](scene& s, entity) { s.think.group(s.act); }),
         also_in_change},
        {"system::group by name", refused, doing([](scene& s, entity) { s.think.group("act"); }),
         also_in_change},
        {"system::group by id", refused, doing([](scene& s, entity) { s.think.group(s.enemy); }),
         also_in_change},
        {"system::ungroup", refused, doing([](scene& s, entity) { s.think.ungroup(); }),
         also_in_change},
        {"system::before", refused, doing([](scene& s, entity) { s.think.before("act"); }),
         also_in_change},
        {"system::after", refused, doing([](scene& s, entity) { s.think.after("act"); }),
         also_in_change},
        {"system::every", refused, doing([](scene& s, entity) { s.think.every(1); }),
         also_in_change},
        {"system::fixed", refused, doing([](scene& s, entity) { s.think.fixed(1); }),
         also_in_change},
        {"system::run_if", refused,
         doing([](scene& s, entity) { s.think.run_if([](const world&) { return true; }); }),
         also_in_change},
        {"system::in", refused, doing([](scene& s, entity) { s.think.in(outcome::reads); }),
         also_in_change},
        {"system::on_enter", refused,
         doing([](scene& s, entity) { s.think.on_enter(outcome::reads); }), also_in_change},
        {"system::on_exit", refused,
         doing([](scene& s, entity) { s.think.on_exit(outcome::reads); }), also_in_change},
        {"system::immediate", refused, doing([](scene& s, entity) { s.think.immediate([] {}); }),
         also_in_change},
        {"system::enable", refused, doing([](scene& s, entity) { s.think.disable(); }),
         also_in_change},
        {"system::remove", refused, doing([](scene& s, entity) { s.think.remove(); }),
         also_in_change},
        {"system::reset_timings", refused, doing([](scene& s, entity) { s.think.reset_timings(); }),
         also_in_change},
    };
}

std::vector<row> public_calls::scopes_buffers_and_extensions() {
    using enum outcome;
    return {
        {"defer", refused, doing([](scene& s, entity) { s.w.defer(); })},
        {"commit", refused, doing([](scene& s, entity) { s.w.commit(); })},
        {"cancel", refused, doing([](scene& s, entity) { s.w.cancel(); })},
        {"deferred", refused, doing([](scene& s, entity) { deferred changes{s.w}; })},
        {"depth", reads, [](scene& s, entity, unsigned) { return s.w.depth() == 0; }},
        {"command_buffer", reads,
         [](scene& s, entity e, unsigned) {
             command_buffer b{s.w};
             b.set(b.spawn(velocity{}), s.health, 1);
             b.add<marked>(e);
             b.remove<velocity>(e);
             b.clear(e);
             b.destroy(e);
             b.send(cry{"from a buffer"});
             return b.pending() == 8;
         }},
        {"submit", reads, doing([](scene& s, entity) {
             command_buffer b{s.w};
             b.set(entity::pack(99'999, 0, s.w.number()), marked{});  // dead when it is applied
             s.w.submit(b);
         })},
        {"apply_submitted", reads, doing([](scene& s, entity) { s.w.apply_submitted(); })},
        {"extension", reads, doing([](scene& s, entity) { s.w.extension<old_extension>(); })},
        {"a new extension", refused,
         doing([](scene& s, entity) { s.w.extension<new_extension>(); })},
        {"find_extension", reads,
         [](scene& s, entity, unsigned) {
             return s.w.find_extension<old_extension>() != nullptr &&
                    s.w.find_extension<new_extension>() == nullptr;
         }},
        {"set_state", recorded, doing([](scene& s, entity) { s.w.set_state(stage::second); })},
        {"the first set_state", refused,
         doing([](scene& s, entity) { s.w.set_state(new_stage::first); })},
        {"state", reads,
         [](scene& s, entity, unsigned) { return s.w.state<stage>() == stage::first; }},
        {"use", reads, doing([](scene& s, entity) { s.w.use<old_module>(); })},
        {"use of a new module", refused, doing([](scene& s, entity) { s.w.use<new_module>(); })},
        {"has_module", reads,
         [](scene& s, entity, unsigned) {
             return s.w.has_module<old_module>() && !s.w.has_module<new_module>();
         }},
    };
}

}  // namespace muster_tests::phase_scene
