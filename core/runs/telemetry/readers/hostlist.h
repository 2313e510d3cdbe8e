#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Names of nodes as Slurm writes them: "node[001-128,130],rack[1-2]n[1-4],login". Brackets hold numbers and ranges of
// them, padded by zeros as their first number is; several brackets multiply. Pure functions.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard::readers {

inline constexpr std::size_t kMostHosts = 1'000'000; // of one file

/// Appends the names to `hosts`, in the order that they are written in. False, with nothing appended, where brackets do
/// not match, a range goes back, or `hosts` would hold more than kMostHosts.
[[nodiscard]] bool expandHosts(std::string_view list, std::vector<std::string> &hosts);

} // namespace trainyard::readers
