#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan's calibration factors make of the hardware and the stack that costs read. Made by resolve, owned by the
// workload, absent where a plan has none: nothing global changes, and a plan without factors costs nothing.

#include "core/facts/network/collectives.h"
#include "core/facts/plan/calibration.h"
#include "core/iteration/placement/resolve.h"

#include <list>

namespace trainyard {

struct CalibratedHardware {
    /// copies whose PCIe was measured
    std::list<GpuSpec> gpus;
    /// of the links below
    std::list<LinkClass> kinds;
    // [datacenter][pool]; of links without a kind, and of drives without a value, nothing was measured
    std::vector<std::vector<Link>> device, fabric;
    std::vector<std::vector<std::optional<Ssd>>> drives;
    /// of one GPU to host memory, each direction
    std::vector<std::vector<std::optional<BytesPerSecond>>> toHost;
    /// [WAN link]
    std::vector<std::optional<double>> roundTripMs;
    /// ids of factors that change nothing of this plan
    std::vector<std::string> idle;
};

/// A link inside a node or a datacenter as a factor of it sets it: measured latency and bandwidth take the place of the
/// class's start, share of the peak and ramp. `kind` is written, and has to live as long as the link.
[[nodiscard]] Link calibratedLink(const Link &before, const CalibrationFactor &factor, LinkClass &kind);

/// Before calibration: from a GPU of the location to other nodes of its datacenter.
[[nodiscard]] Link nominalFabric(const Requested &asked, StageLocation location);

/// For resolve(): applies the plan's factors to a request whose GPUs, stack, rates and transports are known. Errors:
/// entries that cannot be read.
[[nodiscard]] ExpectedAll<void> applyCalibration(Requested &inMaking);

} // namespace trainyard
