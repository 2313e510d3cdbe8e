// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/stage_memory.h"

#include "core/memory/in_flight_room.h"
#include "core/placement/recompute.h"
#include "core/schedule/traits.h"
#include "core/states/stage_states.h"

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

} // namespace

StageMemory stageMemory(const Workload &workload, const RankSet &ranks, const LiveBytes &live, const std::vector<ChunkMemory> &chunks)
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
            StageMemory memory = stageMemory(workload, ranks, {.activations = bound, .inFlight = double(inFlight[std::size_t(stage)])}, chunks);
            if (!most || double(memory.device) * double(most->capacity) > double(most->device) * double(memory.capacity))
                most = std::move(memory);
        }
        stages.push_back(std::move(*most));
    }
    return stages;
}

} // namespace trainyard
