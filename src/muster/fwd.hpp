// Forward declarations, for headers that only mention Muster's types.
#pragma once

#include <muster/id/layout.hpp>

namespace MUSTER_NAMESPACE {

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
template <class Layout = layouts::bound>
class concurrent_id_pool;

class world_number;

struct world_options;
template <class Layout = layouts::bound>
struct basic_at;
template <class Layout = layouts::bound>
class basic_world;
using world = basic_world<>;
template <class Layout = layouts::bound>
class basic_chunk;
template <class Layout = layouts::bound>
class basic_rows;
template <class Layout = layouts::bound>
class basic_builder;
template <class T, class Layout = layouts::bound>
class basic_fragment;
template <class T, class Layout = layouts::bound>
class basic_relation;
template <class Layout = layouts::bound>
class basic_tag_id;
template <class Layout, class T>
struct basic_with;
template <class Layout, class T>
class basic_definition;
struct component_type;
template <class Layout, class... Ts>
class basic_query;  // const Layout: of a const world
template <class Layout, class... Ts>
class basic_link_query;
template <class Layout = layouts::bound>
class basic_connection;
template <class Layout = layouts::bound>
class basic_scoped_connection;
template <class Layout = layouts::bound>
class basic_deferred;
template <class Layout = layouts::bound>
class basic_command_buffer;
template <class Layout, class... Ts>
class basic_observer;
template <class Layout, class T>
class basic_removed_values;
template <class T>
class single;
template <class E>
class events;
template <class E>
class event_reader;
template <class Layout = layouts::bound>
class basic_system;
struct frame;
struct system_timings;
struct system_conflict;
class executor;

}  // namespace MUSTER_NAMESPACE
