#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Latency and bandwidth of a way by timed collectives, in the form that a plan's collectives have: what the model
// counts as moved and as steps is taken from the model itself, so that a plan with the two gives the times back. Pure
// functions.

#include "core/calibrate/robust_fit.h"
#include "core/network/collectives.h"
#include "core/telemetry/recording.h"

#include <span>

namespace trainyard {

/// Whether collectives of the plan are modelled by that operation.
[[nodiscard]] bool isModelledCollective(const BenchmarkPoint &point);
/// Seconds of the collective, message as nccl-tests count it, in the group.
[[nodiscard]] Seconds modelledCollective(const BenchmarkPoint &point, const RankGroup &group);

struct WayFit {
    AlphaBeta line; // of what the model counts as moved, in bytes; `latency` is of one collective
    int leftOut = 0; // points that take less than half again as long as the steps that the model counts
};
/// Of points over one kind of link: inside a node where all have one node, else between nodes; then `inside` is the way
/// in them. Errors: those of fitAlphaBeta().
[[nodiscard]] Expected<WayFit> fitWay(
    std::span<const BenchmarkPoint> points, const LinkClass &kind, const Link &inside = {});

} // namespace trainyard
