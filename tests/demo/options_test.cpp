#include <options.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace {

demo::options read(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "demo");
    return demo::read_options(static_cast<int>(arguments.size()), arguments.data());
}

std::string refusal(const std::vector<const char*>& arguments) {
    try {
        (void)read(arguments);
    } catch (const demo::bad_option& error) {
        return error.what();
    }
    return "accepted";
}

TEST(options, values_follow_a_space_or_an_equals_sign) {
    const demo::options given =
        read({"--frames", "12", "--seed=18446744073709551615", "--entities=5000", "--threads", "3",
              "--png=a=b.png", "--colours", "256", "--plain"});
    EXPECT_EQ(given.frames, 12u);
    EXPECT_EQ(given.seed, ~std::uint64_t{0});
    EXPECT_EQ(given.entities, 5000u);
    EXPECT_EQ(given.threads, 3u);
    EXPECT_EQ(given.png, "a=b.png");
    EXPECT_EQ(given.colours, demo::colours::palette);
    EXPECT_TRUE(given.plain);
    EXPECT_FALSE(given.help);
    EXPECT_TRUE(read({"-h"}).help);
}

TEST(options, seconds_replace_the_frame_limit_unless_frames_are_set) {
    EXPECT_EQ(read({"--seconds", "2.5"}).seconds, 2.5);
    EXPECT_GT(read({"--seconds", "2.5"}).frames, read({}).frames);
    EXPECT_EQ(read({"--seconds", "2.5", "--frames", "7"}).frames, 7u);
}

TEST(options, error_messages_name_the_invalid_argument) {
    EXPECT_EQ(refusal({"--fast"}), "unknown option \"--fast\"");
    EXPECT_EQ(refusal({"--plain=yes"}), "unknown option \"--plain=yes\"");
    EXPECT_EQ(refusal({"--png"}), "--png needs a value");
    EXPECT_EQ(refusal({"--png="}), "--png needs the name of a file");
    EXPECT_EQ(refusal({"--frames", "1e3"}),
              "--frames takes a number from 1 to 1000000, not \"1e3\"");
    EXPECT_EQ(refusal({"--frames", "99999999999999999999"}),
              "--frames takes a number from 1 to 1000000, not \"99999999999999999999\"");
    EXPECT_EQ(refusal({"--seconds", "inf"}),
              "--seconds takes a number from 0.1 to 86400, not \"inf\"");
    EXPECT_EQ(refusal({"--seed", "-1"}),
              "--seed takes a number from 0 to 18446744073709551615, not \"-1\"");
}

}  // namespace
