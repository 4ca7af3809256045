#include <muster/engine/extensions.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/errors.hpp"

namespace MUSTER_NAMESPACE::detail {
namespace {

using test::code_of;

/// What the objects of a test did, in order.
std::vector<std::string>* said = nullptr;
extensions* owner = nullptr;

template <int Number>
struct numbered {
    static extensions::recipe how() {
        return {"numbered", [](void*) -> void* { return new numbered; },
                [](void* object) noexcept { delete static_cast<numbered*>(object); }};
    }

    numbered() { said->push_back("+" + std::to_string(Number)); }
    ~numbered() {
        const bool finds_itself = owner->find(ensure_type_index<numbered>()) != nullptr;
        const bool finds_the_first = owner->find(ensure_type_index<numbered<1>>()) != nullptr;
        said->push_back("-" + std::to_string(Number) + (finds_itself ? "!" : "") +
                        (finds_the_first ? "^" : ""));
    }
};

struct extensions_of : testing::Test {
    gate changes;
    std::vector<std::string> log;
    extensions tested{changes};

    extensions_of() {
        said = &log;
        owner = &tested;
    }
    ~extensions_of() override { tested.clear(); }

    template <class T>
    void* ensure() {
        return tested.ensure(ensure_type_index<T>(), T::how(), this);
    }
    template <class T>
    [[nodiscard]] void* find() const {
        return tested.find(ensure_type_index<T>());
    }
};

TEST_F(extensions_of, the_first_call_creates_the_object) {
    EXPECT_EQ(find<numbered<1>>(), nullptr);
    void* const made = ensure<numbered<1>>();
    EXPECT_NE(made, nullptr);
    EXPECT_EQ(ensure<numbered<1>>(), made);
    EXPECT_EQ(find<numbered<1>>(), made);
    EXPECT_EQ(find<numbered<2>>(), nullptr);
    EXPECT_EQ(log, (std::vector<std::string>{"+1"}));
}

TEST_F(extensions_of, objects_are_destroyed_in_the_reverse_order_of_creation) {
    ensure<numbered<1>>();
    ensure<numbered<3>>();
    ensure<numbered<2>>();
    log.clear();
    tested.clear();
    // Older objects are found, the destroyed one is not.
    EXPECT_EQ(log, (std::vector<std::string>{"-2^", "-3^", "-1"}));
    EXPECT_EQ(find<numbered<1>>(), nullptr);
}

struct dependent {
    static extensions::recipe how() {
        return {"dependent",
                [](void* test) -> void* {
                    static_cast<extensions_of*>(test)->ensure<numbered<1>>();
                    said->push_back("+dependent");
                    return new dependent;
                },
                [](void* object) noexcept { delete static_cast<dependent*>(object); }};
    }
    ~dependent() { said->push_back("-dependent"); }
};

TEST_F(extensions_of, an_object_that_a_constructor_creates_outlives_the_other) {
    ensure<dependent>();
    tested.clear();
    EXPECT_EQ(log, (std::vector<std::string>{"+1", "+dependent", "-dependent", "-1"}));
}

struct refusal {};
struct refused {
    static extensions::recipe how() {
        return {"refused",
                [](void* test) -> void* {
                    static_cast<extensions_of*>(test)->ensure<numbered<1>>();
                    throw refusal();
                },
                [](void*) noexcept {}};
    }
};

TEST_F(extensions_of, a_constructor_that_throws_leaves_nothing) {
    EXPECT_THROW(ensure<refused>(), refusal);
    EXPECT_EQ(find<refused>(), nullptr);
    EXPECT_NE(find<numbered<1>>(), nullptr);  // a complete object stays
    EXPECT_THROW(ensure<refused>(), refusal);
    ensure<numbered<2>>();
    tested.clear();
    EXPECT_EQ(log, (std::vector<std::string>{"+1", "+2", "-2^", "-1"}));
}

struct own_parent {
    static extensions::recipe how() {
        return {"own_parent",
                [](void* test) -> void* {
                    return static_cast<extensions_of*>(test)->ensure<own_parent>();
                },
                [](void*) noexcept {}};
    }
};

TEST_F(extensions_of, an_object_that_needs_itself_throws) {
    EXPECT_EQ(code_of([&] { ensure<own_parent>(); }), errc::in_scope);
    EXPECT_EQ(find<own_parent>(), nullptr);
    EXPECT_EQ(code_of([&] { ensure<own_parent>(); }), errc::in_scope);
}

TEST_F(extensions_of, creation_is_refused_in_a_phase_and_in_a_change) {
    void* const made = ensure<numbered<1>>();
    changes.begin_phase();
    EXPECT_EQ(ensure<numbered<1>>(), made);
    EXPECT_EQ(code_of([&] { ensure<numbered<2>>(); }), errc::in_scope);
    changes.end_phase();
    {
        const busy_guard busy(changes);
        EXPECT_EQ(code_of([&] { ensure<numbered<2>>(); }), errc::in_scope);
    }
    EXPECT_EQ(find<numbered<2>>(), nullptr);
    changes.open_scope();
    EXPECT_NE(ensure<numbered<2>>(), nullptr);
    changes.close_scope();
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
