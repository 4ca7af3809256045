#include "weather.hpp"

#include <algorithm>

namespace demo {

weather::weather(muster::world& w, std::uint64_t seed, tally& counts)
    : world_(w), counts_(counts), land_(w.single<country>()), seed_(seed), changes_(w) {
    thread_ = std::thread([this] { work(); });
}

weather::~weather() {
    {
        const std::lock_guard lock(guard_);
        is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void weather::begin() {
    {
        const std::lock_guard lock(guard_);
        ++wanted_;
    }
    changed_.notify_all();
}

void weather::apply() {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return ready_ == wanted_; });
    counts_.submitted += changes_.pending();
    world_.submit(changes_);  // applied at once: the world's thread, no open scope
}

void weather::work() {
    std::unique_lock lock(guard_);
    for (;;) {
        changed_.wait(lock, [&] { return is_over_ || ready_ != wanted_; });
        if (is_over_) return;
        const std::uint64_t frame = wanted_;
        lock.unlock();
        record(frame);
        lock.lock();
        ready_ = frame;
        changed_.notify_all();
    }
}

void weather::record(std::uint64_t frame) {
    dice d = dice::seeded(seed_ * 1'000'003 + frame);
    if (d.roll() > 0.06f) return;
    const float size = std::min(land_.width, land_.height) * d.between(0.06f, 0.16f);
    const position from{d.between(0, land_.width), d.between(0, land_.height)};
    // The gusts cross the middle of the country and fan out.
    const float x = land_.width * d.between(0.3f, 0.7f) - from.x;
    const float y = land_.height * d.between(0.3f, 0.7f) - from.y;
    for (int i = 0; i < 3; ++i) {
        const float turn = 0.35f * static_cast<float>(i - 1);
        const entity made = changes_.spawn(from, gust{size, 2.5f});
        changes_.set(made, velocity{0.4f * (x - turn * y), 0.4f * (y + turn * x)});
    }
}

}  // namespace demo
