#include <muster/entity/provenance.hpp>

#include <unordered_map>

namespace MUSTER_NAMESPACE::detail {

struct provenance::table {
    std::unordered_map<std::uint64_t, entry> by_key;
};

provenance::~provenance() {
    delete table_;
}

void provenance::note(std::uint64_t key, std::uint64_t version, const std::source_location& where,
                      std::string_view name, std::string_view system) {
    if (table_ == nullptr) table_ = new table;
    // Recording a destruction again must not throw: `destroy` of a span records all of them first.
    entry& noted = table_->by_key.try_emplace(key).first->second;
    if (noted.name != name) noted.name = std::string(name);
    noted.version = version;
    noted.where = where;
    noted.system = system;
}

const provenance::entry* provenance::find(std::uint64_t key, std::uint64_t version) const noexcept {
    if (table_ == nullptr) return nullptr;
    const auto found = table_->by_key.find(key);
    return found != table_->by_key.end() && found->second.version == version ? &found->second
                                                                             : nullptr;
}

}  // namespace MUSTER_NAMESPACE::detail
