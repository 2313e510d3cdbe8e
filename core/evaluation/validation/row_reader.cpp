// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/printable.h"
#include "core/base/words.h"
#include "core/evaluation/validation/row_reader_internal.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr std::size_t kMaxFaults = 100;
constexpr int kVersion = 1;

std::string listed(const std::vector<std::string> &names)
{
    return joined(names, ", ", " or ");
}

/// The alternative of a schema that has keys of its own, or nullptr: text, lists and open objects have none.
const Json *keyedAlternative(const Json &schema)
{
    if (schema.contains("properties"))
        return &schema;
    if (const auto any = schema.find("anyOf"); any != schema.end()) {
        for (const Json &alternative : *any) {
            if (alternative.contains("properties"))
                return &alternative;
        }
    }
    return nullptr;
}

const Json *itemSchema(const Json &schema)
{
    if (const auto items = schema.find("items"); items != schema.end())
        return &*items;
    if (const auto any = schema.find("anyOf"); any != schema.end()) {
        for (const Json &alternative : *any) {
            if (const auto items = alternative.find("items"); items != alternative.end())
                return &*items;
        }
    }
    return nullptr;
}

void checkKeys(const Json &value, const Json &schema, const std::string &pointer, Faults &faults)
{
    if (value.is_array()) {
        const Json *const items = itemSchema(schema);
        for (std::size_t i = 0; items && i < value.size(); ++i)
            checkKeys(value[i], *items, pointer + "/" + std::to_string(i), faults);
        return;
    }
    const Json *const keyed = value.is_object() ? keyedAlternative(schema) : nullptr;
    if (!keyed)
        return;
    const Json &properties = (*keyed)["properties"];
    for (const auto &[key, item] : value.items()) {
        if (const auto known = properties.find(key); known != properties.end()) {
            checkKeys(item, *known, pointer + "/" + detail::escapedPointerStep(key), faults);
            continue;
        }
        std::vector<std::string> names;
        for (const auto &[name, ignored] : properties.items())
            names.push_back(name);
        const std::string near = nearestName(key, names);
        faults.add(pointer + "/" + detail::escapedPointerStep(key), "a plan has no key " + shortened(key) + " here",
            near.empty() ? "one of " + listed(names) : near, ErrorCode::UnknownKey);
    }
}

} // namespace

void Faults::add(const std::string &pointer, std::string what, std::string right, ErrorCode code)
{
    Error error { code, pointer.empty() ? m_file : m_file + ": " + pointer, std::move(what), std::move(right) };
    if (m_errors.size() < kMaxFaults && std::ranges::find(m_errors, error) == m_errors.end())
        m_errors.push_back(std::move(error));
}

bool checkObject(const Json &value, const std::string &pointer, const std::vector<std::string> &known, Faults &faults)
{
    if (!value.is_object()) {
        faults.add(pointer, detail::brief(value) + " is no object", "an object with " + listed(known));
        return false;
    }
    for (const auto &[key, ignored] : value.items()) {
        if (std::ranges::find(known, key) != known.end())
            continue;
        const std::string near = nearestName(key, known);
        faults.add(pointer + "/" + detail::escapedPointerStep(key), "unknown key " + shortened(key),
            near.empty() ? "one of " + listed(known) : near, ErrorCode::UnknownKey);
    }
    return true;
}

std::string textAt(const Json &object, const char *key, const std::string &pointer, Faults &faults, bool isRequired)
{
    const auto found = object.find(key);
    if (found != object.end() && found->is_string() && (!isRequired || !found->get_ref<const std::string &>().empty()))
        return found->get<std::string>();
    if (found != object.end())
        faults.add(pointer + "/" + key, std::string(key) + " is " + detail::brief(*found), "a text");
    else if (isRequired)
        faults.add(pointer + "/" + key, std::string(key) + " is missing", "a text");
    return {};
}

std::optional<double> numberAt(const Json &object, const char *key, const std::string &pointer, Faults &faults)
{
    const auto found = object.find(key);
    if (found == object.end())
        return std::nullopt;
    if (found->is_number() && std::isfinite(found->get<double>()))
        return found->get<double>();
    faults.add(pointer + "/" + key, std::string(key) + " is " + detail::brief(*found), "a number");
    return std::nullopt;
}

std::size_t choiceAt(const Json &object, const char *key, const std::vector<std::string> &names,
    const std::string &pointer, Faults &faults)
{
    const auto found = object.find(key);
    if (found == object.end())
        return 0;
    const auto name =
        found->is_string() ? std::ranges::find(names, found->get_ref<const std::string &>()) : names.end();
    if (name != names.end())
        return std::size_t(name - names.begin());
    faults.add(pointer + "/" + key, std::string(key) + " is " + detail::brief(*found), listed(names));
    return 0;
}

ExpectedAll<Json> parseHeaded(std::string_view text, const std::string &fileName, const std::string &format)
{
    auto document = detail::parseJson(text, fileName);
    if (!document)
        return document;
    Faults faults(fileName);
    if (!document->is_object()) {
        faults.add("", "the file holds " + detail::brief(*document), "an object with format, version and rows");
        return std::unexpected(faults.take());
    }
    const Json found = document->value("format", Json());
    if (found != format)
        faults.add("/format", found.is_null() ? "format is missing" : "format is " + detail::brief(found),
            "\"" + format + "\"", ErrorCode::BadSyntax);
    else if (const Json version = document->value("version", Json()); version != kVersion)
        faults.add("/version", version.is_null() ? "version is missing" : "version is " + detail::brief(version),
            std::to_string(kVersion), ErrorCode::BadSyntax);
    if (faults.any())
        return std::unexpected(faults.take());
    return document;
}

void checkPlanKeys(const Json &plan, const std::string &pointer, Faults &faults)
{
    static const Json schema = Json::parse(planSchema());
    checkKeys(plan, schema, pointer, faults);
}

ExpectedAll<std::vector<LeftOutRow>> parseLeftOut(std::string_view json, const std::string &fileName)
{
    return parseList<LeftOutRow>(json, fileName, "trainyard.validation-left-out", "rows",
        [](const Json &row, const std::string &pointer, Faults &faults) {
            if (!checkObject(row, pointer, { "source", "id", "reason" }, faults))
                return LeftOutRow();
            return LeftOutRow { textAt(row, "source", pointer, faults, true), textAt(row, "id", pointer, faults, true),
                textAt(row, "reason", pointer, faults, true) };
        });
}

} // namespace trainyard
