"""Pretty printers and commands for Muster in GDB: ids, worlds, chunks, and entities with their components.

    (gdb) source /usr/share/muster/gdb/muster.py
    (gdb) print goblin
    (gdb) print w
    (gdb) muster entity w goblin
    (gdb) print $muster_get(w, goblin, "position")

The code only reads memory and calls no functions, so that it also works on a core file. It prints a value as
its C++ type if GDB finds the type by name, otherwise as bytes.
"""

import heapq
import re

import gdb
import gdb.printing

SHOWN_BYTES = 16  # of a value of unknown type
SHOWN_ENTITIES = 20


# ---- standard library and base types -----------------------------------------------------------

def member(value, *names):
    """Returns the first of these members that exists; standard libraries differ."""
    for name in names:
        try:
            return value[name]
        except gdb.error:
            continue
    raise gdb.error("no member " + " or ".join(names))


def text(view):
    """Returns a std::string_view as a string."""
    data = member(view, "_M_str", "__data_", "__data")
    size = int(member(view, "_M_len", "__size_", "__size"))
    return data.string(length=size) if size else ""


def elements(list):
    """Returns the elements of an array_list."""
    return [list["data_"][i] for i in range(int(list["size_"]))]


def word_at(address, size=8):
    return int.from_bytes(gdb.selected_inferior().read_memory(address, size).tobytes(), "little")


def plain_type(type):
    """Returns a type without references, typedefs, const and volatile."""
    type = type.strip_typedefs()
    while type.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        type = type.target().strip_typedefs()
    return type.unqualified()


def type_name(type):
    """Returns the name of a type without the namespaces of Muster's settings (see config.hpp)."""
    return SETTINGS.sub("", str(plain_type(type)))


SETTINGS = re.compile(r"(?<=\bmuster::)(?:(?:unchecked|thread_checks|no_exceptions)::)+")
PREFIX = "^muster::(?:(?:unchecked|thread_checks|no_exceptions)::)*"


# ---- layouts and ids ---------------------------------------------------------------------------

class Layout:
    """The layout of an id, parsed from a type name: layout<unsigned long, id_bits{32, 16, 16, 0, 0, ...}>."""

    PATTERN = re.compile(r"layout<([^,]+), *(?:muster::)?id_bits ?\{([^}]*)\}")

    def __init__(self, type):
        """`type` has a layout among its template arguments."""
        found = self.find(plain_type(type))
        if not found:
            raise gdb.error("no layout in the name of " + str(type))
        numbers = [int(number) for number in re.findall(r"(?:^|[ ,=])(\d+)", found.group(2))] + [0] * 5
        self.key, self.version, self.world, first_key, first_version = numbers[:5]
        width = 8 * gdb.lookup_type(found.group(1)).sizeof
        can_be_zero = self.world == 0 and first_key == 0 and first_version == 0
        self.null = (1 << width) - 1 if can_be_zero else 0

    @classmethod
    def find(cls, type):
        """Finds the layout in the name of the type, or among its template arguments and their bases."""
        found = cls.PATTERN.search(type_name(type))
        number = 0
        while not found:
            try:
                argument = type.template_argument(number)
            except (RuntimeError, gdb.error):
                return None  # no further arguments
            number += 1
            if isinstance(argument, gdb.Type):
                found = cls.find_base(plain_type(argument))
        return found

    @classmethod
    def find_base(cls, type):
        if type.code != gdb.TYPE_CODE_STRUCT:
            return None
        bases = [plain_type(field.type) for field in type.fields() if field.is_base_class]
        for base in bases:
            found = cls.PATTERN.search(type_name(base)) or cls.find_base(base)
            if found:
                return found
        return None

    def parts(self, value):
        key = value & ((1 << self.key) - 1)
        version = value >> self.key & ((1 << self.version) - 1)
        world = value >> (self.key + self.version) & ((1 << self.world) - 1)
        return key, version, world

    def spell(self, value):
        if value == self.null:
            return "E:null"
        key, version, world = self.parts(value)
        return f"E:{world}-{key}[{version}]" if self.world else f"E:{key}[{version}]"


def id_value(value):
    """Returns the bits of an id, of a fragment, or of a number."""
    while value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    kind = type_name(value.type)
    if kind.startswith("muster::basic_fragment<"):
        value = value["id_"]
    elif kind.startswith("muster::basic_at<"):
        value = value["id"]
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        value = value["value_"]
    return int(value)


# ---- the parts of a world ----------------------------------------------------------------------

def known_type(name):
    """Returns the C++ type with this name, or None if GDB does not find it."""
    try:
        return gdb.lookup_type(name)
    except gdb.error:
        return None


class Fragment:
    def __init__(self, data):
        """`data` is a fragment_data."""
        self.data = data
        self.name = text(data["name"])
        self.type = known_type(text(data["type"]["name"]))
        self.size = int(data["type"]["size"])
        if self.type is not None and self.size not in (0, self.type.sizeof):
            self.type = None  # a different type with the same name

    def is_links(self):
        """Whether these are the links of a relation."""
        return bool(int(self.data["participant"]))

    def targets_at(self, address):
        """Returns the targets of the links at this address: those of a link_list, or of one link_head."""
        if text(self.data["type"]["name"]) != "links":
            return [word_at(address)]
        list = gdb.lookup_type("muster::detail::link_list")
        ends = gdb.Value(address).cast(list.pointer()).dereference()["ends_"]["all_"]
        return [int(end["other"]) for end in elements(ends) if not bool(end["is_hole"])]

    def value_at(self, address):
        """Returns the value as its C++ type or, if the type is unknown, a text with its bytes."""
        if self.type is not None:
            return gdb.Value(address).cast(self.type.pointer()).dereference()
        return self.bytes_at(address)

    def bytes_at(self, address):
        shown = gdb.selected_inferior().read_memory(address, min(self.size, SHOWN_BYTES)).tobytes()
        more = " ..." if self.size > SHOWN_BYTES else ""
        return f"{self.size} bytes: {shown.hex(' ')}{more}"

    def spell(self, address):
        """Returns the value at this address as text."""
        value = self.value_at(address)
        return value if isinstance(value, str) else value.format_string()


class Chunk:
    def __init__(self, data):
        """`data` is a chunk_data."""
        self.data = data
        self.index = int(data["index"])
        self.size = int(data["size"])
        self.fragments = [Fragment(fragment.dereference()) for fragment in elements(data["fragments"])]

    def spell(self):
        """Returns the fragments as text: <position, velocity>."""
        return "<" + ", ".join(fragment.name for fragment in self.fragments) + ">"

    def describe(self):
        return f"chunk {self.index} {self.spell()}, {counted(self.size, 'entity', 'entities')}"

    def column_of(self, fragment):
        """Returns the address of the column of this fragment; 0 for a tag."""
        for column in elements(self.data["columns"]):
            if int(column["fragment"]) == int(fragment.data.address):
                return int(column["data"])
        return 0

    def value_address(self, fragment, row):
        return self.column_of(fragment) + row * fragment.size

    def id_at(self, row):
        size = int(self.data["ids"]["size"])
        return word_at(int(self.data["ids"]["data"]) + row * size, size)


def counted(number, singular, plural):
    return f"{number} {singular if number == 1 else plural}"


class Tree:
    """A sparse_array: a tree of nodes, each with a bit mask of the 64 slots in use, then the slots."""

    def __init__(self, value):
        self.root = int(value["root_"])
        self.height = int(value["height_"])
        self.value_type = value.type.strip_typedefs().template_argument(0)

    def find(self, index):
        """Returns the address of an element, or 0."""
        at = self.root
        if at == 0 or (self.height < 10 and index >> 6 * (self.height + 1)):
            return 0
        for height in range(self.height, 0, -1):
            at = word_at(at + 8 + 8 * (index >> 6 * height & 63))
            if at == 0:
                return 0
        if not word_at(at) >> (index & 63) & 1:
            return 0
        return at + 8 + self.value_type.sizeof * (index & 63)

    def all(self, at=None, height=None, base=0):
        """Yields each index and the address of its element."""
        if at is None:
            at, height = self.root, self.height
        if at == 0:
            return
        present = word_at(at)
        for place in range(64):
            if not present >> place & 1:
                continue
            index = base << 6 | place
            if height == 0:
                yield index, at + 8 + self.value_type.sizeof * place
            else:
                yield from self.all(word_at(at + 8 + 8 * place), height - 1, index)


class Record:
    """The record of a key: its living or next version, and the chunk and row of its entity."""

    def __init__(self, record, layout, key):
        fields = [field.name for field in record.type.strip_typedefs().fields()]
        if "chunk_number" in fields:  # a record of 16 bytes
            word = id_value(record["word"])
            held, self.version, _ = layout.parts(word)
            self.lives = held == key
            self.chunk = int(record["chunk_number"])
            self.row = int(record["row_number"])
        else:  # a record of 8 bytes: mark, version, chunk, row
            word = int(record["word"])
            place_bits = 63 - layout.version
            row_bits = min(27, layout.key)
            self.lives = word >> 63 == 0
            self.version = word >> place_bits & ((1 << layout.version) - 1)
            self.chunk = word >> row_bits & ((1 << 20) - 1)
            self.row = word & ((1 << row_bits) - 1)


class World:
    def __init__(self, value):
        while value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_PTR):
            value = (value.dereference() if value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR
                     else value.referenced_value())
        kind = type_name(value.type)
        if kind.startswith("muster::basic_world<"):
            value = value["store_"]
        elif not kind.startswith("muster::detail::store<"):
            raise gdb.GdbError("this is not a world: " + kind)
        if not value.type.strip_typedefs().fields():
            raise gdb.GdbError("the parts of a world are not in the debug information: "
                               "with clang, compile with -g -fstandalone-debug")
        self.store = value
        self.layout = Layout(value.type)
        self.pool = value["table_"]["pool_"]
        self.number = int(value["number"]["value_"])

    def size(self):
        """Returns the number of living entities, as world::size() does."""
        pool = self.pool
        frontier, spent = pool["frontier_"], pool["spent_"]
        living = (int(frontier["fresh_"]) + int(frontier["ahead_"]["size_"])
                  - int(frontier["reserved_"]["size_"]) + int(pool["outside_"])
                  - int(pool["free_"]["count_"]) - int(spent["retired"])
                  - int(spent["tombstones"]["count_"]))
        return living - int(self.store["catalog"]["world_owned_count_"])

    def describe(self):
        chunks = [chunk for chunk in self.chunks() if chunk.size]
        return (f"W:{self.number}, {counted(self.size(), 'entity', 'entities')}, "
                f"{counted(len(chunks), 'chunk', 'chunks')}")

    def chunks(self):
        """Returns all chunks except the empty chunk, which stands for entities without fragments."""
        made = [Chunk(chunk.dereference()) for chunk in elements(self.store["graph"]["order_"]["list_"])]
        return [chunk for chunk in made if chunk.index != 0]

    def chunk(self, index):
        found = elements(self.store["graph"]["by_index_"])[index]
        return Chunk(found.dereference()) if int(found) else None

    def fragments(self):
        all = elements(self.store["fragments"]["all_"]["list_"])
        return [Fragment(fragment.dereference()) for fragment in all if int(fragment)]

    def record(self, key):
        """Returns the record of a key, or None if the world has never used the key."""
        index = key - int(self.pool["first_"])
        if 0 <= index < int(self.pool["covered_"]):
            return Record(self.pool["main_"]["data_"][index], self.layout, key)
        address = Tree(self.pool["overflow_"]).find(key)
        if address == 0:
            return None
        kind = self.pool["main_"]["data_"].type
        return Record(gdb.Value(address).cast(kind).dereference(), self.layout, key)

    def make_id(self, key, version):
        world = self.number if self.layout.world else 0
        return key | version << self.layout.key | world << (self.layout.key + self.layout.version)

    def entities(self):
        """Yields every living id that is not world-owned, ordered by key."""
        first_world_owned = int(self.store["catalog"]["first_world_owned_key_"])
        first = int(self.pool["first_"])
        dense = range(first, first + int(self.pool["covered_"]))
        overflow = (key for key, _ in Tree(self.pool["overflow_"]).all())
        for key in heapq.merge(dense, overflow):
            if key >= first_world_owned:
                continue
            record = self.record(key)
            if record is not None and record.lives:
                yield self.make_id(key, record.version)

    def spell_entity(self, value):
        name = self.name(value)
        return self.layout.spell(value) + (f' "{name}"' if name else "")

    def sources(self, value):
        """Returns the sources of an entity, by the name of the relation. Looks at the links of all entities,
        in the order of keys: the lists of the library may have no debug information."""
        found = {}
        for source in self.entities():
            for fragment, address, _ in self.components(source, self.find(source)):
                if fragment.is_links() and value in fragment.targets_at(address):
                    found.setdefault(fragment.name, []).append(source)
        return found

    def find(self, value):
        """Returns the record of a living id, or a sentence that explains why there is none."""
        spelled = self.layout.spell(value)
        if value == self.layout.null:
            return "E:null is the null id"
        key, version, world = self.layout.parts(value)
        if self.layout.world and world != self.number:
            return f"{spelled} belongs to world W:{world}, not to W:{self.number}"
        record = self.record(key)
        if record is None:
            return f"{spelled} is dead: key {key} was never used"
        if not record.lives or record.version != version:
            return f"{spelled} is dead: slot {key} is now at version {record.version}"
        return record

    def name(self, value):
        """Returns the name of an entity, or an empty string. The debug information does not describe the
        table, a std::map. This reads the memory layout of libstdc++; with other libraries it finds no names."""
        tables = int(self.store["names"]["tables_"])
        if tables == 0 or known_type("std::string") is None:
            return ""
        if not str(known_type("std::string").strip_typedefs()).startswith("std::__cxx11::"):
            return ""
        node = word_at(tables + 48 + 16)  # the root of the second map
        while node:
            key = word_at(node + 32)
            if key == value:
                named = word_at(node + 64)  # `entry::name`: a node of the first map; its key is the name
                length = word_at(named + 40)
                return gdb.selected_inferior().read_memory(word_at(named + 32), length).tobytes().decode()
            node = word_at(node + (16 if value < key else 24))
        return ""

    def sparse_value(self, fragment, value):
        """Returns the address of an entity's value of a sparse fragment, or 0."""
        entries = fragment.data["sparse_values"].dereference()
        shape = entries["shape_"]
        offset = (value & ((1 << int(shape["key_bits"])) - 1)) - int(shape["first_key"])
        rest_bits = int(shape["rest_bits"])
        map = entries["entries_"]
        absent = (1 << 64) - 1
        entry = absent
        page = offset // 512
        if page < int(map["size_"]) and int(map["pages_"]["data_"][page]):
            entry = int(map["pages_"]["data_"][page][offset % 512])
        if entry == absent:
            overflow = Tree(map["overflow_"]).find(offset)
            entry = word_at(overflow) if overflow else absent
        # An entry is the id without its key, then the slot; see id_shape in storage/sparse_set.hpp.
        key_bits = int(shape["key_bits"])
        slot_bits = 64 - rest_bits
        unset = min((1 << slot_bits) - 1, (1 << 32) - 1) - 1
        keeps_slots = key_bits < min(slot_bits, 32) or key_bits > 30
        limit = unset - (unset // 2 + 1) if keeps_slots else unset
        slot = entry ^ (value >> key_bits << slot_bits)
        if entry == absent or slot >= limit:
            return 0
        shift = int(entries["pages_shape_"]["shift"])
        page = int(entries["pages_"]["data_"][slot >> shift])
        return page + (slot & ((1 << shift) - 1)) * int(entries["value_size_"])

    def components(self, value, record):
        """Yields (fragment, address of its value or 0, note on its storage) for a living entity."""
        chunk = self.chunk(record.chunk)
        if chunk is not None and chunk.index != 0:
            for fragment in chunk.fragments:
                address = chunk.value_address(fragment, record.row) if fragment.size else 0
                yield fragment, address, "" if fragment.size else " (tag)"
        for fragment in self.fragments():
            if int(fragment.data["sparse_values"]):
                address = self.sparse_value(fragment, value)
                if address:
                    yield fragment, address if fragment.size else 0, (" (sparse)" if fragment.size
                                                                      else " (sparse tag)")


# ---- printers ----------------------------------------------------------------------------------

class IdPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return Layout(self.value.type).spell(id_value(self.value))


class FragmentPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        kind = self.value.type.strip_typedefs().template_argument(0)
        return f"{Layout(self.value.type).spell(id_value(self.value))} of {kind}"


class WorldPrinter:
    def __init__(self, value):
        self.world = World(value)

    def to_string(self):
        return self.world.describe()

    def children(self):
        for chunk in self.world.chunks():
            if chunk.size:
                yield chunk.spell(), chunk.size


class ChunkPrinter:
    """Prints a chunk_data, and basic_chunk, the handle of the public API."""

    def __init__(self, value):
        self.chunk = None
        self.why = "the null chunk"
        if type_name(value.type).startswith("muster::basic_chunk<"):
            store, life = value["store_"]["object_"], value["store_"]["life_"]
            if int(store) == 0:
                return
            if int(life["slot_"]["number"]) != int(life["number_"]):
                self.why = "a chunk of a world that has ended"
                return
            found = World(store).chunk(int(value["index_"]))
            if found is None or int(found.data["serial"]) != int(value["serial_"]):
                self.why = "a chunk that was freed"
                return
            self.chunk = found
        else:
            self.chunk = Chunk(value)

    def to_string(self):
        return self.chunk.describe() if self.chunk else self.why

    def children(self):
        if self.chunk is None or self.chunk.size == 0:
            return
        for fragment in self.chunk.fragments:
            if fragment.size == 0:
                yield fragment.name, "tag"
            elif fragment.type is None:
                yield fragment.name, f"{fragment.size} bytes each"
            else:
                column = gdb.Value(self.chunk.column_of(fragment))
                array = fragment.type.array(self.chunk.size - 1)
                yield fragment.name, column.cast(array.pointer()).dereference()


def build_printers():
    made = gdb.printing.RegexpCollectionPrettyPrinter("muster")
    made.add_printer("id", PREFIX + "basic_(tag_)?id<", IdPrinter)
    made.add_printer("fragment", PREFIX + "basic_fragment<", FragmentPrinter)
    made.add_printer("world", PREFIX + "basic_world<", WorldPrinter)
    made.add_printer("chunk", PREFIX + "basic_chunk<", ChunkPrinter)
    made.add_printer("chunk_data", PREFIX + "detail::chunk_data$", ChunkPrinter)
    return made


# ---- commands ----------------------------------------------------------------------------------

def arguments(text, count, usage):
    """Evaluates the arguments of a command; raises the usage if their number is not `count`."""
    given = gdb.string_to_argv(text)
    if len(given) != count:
        raise gdb.GdbError("usage: " + usage)
    return [gdb.parse_and_eval(argument) for argument in given]


class MusterCommand(gdb.Command):
    """Inspects a Muster world: muster entity, muster entities, muster chunks, muster fragments."""

    def __init__(self):
        super().__init__("muster", gdb.COMMAND_DATA, gdb.COMPLETE_NONE, prefix=True)


class EntityCommand(gdb.Command):
    """muster entity WORLD ENTITY: prints its name, its chunk and row, all its components, the targets of
    its links (->) and their sources (<-), such as its children."""

    def __init__(self):
        super().__init__("muster entity", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, text, from_tty):
        given = arguments(text, 2, "muster entity WORLD ENTITY")
        world, value = World(given[0]), id_value(given[1])
        record = world.find(value)
        if isinstance(record, str):
            print(record)
            return
        where = f"chunk {record.chunk}, row {record.row}" if record.chunk else "in no chunk"
        print(world.spell_entity(value) + ", " + where)
        for fragment, address, note in world.components(value, record):
            if fragment.is_links():
                print(f"  {fragment.name} -> " + self.spell(world, fragment.targets_at(address)))
            else:
                print(f"  {fragment.name}{note}" + (f" = {fragment.spell(address)}" if address else ""))
        for name, all in sorted(world.sources(value).items()):
            print(f"  {name} <- " + self.spell(world, all))

    @staticmethod
    def spell(world, all):
        more = f", ... {len(all) - SHOWN_ENTITIES} more" if len(all) > SHOWN_ENTITIES else ""
        return ", ".join(world.spell_entity(value) for value in all[:SHOWN_ENTITIES]) + more


class EntitiesCommand(gdb.Command):
    """muster entities WORLD: lists the living entities by key, with their names and fragments."""

    def __init__(self):
        super().__init__("muster entities", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, text, from_tty):
        world = World(arguments(text, 1, "muster entities WORLD")[0])
        for count, value in enumerate(world.entities()):
            if count == SHOWN_ENTITIES:
                print(f"... {world.size() - count} more")
                break
            chunk = world.chunk(world.find(value).chunk)
            print(world.spell_entity(value) + " " + chunk.spell())


class ChunksCommand(gdb.Command):
    """muster chunks WORLD: lists the chunks in the order of their creation."""

    def __init__(self):
        super().__init__("muster chunks", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, text, from_tty):
        for chunk in World(arguments(text, 1, "muster chunks WORLD")[0]).chunks():
            print(chunk.describe())


class FragmentsCommand(gdb.Command):
    """muster fragments WORLD: lists all fragments of the world."""

    def __init__(self):
        super().__init__("muster fragments", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

    def invoke(self, text, from_tty):
        world = World(arguments(text, 1, "muster fragments WORLD")[0])
        for fragment in world.fragments():
            kind = "tag" if fragment.size == 0 else counted(fragment.size, "byte", "bytes")
            sparse = ", sparse" if int(fragment.data["sparse_values"]) else ""
            links = ", links" if fragment.is_links() and fragment.size else ""
            print(f"{world.layout.spell(int(fragment.data['id']))} {fragment.name}, {kind}{sparse}{links}")


class GetFunction(gdb.Function):
    """$muster_get(WORLD, ENTITY, "FRAGMENT"): returns the component of the entity."""

    def __init__(self):
        super().__init__("muster_get")

    def invoke(self, world, entity, fragment):
        world, value, wanted = World(world), id_value(entity), fragment.string()
        record = world.find(value)
        if isinstance(record, str):
            raise gdb.GdbError(record)
        for owned, address, _ in world.components(value, record):
            if owned.name == wanted:
                if owned.size == 0:
                    return True
                found = owned.value_at(address)
                if isinstance(found, str):
                    raise gdb.GdbError(f"GDB does not know the type of {wanted}; {found}")
                return found
        raise gdb.GdbError(f"{world.layout.spell(value)} has no {wanted}")


gdb.printing.register_pretty_printer(None, build_printers(), replace=True)
MusterCommand()
EntityCommand()
EntitiesCommand()
ChunksCommand()
FragmentsCommand()
GetFunction()
