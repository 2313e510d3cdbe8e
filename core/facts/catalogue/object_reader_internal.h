#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the keys of one JSON object, collecting every fault with its place. A figure is a number or
// [number, source]; the catalogue demands the source. For the .cpp files of this folder: it names nlohmann.

#include "core/base/json_parser_internal.h"

#include <limits>
#include <map>
#include <set>
#include <vector>

namespace trainyard {

using CatalogueJson = nlohmann::json;
/// id -> "title, date"
using Citations = std::map<std::string, std::string, std::less<>>;

struct Range {
    double low = 0, high = 0;
};

class ObjectReader {
public:
    /// `table` is not null where every figure must name one of its sources.
    ObjectReader(const CatalogueJson &object, std::string where, Errors &errors, const Citations *table = nullptr);

    [[nodiscard]] bool has(const std::string &key) const;
    void text(const std::string &key, std::string &target);
    void flag(const std::string &key, bool &target);
    /// Leaves the target alone where the key is absent or null.
    void figure(const std::string &key, double &target, Range range);
    void count(const std::string &key, int &target, Range range);
    void require(const std::string &key, const std::string &right);
    /// The nested object, or an empty one where it is absent.
    [[nodiscard]] ObjectReader object(const std::string &key);
    /// The objects of a list, none where it is absent.
    [[nodiscard]] std::vector<ObjectReader> objects(const std::string &key, std::size_t most);
    [[nodiscard]] const CatalogueJson *raw(const std::string &key);

    void fault(const std::string &key, std::string what, std::string right, ErrorCode code = ErrorCode::BadValue);
    /// Reports the keys that nothing has asked for, each with the nearest of those that were.
    void rejectUnknownKeys();
    /// Those keys, sorted.
    [[nodiscard]] std::vector<std::string> unasked() const;

    [[nodiscard]] const std::map<std::string, std::string> &sources() const { return m_sources; }
    /// "key: title, date; key: …".
    [[nodiscard]] std::string sourcesText() const;
    /// Turns a source id into "title, date"; reports ids that the table does not have.
    [[nodiscard]] std::string resolveSource(const std::string &key, const std::string &id);

private:
    [[nodiscard]] const CatalogueJson *number(const std::string &key);

    const CatalogueJson &m_object;
    std::string m_where;
    Errors &m_errors;
    const Citations *m_table;
    std::set<std::string, std::less<>> m_asked;
    std::map<std::string, std::string> m_sources;
};

/// Parses JSON text; the first fault, with line and column.
[[nodiscard]] Expected<CatalogueJson> parseJson(std::string_view text, const std::string &where);

} // namespace trainyard
