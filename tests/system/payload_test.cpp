// What systems are processed with: which values they take for which.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "support/errors.hpp"

namespace muster {
namespace {

using test::code_of;
using test::sentence_of;

class payload : public ::testing::Test {
public:
    world w;

    /// What a system that takes a `T` gets of this value; nothing if it refuses it.
    template <class T, class Given>
    std::optional<T> taken(const Given& given) {
        std::optional<T> got;
        const auto s = w.system().execute([&](T value) { got.emplace(value); });
        const std::optional<errc> code = code_of([&] { w.process_with(s, given); });
        EXPECT_EQ(code.has_value(), !got.has_value());
        EXPECT_EQ(code.value_or(errc::bad_payload), errc::bad_payload);
        s.remove();
        return got;
    }
};

template <class T>
constexpr T most = std::numeric_limits<T>::max();

TEST_F(payload, of_the_type_that_is_wanted_is_taken_as_it_is) {
    EXPECT_EQ(taken<int>(-5), -5);
    EXPECT_EQ(taken<float>(0.1f), 0.1f);
    EXPECT_EQ(taken<std::string>(std::string("text")), "text");
    EXPECT_EQ(taken<std::uint64_t>(most<std::uint64_t>), most<std::uint64_t>);
    EXPECT_EQ(taken<long double>(0.1L), 0.1L);
    const auto shared = std::make_shared<int>(1);
    EXPECT_EQ(taken<std::shared_ptr<int>>(shared), shared);
    EXPECT_EQ(shared.use_count(), 1);
}

TEST_F(payload, that_is_real_can_be_another_real_type) {
    EXPECT_EQ(taken<float>(0.016), 0.016f);
    EXPECT_EQ(taken<double>(0.5f), 0.5);
    EXPECT_EQ(taken<double>(0.25L), 0.25);
    EXPECT_EQ(taken<long double>(0.5), 0.5L);
}

TEST_F(payload, that_is_whole_can_be_real) {
    EXPECT_EQ(taken<float>(1), 1.0f);
    EXPECT_EQ(taken<double>(-3), -3.0);
    EXPECT_EQ(taken<double>(7u), 7.0);
    EXPECT_EQ(taken<double>('\x05'), 5.0);
}

TEST_F(payload, that_is_whole_can_be_another_whole_type_if_it_stays_the_same) {
    EXPECT_EQ(taken<unsigned>(5), 5u);
    EXPECT_EQ(taken<std::uint8_t>(255), 255);
    EXPECT_EQ(taken<std::int8_t>(-128), -128);
    EXPECT_EQ(taken<std::int64_t>(-1), -1);
    EXPECT_EQ(taken<std::size_t>(most<std::int64_t>), static_cast<std::size_t>(most<std::int64_t>));
    EXPECT_EQ(taken<int>(std::uint64_t{7}), 7);
    EXPECT_EQ(taken<bool>(1), true);
    EXPECT_EQ(taken<int>(true), 1);

    EXPECT_FALSE(taken<unsigned>(-1));
    EXPECT_FALSE(taken<std::uint64_t>(std::int8_t{-1}));
    EXPECT_FALSE(taken<std::uint8_t>(256));
    EXPECT_FALSE(taken<std::int8_t>(128));
    EXPECT_FALSE(taken<std::int8_t>(-129));
    EXPECT_FALSE(taken<std::int64_t>(most<std::uint64_t>));
    EXPECT_FALSE(taken<int>(std::uint32_t{1} << 31));
    EXPECT_FALSE(taken<bool>(2));
}

TEST_F(payload, that_is_real_is_never_whole) {
    EXPECT_FALSE(taken<int>(1.0));
    EXPECT_FALSE(taken<int>(1.5f));
    EXPECT_FALSE(taken<std::uint64_t>(0.0));
    EXPECT_FALSE(taken<bool>(1.0));
}

TEST_F(payload, that_would_be_another_number_is_refused) {
    EXPECT_EQ(taken<float>(16'777'216), 16'777'216.0f);
    EXPECT_FALSE(taken<float>(16'777'217));
    EXPECT_EQ(taken<double>(std::int64_t{1} << 53), 9007199254740992.0);
    EXPECT_FALSE(taken<double>((std::int64_t{1} << 53) + 1));
    EXPECT_FALSE(taken<float>(1e300));  // no float is near it
}

TEST_F(payload, of_another_class_is_refused) {
    struct meters {
        double value;
    };
    struct feet {
        double value;
    };
    EXPECT_EQ(taken<meters>(meters{2})->value, 2);
    EXPECT_FALSE(taken<meters>(feet{2}));
    EXPECT_FALSE(taken<meters>(2.0));
    EXPECT_FALSE(taken<double>(meters{2}));
    EXPECT_FALSE(taken<std::string>("text"));  // an array, not a string
    enum class color { red };
    EXPECT_EQ(taken<color>(color::red), color::red);
    EXPECT_FALSE(taken<int>(color::red));
    EXPECT_FALSE(taken<color>(0));
}

TEST_F(payload, that_is_refused_is_told_of_with_the_system_and_both_types) {
    const auto s = w.system("move").execute([](int, float) { FAIL(); });
    std::string said = sentence_of([&] { w.process_with(s, 1, std::string("fast")); });
    for (const char* part : {"system \"move\"", "float", "value 2", "string", "process_with"})
        EXPECT_NE(said.find(part), std::string::npos) << said;
    said = sentence_of([&] { w.process_with(s, 1); });
    for (const char* part : {"system \"move\"", "float", "value 2", "int"})
        EXPECT_NE(said.find(part), std::string::npos) << said;
    said = sentence_of([&] { w.process(s); });
    for (const char* part : {"system \"move\"", "int", "value 1", "nothing"})
        EXPECT_NE(said.find(part), std::string::npos) << said;
}

TEST_F(payload, that_is_missing_is_told_of_also_when_no_entity_matches) {
    const auto s = w.system("s").each([](int&, float) {});
    EXPECT_EQ(code_of([&] { w.process(s); }), errc::bad_payload);
    w.process_with(s, 1.0f);
    w.spawn(1);
    EXPECT_EQ(code_of([&] { w.process_all(); }), errc::bad_payload);
    EXPECT_EQ(w.depth(), 0u);
}

TEST_F(payload, that_is_left_over_is_ignored) {
    int sum = 0;
    const auto s = w.system("s")
                       .prologue([&] { sum += 1; })
                       .execute([&](int a) { sum += 10 * a; })
                       .epilogue([&](int a, int b) { sum += 100 * a * b; });
    w.process_with(s, 2, 3, std::string("more"), 4.5);
    EXPECT_EQ(sum, 621);
}

TEST_F(payload, is_the_same_for_all_members_of_a_group) {
    double sum = 0;
    const auto g = w.system("g").prologue([&](float dt) { sum += dt; });
    w.system("a").group(g).execute([&](double dt) { sum += 10 * dt; });
    w.system("b").group(g).each([&](const int& i, double dt, int n) { sum += 100 * dt * n * i; });
    w.spawn(1);
    w.spawn(1, 'c');
    w.process_with(g, 0.5, 2);
    EXPECT_EQ(sum, 205.5);
    w.process_all(0.25f, 1u);
    EXPECT_EQ(sum, 205.5 + 52.75);
    w.process_with("a", 1);
    EXPECT_EQ(sum, 205.5 + 62.75);
}

TEST_F(payload, comes_behind_the_entity_and_the_components) {
    const entity e = w.spawn(1, std::string("s"));
    w.spawn(2);
    std::string log;
    const auto s = w.system("s").each(
        [&](entity who, int& i, const std::string* text, char sign, std::string word) {
            log += (who == e ? "e" : "f") + std::to_string(i++) + (text == nullptr ? "-" : *text) +
                   sign + word + ";";
        });
    w.process_with(s, '!', std::string("w"));
    EXPECT_EQ(log, "e1s!w;f2-!w;");
    EXPECT_EQ(w.get<int>(e), 2);
}

TEST_F(payload, can_be_an_entity) {
    const entity target = w.spawn();
    w.spawn(1);
    entity got, first;
    const auto s = w.system("s").each([&](entity e, int&, entity given) {
        first = e;
        got = given;
    });
    w.process_with(s, target);
    EXPECT_EQ(got, target);
    EXPECT_NE(first, target);
    entity once;
    const auto t = w.system("t").execute([&](entity given) { once = given; });
    w.process_with(t, target);
    EXPECT_EQ(once, target);
}

TEST_F(payload, is_copied_for_each_call_of_a_function_that_takes_it_by_value_and_hardly_more) {
    struct counted {
        int* copies;
        explicit counted(int& to) : copies(&to) {}
        counted(const counted& other) : copies(other.copies) { ++*copies; }
    };
    int copies = 0;
    w.spawn_many(100, 1);
    const auto s = w.system("s").each([](int&, const counted) {});
    w.process_with(s, counted(copies));
    EXPECT_GE(copies, 100);
    EXPECT_LE(copies, 105);
}

TEST_F(payload, may_lie_in_the_world) {
    const entity e = w.spawn(std::string("a text that is too long for its object"));
    std::string got;
    const auto s = w.system("s").execute([&](std::string text) {
        w.destroy(e);
        got = text;
    });
    w.process_with(s, w.get<std::string>(e));
    EXPECT_EQ(got, "a text that is too long for its object");
    EXPECT_FALSE(w.alive(e));
}

}  // namespace
}  // namespace muster
