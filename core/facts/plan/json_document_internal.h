#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// JSON text in and out for the files of the core: keeps the order of keys, refuses what a plain parser lets through
// (duplicate keys, nesting beyond kMaxDepth) and says line:column. Private: include it in .cpp files only.

#include "core/base/json_parser_internal.h"

#include <string>
#include <string_view>

namespace trainyard::detail {

using Json = nlohmann::ordered_json;
/// Keys of one object. Documents that keep their order are searched key by key.
inline constexpr std::size_t kMostMembers = 1000;

/// Errors: BadSyntax, with where = "file:line:column" (or "file: /pointer" for a duplicate key).
[[nodiscard]] ExpectedAll<Json> parseJson(std::string_view text, const std::string &fileName);

/// Two-space indented; lists of plain values and small innermost objects of lists stay on one line. No final newline.
[[nodiscard]] std::string prettyJson(const Json &value);

/// A value for a message: compact and cut to a readable length.
[[nodiscard]] std::string brief(const Json &value);

/// The number as JSON: whole values are written without a fraction.
[[nodiscard]] Json numberToJson(double value);

} // namespace trainyard::detail
