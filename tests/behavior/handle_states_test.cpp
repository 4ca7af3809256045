// Handles of every kind, in every state: null, moved from, after the end of their world, and with a
// new world at the same address, with the same number and the same content.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "support/behavior_layouts.hpp"
#include "support/errors.hpp"
#include "support/handle_calls.hpp"

namespace muster {
namespace {

using test::code_of;
using test::frozen;
using test::handles;
using test::position;
using test::velocity;

template <class Layout>
class handles_of : public testing::Test {
protected:
    using kinds = handles<Layout>;
    using world_type = basic_world<Layout>;

    ~handles_of() override { kinds::other = nullptr; }

    void begin_world() {
        home_.emplace(world_options{.number = 77});
        kinds::fill(*home_);
    }

    /// Runs all calls of a kind of handle after the end of its world.
    template <class Kind>
    void check_ended(bool is_replaced) {
        for (const auto& row : Kind::rows()) {
            SCOPED_TRACE(row.name);
            begin_world();
            auto handle = Kind::make(*home_);
            home_.reset();
            if (is_replaced) begin_world();
            kinds::other = is_replaced ? &*home_ : &elsewhere_;
            const std::size_t before = kinds::other->size();
            EXPECT_EQ(code_of([&] { row.call(handle); }), row.when_ended);
            if (is_replaced) {
                EXPECT_EQ(home_->size(), before);
            }
        }
    }
    template <class Kind>
    void check_null() {
        kinds::other = &elsewhere_;
        for (const auto& row : Kind::rows()) {
            SCOPED_TRACE(row.name);
            typename Kind::type handle{};
            EXPECT_EQ(code_of([&] { row.call(handle); }), row.when_null);
        }
    }
    /// A handle that cannot be copied is null after it was moved from.
    template <class Kind>
    void check_moved_from() {
        for (const auto& row : Kind::rows()) {
            SCOPED_TRACE(row.name);
            begin_world();
            kinds::other = &*home_;
            auto handle = Kind::make(*home_);
            auto taken = std::move(handle);
            EXPECT_EQ(code_of([&] { row.call(handle); }), row.when_null);
        }
    }
    template <class Kind>
    void check_kind() {
        SCOPED_TRACE(typeid(Kind).name());
        {
            SCOPED_TRACE("ended");
            check_ended<Kind>(false);
        }
        {
            SCOPED_TRACE("ended, and a new world at its place");
            check_ended<Kind>(true);
        }
        if constexpr (std::is_default_constructible_v<typename Kind::type>) {
            SCOPED_TRACE("null");
            check_null<Kind>();
        }
    }

    std::optional<world_type> home_;
    world_type elsewhere_{world_options{.number = 78}};
};

TYPED_TEST_SUITE(handles_of, test::behavior_layouts);

TYPED_TEST(handles_of, ended_worlds_and_null_handles_never_crash) {
    using all = handles<TypeParam>;
    all::fill(this->elsewhere_);
    this->template check_kind<typename all::query>();
    this->template check_kind<typename all::system>();
    this->template check_kind<typename all::system_with_query>();
    this->template check_kind<typename all::chunk>();
    this->template check_kind<typename all::definition>();
    this->template check_kind<typename all::builder>();
    this->template check_kind<typename all::command_buffer>();
    this->template check_kind<typename all::connection>();
    this->template check_kind<typename all::scoped_connection>();
    this->template check_kind<typename all::observer>();
    this->template check_kind<typename all::entity_range>();
}

TYPED_TEST(handles_of, handles_that_were_moved_from_are_null) {
    using all = handles<TypeParam>;
    this->template check_moved_from<typename all::command_buffer>();
    this->template check_moved_from<typename all::scoped_connection>();
    this->template check_moved_from<typename all::observer>();
}

TYPED_TEST(handles_of, copyable_handles_and_builders_work_after_they_were_moved_from) {
    basic_world<TypeParam> w;
    const auto e = w.spawn(position{}, velocity{});
    auto q = w.template query<position>();
    auto s = w.system("s");
    const auto t = w.tag();
    auto c = w.chunk(t);
    auto d = w.template define<frozen>();
    auto h = w.template on_insert<frozen>([] {});
    auto b = w.builder();
    b.set(frozen{});
    const auto moved = std::tuple(std::move(q), std::move(s), std::move(c), std::move(d),
                                  std::move(h), std::move(b));
    EXPECT_EQ(q.count(), 1u);
    EXPECT_EQ(s.name(), "s");
    EXPECT_TRUE(c.has(t));
    EXPECT_FALSE(d.is_hidden());
    EXPECT_TRUE(h.connected());
    EXPECT_EQ(b.size(), 0u);
    EXPECT_TRUE(w.empty(b.spawn()));
    EXPECT_TRUE(w.alive(e));
}

TYPED_TEST(handles_of, the_same_content_at_the_same_address_is_not_the_same_handle) {
    using all = handles<TypeParam>;
    this->begin_world();
    auto q = all::query::make(*this->home_);
    const auto s = all::system::make(*this->home_);
    const auto c = all::chunk::make(*this->home_);
    this->home_.reset();
    this->begin_world();
    EXPECT_NE(s, all::system::make(*this->home_));
    EXPECT_NE(c, all::chunk::make(*this->home_));
    EXPECT_EQ(code_of([&] { (void)q.count(); }), errc::world_ended);
    q = all::query::make(*this->home_);
    EXPECT_EQ(q.count(), 1u);
}

}  // namespace
}  // namespace muster
