#include <muster/type/type_info.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace MUSTER_NAMESPACE::detail {
namespace {

struct trivial {
    int a;
    float b;
};
struct tag {};
struct alignas(128) over_aligned {
    int a;
};
struct large {
    std::array<std::uint32_t, 1024> words;
};
using move_only = std::unique_ptr<int>;

/// Counts living objects; copying throws once `copies_left` is used up.
struct counted {
    static inline int alive = 0;
    static inline int copies_left = 1000;
    int value;

    explicit counted(int v) : value(v) { ++alive; }
    counted(const counted& other) : value(other.value) {
        if (copies_left-- == 0) throw std::runtime_error("no more copies");
        ++alive;
    }
    counted(counted&& other) noexcept : value(other.value) {
        other.value = -1;
        ++alive;
    }
    counted& operator=(const counted&) = delete;
    ~counted() { --alive; }
};

/// Not trivially copyable, but declared trivially relocatable below.
struct moved_as_bytes {
    std::unique_ptr<int> value;
};

// `make<T>(i)` returns value number `i` of a type, `number` returns its number.
int number(const trivial& v) {
    return v.b == static_cast<float>(v.a) / 2 ? v.a : -1;
}
int number(const over_aligned& v) {
    return v.a;
}
int number(const large& v) {
    return v.words.front() == v.words.back() ? static_cast<int>(v.words.back()) : -1;
}
int number(const std::string& v) {
    return std::stoi(v);
}
int number(const move_only& v) {
    return *v;
}
int number(const counted& v) {
    return v.value;
}
int number(const moved_as_bytes& v) {
    return *v.value;
}

template <class T>
T make(int i) {
    if constexpr (std::is_same_v<T, trivial>)
        return {i, static_cast<float>(i) / 2};
    else if constexpr (std::is_same_v<T, large>) {
        large made{};
        made.words.front() = made.words.back() = static_cast<std::uint32_t>(i);
        return made;
    } else if constexpr (std::is_same_v<T, std::string>)
        return std::to_string(i) + std::string(static_cast<std::size_t>(i) * 5, ' ');
    else if constexpr (std::is_same_v<T, move_only>)
        return std::make_unique<int>(i);
    else if constexpr (std::is_same_v<T, moved_as_bytes>)
        return {std::make_unique<int>(i)};
    else
        return T{i};
}

/// Uninitialised storage for eight values of T.
template <class T>
struct storage {
    alignas(T) std::byte bytes[8 * sizeof(T)];
    T& operator[](std::size_t i) { return reinterpret_cast<T*>(bytes)[i]; }
};

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail

template <>
struct muster::is_trivially_relocatable<muster::detail::moved_as_bytes> : std::true_type {};

namespace MUSTER_NAMESPACE::detail {
namespace {

template <class T>
class type_info_of_a : public testing::Test {
protected:
    void SetUp() override { counted::copies_left = 1000; }
    void TearDown() override { EXPECT_EQ(counted::alive, 0); }

    static void destroy(storage<T>& values, std::size_t count) {
        if (type_info_of<T>.destroy != nullptr) type_info_of<T>.destroy(values.bytes, count);
    }
};
using kinds =
    testing::Types<trivial, over_aligned, large, std::string, move_only, counted, moved_as_bytes>;
TYPED_TEST_SUITE(type_info_of_a, kinds);

TYPED_TEST(type_info_of_a, describes_size_alignment_and_name) {
    EXPECT_EQ(type_info_of<TypeParam>.size, sizeof(TypeParam));
    EXPECT_EQ(type_info_of<TypeParam>.alignment, alignof(TypeParam));
    EXPECT_EQ(type_info_of<TypeParam>.name, type_name<TypeParam>());
}

TYPED_TEST(type_info_of_a, relocate_moves_values_and_destroys_the_sources) {
    const type_info& info = type_info_of<TypeParam>;
    const auto from = std::make_unique<storage<TypeParam>>();
    const auto to = std::make_unique<storage<TypeParam>>();
    for (int i = 0; i < 5; ++i)
        ::new (&(*from)[static_cast<std::size_t>(i)]) TypeParam(make<TypeParam>(i));
    if (info.relocate == nullptr)
        std::memcpy(to->bytes, from->bytes, 5 * info.size);
    else
        info.relocate(to->bytes, from->bytes, 5);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(number((*to)[static_cast<std::size_t>(i)]), i);
    this->destroy(*to, 5);  // a source value left alive would leak, and count in `counted::alive`
}

TYPED_TEST(type_info_of_a, copy_repeats_one_value_or_copies_an_array) {
    const type_info& info = type_info_of<TypeParam>;
    if constexpr (std::is_copy_constructible_v<TypeParam>) {
        const auto to = std::make_unique<storage<TypeParam>>();
        const TypeParam original = make<TypeParam>(7);
        info.copy_values(to->bytes, &original, 6, 0);
        for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(number((*to)[i]), 7);
        EXPECT_EQ(number(original), 7);
        this->destroy(*to, 6);
        const auto from = std::make_unique<storage<TypeParam>>();
        for (int i = 0; i < 5; ++i)
            ::new (&(*from)[static_cast<std::size_t>(i)]) TypeParam(make<TypeParam>(i));
        info.copy_values(to->bytes, from->bytes, 5, 1);
        for (int i = 0; i < 5; ++i) {
            EXPECT_EQ(number((*to)[static_cast<std::size_t>(i)]), i);
            EXPECT_EQ(number((*from)[static_cast<std::size_t>(i)]), i);
        }
        this->destroy(*to, 5);
        this->destroy(*from, 5);
        info.copy_values(to->bytes, &original, 0, 0);
        info.copy_values(to->bytes, nullptr, 0, 1);
    } else {
        EXPECT_FALSE(info.can_copy());
    }
}

TEST(type_info, trivially_relocatable_types_have_no_relocate_function) {
    EXPECT_EQ(type_info_of<trivial>.relocate, nullptr);
    EXPECT_EQ(type_info_of<over_aligned>.relocate, nullptr);
    EXPECT_EQ(type_info_of<large>.relocate, nullptr);
    EXPECT_NE(type_info_of<std::string>.relocate, nullptr);
    EXPECT_NE(type_info_of<move_only>.relocate, nullptr);
}

TEST(type_info, trivially_destructible_types_have_no_destroy_function) {
    EXPECT_EQ(type_info_of<trivial>.destroy, nullptr);
    EXPECT_NE(type_info_of<std::string>.destroy, nullptr);
}

TEST(type_info, a_user_can_declare_a_type_trivially_relocatable) {
    EXPECT_EQ(type_info_of<moved_as_bytes>.relocate, nullptr);
    EXPECT_NE(type_info_of<moved_as_bytes>.destroy, nullptr);
}

TEST(type_info, a_tag_has_size_0) {
    EXPECT_EQ(type_info_of<tag>.size, 0u);
    EXPECT_EQ(type_info_of<tag>.relocate, nullptr);
    EXPECT_EQ(type_info_of<tag>.destroy, nullptr);
}

TEST(type_info, an_empty_type_with_a_destructor_is_not_a_tag) {
    struct guard {
        guard() = default;
        guard(const guard&) {}
        ~guard() {}
    };
    static_assert(!is_tag<guard> && is_tag<tag>);
    EXPECT_EQ(type_info_of<guard>.size, 1u);
    EXPECT_NE(type_info_of<guard>.destroy, nullptr);
}

TEST(type_info, a_throwing_copy_destroys_the_earlier_copies) {
    storage<counted> to;
    {
        const counted original(3);
        for (const int copies : {0, 1, 4}) {
            counted::copies_left = copies;
            EXPECT_THROW(type_info_of<counted>.copy(to.bytes, &original, 8, 0), std::runtime_error);
            EXPECT_EQ(counted::alive, 1);
            EXPECT_EQ(counted::copies_left, -1);  // stopped at the throwing copy
        }
        EXPECT_EQ(original.value, 3);
    }
    EXPECT_EQ(counted::alive, 0);
}

TEST(type_info, destroy_destroys_the_given_number_of_values) {
    storage<counted> values;
    for (std::size_t i = 0; i < 8; ++i) ::new (&values[i]) counted(1);
    type_info_of<counted>.destroy(values.bytes, 0);
    EXPECT_EQ(counted::alive, 8);
    type_info_of<counted>.destroy(values.bytes, 3);
    EXPECT_EQ(counted::alive, 5);
    type_info_of<counted>.destroy(&values[3], 5);
    EXPECT_EQ(counted::alive, 0);
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
