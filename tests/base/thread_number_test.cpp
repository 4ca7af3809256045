#include <muster/base/thread_number.hpp>

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <thread>

namespace MUSTER_NAMESPACE::detail {
namespace {

TEST(thread_number, is_constant_within_a_thread) {
    const unsigned mine = thread_number();
    EXPECT_EQ(thread_number(), mine);
    std::thread([&] { EXPECT_NE(thread_number(), mine); }).join();
    EXPECT_EQ(thread_number(), mine);
}

TEST(thread_number, differs_between_threads) {
    std::array<unsigned, 8> numbers{};
    std::array<std::thread, 8> threads;
    for (std::size_t i = 0; i < threads.size(); ++i)
        threads[i] = std::thread([&, i] { numbers[i] = thread_number(); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::set<unsigned>(numbers.begin(), numbers.end()).size(), numbers.size());
}

}  // namespace
}  // namespace MUSTER_NAMESPACE::detail
