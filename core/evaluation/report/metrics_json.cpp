// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/metrics_json.h"

#include "core/evaluation/report/json_internal.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/plan/plan_io.h"

#include <algorithm>

namespace trainyard {

namespace {

const char *severityName(Severity severity)
{
    switch (severity) {
    case Severity::Note:
        return "note";
    case Severity::Warning:
        return "warning";
    case Severity::Blocking:
        return "blocking";
    }
    return "";
}

Json problemsJson(const Evaluation &evaluation)
{
    Json list = Json::array();
    for (const Problem &problem : evaluation.problems) {
        Json fixes = Json::array();
        for (const Fix &fix : problem.fixes)
            fixes.push_back(fix.label);
        list.push_back({ { "severity", severityName(problem.severity) }, { "text", problem.text },
            { "where", problem.where.empty() ? Json(nullptr) : Json(problem.where) }, { "fixes", fixes } });
    }
    return list;
}

Json breakdown(const Metrics &metrics)
{
    if (!metrics.breakdown)
        return nullptr;
    const Breakdown &b = *metrics.breakdown;
    return { { "compute", finite(b.compute) }, { "bubble", finite(b.bubble) },
        { "tensor_parallel", finite(b.tensorParallel) }, { "context_parallel", finite(b.contextParallel) },
        { "expert_parallel", finite(b.expertParallel) }, { "wan", finite(b.wan) }, { "pipeline", finite(b.pipeline) },
        { "data_parallel", finite(b.dataParallel) }, { "offload_stall", finite(b.offloadStall) },
        { "optimizer", finite(b.optimizer + b.overhead) } };
}

/// What parts of the breakdown consist of.
Json breakdownDetail(const Metrics &metrics)
{
    if (!metrics.breakdown)
        return nullptr;
    const Breakdown &b = *metrics.breakdown;
    return { { "optimizer", finite(b.optimizer) }, { "overhead", finite(b.overhead) },
        { "data_parallel_in_spans", finite(b.dataParallelInSpans) },
        { "offload_stall_in_spans", finite(b.offloadStallInSpans) } };
}

Json memory(const Evaluation &evaluation)
{
    if (!evaluation.metrics.memory)
        return nullptr;
    const MemoryMetrics &memory = *evaluation.metrics.memory;
    const MemoryStrategy &strategy = evaluation.plan->memory;
    const bool offloads = strategy.activationOffload != ActivationOffload::None || strategy.offloadExpertInput
        || strategy.optimizerOffload != OptimizerOffload::None;
    Json stages = Json::array();
    for (const StageMemory &s : memory.perStage) {
        stages.push_back({ { "stage", s.stage }, { "weights_bytes", s.weights }, { "gradients_bytes", s.gradients },
            { "optimizer_bytes", s.optimizer }, { "activations_bytes", s.activations }, { "buffers_bytes", s.buffers },
            { "reserved_bytes", s.reserved }, { "offloaded_bytes", offloads ? Json(s.offloaded) : Json(nullptr) },
            { "peak_bytes", s.peak }, { "device_bytes", s.device }, { "capacity_bytes", s.capacity },
            { "fits", s.fits() }, { "micro_batches_in_flight", finite(s.inFlight) } });
    }
    Json devices = Json::array();
    for (const DeviceMetrics &d : evaluation.metrics.devices) {
        const Datacenter &datacenter = evaluation.plan->cluster.datacenters.at(std::size_t(d.at.datacenter));
        const Pool &pool = datacenter.pools.at(std::size_t(d.at.pool));
        devices.push_back({ { "datacenter", datacenter.id }, { "pool", pool.id }, { "gpu", gpuIdOf(pool) },
            { "stage", d.stage }, { "ranks", d.ranks }, { "tensor", d.tensor }, { "micro_batch", d.microBatch },
            { "micro_batches", d.microBatches }, { "state_share", finite(d.stateShare) }, { "time_s", finite(d.time) },
            { "wait_s", finite(d.wait) }, { "peak_bytes", d.peak }, { "device_bytes", d.device },
            { "capacity_bytes", d.capacity }, { "states_bytes", finite(d.states) } });
    }
    const auto fullest = std::ranges::find(memory.perStage, memory.fullestStage, &StageMemory::stage);
    const bool isThere = fullest != memory.perStage.end();
    return { { "peak_bytes", memory.peak }, { "reserved_bytes", isThere ? Json(fullest->reserved) : Json(nullptr) },
        { "device_bytes", isThere ? Json(fullest->device) : Json(nullptr) }, { "capacity_bytes", memory.capacity },
        { "fits", memory.fits }, { "per_stage", stages }, { "per_device", devices } };
}

Json wan(const Evaluation &evaluation)
{
    const std::vector<WanLink> &links = evaluation.plan->cluster.wanLinks;
    if (links.empty())
        return nullptr;
    Json list = Json::array();
    for (const WanLinkUse &use : evaluation.metrics.wanLinks) {
        const auto &between = links.at(std::size_t(use.link)).between;
        list.push_back({ { "between", between }, { "bytes", finite(use.totalBytes()) },
            { "bytes_by_direction", { finite(use.bytes[0]), finite(use.bytes[1]) } },
            { "utilization", finite(use.utilization) }, { "usable_utilization", finite(use.usableUtilization) },
            { "carrying_by_direction", { finite(use.carrying[0]), finite(use.carrying[1]) } },
            { "limit", use.limit == WanLimit::None ? Json(nullptr) : Json(toString(use.limit)) },
            { "limit_gbps", use.limit == WanLimit::None ? Json(nullptr) : finite(use.limitGbps) },
            { "tcp_connections", use.tcpConnections }, { "node_pair_gbps", finite(use.nodePairGbps) },
            { "node_pair_source", use.isMeasured ? Json(links.at(std::size_t(use.link)).cloud) : Json(nullptr) } });
    }
    return { { "bytes_per_iteration", finite(evaluation.metrics.wanBytesPerIteration) }, { "links", list } };
}

Json cost(const CostMetrics &c)
{
    return { { "usd_per_iteration", finite(c.usdPerIteration) },
        { "usd_per_million_tokens", finite(c.usdPerMillionTokens) }, { "usd_total", finite(c.usdTotal) },
        { "egress_usd_total", finite(c.egressUsdTotal) }, { "days_total", finite(c.daysTotal) },
        { "energy_mwh_total", finite(c.energyMwhTotal) }, { "co2_t_total", finite(c.co2TonsTotal) } };
}

Json servedModels(const BubbleFillMetrics &fill)
{
    Json list = Json::array();
    for (const ServedModelMetrics &served : fill.served)
        list.push_back({ { "model", served.model }, { "accepted", served.accepted }, { "rejected", served.rejected },
            { "ttft_ms", { { "p50", finite(served.ttftP50Ms) }, { "p99", finite(served.ttftP99Ms) } } } });
    return list;
}

Json bubbleFill(const std::optional<BubbleFillMetrics> &fill)
{
    if (!fill)
        return nullptr;
    return { { "accepted", fill->accepted }, { "rejected", fill->rejected },
        { "rejected_by",
            { { "memory", fill->rejectedForMemory }, { "window", fill->rejectedForWindow },
                { "full", fill->rejectedAsFull }, { "late", fill->rejectedAsLate },
                { "decode", fill->rejectedByDecode } } },
        { "groups", fill->groups }, { "gpus", fill->gpus }, { "filled_fraction", finite(fill->filledFraction) },
        { "prefill_tokens_per_s", finite(fill->prefillTokensPerSecond) },
        { "ttft_ms",
            { { "p50", finite(fill->ttftP50Ms) }, { "p95", finite(fill->ttftP95Ms) },
                { "p99", finite(fill->ttftP99Ms) } } },
        { "waiting", finite(fill->waiting) },
        { "saturation_requests_per_s", finite(fill->saturationRequestsPerSecond) },
        { "seed", fill->seed ? Json(*fill->seed) : Json(nullptr) }, { "iterations", fill->iterations },
        { "settled", fill->isSettled }, { "decode_requests", finite(fill->decodeRequests) },
        { "decode_requests_per_s", finite(fill->decodeRequestsPerSecond) }, { "served", servedModels(*fill) },
        { "dedicated_ttft_ms", finite(fill->dedicatedTtftMs) }, { "ttft_inflation", finite(fill->ttftInflation) },
        { "memory_bytes_per_gpu", fill->memoryPerGpu }, { "usd_per_hour", finite(fill->usdPerHour) },
        { "training_delay_s", finite(fill->trainingDelay) } };
}

Json offload(const Metrics &metrics)
{
    if (!metrics.offload)
        return nullptr;
    const OffloadMetrics &o = *metrics.offload;
    const bool hasPolicy = o.layersKept + o.layersSwapped + o.layersRecomputed > 0;
    const auto layers = [&](int count) { return hasPolicy ? Json(count) : Json(nullptr); };
    return { { "bytes_per_gpu_per_iteration", finite(o.bytesPerGpu) },
        { "required_write_gbytes_per_s", finite(o.requiredWriteGBps) }, { "stall_s", finite(o.stall) },
        { "activation_peak_reduction", finite(o.activationPeakReduction) },
        { "ssd_lifetime_years", finite(o.ssdLifetimeYears) }, { "ssd_usd_per_gpu", finite(o.ssdUsdPerGpu) },
        { "read_bytes_per_gpu", finite(o.bytesRead) }, { "forwarded_bytes_per_gpu", finite(o.bytesForwarded) },
        { "dropped_bytes_per_gpu", finite(o.bytesDropped) }, { "most_away_bytes", o.mostOffloaded },
        { "layers_kept", layers(o.layersKept) }, { "layers_swapped", layers(o.layersSwapped) },
        { "layers_recomputed", layers(o.layersRecomputed) }, { "token_share", finite(o.tokenShare) },
        { "recompute_s", hasPolicy ? finite(o.recompute) : Json(nullptr) } };
}

/// Null where the model has no experts, or times are measured ones.
Json expertsJson(const Metrics &metrics)
{
    if (!metrics.experts)
        return nullptr;
    const ExpertMetrics &e = *metrics.experts;
    return { { "wire_bytes", finite(e.wireBytes) }, { "nic_bytes", finite(e.nicBytes) },
        { "wan_bytes", finite(e.wanBytes) }, { "logical_gbytes_per_s", finite(e.logicalGBps) },
        { "wire_gbytes_per_s", finite(e.wireGBps) }, { "dropped_share", finite(e.droppedShare) },
        { "slowest_rank", e.slowestRank }, { "skew", finite(e.skew) }, { "chosen", toString(e.chosen) },
        { "forward_chunks", e.forwardChunks }, { "backward_chunks", e.backwardChunks },
        { "layer_ms", finite(e.layerMs) }, { "exposed_ms", finite(e.exposedMs) } };
}

/// Null where everything is shared evenly.
Json heterogeneity(const Evaluation &evaluation)
{
    const SharedOut &shares = evaluation.layout.shares;
    if (shares.ranks.empty())
        return nullptr;
    const Cluster &cluster = evaluation.plan->cluster;
    Json sets = Json::array();
    for (const ReplicaShare &share : shares.ranks) {
        const Datacenter &datacenter = cluster.datacenters.at(std::size_t(share.at.datacenter));
        const Pool &pool = datacenter.pools.at(std::size_t(share.at.pool));
        sets.push_back({ { "datacenter", datacenter.id }, { "pool", pool.id }, { "gpu", gpuIdOf(pool) },
            { "ranks", share.pipelines }, { "samples", share.samples }, { "state_share", finite(share.stateShare) },
            { "why", share.why } });
    }
    const bool isTimed = shares.layerTime > 0;
    return { { "bottleneck", sets.at(std::size_t(shares.slowest))["gpu"] },
        { "layer_ms", isTimed ? finite(shares.layerTime * 1000) : Json(nullptr) },
        { "gain_over_even",
            isTimed && shares.evenLayerTime > 0 ? finite(shares.evenLayerTime / shares.layerTime) : Json(nullptr) },
        { "even_micro_batch", shares.evenMicroBatch }, { "largest_micro_batch", shares.largestMicroBatch },
        { "shares", sets } };
}

Json layout(const Evaluation &evaluation)
{
    const Layout &layout = evaluation.layout;
    const Cluster &cluster = evaluation.plan->cluster;
    const auto datacenter = [&](int index) { return cluster.datacenters.at(std::size_t(index)).id; };
    Json classes = Json::array();
    for (const PipelineClass &c : layout.classes) {
        Json locations = Json::array();
        for (const StageLocation &location : c.locations)
            locations.push_back(datacenter(location.datacenter));
        classes.push_back({ { "pipelines", c.pipelines }, { "micro_batches", c.microBatches },
            { "datacenter_per_stage", locations } });
    }
    Json idle = Json::array();
    for (const IdleGpus &i : layout.idle) {
        idle.push_back({ { "datacenter", datacenter(i.datacenter) },
            { "pool", cluster.datacenters.at(std::size_t(i.datacenter)).pools.at(std::size_t(i.pool)).id },
            { "gpus", i.gpus }, { "reason", i.reason } });
    }
    return { { "mode", toString(layout.mode) }, { "data_parallel", layout.data }, { "pipeline_classes", classes },
        { "idle", idle } };
}

} // namespace

Json metricsObject(const Evaluation &evaluation)
{
    const Metrics &m = evaluation.metrics;
    Json json;
    json["name"] = evaluation.plan->name;
    json["iteration_time_s"] = finite(m.iterationTime);
    json["tokens_per_s"] = finite(m.tokensPerSecond);
    json["tokens_per_s_per_gpu"] = finite(m.tokensPerSecondPerGpu);
    json["model_tflops_per_gpu"] = finite(m.modelTflopsPerGpu);
    json["mfu"] = finite(m.mfu);
    json["hfu"] = finite(m.hfu);
    json["gpus_used"] = m.gpusUsed;
    json["gpus_total"] = m.gpusTotal;
    json["feasible"] = evaluation.feasible();
    json["problems"] = problemsJson(evaluation);
    json["gpu_utilization"] = finite(m.gpuUtilization);
    json["gpu_utilization_with_fill"] = finite(m.gpuUtilizationWithFill);
    json["bubble_fraction"] = finite(m.bubbleFraction);
    json["breakdown_s"] = breakdown(m);
    json["breakdown_detail_s"] = breakdownDetail(m);
    json["memory"] = memory(evaluation);
    json["wan"] = wan(evaluation);
    json["cost"] = cost(m.cost);
    json["bubble_fill"] = bubbleFill(m.bubbleFill);
    json["heterogeneity"] = heterogeneity(evaluation);
    json["moe"] = expertsJson(m);
    json["jobs"] = jobsObject(evaluation);
    json["offload"] = offload(m);
    json["confidence"] = { { "label", m.confidence.label.empty() ? Json(nullptr) : Json(m.confidence.label) },
        { "iteration_time_low_s", finite(m.confidence.iterationLow) },
        { "iteration_time_high_s", finite(m.confidence.iterationHigh) },
        { "note", m.confidence.note.empty() ? Json(nullptr) : Json(m.confidence.note) } };
    json["layout"] = layout(evaluation);
    json["engine"] = { { "spans", m.spans }, { "simulate_ms", finite(m.simulateMs) },
        { "evaluate_ms", finite(m.evaluateMs) } };
    return json;
}

std::string metricsJson(const Evaluation &evaluation)
{
    return dumped(metricsObject(evaluation));
}

} // namespace trainyard
