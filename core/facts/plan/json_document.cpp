// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/plan/json_document_internal.h"

#include <algorithm>
#include <cmath>

namespace trainyard::detail {

namespace {

constexpr auto kReplace = Json::error_handler_t::replace;

std::string compact(const Json &value)
{
    if (!value.is_structured())
        return value.dump(-1, ' ', false, kReplace);
    const bool isObject = value.is_object();
    std::string text = isObject ? "{ " : "[";
    bool first = true;
    for (const auto &[key, item] : value.items()) {
        text += first ? "" : ", ";
        first = false;
        if (isObject)
            text += Json(key).dump(-1, ' ', false, kReplace) + ": ";
        text += compact(item);
    }
    return text + (isObject ? " }" : "]");
}

bool hasOnlyPlainValues(const Json &value)
{
    return std::ranges::none_of(value, [](const Json &item) { return item.is_structured(); });
}

void appendPretty(std::string &out, const Json &value, int indent, bool inList)
{
    constexpr std::size_t kLine = 110;
    if (!value.is_structured() || value.empty()) {
        out += value.is_structured() ? (value.is_object() ? "{}" : "[]") : compact(value);
        return;
    }
    if (hasOnlyPlainValues(value) && (value.is_array() || inList)) {
        if (const std::string line = compact(value); line.size() + static_cast<std::size_t>(indent) <= kLine) {
            out += line;
            return;
        }
    }
    const bool isObject = value.is_object();
    out += isObject ? "{" : "[";
    bool first = true;
    for (const auto &[key, item] : value.items()) {
        out += first ? "\n" : ",\n";
        first = false;
        out.append(static_cast<std::size_t>(indent) + 2, ' ');
        if (isObject)
            out += Json(key).dump(-1, ' ', false, kReplace) + ": ";
        appendPretty(out, item, indent + 2, !isObject);
    }
    out += "\n";
    out.append(static_cast<std::size_t>(indent), ' ');
    out += isObject ? "}" : "]";
}

} // namespace

ExpectedAll<Json> parseJson(std::string_view text, const std::string &fileName)
{
    return parsedJson<Json>(text, fileName, { .mostMembers = kMostMembers, .refusesDuplicates = true });
}

std::string prettyJson(const Json &value)
{
    std::string text;
    appendPretty(text, value, 0, false);
    return text;
}

std::string brief(const Json &value)
{
    constexpr std::size_t kLongest = 40;
    if (value.is_object())
        return "an object";
    if (value.is_array())
        return "a list of " + std::to_string(value.size());
    std::string text = value.dump(-1, ' ', true, kReplace); // ASCII only, so that cutting never splits a character
    if (text.size() > kLongest)
        text = text.substr(0, kLongest) + "...";
    return text;
}

Json numberToJson(double value)
{
    constexpr double kExact = 9007199254740992.0; // 2^53: whole numbers up to here are exact
    const bool negativeZero = value == 0 && std::signbit(value);
    if (std::abs(value) <= kExact && value == std::floor(value) && !negativeZero)
        return static_cast<std::int64_t>(value);
    return value;
}

} // namespace trainyard::detail
