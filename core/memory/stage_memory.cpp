// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/stage_memory.h"

#include "core/ladder/recompute.h"
#include "core/memory/in_flight_room.h"
#include "core/memory/stage_states.h"
#include "core/schedule/traits.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

namespace trainyard {

namespace {

std::string ofMicroBatches(const char *what, double count)
{
    char text[96];
    std::snprintf(text, sizeof text, "%s of %.3g micro-batch%s", what, count, count == 1 ? "" : "es");
    return text;
}

/// Collects named parts and their sums, in whole bytes, so that the parts add up to the last one.
class Parts {
public:
    explicit Parts(StageMemory &memory) : m_memory(memory) {}

    void add(std::int64_t &field, std::string name, double bytes)
    {
        const std::int64_t whole = wholeBytes(bytes);
        field += whole;
        if (whole != 0)
            m_memory.parts.emplace_back(std::move(name), whole);
    }

private:
    StageMemory &m_memory;
};

void addLive(StageMemory &m, const LiveBytes &live)
{
    Parts parts(m);
    m.inFlight = live.inFlight;
    parts.add(m.activations, ofMicroBatches("activations", live.inFlight), live.activations + live.workspace.kept);
    parts.add(m.activations, "kept for weight gradients", live.forWeightGrads);
    parts.add(m.buffers, "embedding masks and stage outputs", live.ends);
    parts.add(m.buffers, "layer under recomputation", live.workspace.recomputed);
    parts.add(m.buffers, "logits and loss", live.loss + live.workspace.logits);
    parts.add(m.buffers, "gradients of activations", live.workspace.gradients);
    parts.add(m.buffers, "gradients of weights at work", live.workspace.weightGradients);
}

StageMemory memoryOf(const Workload &workload, const RankSet &ranks, const LiveBytes &live, const std::vector<ChunkMemory> &chunks)
{
    StageMemory m;
    m.stage = ranks.stage;
    m.capacity = workload.gpu(ranks.at).memoryBytes;
    Parts parts(m);
    StageStates states = stageStates(workload, ranks);
    parts.add(m.weights, "weights", states.weights);
    parts.add(m.gradients, "gradients", states.gradients);
    parts.add(m.optimizer, "optimizer states", states.optimizer);
    for (auto &[name, bytes] : states.buffers)
        parts.add(m.buffers, std::move(name), bytes);
    m.offloaded += wholeBytes(states.inHost + states.onDrives);
    double perMicroBatch = 0;
    for (const ChunkMemory &chunk : chunks)
        perMicroBatch += chunk.kept;
    m.activationPerMicroBatch = wholeBytes(perMicroBatch);
    addLive(m, live);
    m.peak = m.weights + m.gradients + m.optimizer + m.activations + m.buffers;
    m.reserved = m.peak;
    parts.add(m.reserved, "allocator reserve", double(m.peak) * (workload.stack.fragmentation - 1));
    m.device = m.reserved;
    parts.add(m.device, "CUDA context", workload.stack.contextBytes);
    parts.add(m.device, "communication buffers", communicators(workload) * workload.stack.communicatorBytes);
    std::stable_sort(m.parts.begin(), m.parts.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
    return m;
}

} // namespace

std::vector<StageMemory> boundedStageMemory(const Workload &workload)
{
    std::vector<StageMemory> stages;
    const auto &classes = workload.layout.classes;
    if (!workload.source.hasMemory || classes.empty())
        return stages;
    const auto fullest = std::ranges::max_element(classes, {}, &PipelineClass::microBatches);
    const std::vector<int> inFlight = mostInFlight(workload, *fullest);
    const ScheduleTraits &schedule = traitsOf(workload.plan->schedule);
    for (int stage = 0; stage < workload.degrees.pipeline; ++stage) {
        const std::vector<ChunkMemory> chunks = chunkMemory(workload, stage);
        // The chunks of a stage may be in flight unequally often: as if all that are were of the one that keeps most.
        double bound = 0;
        const double count = double(inFlight[std::size_t(stage)]) * double(chunks.size());
        const bool staysWhole = stage + 1 == workload.degrees.pipeline && !workload.stack.recomputesLastStage;
        const double whole = !recomputesAnything(*workload.plan) ? 0 : staysWhole ? count : 1;
        for (const ChunkMemory &chunk : chunks) {
            const LiveBound of = liveBound({chunk}, schedule.splitsBackward);
            bound = std::max(bound, of.of(count, whole));
        }
        std::optional<StageMemory> most;
        for (const RankSet &ranks : unlikeSets(workload, stage)) {
            StageMemory memory = memoryOf(workload, ranks, {.activations = bound, .inFlight = double(inFlight[std::size_t(stage)])}, chunks);
            if (!most || double(memory.device) * double(most->capacity) > double(most->device) * double(memory.capacity))
                most = std::move(memory);
        }
        stages.push_back(std::move(*most));
    }
    return stages;
}

LiveMemory liveMemory(const Costs &costs, const Timeline *timeline, bool wantsCurves)
{
    LiveMemory result;
    const std::vector<PipelineCosts> &classes = costs.iteration.classes;
    result.leaves = !costs.offload.empty();
    if (result.leaves && !timeline)
        return result;
    for (std::size_t c = 0; c < classes.size() && !classes[c].memory.empty(); ++c) {
        const PipelineCosts &pipelines = classes[c];
        if (c > 0 && !result.leaves && pipelines.program == classes.front().program) {
            result.of.push_back(result.of.front());
            continue;
        }
        // Opportunistic forwards are counted in the order in which they hold most.
        const bool fromSpans = timeline && (result.leaves || pipelines.program.rule != OrderRule::OpportunisticForward);
        auto &stages = result.of.emplace_back();
        for (std::size_t stage = 0; stage < pipelines.memory.size(); ++stage) {
            const bool isCurve = wantsCurves && timeline && c == 0;
            LiveOverTime curve;
            if (isCurve)
                curve = liveOverTime(*timeline, 0, int(stage), result.leaves, true);
            if (fromSpans && isCurve) {
                stages.push_back(curve.withoutCurves());
            } else {
                stages.push_back(fromSpans ? liveOverTime(*timeline, int(c), int(stage), result.leaves, false)
                                           : liveInOrder(pipelines.program, int(stage), *pipelines.memory[stage], costs.iteration.isRecomputing));
            }
            if (isCurve)
                result.curves.push_back(std::move(curve));
        }
    }
    return result;
}

std::vector<StageMemory> stageMemory(const Workload &workload, const Costs &costs, LiveMemory &live, const Timeline *timeline)
{
    std::vector<StageMemory> stages;
    for (int stage = 0; stage < workload.degrees.pipeline && workload.source.hasMemory; ++stage) {
        const auto at = std::size_t(stage);
        std::optional<StageMemory> fullest;
        double mostAway = 0;
        for (const std::vector<LiveOverTime> &ofClass : live.of)
            mostAway = std::max(mostAway, ofClass[at].mostAway);
        for (const RankSet &ranks : unlikeSets(workload, stage)) {
            std::size_t most = 0;  // of the classes that have such ranks there, the one that holds most
            bool isFirst = true;
            for (std::size_t c = 0; c < live.of.size(); ++c)
                if (areAlike(workload, ranks.at, workload.layout.classes[c].locations[at]) && (std::exchange(isFirst, false) || live.of[c][at].peak > live.of[most][at].peak))
                    most = c;
            const PipelineCosts &pipelines = costs.iteration.classes[most];
            const OpMemory &memoryOfOps = *pipelines.memory[at];
            LiveBytes parts;
            if (!live.of.empty())
                parts = live.of[most][at].isFromSpans ? fullestMoment(live.of[most][at], *timeline, int(most), stage, memoryOfOps)
                                                      : fullestMoment(live.of[most][at], pipelines.program, stage, memoryOfOps, costs.iteration.isRecomputing);
            StageMemory memory = memoryOf(workload, ranks, parts, memoryOfOps.chunks());
            if (!fullest && !live.curves.empty()) {   // the first set is the first class's
                double peak = live.curves[at].peak;
                for (std::size_t c = 1; c < live.of.size(); ++c)
                    if (areAlike(workload, ranks.at, workload.layout.classes[c].locations[at]))
                        peak = std::max(peak, live.of[c][at].peak);
                live.base.push_back(memory.device - wholeBytes(peak));
            }
            const auto fill = [](const StageMemory &m) { return double(m.device) / double(std::max<std::int64_t>(1, m.capacity)); };
            if (!fullest || fill(memory) > fill(*fullest))
                fullest = std::move(memory);
        }
        fullest->activationsAway = wholeBytes(mostAway);
        fullest->offloaded += fullest->activationsAway;   // beside states that lie elsewhere
        stages.push_back(std::move(*fullest));
    }
    return stages;
}

MemoryCurves memoryCurves(LiveMemory live, const Timeline &timeline)
{
    MemoryCurves curves;
    for (std::size_t stage = 0; stage < live.base.size(); ++stage) {
        LiveOverTime &curve = live.curves[stage];
        if (!live.leaves)
            curve.gpu.push_back({timeline.duration, curve.gpu.back().bytes});
        for (auto *steps : {&curve.gpu, &curve.whole})
            for (MemoryStep &step : *steps)
                step.bytes += live.base[stage];
        curves.with.push_back(std::move(curve.gpu));
        if (live.leaves)
            curves.kept.push_back(std::move(curve.whole));
    }
    return curves;
}

} // namespace trainyard
