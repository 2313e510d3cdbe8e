#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers below a bound in an order that looks random, none twice, each worked out from its place alone: any thread or
// machine finds the row that it is to do. A Feistel network over the least even number of bits, walked until it lands
// below the bound (M. Luby and C. Rackoff, SIAM J. Computing 17, 1988; J. Black and P. Rogaway, CT-RSA 2002).

#include <cstdint>

namespace trainyard {

/// `index` < `bound`. One to one for each seed.
[[nodiscard]] std::uint64_t drawn(std::uint64_t index, std::uint64_t bound, std::uint64_t seed);

} // namespace trainyard
