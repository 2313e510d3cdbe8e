#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The style sheet of the HTML report: light and dark by the reader's system, and on paper. Colours are the window's.

#include <string_view>

namespace trainyard {

[[nodiscard]] std::string_view reportStyle();
/// What pages about jobs add to it: a colour for each of markup::kJobLooks; those of dark screens last.
[[nodiscard]] std::string_view jobStyle();

} // namespace trainyard
