// SPDX-License-Identifier: GPL-3.0-or-later
// One dotted key of a plan set, as --set does: the plan's document and the schema are walked together, so that keys at
// their defaults, which the document leaves out, can be set too.
#include "core/base/printable.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan_io.h"
#include "core/facts/plan/plan_json_internal.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>

namespace trainyard {

namespace {

using detail::Json;

struct Step {
    std::string key;
    std::optional<std::size_t> index;
};

Error badKey(std::string_view dotted, std::string what, std::string right)
{
    return { ErrorCode::UnknownKey, std::string(dotted), std::move(what), std::move(right) };
}

/// "a.b[0].c" in steps. The key of an index step is empty.
Expected<std::vector<Step>> stepsOf(std::string_view dotted)
{
    const auto malformed = [&] {
        return std::unexpected(
            badKey(dotted, "not a key of a plan", "names and indices like cluster.datacenters[0].pools[0].nodes"));
    };
    std::vector<Step> steps;
    std::size_t at = 0;
    while (at < dotted.size()) {
        if (dotted[at] == '[') {
            const std::size_t end = dotted.find(']', at);
            std::size_t index = 0;
            const char *const first = dotted.data() + at + 1;
            const char *const last = end == std::string_view::npos ? first : dotted.data() + end;
            if (const auto [stop, error] = std::from_chars(first, last, index);
                error != std::errc() || stop != last || steps.empty())
                return malformed();
            steps.push_back({ {}, index });
            at = end + 1;
            if (at < dotted.size() && dotted[at] != '.' && dotted[at] != '[')
                return malformed();
        } else {
            at += dotted[at] == '.' && !steps.empty() ? 1 : 0;
            const std::size_t end = std::min(dotted.find_first_of(".[", at), dotted.size());
            if (end == at)
                return malformed();
            steps.push_back({ std::string(dotted.substr(at, end - at)), std::nullopt });
            at = end;
        }
        if (at + 1 == dotted.size() && dotted[at] == '.')
            return malformed();
    }
    if (steps.empty())
        return malformed();
    return steps;
}

/// The schema's alternative that can be entered by a key (or by an index).
const Json &entered(const Json &schema, bool byIndex)
{
    static const Json nothing = Json::object();
    const char *inside = byIndex ? "items" : "properties";
    if (schema.contains(inside) || (!byIndex && schema.contains("additionalProperties")))
        return schema;
    if (schema.contains("anyOf")) {
        for (const Json &alternative : schema["anyOf"]) {
            if (alternative.contains(inside))
                return alternative;
        }
    }
    return nothing;
}

std::string joined(std::span<const Step> steps)
{
    std::string text;
    for (const Step &step : steps)
        text += step.index ? "[" + std::to_string(*step.index) + "]" : (text.empty() ? "" : ".") + step.key;
    return text;
}

/// Finds the nearest known key, also one that lies in another section ("tensor" -> "parallelism.tensor").
std::string nearestKey(const Json &node, const std::string &key, bool atRoot)
{
    std::vector<std::string> names;
    for (const auto &[name, schema] : node.items()) {
        names.push_back(name);
        if (!atRoot)
            continue;
        if (const Json &inside = entered(schema, false);
            inside.contains("properties") && inside["properties"].contains(key))
            return name + "." + key;
    }
    return nearestName(key, names);
}

std::string listedKeys(const Json &properties)
{
    std::string text;
    for (const auto &[name, ignored] : properties.items())
        text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// Walks to the place of the last step, making the objects on the way that the document leaves out.
Expected<Json *> locate(Json &document, std::span<const Step> steps, std::string_view dotted, const Json *&schema)
{
    Json *node = &document;
    schema = &detail::planSchemaJson();
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const Step &step = steps[i];
        const std::string parent = joined(steps.first(i));
        const Json &inside = entered(*schema, step.index.has_value());
        if (step.index) {
            if (!inside.contains("items"))
                return std::unexpected(badKey(dotted, parent + " is not a list", parent));
            const std::size_t size = node->is_array() ? node->size() : 0;
            if (*step.index >= size)
                return std::unexpected(
                    badKey(dotted, parent + " has " + std::to_string(size) + (size == 1 ? " entry" : " entries"),
                        size == 0 && parent == "jobs" && document.contains("job_grid")
                            ? "a job in jobs: those of job_grid have no keys of their own (the window makes single "
                              "jobs of them)"
                            : size == 0 ? "the whole list as its value"
                                        : "an index from 0 to " + std::to_string(size - 1)));
            schema = &inside["items"];
            node = &(*node)[*step.index];
            continue;
        }
        static const Json none = Json::object();
        const Json &properties = inside.contains("properties") ? inside["properties"] : none;
        const bool kept = node->is_object() && node->contains(step.key); // a key that only this file has
        const bool isOpen = inside.contains("additionalProperties") && inside["additionalProperties"].is_object();
        if (!properties.contains(step.key) && !kept && !isOpen) {
            const std::string near = nearestKey(properties, step.key, i == 0);
            const std::string prefix = parent.empty() ? "" : parent + ".";
            const std::string what = parent.empty() ? "a plan has no key " + shortened(step.key)
                                                    : parent + " has no key " + shortened(step.key);
            return std::unexpected(badKey(dotted, what,
                !near.empty()            ? prefix + near
                    : properties.empty() ? parent
                                         : "one of " + listedKeys(properties)));
        }
        if (!node->is_object()) {
            if (node->is_string() && properties.contains("base"))
                *node = Json { { "base", *node } }; // a stack by name becomes one with overrides
            else if (node->is_string() && schema->contains("anyOf"))
                return std::unexpected(
                    badKey(dotted, parent + " is " + detail::brief(*node) + ", which has no keys of its own",
                        "an object as the value of " + parent));
            else
                *node = Json::object();
        }
        static const Json anything = Json::object();
        schema = properties.contains(step.key) ? &properties[step.key]
            : isOpen                           ? &inside["additionalProperties"]
                                               : &anything;
        node = &(*node)[step.key];
    }
    return node;
}

/// How deep lists and objects are nested.
std::size_t levels(const Json &value)
{
    std::size_t deepest = 0;
    for (const Json &item : value.is_structured() ? value : Json::array())
        deepest = std::max(deepest, levels(item));
    return deepest + value.is_structured();
}

bool isPlainText(const Json &schema)
{
    return schema.value("type", Json()) == "string" && !schema.contains("enum");
}

/// A text that null takes away: 26.02 is a text there, null is null.
bool isTextOrNull(const Json &schema)
{
    return schema.value("type", Json()) == Json::array({ "string", "null" });
}

/// Sets one key of a plan's document.
Errors setKey(Json &document, std::string_view dottedKey, std::string_view value)
{
    if (!isUtf8(dottedKey) || !isUtf8(value))
        return { { ErrorCode::BadValue, std::string(dottedKey), "the key or its value is no UTF-8", "UTF-8 text" } };
    const auto steps = stepsOf(dottedKey);
    if (!steps)
        return { steps.error() };
    if (steps->front().key == "format" || steps->front().key == "version")
        return { badKey(dottedKey, "this key tells the file format and cannot be set", "another key") };
    const Json *schema = nullptr;
    const auto place = locate(document, *steps, dottedKey, schema);
    if (!place)
        return { place.error() };

    auto parsed = detail::parseJson(value, std::string(dottedKey));
    const bool takeAsText = !parsed || (isPlainText(*schema) && !parsed->is_string())
        || (isTextOrNull(*schema) && !parsed->is_string() && !parsed->is_null());
    **place = takeAsText ? Json(std::string(value)) : std::move(*parsed);
    if (levels(document) > detail::kMaxDepth) // a file with it could not be read
        return { { ErrorCode::BadValue, std::string(dottedKey), "the value is nested too deeply",
            "at most " + std::to_string(detail::kMaxDepth) + " levels in the whole plan" } };
    return {};
}

ExpectedAll<Plan> planOf(const Json &document, const std::string &baseDir)
{
    auto next = detail::planFromJson(document, "", detail::Where::DottedKey);
    if (next)
        next->baseDir = baseDir;
    return next;
}

} // namespace

ExpectedAll<Plan> withKeySet(const Plan &plan, std::string_view dottedKey, std::string_view value)
{
    Json document = detail::planToJson(plan);
    if (Errors errors = setKey(document, dottedKey, value); !errors.empty())
        return std::unexpected(std::move(errors));
    return planOf(document, plan.baseDir);
}

ExpectedAll<Plan> withKeysSet(const Plan &plan, std::span<const KeySetting> settings)
{
    Json document = detail::planToJson(plan);
    Errors errors;
    for (const auto &[key, value] : settings)
        std::ranges::move(setKey(document, key, value), std::back_inserter(errors));
    if (!errors.empty())
        return std::unexpected(std::move(errors));
    return planOf(document, plan.baseDir);
}

} // namespace trainyard
