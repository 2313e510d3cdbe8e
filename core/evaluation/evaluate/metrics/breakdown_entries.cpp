// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/metrics/breakdown_entries.h"

namespace trainyard {

namespace {

constexpr const char *kInSpans = "inside spans of forward and backward";

/// Of a part that lies partly inside spans and partly in gaps between them.
std::string whereOf(double seconds, double inSpans, const char *inGaps)
{
    constexpr double kAll = 0.999;
    if (inSpans <= 0)
        return inGaps;
    return inSpans >= kAll * seconds ? kInSpans : std::string(kInSpans) + ", and " + inGaps;
}

} // namespace

std::vector<BreakdownEntry> breakdownEntries(const Breakdown &b)
{
    const bool hasCollectives =
        b.tensorParallel + b.contextParallel + b.expertParallel + b.dataParallelInSpans + b.offloadStallInSpans > 0;
    std::vector<BreakdownEntry> entries {
        { "compute", "compute", "breakdown_s.compute",
            "Forward, backward and recompute, with all communication that they hide",
            hasCollectives ? "spans of forward, backward and recompute, less what else is inside them"
                           : "spans of forward, backward and recompute",
            &Breakdown::compute },
        { "tensor_parallel", "tensor parallel", "breakdown_s.tensor_parallel",
            "Collectives of tensor and sequence parallelism that nothing hides", kInSpans, &Breakdown::tensorParallel,
            true },
        { "context_parallel", "context parallel", "breakdown_s.context_parallel",
            "Exchange of keys and values that nothing hides", kInSpans, &Breakdown::contextParallel, true },
        { "expert_parallel", "expert parallel", "breakdown_s.expert_parallel",
            "Dispatch and combine of experts that nothing hides", kInSpans, &Breakdown::expertParallel, true },
        { "pipeline", "pipeline transfers", "breakdown_s.pipeline", "Waiting for a stage boundary inside a datacenter",
            "gaps before spans", &Breakdown::pipeline },
        { "wan", "WAN", "breakdown_s.wan",
            "Waiting for a stage boundary between datacenters: queueing, sending and latency",
            "gaps before spans that a WAN row leads to", &Breakdown::wan },
        { "data_parallel", "data parallel", "breakdown_s.data_parallel",
            "Gradient sync and parameter gather that nothing hides",
            whereOf(b.dataParallel, b.dataParallelInSpans,
                "gaps that wait for the slowest stage's gradient sync or gather"),
            &Breakdown::dataParallel, b.dataParallelInSpans > 0 },
        { "offload_stall", "offload stalls", "breakdown_s.offload_stall",
            "Waiting for activations or states to come back to the GPU",
            whereOf(b.offloadStall, b.offloadStallInSpans, "gaps that a load or store leads to"),
            &Breakdown::offloadStall, b.offloadStallInSpans > 0 },
        { "optimizer", "optimizer", "breakdown_detail_s.optimizer", "The update of the parameters", "optimizer spans",
            &Breakdown::optimizer },
        { "overhead", "overhead", "breakdown_detail_s.overhead", "Host work at the end of an iteration",
            "overhead spans", &Breakdown::overhead },
        { "bubble", "bubble", "breakdown_s.bubble",
            "Waiting for work that is not ready elsewhere, not for a transfer to this stage; the WAN may be why it is "
            "not",
            "gaps", &Breakdown::bubble },
    };
    for (BreakdownEntry &entry : entries)
        entry.seconds = b.*entry.part;
    return entries;
}

} // namespace trainyard
