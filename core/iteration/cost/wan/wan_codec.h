#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Fewer bits for what crosses the WAN, and what the GPUs pay for it: one elementwise pass on either side, at memory
// bandwidth. Worth it where (1 - r) S / BW > encode + decode, and only as far as somebody waited for the WAN.

#include "core/iteration/cost/stage_costs.h"

namespace trainyard {

/// One pass over `elements` of `own` and `wire` bits: the one is read, the other written.
[[nodiscard]] Seconds recodeTime(const GpuSpec &gpu, double elements, double own, double wire);

/// Bits of an activation or its gradient: as computed, and on the WAN (never more).
struct WireBits {
    double own = 16, wire = 16;
    [[nodiscard]] double share() const { return wire / own; }
};
[[nodiscard]] WireBits activationBits(const Plan &plan);

/// Packing or unpacking what one micro-batch sends over a boundary, on one GPU of the location: its share of the tensor
/// group.
[[nodiscard]] Seconds boundaryRecodeTime(
    const Workload &workload, StageLocation location, bool backward, double tokens = 1);

} // namespace trainyard
