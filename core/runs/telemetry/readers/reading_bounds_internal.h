#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How much readers take of what a file tells, where several of them hold to the same bound: a file that is broken, or
// made to harm, then costs no more memory than a large one. Plain numbers.

#include <cstddef>
#include <cstdint>

namespace trainyard::readers {

/// Arguments of a run that are kept, and bytes of a name and of a value.
inline constexpr std::size_t kMostArguments = 5000, kLongestArgumentName = 200, kLongestArgumentValue = 20000;
inline constexpr std::size_t kMostSettingsText = std::size_t(4) << 20; // bytes of a file that people write by hand
inline constexpr std::int64_t kMostRanks = 1 << 24; // of one run
inline constexpr double kMostUnixSeconds = 7.2e9; // in 2198

} // namespace trainyard::readers
