// Without exceptions (this program is built with -fno-exceptions) an error calls a handler of the
// program: the last chance to report it. The program aborts when the handler returns.
#include <muster/id/id_pool.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

void report(const muster::error_info& error) {
    std::printf("[game] %s: %s\n", muster::to_string(error.code), error.message);
    if (error.code == muster::errc::id_overflow) std::printf("[game] the level is too large\n");
    std::printf("[game] saved, goodbye\n");
    std::fflush(stdout);
    std::_Exit(3);  // returning would abort
}

}  // namespace

int main() {
    muster::set_error_handler(report);  // any thread, at any time; returns the old handler

    muster::id_pool<> ids{{.last_key = 2}};
    const muster::id a = ids.create();
    const muster::id b = ids.create();

    // `alive` and `destroy` accept dead ids: they never call the handler.
    ids.destroy(a);
    std::printf("a is %s, b is %s\n", ids.alive(a) ? "alive" : "dead",
                ids.alive(b) ? "alive" : "dead");
    std::printf("destroyed again: %s\n", ids.destroy(a) ? "yes" : "no");

    for (int i = 0; i < 10; ++i) std::printf("made %s\n", to_string(ids.create()).c_str());
    std::printf("this is never reached\n");
}
