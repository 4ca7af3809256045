// Names without definitions, for headers that only mention Muster's types.
#pragma once

#include <muster/id/layout.hpp>

namespace muster {

enum class errc : unsigned char;
class error;
struct error_info;

template <class Layout = layouts::bound>
class basic_id;
using id = basic_id<>;
using entity = id;

struct id_pool_options;
template <class Layout = layouts::bound>
class id_pool;

class world_number;

}  // namespace muster
