#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Text of people inside of Markdown. Pure functions, UTF-8.

#include <string>
#include <string_view>

namespace trainyard::markup {

/// Text for Markdown: a name must not end a table cell or start markup.
[[nodiscard]] std::string markdownText(std::string_view text);

} // namespace trainyard::markup
