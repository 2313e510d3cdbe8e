// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/catalogue/object_reader_internal.h"

#include "core/base/printable.h"
#include "core/base/words.h"
#include "core/facts/catalogue/catalogue.h"

#include <cmath>

namespace trainyard {

namespace {

const CatalogueJson kEmptyObject = CatalogueJson::object();

std::string shownJson(const CatalogueJson &value)
{
    if (value.is_structured()) // not to write down what may be megabytes
        return value.is_object() ? "an object" : "a list of " + std::to_string(value.size());
    return shortened(value.dump(-1, ' ', false, CatalogueJson::error_handler_t::replace));
}

std::string shownRange(Range range)
{
    return "from " + plainNumber(range.low) + " to " + plainNumber(range.high);
}

} // namespace

Expected<CatalogueJson> parseJson(std::string_view text, const std::string &where)
{
    auto document = detail::parsedJson<CatalogueJson>(text, where);
    if (document)
        return *std::move(document);
    Error first = std::move(document.error().front());
    if (first.right.empty())
        first.right = "a JSON file";
    return std::unexpected(std::move(first));
}

ObjectReader::ObjectReader(const CatalogueJson &object, std::string where, Errors &errors, const Citations *table)
    : m_object(object.is_object() ? object : kEmptyObject)
    , m_where(std::move(where))
    , m_errors(errors)
    , m_table(table)
{
    if (!object.is_object())
        fault("", shownJson(object) + " is no object", "an object, { … }");
}

bool ObjectReader::has(const std::string &key) const
{
    const auto found = m_object.find(key);
    return found != m_object.end() && !found->is_null();
}

const CatalogueJson *ObjectReader::raw(const std::string &key)
{
    m_asked.insert(key);
    return has(key) ? &m_object.at(key) : nullptr;
}

void ObjectReader::fault(const std::string &key, std::string what, std::string right, ErrorCode code)
{
    if (m_errors.size() < detail::kMaxErrors)
        m_errors.push_back({ code, key.empty() ? m_where : m_where + "/" + detail::escapedPointerStep(key),
            std::move(what), std::move(right) });
}

void ObjectReader::require(const std::string &key, const std::string &right)
{
    if (!has(key))
        fault(key, key + " is missing", right);
}

void ObjectReader::text(const std::string &key, std::string &target)
{
    const CatalogueJson *value = raw(key);
    if (!value)
        return;
    if (!value->is_string())
        return fault(key, key + " is " + shownJson(*value), "a text");
    target = value->get<std::string>();
}

void ObjectReader::flag(const std::string &key, bool &target)
{
    const CatalogueJson *value = raw(key);
    if (!value)
        return;
    if (!value->is_boolean())
        return fault(key, key + " is " + shownJson(*value), "true or false");
    target = value->get<bool>();
}

std::string ObjectReader::resolveSource(const std::string &key, const std::string &id)
{
    if (!m_table)
        return id;
    const auto found = m_table->find(id);
    if (found != m_table->end())
        return found->second;
    std::vector<std::string> names;
    for (const auto &entry : *m_table)
        names.push_back(entry.first);
    const std::string near = nearestName(id, names);
    fault(key, key + " names the source \"" + shortened(id) + "\", which the file does not list",
        near.empty() ? "an id of /sources" : "an id of /sources, perhaps \"" + near + "\"", ErrorCode::UnknownName);
    return id;
}

const CatalogueJson *ObjectReader::number(const std::string &key)
{
    const CatalogueJson *value = raw(key);
    if (!value)
        return nullptr;
    if (value->is_array() && value->size() == 2 && (*value)[0].is_number() && (*value)[1].is_string()) {
        m_sources[key] = resolveSource(key, (*value)[1].get<std::string>());
        return &(*value)[0];
    }
    if (value->is_number() && !m_table)
        return value;
    fault(key, key + " is " + shownJson(*value),
        m_table ? "[number, \"source id\"]" : "a number, or [number, \"source\"]");
    return nullptr;
}

void ObjectReader::figure(const std::string &key, double &target, Range range)
{
    const CatalogueJson *value = number(key);
    if (!value)
        return;
    const double found = value->get<double>();
    if (!std::isfinite(found) || found < range.low || found > range.high)
        return fault(key, key + " is " + plainNumber(found), "a number " + shownRange(range));
    target = found;
}

void ObjectReader::count(const std::string &key, int &target, Range range)
{
    const CatalogueJson *value = raw(key);
    if (!value)
        return;
    const double found = value->is_number() ? value->get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!(found >= range.low && found <= range.high) || found != std::floor(found))
        return fault(key, key + " is " + shownJson(*value), "a whole number " + shownRange(range));
    target = static_cast<int>(found);
}

ObjectReader ObjectReader::object(const std::string &key)
{
    const CatalogueJson *value = raw(key);
    return { value ? *value : kEmptyObject, m_where + "/" + key, m_errors, m_table };
}

std::vector<ObjectReader> ObjectReader::objects(const std::string &key, std::size_t most)
{
    std::vector<ObjectReader> readers;
    const CatalogueJson *value = raw(key);
    if (!value)
        return readers;
    if (!value->is_array() || value->size() > most) {
        fault(key, key + " is " + shownJson(*value), "a list of at most " + std::to_string(most) + " objects");
        return readers;
    }
    readers.reserve(value->size());
    for (std::size_t i = 0; i < value->size(); ++i)
        readers.emplace_back(value->at(i), m_where + "/" + key + "/" + std::to_string(i), m_errors, m_table);
    return readers;
}

std::string ObjectReader::sourcesText() const
{
    std::string text;
    for (const auto &[key, source] : m_sources)
        text += (text.empty() ? "" : "; ") + key + ": " + source;
    return text;
}

std::vector<std::string> ObjectReader::unasked() const
{
    std::vector<std::string> keys;
    for (const auto &[key, value] : m_object.items())
        if (!m_asked.contains(key))
            keys.push_back(key);
    return keys;
}

void ObjectReader::rejectUnknownKeys()
{
    for (const auto &[key, value] : m_object.items()) {
        if (m_asked.contains(key))
            continue;
        const std::string near = nearestName(key, { m_asked.begin(), m_asked.end() });
        fault(key, "unknown key " + shortened(key), near.empty() ? "" : "perhaps " + near, ErrorCode::UnknownKey);
    }
}

} // namespace trainyard
