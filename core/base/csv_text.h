#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of CSV, written and read. Pure functions, UTF-8.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// A field of a CSV line, quoted where it must be. What a spreadsheet takes for a formula stands behind an apostrophe.
[[nodiscard]] std::string csvField(const std::string &text);
/// Fields of a line of CSV as csvField() writes them; nothing where a quote is not closed.
[[nodiscard]] std::optional<std::vector<std::string>> csvFields(std::string_view line);

} // namespace trainyard
