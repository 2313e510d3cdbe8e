#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Second room on the way from plan to answer: an iteration put together from what its stages cost, the order of their
// schedule, what leaves the GPU and what crosses datacenters. WAN traffic is counted on the way.

#include "core/iteration/cost/stage_costs.h"
#include "core/iteration/placement/resolve.h"

#include <stop_token>

namespace trainyard {

class GraphCache;

/// Errors: BadValue where the schedule cannot be built for these shapes, or has more tasks than are simulated;
/// OutOfRange where the iteration is longer than a timeline.
/// `graphs`: keeps topologies of the iterations that it runs on the way.
[[nodiscard]] Expected<Costs> cost(
    const Workload &workload, const std::stop_token &stop = {}, GraphCache *graphs = nullptr);

/// The times of a chunk as the timeline has them: whole nanoseconds, at least 1 for anything that takes time.
[[nodiscard]] OpTimes opTimes(const ChunkCost &chunk);

/// For schedules that pair operations, the time of a forward and a backward that run together, without recomputation,
/// measured where there is a measurement:
/// [(stage * chunks + the forward's chunk) * chunks + the backward's].
[[nodiscard]] std::vector<Nanoseconds> pairTimes(const Workload &workload, const std::vector<StageCosts> &stages);
/// Appends the pair times of one stage to `times`.
void addPairTimes(std::vector<Nanoseconds> &times, const Workload &workload, const StageCosts &costs, int stage);

/// What an iteration takes beside its operations, on the slowest host of all stages (SustainedRates::host).
[[nodiscard]] Seconds iterationOverhead(const Workload &workload);

/// Adds time that shows at the end of every stage, where an iteration is too short to hide an exchange.
void showExchange(Costs &costs, Seconds rest);

} // namespace trainyard
