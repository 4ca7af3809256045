// The workloads, in the order of the table. Each is described once: in `questions/`, or in the
// source file of a workload for Muster alone.
#include "support/suite.hpp"

namespace muster::bench {
namespace {

using sizes = std::vector<std::size_t>;

const sizes growing = {1'000, 10'000, 100'000, 1'000'000, 10'000'000};
const sizes usual = {10'000, 100'000, 1'000'000};
const sizes two = {100'000, 1'000'000};
const sizes frames = {1'024, 16'384, 65'536, 262'144};
const sizes memory = {10'000, 100'000, 1'000'000, 10'000'000};
const sizes threads = {10'000, 100'000, 1'000'000};
const sizes children = {1'000, 100'000, 1'000'000};
const sizes moved_children = {1'000, 100'000};  // of ten times as many
const sizes instances = {1'000, 100'000};
const sizes crowd = {1'000, 100'000};
// Full trees, with 10 children per node, of depth 3 and 6, and with two, of depth 9 and 20.
const sizes wide_tree = {1'111, 1'111'111};
const sizes deep_tree = {1'023, 2'097'151};

}  // namespace

const std::vector<workload>& workloads() {
    static const std::vector<workload> all = {
        {"Ids", "id_create", growing},
        {"Ids", "id_create_bulk", growing},
        {"Ids", "id_destroy", growing},
        {"Ids", "id_churn", growing},
        {"Ids", "alive", growing},

        {"Entities", "spawn2", growing},
        {"Entities", "spawn2_bulk", growing},
        {"Entities", "destroy_full", growing},
        {"Entities", "destroy_full_bulk", growing},
        {"Entities", "deferred", growing},

        {"Loops", "iter1", growing},
        {"Loops", "iter2", growing},
        {"Loops", "iter3", growing},
        {"Loops", "iter_frag26", usual},
        {"Loops", "iter_frag256", usual},
        {"Loops", "iter_frag256_few", {2'048}},
        {"Loops", "query_create", {100}, kind::whole},
        {"Loops", "seven_queries", {1}, kind::whole},

        {"Access and change", "get_random", growing},
        {"Access and change", "add_remove", growing},
        {"Access and change", "add_remove_tag", growing},
        {"Access and change", "add_remove8", growing},
        {"Access and change", "add_remove_sparse", growing},

        {"Frames", "frame_mixed", frames},
        {"Frames", "frame_all", frames},

        {"Programs", "events", usual},
        {"Programs", "events of systems", usual},

        {"Threads", "par_heavy1", threads, kind::threads},
        {"Threads", "par_heavy2", threads, kind::threads},
        {"Threads", "par_reduce1", threads, kind::threads},
        {"Threads", "par_reduce2", threads, kind::threads},
        {"Threads", "par_light2", {10'000, 100'000, 1'000'000}, kind::threads},
        {"Threads", "par_frame2", threads, kind::threads},
        {"Threads", "par_spawn2", threads, kind::threads},
        {"Threads", "pool_churn, 1 thread", threads, kind::threads},
        {"Threads", "pool_churn, 2 threads", threads, kind::threads},
        {"Threads", "pool_alive, 1 thread", threads, kind::threads},
        {"Threads", "pool_alive, 2 threads", threads, kind::threads},

        {"New memory", "id_create, new memory", two, kind::new_memory, "id_create"},
        {"New memory", "id_create_bulk, new memory", two, kind::new_memory, "id_create_bulk"},
        {"New memory", "spawn2, new memory", two, kind::new_memory, "spawn2"},
        {"New memory", "spawn2_bulk, new memory", two, kind::new_memory, "spawn2_bulk"},
        {"New memory", "deferred, new memory", two, kind::new_memory, "deferred"},

        {"Memory", "bytes", memory, kind::bytes},
        {"Memory", "bytes, 90 % destroyed", memory, kind::bytes},
        {"Memory", "bytes, and collected", memory, kind::bytes},

        {"Sparse", "sparse_add_remove8", usual},
        {"Sparse", "sparse_get_random", usual},
        {"Sparse", "sparse_iter", usual},
        {"Sparse", "sparse_with_chunk, 1 %", usual},
        {"Sparse", "sparse_with_chunk, 50 %", usual},

        {"Relations", "child_create, 1,000 each", children},
        {"Relations", "child_create, 10 each", children},
        {"Relations", "child_bytes, 10 each", children, kind::bytes},
        {"Relations", "child_loop, 10 each", children},
        {"Relations", "child_read, 1,000 each", children},
        {"Relations", "child_read, 10 each", children},
        {"Relations", "reparent, 1,000 each", moved_children},
        {"Relations", "reparent, 10 each", moved_children},
        {"Relations", "child_destroy, 1,000 each", moved_children},
        {"Relations", "tree_destroy, depth 6", wide_tree},
        {"Relations", "tree_destroy, depth 20", deep_tree},
        {"Relations", "transforms, depth 6", wide_tree},
        {"Relations", "transforms, depth 20", deep_tree},
        {"Relations", "transforms, random rows", wide_tree},
        {"Relations", "transforms, arranged rows", wide_tree},
        {"Relations", "instance", instances},
        {"Relations", "instance, bulk", instances},
        {"Relations", "instance of 5", instances},
        {"Relations", "instance of 5, bulk", instances},
        {"Relations", "likes_add, 1 link", crowd},
        {"Relations", "likes_add, 3 links", crowd},
        {"Relations", "likes_find, 1 link", crowd},
        {"Relations", "likes_find, 3 links", crowd},

        {"The pool alone", "pool_create", usual},
        {"The pool alone", "pool_create_bulk", usual},
        {"The pool alone", "pool_create_reused", usual},
        {"The pool alone", "pool_create_at", usual},
        {"The pool alone", "pool_destroy", usual},
        {"The pool alone", "pool_destroy_random", usual},
        {"The pool alone", "pool_churn", usual},
        {"The pool alone", "pool_alive", usual},
        {"The pool alone", "pool_alive_loaded", usual},
        {"The pool alone", "pool_alive_other_range", usual},

        {"Beside plain Muster", "get_random, checks", usual},
        {"Beside plain Muster", "try_get_random", usual},
        {"Beside plain Muster", "get_random, by fragment", usual},
        {"Beside plain Muster", "spawn2, by fragment", usual},
        {"Beside plain Muster", "add_remove, by fragment", usual},
        {"Beside plain Muster", "deferred, spawn and set", usual},
        {"Beside plain Muster", "add_remove, deferred", usual},
        {"Beside plain Muster", "add_remove, in loops", usual},
        {"Beside plain Muster", "add_remove, hooks", usual},
        {"Beside plain Muster", "assign, observed", usual},
        {"Beside plain Muster", "assign, observed and read", usual},
        {"Beside plain Muster", "add_remove, observed", usual},
        {"Beside plain Muster", "batch set, new", usual},
        {"Beside plain Muster", "batch set, there", usual},
        {"Beside plain Muster", "batch remove", usual},
        {"Beside plain Muster", "batch destroy", usual},
        {"Beside plain Muster", "batch tag on and off", usual},
    };
    return all;
}

}  // namespace muster::bench
