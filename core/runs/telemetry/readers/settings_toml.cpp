// SPDX-License-Identifier: GPL-3.0-or-later
// The one door to toml++.
#include "core/runs/telemetry/readers/settings_tree.h"

#include <charconv>
#include <sstream>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

namespace trainyard::readers {

namespace {

/// False beyond the bounds.
bool addToml(SettingsNode &made, const toml::node &node, std::size_t depth, std::size_t &count)
{
    if (++count > kMostSettings || depth > kMostSettingsDepth)
        return false;
    made.line = static_cast<int>(node.source().begin.line);
    if (const toml::table *table = node.as_table()) {
        made.kind = SettingsNode::Kind::Map;
        for (const auto &[key, value] : *table) {
            made.below.emplace_back().key = key.str();
            if (!addToml(made.below.back(), value, depth + 1, count))
                return false;
        }
        return true;
    }
    if (const toml::array *array = node.as_array()) {
        made.kind = SettingsNode::Kind::List;
        for (const toml::node &item : *array)
            if (!addToml(made.below.emplace_back(), item, depth + 1, count))
                return false;
        return true;
    }
    if (const auto *text = node.as_string()) {
        made.isQuoted = true;
        made.text = text->get();
    } else if (const auto *number = node.as_integer()) {
        made.text = std::to_string(number->get());
    } else if (const auto *real = node.as_floating_point()) {
        char digits[32];
        made.text.assign(digits, std::to_chars(digits, digits + sizeof digits, real->get()).ptr);
    } else if (const auto *flag = node.as_boolean()) {
        made.text = flag->get() ? "true" : "false";
    } else {
        std::ostringstream date;
        node.visit([&](const auto &value) {
            if constexpr (toml::is_date<
                              decltype(value)> || toml::is_time<decltype(value)> || toml::is_date_time<decltype(value)>)
                date << value.get();
        });
        made.text = date.str();
    }
    return true;
}

} // namespace

Expected<SettingsTree> tomlSettings(std::string_view text, const std::string &file)
{
    return settingsUpToError(text, file, [&](std::string_view part, SettingsTree &made) -> Expected<int> {
        const toml::parse_result result = toml::parse(part);
        if (!result)
            return std::max(1, static_cast<int>(result.error().source().begin.line));
        std::size_t count = 0;
        if (!addToml(made.root, result.table(), 0, count))
            return std::unexpected(Error { ErrorCode::BadSyntax, file,
                "It has more settings than " + std::to_string(kMostSettings) + ", or more than "
                    + std::to_string(kMostSettingsDepth) + " of them within each other",
                "" });
        return 0;
    });
}

} // namespace trainyard::readers
