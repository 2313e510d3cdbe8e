// SPDX-License-Identifier: GPL-3.0-or-later
// Reasons about links between datacenters, unequal GPUs, prefill, jobs, hardware and measured times.
#include "core/evaluation/report/idle_reasons_internal.h"

#include "core/base/words.h"
#include "core/engine/schedule/traits.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/job_schedulers.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>

namespace trainyard::detail {

namespace {

/// The number in the first pair of brackets behind `list` of "cluster.wan_links[3].rtt_ms"; -1 where there is none.
int indexIn(const std::string &path, std::string_view list)
{
    const std::size_t at = path.find(std::string(list) + "[");
    return at == std::string::npos ? -1 : std::stoi(path.substr(at + list.size() + 1));
}

bool crossesWan(const Evaluation &evaluation)
{
    return evaluation.metrics.wanBytesPerIteration > 0;
}

bool hasOneKindOfGpu(const Plan &plan)
{
    return gpuIdsOf(plan.cluster).size() <= 1;
}

/// Some pipeline has stages in two datacenters.
bool hasBoundariesAcross(const Layout &layout)
{
    return std::ranges::any_of(layout.classes, [](const PipelineClass &c) {
        return std::ranges::any_of(
            c.locations, [&](StageLocation at) { return at.datacenter != c.locations.front().datacenter; });
    });
}

/// Some stage has replicas in two datacenters.
bool hasReplicasApart(const Layout &layout)
{
    for (const PipelineClass &c : layout.classes)
        for (std::size_t stage = 0; stage < c.locations.size(); ++stage)
            if (c.locations[stage].datacenter != layout.classes.front().locations[stage].datacenter)
                return true;
    return false;
}

std::string whyConnectionsIdle(const IdleCase &idle)
{
    const auto used = [](const WanLinkUse &use) { return use.totalBytes() > 0; };
    for (const WanLinkUse &use : idle.after.metrics.wanLinks) {
        const auto was = std::ranges::find(idle.before.metrics.wanLinks, use.link, &WanLinkUse::link);
        if (used(use) && was != idle.before.metrics.wanLinks.end() && was->tcpConnections != use.tcpConnections)
            return formatted("a node pair reaches its %.3g Gbps with ", use.nodePairGbps)
                + std::to_string(was->tcpConnections) + " as with " + std::to_string(use.tcpConnections);
    }
    return "auto opens as many";
}

std::string whyCellIdles(const IdleCase &idle)
{
    const CellSize &cell = idle.after.layout.cell, &was = idle.before.layout.cell;
    if (cell.smallest == 0)
        return "no pipeline crosses the WAN, so that there are no turns to take";
    if (cell.reached == 1)
        return "cells have one pipeline, which takes no turns";
    if (cell.reached == was.reached && cell.smallest == was.smallest)
        return "cells have " + counted(cell.reached, "pipeline") + " either way";
    return {};
}

bool isMinParams(StateSharing sharing)
{
    return sharing == StateSharing::Balanced || sharing == StateSharing::MinParams;
}

/// Every stage has all its replicas on GPUs of one kind.
bool areReplicasAlike(const Evaluation &evaluation)
{
    const auto gpuAt = [&](StageLocation at) {
        return gpuIdOf(evaluation.plan->cluster.datacenters[std::size_t(at.datacenter)].pools[std::size_t(at.pool)]);
    };
    const auto &classes = evaluation.layout.classes;
    return !classes.empty() && std::ranges::all_of(classes, [&](const PipelineClass &c) {
        return std::ranges::equal(c.locations, classes.front().locations, {}, gpuAt, gpuAt);
    });
}

/// Of settings that deal work and states, where the two came to the same.
std::string whyDealtAlike(const IdleCase &idle)
{
    const Heterogeneity &from = idle.from().heterogeneity, &to = idle.to().heterogeneity;
    if (idle.isAbout("heterogeneity.state") && isMinParams(from.state) && isMinParams(to.state))
        return "balanced is another name of min-params";
    if (idle.isAbout("heterogeneity.state") && from.state != StateSharing::MinUtilization
        && to.state != StateSharing::MinUtilization)
        return "every GPU has room for an even share of the states";
    if ((idle.isAbout("heterogeneity.state") || idle.isAbout("heterogeneity.compute")) && areReplicasAlike(idle.after))
        return idle.after.layout.data == 1 ? "there is one replica, so that nothing is shared out between replicas"
                                           : "all replicas of a stage are on GPUs of one kind, so that even shares are "
                                             "those by speed and by memory too";
    if (idle.isAbout("heterogeneity.layers") && idle.before.layout.chunks == idle.after.layout.chunks)
        return "the stages get the same layers by speed";
    if (idle.isAbout("heterogeneity.compute"))
        return "by speed the GPUs get what they have with even shares";
    const auto &profiles = idle.to().layerProfiles;
    if (idle.isAbout("heterogeneity.gather_prefetch") && degreesOf(idle.to()).zeroStage < 3)
        return "weights are whole on every GPU (parallelism.zero_stage), so that none are gathered";
    if (idle.isAbout("heterogeneity.gather_prefetch") && profiles && profiles->allGatherMs == 0.0)
        return "gathering weights takes no time (layer_profiles.all_gather_ms)";
    if (idle.isAbout("heterogeneity.released_state_fill"))
        return "both ways of filling in come to the same shares of the states";
    if (idle.isAbout("heterogeneity.memory_fraction"))
        return "work and states are dealt alike with either share of the memory";
    if (idle.isAbout("heterogeneity.accumulation_overhead_ms")
        && std::ranges::all_of(idle.after.layout.classes, [](const PipelineClass &c) { return c.microBatches == 1; }))
        return "each replica has one micro-batch, and the overhead is that of further ones";
    if (idle.isAbout("heterogeneity.uneven_collective_penalty") && profiles && profiles->allGatherMs
        && profiles->reduceScatterMs)
        return "layer_profiles states what collectives take";
    return {};
}

std::string whyDrivesIdle(const IdleCase &idle)
{
    const MemoryStrategy &memory = movedOffGpu(idle.to());
    const bool areUsed = activationsLeaveTo(memory) == ActivationOffload::Ssd
        || memory.optimizerOffload == OptimizerOffload::Ssd || memory.parameterOffload == ParameterOffload::Ssd;
    return areUsed || hasJobs(idle.to()) ? std::string() : "nothing of the plan lies on drives";
}

std::string whyHostIdles(const IdleCase &idle)
{
    const MemoryStrategy &memory = movedOffGpu(idle.to());
    const bool isUsed = activationsLeaveTo(memory) != ActivationOffload::None || boundariesLeave(idle.to())
        || memory.optimizerOffload != OptimizerOffload::None || memory.parameterOffload != ParameterOffload::None;
    return isUsed || hasJobs(idle.to()) ? std::string() : "nothing of the plan lies in host memory";
}

std::string whyLinkIdles(const IdleCase &idle)
{
    const int link = indexIn(idle.key.path, "wan_links");
    const auto use = std::ranges::find(idle.after.metrics.wanLinks, link, &WanLinkUse::link);
    if (use == idle.after.metrics.wanLinks.end() || use->totalBytes() <= 0)
        return "nothing crosses this link";
    return std::string("the link is bound by the ") + toString(use->limit) + ", not by this";
}

bool areServedAlike(const IdleCase &idle)
{
    const ModelSpec *a = idle.catalogue.model(idle.from().bubbleFill.model),
                    *b = idle.catalogue.model(idle.to().bubbleFill.model);
    const double tokens = idle.to().bubbleFill.promptTokens;
    return a && b && totalParameters(*a) == totalParameters(*b)
        && layerForwardFlops(*a, false, tokens) * a->layers == layerForwardFlops(*b, false, tokens) * b->layers;
}

std::string whyProfileIdles(const IdleCase &idle)
{
    const Plan &plan = idle.to();
    if (idle.isAbout("profile.recompute_ms") && plan.memory.recompute == Recompute::None)
        return "nothing is recomputed (memory.recompute is none)";
    if (idle.isAbout("profile.weight_grad_ms") && !traitsOf(plan).splitsBackward)
        return std::string("schedule ") + toString(plan.schedule)
            + " does not part the backward into gradients of inputs and of weights";
    if (idle.isAbout("profile.paired_ms") && !traitsOf(plan).pairs)
        return std::string("no forward of schedule ") + toString(plan.schedule) + " runs with a backward";
    if (idle.isAbout("profile.in_flight"))
        return std::string("schedule ") + toString(plan.schedule) + " has no more micro-batches in flight anyway";
    if (idle.isAbout("profile.parameters_mb") && idle.after.layout.data == 1)
        return "there is one replica, which reduces its gradients with nobody";
    return {};
}

} // namespace

std::string whyWanIdles(const IdleCase &idle)
{
    if (!idle.isIn("wan.") || hasJobs(idle.to()))
        return {};
    const Layout &layout = idle.after.layout;
    const bool acrossStages = hasBoundariesAcross(layout), acrossReplicas = hasReplicasApart(layout);
    if (idle.to().cluster.wanLinks.empty())
        return "the cluster has no WAN link";
    if (!crossesWan(idle.after) && !acrossStages && !acrossReplicas)
        return "nothing crosses the WAN: the plan computes in one datacenter";
    if (idle.isAbout("wan.tcp_connections"))
        return whyConnectionsIdle(idle);
    if (idle.isAbout("wan.congestion_control")
        && std::ranges::none_of(idle.to().cluster.wanLinks, [](const WanLink &link) { return link.lossRate > 0; }))
        return "no link loses packets, so that nothing slows a connection down";
    const bool isOfStages = idle.isAbout("wan.sharing") || idle.isAbout("wan.cell") || idle.isAbout("wan.turns")
        || idle.isAbout("wan.activation_bits");
    if (isOfStages && !acrossStages)
        return "no stage boundary crosses datacenters";
    if (idle.isAbout("wan.sharing") || idle.isAbout("wan.cell") || idle.isAbout("wan.turns"))
        if (std::string why = whyCellIdles(idle); !why.empty())
            return why;
    if (!isOfStages && !acrossReplicas)
        return "all replicas of a stage are in one datacenter";
    if (idle.isAbout("wan.all_reduce") && idle.workload && !idle.workload->source.hasGradients())
        return "the measured stage times state no gradients to reduce (profile.parameters_mb)";
    return {};
}

std::string whySharingIdles(const IdleCase &idle)
{
    if (!idle.isIn("heterogeneity.") || hasJobs(idle.to()))
        return {};
    const Heterogeneity &to = idle.to().heterogeneity;
    const SharedOut &shares = idle.after.layout.shares, &was = idle.before.layout.shares;
    if (!shares.why.empty())
        return shares.why;
    if (!was.why.empty())
        return was.why;
    if (hasOneKindOfGpu(idle.to()) && to.assign.empty()
        && (idle.isAbout("heterogeneity.compute") || idle.isAbout("heterogeneity.state")
            || idle.isAbout("heterogeneity.layers")))
        return "all GPUs are of one kind, so that even shares are those by speed and by memory too";
    return whyDealtAlike(idle);
}

std::string whyFillIdles(const IdleCase &idle)
{
    if (!idle.isIn("bubble_fill."))
        return {};
    const BubbleFill &to = idle.to().bubbleFill;
    if (!to.enabled && !idle.from().bubbleFill.enabled)
        return "no prefill is served in the bubbles (bubble_fill.enabled is false)";
    if (to.model.empty())
        return "no model is named that could be served (bubble_fill.model)";
    if (idle.isAbout("bubble_fill.model") && areServedAlike(idle))
        return "the two models have as many parameters and take as many FLOPs";
    const auto &fill = idle.after.metrics.bubbleFill;
    if (!fill || fill->groups == 0)
        return "no GPUs have bubbles that the served model could use together";
    if (fill->accepted == 0)
        return "no request is served either way";
    if (idle.isAbout("bubble_fill.chaining"))
        return "it forms no further group of GPUs for the served model";
    if (idle.isAbout("bubble_fill.ttft_slo_ms") && fill->rejectedAsLate == 0)
        return "no request would be late, by the longer time nor by the shorter";
    if (idle.isAbout("bubble_fill.seed") && (to.arrivals == Arrivals::Constant || to.arrivals == Arrivals::Trace))
        return std::string("arrivals that are ") + toString(to.arrivals) + " draw nothing";
    if (idle.isAbout("bubble_fill.batch_wait_ms") && to.prefillBatch == 1)
        return "prompts are served one by one (bubble_fill.prefill_batch is 1)";
    if (idle.isIn("bubble_fill.decode.") && !to.decode.gpus)
        return "as many GPUs decode as it takes (bubble_fill.decode.gpus is not stated)";
    if (idle.isAbout("bubble_fill.guard_ms"))
        return "the same requests find a window with either guard time";
    if (idle.isAbout("bubble_fill.trace"))
        return "requests arrive by another rule (bubble_fill.arrivals)";
    return {};
}

std::string whyJobsIdle(const IdleCase &idle)
{
    if (!hasJobs(idle.to())
        || (!idle.isIn("job") && !idle.isAbout("workload.galore_rank")
            && !idle.isAbout("heterogeneity.memory_fraction")))
        return {};
    const Plan &plan = idle.to();
    const bool byShards = isByShards(plan.jobScheduler);
    if (idle.isIn("job_options.") && !byShards)
        return std::string("it is about shards of jobs, and \"") + labelOf(plan.jobScheduler)
            + "\" gives GPUs to whole jobs";
    if (idle.isAbout("workload.galore_rank"))
        return "no job has an optimizer that projects gradients";
    if (idle.isAbout("heterogeneity.memory_fraction"))
        return "the jobs are cut into the same shards with either share of the memory";
    if (idle.isAbout("job_options.seed") && plan.jobScheduler != JobScheduler::Random)
        return std::string("\"") + labelOf(plan.jobScheduler) + "\" draws nothing at random";
    if (idle.isAbout("job_options.seconds"))
        return isSolver(plan.jobScheduler) ? "the solver ends before that" : "no solver decides (job_scheduler)";
    if (idle.isAbout("job_options.look_ahead") && plan.jobOptions.doubleBuffer)
        return "double buffers imply it (job_options.double_buffer)";
    if (idle.isAbout("job_options.remaining") && plan.jobScheduler != JobScheduler::ShardedLrtf)
        return std::string("\"") + labelOf(plan.jobScheduler) + "\" does not go by what remains";
    if (idle.key.row.ends_with(".learning_rate"))
        return "no time depends on it";
    if (idle.isIn("job_options.") || idle.isAbout("job_scheduler"))
        return "every job starts and ends at the same time either way";
    return {};
}

std::string whyHardwareIdles(const IdleCase &idle)
{
    const std::string &row = idle.key.row;
    const auto &was = idle.from().layerProfiles, &is = idle.to().layerProfiles;
    if (idle.isAbout("layer_profiles.layers") && was && is
        && was->layers.value_or(idle.after.model.layers) == is->layers.value_or(idle.after.model.layers))
        return "the model has as many";
    if (idle.isIn("layer_profiles"))
        return {};
    if (idle.isIn("profile"))
        return whyProfileIdles(idle);
    if (!idle.isIn("cluster."))
        return {};
    if (row.find(".ssd") != std::string::npos)
        return whyDrivesIdle(idle);
    if (row.find(".host") != std::string::npos)
        return whyHostIdles(idle);
    if (idle.isIn("cluster.wan_links"))
        return whyLinkIdles(idle);
    if (row.ends_with(".id") || row.ends_with(".name"))
        return "it is a name";
    if (row.ends_with(".latitude") || row.ends_with(".longitude"))
        return "round trips are stated by the links; where a datacenter lies only suggests them";
    if (row.find(".usd_per_kwh") != std::string::npos || row.find(".kg_co2_per_kwh") != std::string::npos)
        return idle.to().workload.trainingTokens ? "" : "totals need workload.training_tokens";
    if (row.find(".fabric") != std::string::npos && !stageFacts(idle.to()).hasLayers)
        return "measured stage times contain what crosses the fabric";
    if (row.find(".fabric") != std::string::npos)
        return "no collective crosses the fabric there, or its time is hidden";
    return {};
}

} // namespace trainyard::detail
