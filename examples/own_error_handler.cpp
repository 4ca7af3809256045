// Without exceptions (-fno-exceptions, as this program is built) an error calls a function of yours: the
// last chance to say what happened, in your own way. The program ends when it returns.
#include <muster/id/id_pool.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

void report(const muster::error_info& error) {
    std::printf("[game] %s: %s\n", muster::to_string(error.code), error.message);
    if (error.code == muster::errc::id_overflow) std::printf("[game] the level is too large\n");
    std::printf("[game] saved, goodbye\n");
    std::fflush(stdout);
    std::_Exit(3);  // else it would abort
}

}  // namespace

int main() {
    muster::set_error_handler(report);  // any thread, at any time; returns the one before

    muster::id_pool<> ids{{.last_key = 2}};
    const muster::id a = ids.create();
    const muster::id b = ids.create();

    // What may well fail is asked, not tried: such calls never end in the handler.
    ids.destroy(a);
    std::printf("a is %s, b is %s\n", ids.alive(a) ? "alive" : "dead",
                ids.alive(b) ? "alive" : "dead");
    std::printf("destroyed again: %s\n", ids.destroy(a) ? "yes" : "no");

    for (int i = 0; i < 10; ++i) std::printf("made %s\n", to_string(ids.create()).c_str());
    std::printf("this is never reached\n");
}
