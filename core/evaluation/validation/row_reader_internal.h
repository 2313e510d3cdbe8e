#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the readers of validation files share: JSON values checked key by key, every fault with file, JSON pointer and
// what would be right. Private: include it in .cpp files only.

#include "core/evaluation/validation/rows.h"
#include "core/facts/plan/json_document_internal.h"

#include <initializer_list>
#include <optional>

namespace trainyard {

using detail::Json;

/// Collects the faults of one file; equal ones, as those of a base that many rows share, count once.
class Faults {
public:
    explicit Faults(std::string fileName)
        : m_file(std::move(fileName))
    {
    }
    void add(const std::string &pointer, std::string what, std::string right, ErrorCode code = ErrorCode::BadValue);
    [[nodiscard]] bool any() const { return !m_errors.empty(); }
    [[nodiscard]] Errors take() { return std::move(m_errors); }
    [[nodiscard]] const std::string &file() const { return m_file; }

private:
    std::string m_file;
    Errors m_errors;
};

/// Whether `value` is an object; reports it where not, and its keys that are not among `known`.
bool checkObject(const Json &value, const std::string &pointer, const std::vector<std::string> &known, Faults &faults);
/// The text at `key`, or `fallback` where the key is absent. Empty `fallback` and `isRequired`: reported.
[[nodiscard]] std::string textAt(
    const Json &object, const char *key, const std::string &pointer, Faults &faults, bool isRequired = false);
/// The number at `key`; empty where it is absent or no finite number, which is reported.
[[nodiscard]] std::optional<double> numberAt(
    const Json &object, const char *key, const std::string &pointer, Faults &faults);
/// Index of the text at `key` among `names`; 0 where it is absent, or wrong, which is reported.
[[nodiscard]] std::size_t choiceAt(const Json &object, const char *key, const std::vector<std::string> &names,
    const std::string &pointer, Faults &faults);
/// Parses, and checks the head { "format": format, "version": 1 }.
[[nodiscard]] ExpectedAll<Json> parseHeaded(
    std::string_view text, const std::string &fileName, const std::string &format);

/// Parses a file of one list, { "format": format, "version": 1, "note", key: [ … ] }, and reads each entry.
template <class Entry>
[[nodiscard]] ExpectedAll<std::vector<Entry>> parseList(std::string_view text, const std::string &fileName,
    const std::string &format, const char *key,
    Entry (*read)(const Json &entry, const std::string &pointer, Faults &faults))
{
    const auto document = parseHeaded(text, fileName, format);
    if (!document)
        return std::unexpected(document.error());
    Faults faults(fileName);
    checkObject(*document, "", { "format", "version", "note", key }, faults);
    std::vector<Entry> entries;
    const Json list = document->value(key, Json::array());
    for (std::size_t i = 0; i < list.size(); ++i)
        entries.push_back(read(list[i], std::string("/") + key + "/" + std::to_string(i), faults));
    if (faults.any())
        return std::unexpected(faults.take());
    return entries;
}

/// Reports keys of a plan's document that no plan has, as a file of rows must not carry misspelt ones.
void checkPlanKeys(const Json &plan, const std::string &pointer, Faults &faults);

/// Reads usable.json: { "format": "trainyard.validation-left-out", "version": 1, "rows": [{ "source", "id", "reason" }]
/// }.
[[nodiscard]] ExpectedAll<std::vector<LeftOutRow>> parseLeftOut(std::string_view json, const std::string &fileName);

} // namespace trainyard
