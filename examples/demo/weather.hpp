// weather: a thread that spawns gusts of wind through a command buffer.
#pragma once

#include "tally.hpp"

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace demo {

/// The thread records while the world computes a frame. The buffer is submitted between two frames,
/// so that the result does not depend on the speed of the thread.
class weather {
public:
    weather(muster::world& w, std::uint64_t seed, tally& counts);
    ~weather();
    weather(const weather&) = delete;
    weather& operator=(const weather&) = delete;

    /// Makes the thread record the changes that follow the next frame.
    void begin();
    /// Waits for the thread and applies its changes.
    void apply();

private:
    void work();
    void record(std::uint64_t frame);

    muster::world& world_;
    tally& counts_;
    country land_;
    std::uint64_t seed_;
    muster::command_buffer changes_;

    std::mutex guard_;  // guards the members below and, through them, `changes_`
    std::condition_variable changed_;
    std::uint64_t wanted_ = 0;  // frames begun
    std::uint64_t ready_ = 0;   // frames recorded
    bool is_over_ = false;
    std::thread thread_;
};

}  // namespace demo
