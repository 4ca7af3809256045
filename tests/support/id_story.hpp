// id_story: bytes choose operations, which the story applies to a pool and to its model.
#pragma once

#include <muster/id/id_pool.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "byte_source.hpp"
#include "id_model.hpp"

namespace muster::test {

template <class Layout>
class id_story {
public:
    using id_type = basic_id<Layout>;

    explicit id_story(const id_pool_options& options, bool is_logging = false)
        : options_(options), pool_(options), model_(options), is_logging_(is_logging) {}

    /// Runs one operation. Throws `difference`.
    void step(byte_source& from) {
        ++steps_;
        switch (from.byte() % 16) {
        case 0:
        case 1:
        case 2:
        case 3: create(); break;
        case 4: create_many(from.byte() % 24); break;
        case 5:
        case 6:
        case 7:
        case 8: destroy(any_handle(from)); break;
        case 9: destroy_all_of(from.byte()); break;
        case 10:
        case 11: create_at(any_wish(from)); break;
        case 12: ask(any_wish(from)); break;
        case 13: ask(any_handle(from)); break;
        case 14: from.byte() % 8 == 0 ? recycle() : reserve(from.byte()); break;
        case 15: from.byte() % 8 == 0 ? look_at_all() : create(); break;
        }
    }

    void run(std::span<const std::uint8_t> bytes) {
        byte_source from(bytes);
        while (!from.done()) step(from);
        look_at_all();
    }

    /// Compares counts, iteration, and whether each remembered id is alive.
    void look_at_all() {
        const std::vector<id_type> living = model_.living();
        expect("size", pool_.size(), living.size());
        expect("retired", pool_.retired(), model_.retired());
        expect("tombstones", pool_.tombstones(), model_.tombstones());
        expect("unused version", pool_.unused_version(), model_.unused_version());
        expect("iteration", std::vector<id_type>(pool_.begin(), pool_.end()), living);
        for (const id_type e : seen_) ask(e);
    }

    const id_pool<Layout>& pool() const { return pool_; }
    const id_model<Layout>& model() const { return model_; }
    std::size_t steps() const { return steps_; }

    void create() {
        log("create");
        compare("create", [this] { return pool_.create(); }, model_.create());
    }

    void create_many(std::size_t count) {
        log("create " + std::to_string(count));
        std::vector<id_type> out(count);
        bool made = true;
        try {
            pool_.create(std::span<id_type>(out));
        } catch (const error& e) {
            expect("code", e.code(), errc::id_overflow);
            made = false;
        }
        expect("all or none", made, model_.available() >= count);
        if (!made) return;
        for (const id_type e : out) compare("create many", [e] { return e; }, model_.create());
    }

    void create_at(id_type wanted) {
        log("create_at " + to_string(wanted));
        compare("create_at", [&] { return pool_.create_at(wanted); }, model_.create_at(wanted));
    }

    void destroy(id_type e) {
        log("destroy " + to_string(e));
        expect("destroy", pool_.destroy(e), model_.destroy(e));
        expect("alive after destroy", pool_.alive(e), false);
    }

    void recycle() {
        log("recycle");
        expect("recycle", pool_.recycle_tombstones(), model_.recycle_tombstones());
    }

    void ask(id_type e) {
        expect(("alive " + to_string(e)).c_str(), pool_.alive(e), model_.alive(e));
    }

private:
    void destroy_all_of(std::uint8_t mask) {
        // Destroys while iterating.
        log("destroy where key & " + std::to_string(mask));
        for (const id_type e : pool_)
            if ((e.key() & mask) == mask)
                expect("destroy in loop", pool_.destroy(e), model_.destroy(e));
    }

    void reserve(std::size_t count) {
        log("reserve " + std::to_string(count));
        try {
            pool_.reserve(count);
            expect("room", pool_.capacity() >= count, true);
        } catch (const error& e) {
            expect("code", e.code(), errc::id_overflow);
        }
    }

    /// An id that is or was alive.
    id_type any_handle(byte_source& from) {
        return seen_.empty() ? id_type{} : seen_[from.below(seen_.size())];
    }

    /// An id that may be new: of a known key, near other keys, distant, close to exhaustion, or any
    /// bits.
    id_type any_wish(byte_source& from) {
        const std::uint64_t world = Layout::world_bits == 0 ? 0 : options_.world;
        const std::uint8_t kind = from.byte();
        std::uint64_t key =
            options_.first_key + from.byte() * (kind & 1 ? std::uint64_t{1} : std::uint64_t{16});
        std::uint64_t version = Layout::first_version + from.byte() % 4;
        switch (kind >> 1 & 7) {
        case 0: key = any_handle(from).key(); break;
        case 1:
            key = any_handle(from).key();
            version = any_handle(from).version() + from.byte() % 3;
            break;
        case 2: version = Layout::last_version - from.byte() % 3; break;
        case 3: key = Layout::last_key - from.byte(); break;
        case 4: key = from.word(); break;
        case 5: return id_type::from_value(static_cast<typename id_type::rep>(from.word()));
        case 6: key = options_.first_key - from.byte() % 80; break;
        default: break;
        }
        return id_type::pack(key & Layout::last_key, version & Layout::last_version, world);
    }

    template <class Call>
    void compare(const char* what, Call call, typename id_model<Layout>::outcome wanted) {
        typename id_model<Layout>::outcome got = errc::limit;
        try {
            got = call();
        } catch (const error& e) {
            got = e.code();
            if (std::string(e.what()).empty()) fail(what, "an error without a message");
        }
        if (got != wanted) fail(what, text(got) + " instead of " + text(wanted));
        if (const id_type* made = std::get_if<id_type>(&got)) {
            if (made->is_null() || made->is_tombstone()) fail(what, "it must never be issued");
            remember(*made);
        }
    }

    void remember(id_type e) {
        // Bounds the memory: keeps the newest ids and a sample of the old ones.
        if (seen_.size() < 512)
            seen_.push_back(e);
        else
            seen_[e.value() * 0x9E3779B97F4A7C15u % seen_.size()] = e;
    }

    template <class T>
    void expect(const char* what, const T& got, const T& wanted) {
        if (!(got == wanted)) fail(what, "differs from the model");
    }

    [[noreturn]] void fail(const char* what, const std::string& how) {
        throw difference(std::string(what) + ": " + how + ", after " + std::to_string(steps_) +
                         " steps; model: " + model_.state_text() + "\n" + log_);
    }

    static std::string text(const typename id_model<Layout>::outcome& value) {
        if (const errc* code = std::get_if<errc>(&value)) return to_string(*code);
        return to_string(std::get<id_type>(value));
    }

    void log(const std::string& what) {
        if (is_logging_) log_ += "  " + what + "\n";
    }

    id_pool_options options_;
    id_pool<Layout> pool_;
    id_model<Layout> model_;
    std::vector<id_type> seen_;
    std::size_t steps_ = 0;
    bool is_logging_;
    std::string log_;
};

/// Runs a story and returns the number of steps. If it throws a `difference`, runs it again with a
/// log of all operations.
template <class Layout>
std::size_t run_id_story(const id_pool_options& options, std::span<const std::uint8_t> bytes) {
    try {
        id_story<Layout> story(options);
        story.run(bytes);
        return story.steps();
    } catch (const difference&) {
        id_story<Layout>(options, true).run(bytes);
        throw;
    }
}

/// Pool options from the leading bytes of a story, so that ranges and orders vary, too.
template <class Layout>
id_pool_options story_options(byte_source& from) {
    id_pool_options options;
    const std::uint8_t kind = from.byte();
    options.reuse = kind & 1 ? reuse::fifo : reuse::lifo;
    options.world = 1 + (Layout::world_bits == 0 ? 0 : from.byte() % Layout::last_world);
    if (kind & 2) {
        options.first_key =
            std::min<std::uint64_t>(Layout::first_key + from.byte(), Layout::last_key);
        options.last_key = std::min<std::uint64_t>(options.first_key + (kind & 4 ? 7 : from.byte()),
                                                   Layout::last_key);
    }
    if (kind & 8)
        options.first_version = std::min<std::uint64_t>(Layout::first_version + from.byte() % 3,
                                                        Layout::last_version - 1);
    return options;
}

}  // namespace muster::test
