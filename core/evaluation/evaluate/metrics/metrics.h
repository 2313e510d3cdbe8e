#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Last room: from a timeline, its costs and its memory to the metrics of docs/metrics.md. Pure functions of values.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/evaluation/evaluate/live_stages.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/iteration/cost/stage_costs.h"
#include "core/iteration/memory/off_gpu.h"
#include "core/iteration/prefill/bubble_fill.h"

namespace trainyard {

/// Fills everything that time decides: rates, utilization, breakdown, WAN use. `timeline` must not be empty.
void addTimeMetrics(Metrics &metrics, const Workload &workload, const Costs &costs, const Timeline &timeline);
/// Bytes, use and binding limit of each WAN link; part of the time metrics.
void addWanMetrics(Metrics &metrics, const Workload &workload, const Costs &costs, const Timeline &timeline);
void addMemoryMetrics(Metrics &metrics, std::vector<StageMemory> stages, const std::vector<HostMemory> &nodes);
/// What leaves the GPU, and what that asks of the drives; needs the time metrics. Nothing where activations stay.
void addOffloadMetrics(Metrics &metrics, const Workload &workload, const Costs &costs, const LiveMemory &live);
/// Prefill in the bubbles, with its tracks; needs the time and the memory metrics. Leaves all empty where `stop` is
/// triggered.
void addBubbleFill(Metrics &metrics, Timeline &timeline, const Workload &workload, const BubbleService &service,
    const std::stop_token &stop);
/// Rental, egress, energy and carbon; needs the time metrics.
void addCostMetrics(Metrics &metrics, const Workload &workload, const Catalogue &catalogue);

} // namespace trainyard
