#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is conserved whatever two systems do to each other, counted from plan and spans by other sums than the
// evaluation's own: bytes over each link, bytes off and onto each GPU, tokens to experts and back, samples, GPUs.

#include "core/engine/timeline/memory_walk.h"
#include "core/evaluation/evaluate/expert_layer.h"
#include "core/facts/catalogue/catalogue.h"
#include "tests/core/evaluation/evaluate/plan_checks.h"

#include <array>

namespace trainyard::test {

inline bool isNear(double a, double b, double tolerance = 1e-9)
{
    return std::abs(a - b) <= tolerance * std::max({ 1.0, std::abs(a), std::abs(b) });
}

inline std::string differ(double a, double b)
{
    return std::to_string(a) + " and " + std::to_string(b);
}

inline void checkFinite(Findings &findings, unsigned seed, const Metrics &m)
{
    for (const Metric *value : { &m.iterationTime, &m.tokensPerSecond, &m.tokensPerSecondPerGpu, &m.modelTflopsPerGpu,
             &m.mfu, &m.hfu, &m.gpuUtilization, &m.gpuUtilizationWithFill, &m.bubbleFraction, &m.cost.usdPerIteration,
             &m.cost.usdPerMillionTokens, &m.cost.energyMwhTotal })
        findings.expect(!*value || (std::isfinite(**value) && **value >= 0), seed, "numbers are finite, none negative");
    findings.expect(
        std::isfinite(m.wanBytesPerIteration) && m.wanBytesPerIteration >= 0, seed, "bytes of the WAN are finite");
    for (const WanLinkUse &use : m.wanLinks)
        for (const double value : { use.bytes[0], use.bytes[1], use.utilization, use.usableUtilization, use.carrying[0],
                 use.carrying[1], use.limitGbps })
            findings.expect(std::isfinite(value) && value >= 0, seed, "numbers of links are finite, none negative");
}

/// GPUs that serve, and those that do not, are all there are; seconds of each add up to the iteration; every sample of
/// the batch is in one micro-batch of one replica.
inline void checkGpus(Findings &findings, unsigned seed, const Evaluation &e)
{
    const Metrics &m = e.metrics;
    int used = 0, idle = 0, ranks = 0;
    for (const GpuRun &run : e.layout.runs)
        used += run.gpus;
    for (const IdleGpus &of : e.layout.idle)
        idle += of.gpus;
    for (const DeviceMetrics &device : m.devices) {
        ranks += device.ranks;
        findings.expect(isNear(device.time + device.wait, *m.iterationTime, 1e-6), seed,
            "seconds of a GPU add up to the iteration: " + differ(device.time + device.wait, *m.iterationTime));
        findings.expect(
            device.time >= -1e-12 && device.wait >= -1e-9, seed, "no GPU computes or waits less than nothing");
    }
    findings.expect(used == m.gpusUsed && ranks == used, seed,
        "GPUs of runs and devices are those in use: " + differ(used, m.gpusUsed) + ", " + std::to_string(ranks));
    findings.expect(used + idle == m.gpusTotal && m.gpusTotal == e.plan->cluster.gpus(), seed,
        "used and idle GPUs are all: " + differ(used + idle, m.gpusTotal));
    double samples = 0;
    for (const PipelineClass &c : e.layout.classes)
        samples +=
            double(c.pipelines) * c.microBatches * (c.microBatch > 0 ? c.microBatch : e.plan->workload.microBatch);
    if (e.layout.mode == PlacementMode::DataAcross || e.plan->heterogeneity.compute == ComputeSharing::Balanced)
        findings.expect(samples >= e.plan->workload.globalBatch, seed,
            "every sample is computed: " + differ(samples, e.plan->workload.globalBatch));
}

/// Seconds of training on all GPUs / their seconds, from spans and the share of computation in them.
inline void checkUse(Findings &findings, unsigned seed, const Evaluation &e)
{
    double busy = 0, gpus = 0;
    for (const Track &track : e.timeline.tracks) {
        if (track.stream != Stream::Compute)
            continue;
        const auto c = std::size_t(track.pipelineClass), s = std::size_t(track.stage);
        const auto device = std::ranges::find_if(e.metrics.devices,
            [&](const DeviceMetrics &d) { return d.pipelineClass == track.pipelineClass && d.stage == track.stage; });
        if (device == e.metrics.devices.end())
            continue;
        Nanoseconds sum = 0;
        for (std::uint32_t span = track.first; span < track.last; ++span)
            sum += isTrainingCompute(e.timeline.kind[span]) ? e.timeline.end[span] - e.timeline.start[span] : 0;
        const double share = e.metrics.computeShare.empty() ? 1 : e.metrics.computeShare[c][s];
        busy += toSeconds(sum).value * share * device->ranks;
        gpus += device->ranks;
    }
    if (gpus > 0)
        findings.expect(isNear(busy / gpus / *e.metrics.iterationTime, *e.metrics.gpuUtilization, 1e-6), seed,
            "the use of GPUs is what their spans say: "
                + differ(busy / gpus / *e.metrics.iterationTime, *e.metrics.gpuUtilization));
}

/// Over each link and direction: what spans of boundaries carry = pipelines x micro-batches x boundaries x b s h bits
/// (each sender's), = what the link's metric says, where nothing else crosses; no less where gradients or tokens do. A
/// transfer begins when its sender has ended, and nobody reads it before it is there.
inline void checkWan(Findings &findings, unsigned seed, const Evaluation &e)
{
    const Timeline &t = e.timeline;
    const Plan &plan = *e.plan;
    std::vector<std::array<double, 2>> sent(plan.cluster.wanLinks.size()), wanted(sent), transfers(sent);
    for (const Track &track : t.tracks) {
        if (track.stream != Stream::Wan || track.wanLink < 0)
            continue;
        const PipelineClass &c = e.layout.classes[std::size_t(track.pipelineClass)];
        const auto link = std::size_t(track.wanLink);
        const std::string &from =
            plan.cluster.datacenters[std::size_t(c.locations[std::size_t(track.stage)].datacenter)].id;
        const std::size_t way = from == plan.cluster.wanLinks[link].between[0] ? 0 : 1;
        for (std::uint32_t span = track.first; span < track.last; ++span) {
            sent[link][way] += t.bytesMoved(span) * c.pipelines;
            transfers[link][way] += c.pipelines;
            const std::uint32_t origin = t.origin.empty() ? kNoSpan : t.origin[span];
            findings.expect(origin != kNoSpan && t.end[origin] <= t.start[span], seed,
                "a transfer over the WAN carries what has been computed");
        }
    }
    // Forward and backward of every micro-batch cross every boundary between datacenters once.
    const double bits = std::min(16.0, double(plan.wan.activationBits.value_or(16)));
    const bool isChain = traitsOf(plan.schedule).copies() == 1 && degreesOf(plan).programChunks() == 1;
    for (const PipelineClass &c : e.layout.classes)
        for (std::size_t s = 0; isChain && s + 1 < c.locations.size(); ++s) {
            const int a = c.locations[s].datacenter, b = c.locations[s + 1].datacenter;
            if (a == b)
                continue;
            const auto &sites = plan.cluster.datacenters;
            const int link = plan.cluster.linkBetween(sites[std::size_t(a)].id, sites[std::size_t(b)].id);
            const double each = double(plan.workload.sequenceLength) * e.model.hidden * bits / 8
                * (c.microBatch > 0 ? c.microBatch : plan.workload.microBatch);
            for (std::size_t way = 0; way < 2; ++way)
                wanted[std::size_t(link)][way] += each * c.microBatches * c.pipelines;
        }
    double all = 0;
    for (const WanLinkUse &use : e.metrics.wanLinks) {
        const auto link = std::size_t(use.link);
        all += use.totalBytes();
        for (std::size_t way = 0; way < 2; ++way) {
            if (isChain && !plan.profile)
                findings.expect(isNear(sent[link][way], wanted[link][way]), seed,
                    "boundaries send as many bytes as activations have: " + differ(sent[link][way], wanted[link][way]));
            const bool isAlone = use.syncSeconds[way] == 0 && use.expertSeconds[way] == 0;
            findings.expect(
                isAlone ? isNear(sent[link][way], use.bytes[way]) : use.bytes[way] >= sent[link][way] * (1 - 1e-9),
                seed, "what is sent over a link is what the link carries: " + differ(sent[link][way], use.bytes[way]));
        }
        findings.expect(isNear(transfers[link][0], transfers[link][1]), seed,
            "as many gradients come back over a link as activations went");
    }
    findings.expect(isNear(all, e.metrics.wanBytesPerIteration), seed, "links add up to the WAN's bytes");
    // Two datacenters give each other the gradients of as many parameters as they get.
    const bool areTwo = plan.cluster.datacenters.size() == 2 && !plan.profile;
    for (const WanLinkUse &use : e.metrics.wanLinks)
        findings.expect(
            !areTwo || use.expertSeconds[0] > 0 || use.expertSeconds[1] > 0 || isNear(use.bytes[0], use.bytes[1], 1e-6),
            seed, "as many bytes go between two datacenters as come: " + differ(use.bytes[0], use.bytes[1]));
}

/// Of each stage: what its stores moved = written, what its loads moved = read, written = read + forwarded; what an
/// iteration takes of a GPU's memory it gives back, and it never gives back more.
inline void checkOffload(Findings &findings, unsigned seed, const Evaluation &e)
{
    const Timeline &t = e.timeline;
    std::map<std::pair<int, int>, std::array<double, 2>> moved; // [class, stage]: stored, loaded
    for (const Track &track : t.tracks) {
        if (track.stream == Stream::Compute)
            moved[{ track.pipelineClass, track.stage }];
        if (track.stream != Stream::Store && track.stream != Stream::Load)
            continue;
        for (std::uint32_t span = track.first; span < track.last; ++span)
            moved[{ track.pipelineClass, track.stage }][track.stream == Stream::Store ? 0 : 1] += t.bytesMoved(span);
    }
    double mostWritten = 0, readOfMost = 0;
    for (const auto &[at, bytes] : moved) {
        const LiveOverTime live = liveOverTime(t, at.first, at.second, true, true);
        findings.expect(isNear(bytes[0], live.use.written, 1e-6) && isNear(bytes[1], live.use.read, 1e-6), seed,
            "stores and loads move what is written and read: " + differ(bytes[0], live.use.written) + ", "
                + differ(bytes[1], live.use.read));
        findings.expect(isNear(live.use.written, live.use.read + live.use.forwarded, 1e-6), seed,
            "what is written is read or forwarded: " + differ(live.use.written, live.use.read + live.use.forwarded));
        for (const std::vector<MemoryStep> *curve : { &live.gpu, &live.whole }) {
            std::int64_t least = 0;
            for (const MemoryStep &step : *curve)
                least = std::min(least, step.bytes);
            findings.expect(curve->empty() || std::abs(double(curve->back().bytes)) <= 2, seed,
                "an iteration gives back what it took: " + std::to_string(curve->empty() ? 0 : curve->back().bytes));
            findings.expect(least >= -2, seed, "no GPU holds less than nothing: " + std::to_string(least));
        }
        if (bytes[0] > mostWritten) {
            mostWritten = bytes[0];
            readOfMost = bytes[1];
        }
    }
    if (!e.metrics.offload)
        return findings.expect(mostWritten == 0, seed, "what leaves a GPU is told of");
    const OffloadMetrics &o = *e.metrics.offload;
    findings.expect(isNear(o.bytesPerGpu, mostWritten, 1e-6) && isNear(o.bytesRead, readOfMost, 1e-6), seed,
        "metrics of offload are those of the GPU that moves most: " + differ(o.bytesPerGpu, mostWritten));
    findings.expect(isNear(o.bytesPerGpu, o.bytesRead + o.bytesForwarded, 1e-6), seed,
        "metrics of offload: written is read or forwarded");
    findings.expect(o.bytesDropped >= 0 && o.stall >= -1e-12 && std::isfinite(o.requiredWriteGBps), seed,
        "metrics of offload are no less than nothing");
}

/// States off the GPU: within a step, and what its drives give they have been given.
inline void checkSteps(Findings &findings, unsigned seed, const Evaluation &e)
{
    for (const auto &stages : e.offloadedSteps)
        for (const OffloadedStep &step : stages) {
            const Seconds parts[] = { step.cpu, step.gpu, step.toHost, step.toGpu, step.write, step.read };
            for (const Seconds part : parts)
                findings.expect(part.value >= 0 && part.value <= step.time.value * (1 + 1e-9), seed,
                    "no stream of a step outlasts it: " + differ(part.value, step.time.value));
            findings.expect(
                step.readBack.value <= 0 || step.written.value > 0, seed, "drives give back what was written there");
            findings.expect(step.sent.value >= 0 && step.fetched.value >= 0, seed, "a step moves no less than nothing");
        }
}

/// Over each way gradients go as far as tokens: each exchange's counterpart moves what it moves, or, where a tensor
/// group cuts or adds up instead of exchanging (slices, experts that are shared out), the same pass of the other
/// direction does.
inline void checkExperts(Findings &findings, unsigned seed, const Evaluation &e)
{
    const ExpertMetrics &m = *e.metrics.experts;
    findings.expect(m.wireBytes >= 0 && m.nicBytes + m.wanBytes <= m.wireBytes * (1 + 1e-9), seed,
        "bytes to experts by NIC and WAN are among all");
    findings.expect(m.droppedShare >= 0 && m.droppedShare < 1 && m.skew >= 1 - 1e-9 && m.exposedMs >= -1e-9
            && m.exposedMs <= m.layerMs * (1 + 1e-9),
        seed, "loads and times of experts are in their ranges");
    const auto layer = expertLayer(e, builtinCatalogue());
    findings.expect(layer && *layer, seed, "the expert layer opens");
    if (!layer || !*layer)
        return;
    const ExchangeChoice &c = (*layer)->choice;
    for (const Way way : { Way::Nvlink, Way::Nic, Way::Wan }) {
        const double to = c.forwardDispatch.bytes(way), from = c.forwardCombine.bytes(way),
                     gradientsTo = c.backwardDispatch.bytes(way), gradientsFrom = c.backwardCombine.bytes(way);
        findings.expect(isNear(to + from, gradientsTo + gradientsFrom), seed,
            "gradients of tokens travel as far as the tokens: " + differ(to + from, gradientsTo + gradientsFrom));
        findings.expect((isNear(to, gradientsFrom) && isNear(from, gradientsTo))
                || (isNear(to, gradientsTo) && isNear(from, gradientsFrom)),
            seed,
            "gradients come the way that tokens went: " + differ(to, gradientsFrom) + ", " + differ(from, gradientsTo));
    }
}

/// A plan that can run holds no more than there is, at any time.
inline void checkMemory(Findings &findings, unsigned seed, const Evaluation &e)
{
    if (!e.metrics.memory || !e.feasible())
        return;
    findings.expect(e.metrics.memory->fits, seed, "a plan that can run fits");
    for (const StageMemory &stage : e.metrics.memory->perStage)
        findings.expect(stage.device <= stage.capacity, seed, "no GPU holds more than it has");
    for (const DeviceMetrics &device : e.metrics.devices)
        findings.expect(device.device <= device.capacity, seed, "no GPU of any class holds more than it has");
    findings.expect(e.metrics.memory->hostCapacity == 0 || e.metrics.memory->host <= e.metrics.memory->hostCapacity,
        seed, "no host holds more than it has");
}

} // namespace trainyard::test
