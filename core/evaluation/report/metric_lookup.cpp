// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/metric_lookup.h"

#include "core/evaluation/report/json_internal.h"
#include "core/evaluation/report/metrics_json.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"

#include <algorithm>
#include <charconv>

namespace trainyard {

namespace {

bool isNumberSchema(const Json &schema)
{
    const auto type = schema.find("type");
    if (type == schema.end())
        return false;
    const auto isNumber = [](const Json &t) { return t == "number" || t == "integer"; };
    return type->is_array() ? std::ranges::any_of(*type, isNumber) : isNumber(*type);
}

void collect(const Json &schema, const std::string &path, std::vector<std::string> &names)
{
    if (isNumberSchema(schema))
        names.push_back(path);
    if (const auto items = schema.find("items"); items != schema.end())
        collect(*items, path + "[]", names);
    if (const auto properties = schema.find("properties"); properties != schema.end()) {
        for (const auto &[key, value] : properties->items())
            collect(value, path.empty() ? key : path + "." + key, names);
    }
}

/// "a[12].b" as "a[].b".
std::string withoutIndices(std::string_view name)
{
    std::string plain;
    bool inIndex = false;
    for (const char c : name) {
        const bool isIndexDigit = inIndex && c >= '0' && c <= '9';
        inIndex = c == '[' || isIndexDigit;
        if (!isIndexDigit)
            plain += c;
    }
    return plain;
}

/// The value at "a.b[2].c"; nullptr where there is none. Reads no name that checkMetricName refuses.
const Json *at(const Json &root, std::string_view name)
{
    const Json *node = &root;
    while (!name.empty() && node) {
        if (name.front() == '[') {
            const std::size_t end = name.find(']');
            std::size_t index = 0;
            if (end == std::string_view::npos
                || std::from_chars(name.data() + 1, name.data() + end, index).ec != std::errc())
                return nullptr;
            node = node->is_array() && index < node->size() ? &(*node)[index] : nullptr;
            name.remove_prefix(end + 1);
        } else {
            if (name.front() == '.')
                name.remove_prefix(1);
            const std::size_t end = std::min(name.find_first_of(".["), name.size());
            const auto found = node->is_object() ? node->find(std::string(name.substr(0, end))) : node->end();
            node = found == node->end() ? nullptr : &*found;
            name.remove_prefix(end);
        }
    }
    return node;
}

std::vector<std::string_view> summands(std::string_view name)
{
    std::vector<std::string_view> parts;
    for (std::size_t plus = name.find('+'); plus != std::string_view::npos; plus = name.find('+')) {
        parts.push_back(name.substr(0, plus));
        name.remove_prefix(plus + 1);
    }
    parts.push_back(name);
    return parts;
}

Expected<void> checkOne(std::string_view name)
{
    const std::string plain = withoutIndices(name);
    // A list itself is named with its brackets empty; one of its numbers needs the index.
    const bool lacksIndex = name.find("[]") != std::string_view::npos;
    if (!lacksIndex && std::ranges::find(metricNames(), plain) != metricNames().end())
        return {};
    std::string near = lacksIndex ? plain : nearestName(plain, metricNames());
    if (const auto brackets = near.find("[]"); brackets != std::string::npos)
        near.insert(brackets + 1, "0");
    return std::unexpected(Error { ErrorCode::UnknownName, std::string(name), "no metric has this name",
        near.empty() ? "a metric of docs/metrics.md" : "a metric of docs/metrics.md, perhaps " + near });
}

} // namespace

const std::vector<std::string> &metricNames()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        collect(Json::parse(metricsSchema()), {}, all);
        return all;
    }();
    return names;
}

Expected<void> checkMetricName(std::string_view name)
{
    for (const std::string_view part : summands(name)) {
        if (auto known = checkOne(part); !known)
            return known;
    }
    return {};
}

std::vector<Metric> metricValues(const Evaluation &evaluation, std::span<const std::string_view> names)
{
    const Json metrics = metricsObject(evaluation);
    std::vector<Metric> values;
    for (const std::string_view name : names) {
        Metric sum = 0;
        for (const std::string_view part : summands(name)) {
            const Json *value = at(metrics, part);
            sum = sum && value && value->is_number() ? Metric(*sum + value->get<double>()) : Metric();
        }
        values.push_back(sum);
    }
    return values;
}

} // namespace trainyard
