#include <muster/base/error.hpp>
#include <muster/base/integer.hpp>
#include <muster/base/text.hpp>
#include <muster/storage/chunk_data.hpp>

#include <algorithm>
#include <utility>

namespace MUSTER_NAMESPACE::detail {

chunk_data::chunk_data() = default;

chunk_data::~chunk_data() {
    destroy_values(0, size);
    for (column& source : columns) source.free();
    ids.free();
}

std::byte* chunk_data::find_base(const fragment_data& fragment) const noexcept {
    if (to_int(index) != 0) return fragment.base(index);
    for (const fragment_data* owned : fragments) {
        if (owned != &fragment) continue;
        return owned->type->size == 0 ? no_values : columns[find_column(*owned)].data;
    }
    return nullptr;
}

std::size_t chunk_data::find_column(const fragment_data& fragment) const noexcept {
    // Columns are sorted like fragments.
    const auto found = std::ranges::lower_bound(
        columns, fragment.index, {}, [](const column& source) { return source.fragment->index; });
    return found != columns.end() && found->fragment == &fragment
               ? static_cast<std::size_t>(found - columns.begin())
               : columns.size();
}

std::uint64_t chunk_data::word_of(const fragment_data& fragment) const noexcept {
    std::size_t at = 0;
    for (const fragment_data* owned : fragments) {
        if (at == words.size()) return 0;
        if (owned == &fragment) return owned->has_word ? words[at] : 0;
        if (owned->has_word) ++at;
    }
    return 0;
}

void chunk_data::raise_too_many(std::size_t more, std::size_t limit) const {
    raise(errc::limit, text("the chunk ", to_text(*this), " cannot have more than ", limit,
                            " rows: it has ", size, ", and ", more, " more are requested"));
}

void chunk_data::grow(std::size_t more, std::size_t limit, argument_addresses arguments) {
    refuse_rows(more, limit);
    const std::size_t ample = larger(larger(size + more, capacity * 2), 8);
    resize(smaller(ample, limit), arguments);
}

void chunk_data::resize(std::size_t wanted, argument_addresses arguments) {
    // If a column cannot grow, the columns before it have more memory than `capacity` states, which
    // is harmless.
    bool done = ids.resize(size, wanted, arguments);
    for (column& source : columns) {
        done = done && source.resize(size, wanted, arguments);
        source.fragment->set_base(index, source.data);
    }
    if (!done) raise_out_of_memory();
    capacity = wanted;
}

void chunk_data::prepare_followers(std::size_t more) {
    for (row_follower* follower : followers) follower->prepare(*this, more);
}

void chunk_data::tell_appended(std::size_t first, std::size_t count) const noexcept {
    for (row_follower* follower : followers) follower->appended(*this, first, count);
}

void chunk_data::tell_removed(std::size_t row) const noexcept {
    for (row_follower* follower : followers) follower->removed(*this, row);
}

void chunk_data::tell_restored(std::size_t row) const noexcept {
    for (row_follower* follower : followers) follower->restored(*this, row);
}

void chunk_data::tell_truncated() const noexcept {
    for (row_follower* follower : followers) follower->truncated(*this, size);
}

void chunk_data::shrink() noexcept {
    if (capacity == size) return;
    // A column whose reallocation fails keeps its larger memory: the rows still fit.
    capacity = size;
    (void)ids.resize(size, size, {});
    for (column& source : columns) {
        (void)source.resize(size, size, {});
        source.fragment->set_base(index, source.data);
    }
}

void chunk_data::trade(std::size_t column, chunk_data& other, std::size_t others_column) noexcept {
    detail::column& mine = columns[column];
    detail::column& theirs = other.columns[others_column];
    std::swap(mine.data, theirs.data);
    std::swap(mine.block, theirs.block);
    mine.fragment->set_base(index, mine.data);
    theirs.fragment->set_base(other.index, theirs.data);
}

void chunk_data::destroy_values_at(std::size_t row, std::size_t last) const noexcept {
    // Destructors run first: a destructor that queries the world must find all other rows intact.
    for (const column& source : columns) source.destroy(source.at(row), 1);
    if (row == last) return;
    for (const column& source : columns) source.relocate(source.at(row), source.at(last), 1);
}

void chunk_data::destroy_values(std::size_t first, std::size_t count) const noexcept {
    for (const column& source : columns) source.destroy(source.at(first), count);
}

std::string to_text(const chunk_data& chunk) {
    std::string made = "<";
    for (const fragment_data* fragment : chunk.fragments)
        made += text(made.size() == 1 ? "" : ", ", fragment->name);
    return made + ">";
}

}  // namespace MUSTER_NAMESPACE::detail
