// weather: a thread of its own that sends gusts of wind by command buffer.
#pragma once

#include "tally.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace demo {

/// It records while a frame is computed, whatever the world does meanwhile. What it has recorded is
/// submitted between two frames, so that it does not matter how fast it was.
class weather {
public:
    weather(muster::world& w, std::uint64_t seed, tally& counts);
    ~weather();
    weather(const weather&) = delete;
    weather& operator=(const weather&) = delete;

    /// The thread begins with what comes after the next frame.
    void begin();
    /// Waits until it is ready, and applies it.
    void apply();

private:
    void work();
    void record(std::uint64_t frame);

    muster::world& world_;
    tally& counts_;
    country land_;
    std::uint64_t seed_;
    muster::command_buffer changes_;

    std::mutex guard_;  // of what follows, and by it of `changes_`
    std::condition_variable changed_;
    std::uint64_t wanted_ = 0;  // frames that were begun
    std::uint64_t ready_ = 0;   // and recorded
    bool is_over_ = false;
    std::thread thread_;
};

}  // namespace demo
