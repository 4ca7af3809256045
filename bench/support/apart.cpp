#include "support/apart.hpp"

#include <malloc.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <exception>

namespace muster::bench {
namespace {

/// Returns the last usable processor: the first processors serve more interrupts.
int last_processor() {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    if (sched_getaffinity(0, sizeof usable, &usable) != 0) return -1;
    int last = -1;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(static_cast<unsigned>(i), &usable)) last = i;
    return last;
}
bool pin_to(int processor) {
    cpu_set_t wanted;
    CPU_ZERO(&wanted);
    CPU_SET(static_cast<unsigned>(processor), &wanted);
    return sched_setaffinity(0, sizeof wanted, &wanted) == 0;
}
bool take_priority() {
    sched_param priority{};
    priority.sched_priority = 1;
    return sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
}

void prepare(kind how, const conditions& wanted) {
    if (how != kind::new_memory) {
        // Keeps freed memory in the process. Otherwise new worlds would measure page faults.
        mallopt(M_MMAP_MAX, 0);
        mallopt(M_TRIM_THRESHOLD, 0x7fffffff);
        mallopt(M_TOP_PAD, 64 << 20);
    } else {
        // The initial values of a new process. Otherwise malloc raises both thresholds when a large
        // block is freed, and the next world reuses memory.
        mallopt(M_MMAP_THRESHOLD, 128 << 10);
        mallopt(M_TRIM_THRESHOLD, 128 << 10);
    }
    // Real-time threads on all processors would block every other thread of the system.
    if (how == kind::threads) return;
    if (wanted.is_pinned) pin_to(last_processor());
    if (wanted.has_priority) take_priority();
}

void write_all(int to, const void* from, std::size_t size) {
    const char* at = static_cast<const char*>(from);
    while (size != 0) {
        const ssize_t done = write(to, at, size);
        if (done <= 0) return;
        at += done;
        size -= static_cast<std::size_t>(done);
    }
}
std::string read_all(int from) {
    std::string all;
    char part[512];
    ssize_t got = 0;
    while ((got = read(from, part, sizeof part)) > 0)
        all.append(part, static_cast<std::size_t>(got));
    return all;
}

[[noreturn]] void be_the_child(int to, const contestant& who, std::size_t size, kind how,
                               const conditions& wanted) {
    alarm(300);
    prepare(how, wanted);
    trial t(size, wanted.seconds);
    try {
        who.body(t);
    } catch (const std::exception& error) {
        t.fail(error.what());
    }
    const double value = t.median();
    write_all(to, &value, sizeof value);
    write_all(to, t.failure().data(), t.failure().size());
    _exit(0);
}

}  // namespace

outcome run_apart(const contestant& who, std::size_t size, kind how, const conditions& wanted) {
    int ends[2];
    if (pipe(ends) != 0) return {0, "no pipe"};
    const pid_t child = fork();
    if (child < 0) return {0, "no process"};
    if (child == 0) be_the_child(ends[1], who, size, how, wanted);
    close(ends[1]);
    const std::string answer = read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    outcome made;
    if (WIFSIGNALED(status))
        made.failure = std::string("ended by signal ") + strsignal(WTERMSIG(status));
    else if (answer.size() < sizeof made.value)
        made.failure = "returned no result";
    else
        made.failure = answer.substr(sizeof made.value);
    if (answer.size() >= sizeof made.value)
        std::memcpy(&made.value, answer.data(), sizeof made.value);
    return made;
}

std::string describe(const conditions& wanted) {
    std::string made = "any processor";
    if (wanted.is_pinned) made = "processor " + std::to_string(last_processor());
    if (!wanted.has_priority) return made;
    // Tried in a child process, because a process keeps the priority.
    const pid_t child = fork();
    if (child == 0) _exit(take_priority() ? 0 : 1);
    int status = 0;
    waitpid(child, &status, 0);
    return made + (status == 0 ? ", real-time priority" : "");
}

}  // namespace muster::bench
