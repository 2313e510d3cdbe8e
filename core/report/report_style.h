#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The style sheet of the HTML report: light and dark by the reader's system, and on paper. Colours are the window's.

#include <string_view>

namespace trainyard {

[[nodiscard]] std::string_view reportStyle();

} // namespace trainyard
