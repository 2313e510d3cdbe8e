#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Many whole numbers in a few words.

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

/// "0 to 3, 5, 8, 9" of ascending numbers; of more than `most` ranges the first ones and "and 12 more".
[[nodiscard]] std::string rangesText(const std::vector<std::int64_t> &ascending, std::size_t most = 8);

} // namespace trainyard
