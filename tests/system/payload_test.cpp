// Payloads: which arguments of `process_with` convert to which parameters of a system.
#include <muster/muster.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "support/errors.hpp"
#include "support/numbered.hpp"

namespace muster {
namespace {

using test::code_of;
using test::sentence_of;

class payload : public ::testing::Test {
public:
    world w;

    /// Returns the value that a system with a parameter `T` receives, or nothing if it is refused.
    template <class T, class Given>
    std::optional<T> received(const Given& given) {
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

TEST_F(payload, of_the_parameter_type_is_passed_unchanged) {
    EXPECT_EQ(received<int>(-5), -5);
    EXPECT_EQ(received<float>(0.1f), 0.1f);
    EXPECT_EQ(received<std::string>(std::string("text")), "text");
    EXPECT_EQ(received<std::uint64_t>(most<std::uint64_t>), most<std::uint64_t>);
    EXPECT_EQ(received<long double>(0.1L), 0.1L);
    const auto shared = std::make_shared<int>(1);
    EXPECT_EQ(received<std::shared_ptr<int>>(shared), shared);
    EXPECT_EQ(shared.use_count(), 1);
}

TEST_F(payload, converts_between_floating_point_types) {
    EXPECT_EQ(received<float>(0.016), 0.016f);
    EXPECT_EQ(received<double>(0.5f), 0.5);
    EXPECT_EQ(received<double>(0.25L), 0.25);
    EXPECT_EQ(received<long double>(0.5), 0.5L);
}

TEST_F(payload, converts_integers_to_floating_point) {
    EXPECT_EQ(received<float>(1), 1.0f);
    EXPECT_EQ(received<double>(-3), -3.0);
    EXPECT_EQ(received<double>(7u), 7.0);
    EXPECT_EQ(received<double>('\x05'), 5.0);
}

TEST_F(payload, converts_between_integer_types_if_the_value_is_kept) {
    EXPECT_EQ(received<unsigned>(5), 5u);
    EXPECT_EQ(received<std::uint8_t>(255), 255);
    EXPECT_EQ(received<std::int8_t>(-128), -128);
    EXPECT_EQ(received<std::int64_t>(-1), -1);
    EXPECT_EQ(received<std::size_t>(most<std::int64_t>),
              static_cast<std::size_t>(most<std::int64_t>));
    EXPECT_EQ(received<int>(std::uint64_t{7}), 7);
    EXPECT_EQ(received<bool>(1), true);
    EXPECT_EQ(received<int>(true), 1);

    EXPECT_FALSE(received<unsigned>(-1));
    EXPECT_FALSE(received<std::uint64_t>(std::int8_t{-1}));
    EXPECT_FALSE(received<std::uint8_t>(256));
    EXPECT_FALSE(received<std::int8_t>(128));
    EXPECT_FALSE(received<std::int8_t>(-129));
    EXPECT_FALSE(received<std::int64_t>(most<std::uint64_t>));
    EXPECT_FALSE(received<int>(std::uint32_t{1} << 31));
    EXPECT_FALSE(received<bool>(2));
}

TEST_F(payload, never_converts_floating_point_to_integers) {
    EXPECT_FALSE(received<int>(1.0));
    EXPECT_FALSE(received<int>(1.5f));
    EXPECT_FALSE(received<std::uint64_t>(0.0));
    EXPECT_FALSE(received<bool>(1.0));
}

TEST_F(payload, refuses_conversions_that_change_the_number) {
    EXPECT_EQ(received<float>(16'777'216), 16'777'216.0f);
    EXPECT_FALSE(received<float>(16'777'217));
    EXPECT_EQ(received<double>(std::int64_t{1} << 53), 9007199254740992.0);
    EXPECT_FALSE(received<double>((std::int64_t{1} << 53) + 1));
    EXPECT_FALSE(received<float>(1e300));  // beyond the range of float
}

TEST_F(payload, of_another_class_is_refused) {
    struct meters {
        double value;
    };
    struct feet {
        double value;
    };
    EXPECT_EQ(received<meters>(meters{2})->value, 2);
    EXPECT_FALSE(received<meters>(feet{2}));
    EXPECT_FALSE(received<meters>(2.0));
    EXPECT_FALSE(received<double>(meters{2}));
    EXPECT_FALSE(received<std::string>("text"));  // an array, not a string
    enum class color { red };
    EXPECT_EQ(received<color>(color::red), color::red);
    EXPECT_FALSE(received<int>(color::red));
    EXPECT_FALSE(received<color>(0));
}

TEST_F(payload, errors_name_the_system_and_both_types) {
    const auto s = w.system("move").execute([](int, float) { FAIL(); });
    std::string message = sentence_of([&] { w.process_with(s, 1, std::string("fast")); });
    for (const char* part : {"system \"move\"", "float", "value 2", "string", "process_with"})
        EXPECT_NE(message.find(part), std::string::npos) << message;
    message = sentence_of([&] { w.process_with(s, 1); });
    for (const char* part : {"system \"move\"", "float", "value 2", "int"})
        EXPECT_NE(message.find(part), std::string::npos) << message;
    message = sentence_of([&] { w.process(s); });
    for (const char* part : {"system \"move\"", "int", "value 1", "nothing"})
        EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST_F(payload, a_missing_value_is_an_error_even_if_no_entity_matches) {
    const auto s = w.system("s").each([](int&, float) {});
    EXPECT_EQ(code_of([&] { w.process(s); }), errc::bad_payload);
    w.process_with(s, 1.0f);
    w.spawn(1);
    EXPECT_EQ(code_of([&] { w.process_all(); }), errc::bad_payload);
    EXPECT_EQ(w.depth(), 0u);
}

TEST_F(payload, additional_values_are_ignored) {
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

TEST_F(payload, follows_the_entity_and_the_components) {
    const entity e = w.spawn(1, std::string("s"));
    w.spawn(2);
    std::string log;
    const auto s = w.system("s").each(
        [&](entity id, int& i, const std::string* text, char sign, std::string word) {
            log += test::numbered(id == e ? "e" : "f", i++);
            log.append(text == nullptr ? "-" : *text).append(1, sign).append(word).append(";");
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

TEST_F(payload, is_copied_about_once_per_call_of_a_function_that_takes_it_by_value) {
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

TEST_F(payload, may_be_a_component_of_the_world) {
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
