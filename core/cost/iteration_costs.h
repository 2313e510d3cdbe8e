#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Second room: what every operation of one iteration takes, per class of equal pipelines. Seconds are kept apart by
// purpose for the breakdown and rounded to nanoseconds once, for the timeline. WAN traffic is counted on the way.

#include "core/cost/op_split.h"
#include "core/evaluate/evaluation.h"
#include "core/offload/stage_offload.h"
#include "core/placement/resolve.h"
#include "core/iteration/pipeline_graph.h"

#include <stop_token>

namespace trainyard {

struct StageCosts {
    std::vector<ChunkCost> chunks;   // by virtual chunk
    Seconds reduce, gather, optimizer;
    Seconds exchange;                // of local SGD between datacenters, after the step: nothing hides it
    Seconds lastBucket;              // of the reduction: its gradients are ready only when the backward ends
    OffloadedStep step;              // off the GPU; of it `optimizer` shows
    Seconds lateWrites;              // gradients that go to drives when the backward has ended; before the step, part of what shows
    Bytes weightsWritten;            // of one GPU, to drives: weights that lie there, updated
};

struct Costs {
    IterationCosts iteration;        // for the graph builder
    std::vector<std::vector<StageCosts>> stages;   // [class][stage]: the same, in seconds and by purpose
    std::vector<std::vector<StageOffload>> offload;   // [class][stage]; empty where every activation stays
    std::vector<WanLinkUse> wanLinks;              // one a link of the cluster; utilization is filled in later
    Seconds hiddenExchange;          // streaming local SGD: what each iteration has to hide of it (wan_reduce.h)
};

/// Errors: BadValue where the schedule cannot be built for these shapes, or has more tasks than are simulated; OutOfRange where
/// the iteration is longer than a timeline.
[[nodiscard]] Expected<Costs> cost(const Workload &workload, const std::stop_token &stop = {});

/// What an iteration takes beside its operations, on the slowest host of all stages (SustainedRates::host).
[[nodiscard]] Seconds iterationOverhead(const Workload &workload);

/// Adds time that shows at the end of every stage, where an iteration is too short to hide an exchange.
void showExchange(Costs &costs, Seconds rest);

/// Parameters of a stage on one GPU: shards of tensor and expert parallelism taken, data parallelism not.
struct StageParameters { double dense = 0, experts = 0; [[nodiscard]] double total() const { return dense + experts; } };
[[nodiscard]] StageParameters stageParameters(const Workload &workload, int stage);
/// Of one of its chunks.
[[nodiscard]] StageParameters chunkParameters(const Workload &workload, int stage, int chunk);

} // namespace trainyard
