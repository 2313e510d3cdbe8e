#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Fingerprints of texts and files: 128 bits, which tell accidents apart, not forgeries.

#include <string>
#include <string_view>

namespace trainyard::detail {

/// 32 hexadecimal digits
[[nodiscard]] std::string fingerprintOf(std::string_view text);

} // namespace trainyard::detail
