// engine: values that do not fit into a record.
#include "engine_fixture.hpp"

#include "support/errors.hpp"

namespace muster::test {
namespace {

using engine_limits = engine_fixture;

TEST_F(engine_limits, a_world_number_that_no_record_can_hold_is_refused) {
    const std::uint64_t e = core.entities.create();
    EXPECT_EQ(code_of([&] { core.exchange.move_away(e, core.graph.row_limit()); }), errc::limit);
    EXPECT_FALSE(core.exchange.is_away(e));
}

}  // namespace
}  // namespace muster::test
