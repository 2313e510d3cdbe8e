#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a pair of machines reaches by the size of a message, as measured and fitted by eth-easl/sailor (SOSP 2025, arXiv
// 2504.17096, at cf2c8e3). The catalogue has such curves of zones; Sailor's closed form takes its times from them.
// Plain values, any thread.
//
// [F] found in the released code, [I] inferred.

#include "core/base/units.h"

namespace trainyard {

/// GB/s = c0 q^2 + c1 q + c2, q = log2(bytes / 10^6) [F].
struct LinkCurve {
    double c0 = 0, c1 = 0, c2 = 0;
    // Messages beyond what was profiled go at the rate of the nearest that was [I]. The released profile has 2^16 to
    // 2^30 bytes; below 10^6 some of the polynomials fall to nothing, so that the range starts there.
    Bytes least { 1e6 }, most { 1073741824.0 };
};

[[nodiscard]] BytesPerSecond bandwidth(const LinkCurve &link, Bytes message);

} // namespace trainyard
