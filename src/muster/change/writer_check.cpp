#include <muster/base/error.hpp>
#include <muster/base/text.hpp>
#include <muster/change/lane.hpp>
#include <muster/change/writer_check.hpp>

namespace MUSTER_NAMESPACE::detail {

bool writer_check::begin(const char* call, std::uint64_t world) {
    if (gate_.is_parallel()) return false;
    const std::uintptr_t me = this_thread();
    std::uintptr_t other = 0;
    if (writer_.compare_exchange(other, me)) {
        call_.store(call);
    } else if (other != me) {
        const char* const theirs = call_.load();
        raise(errc::second_writer,
              text(call, " on one thread while another is in ", theirs == nullptr ? call : theirs,
                   " of the same world W:", world,
                   ": only one thread at a time may change a world. Record the change in a "
                   "command_buffer or use par_each"));
    }
    ++calls_;
    return true;
}

void writer_check::end() noexcept {
    if (--calls_ == 0) writer_.store(0);
}

}  // namespace MUSTER_NAMESPACE::detail
