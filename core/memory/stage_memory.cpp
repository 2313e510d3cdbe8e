// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/memory/stage_memory.h"

#include "core/ladder/recompute.h"
#include "core/memory/replay.h"
#include "core/memory/stage_states.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

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

StageMemory memoryOf(const Workload &workload, int stage, const LiveBytes &live, const std::vector<ChunkMemory> &chunks)
{
    StageMemory m;
    m.stage = stage;
    Parts parts(m);
    StageStates states = stageStates(workload, stage);
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

OffloadedMemory offloadedMemory(const Workload &workload, const Costs &costs, const Timeline &timeline)
{
    OffloadedMemory memory;
    const bool recomputes = recomputesAnything(*workload.plan);
    for (std::size_t c = 0; c < costs.offload.size(); ++c) {
        auto &stages = memory.emplace_back();
        for (std::size_t stage = 0; stage < costs.offload[c].size(); ++stage)
            stages.push_back(liveOverTime(timeline, int(c), int(stage), costs.offload[c][stage], chunkMemory(workload, int(stage)),
                                          costs.iteration.classes[c].program, recomputes));
    }
    return memory;
}

std::vector<StageMemory> stageMemory(const Workload &workload, const Costs &costs, const OffloadedMemory &offloaded)
{
    std::vector<StageMemory> stages;
    if (workload.plan->profile)
        return stages;
    const bool recomputes = recomputesAnything(*workload.plan);
    for (int stage = 0; stage < workload.plan->parallelism.pipeline; ++stage) {
        const std::vector<ChunkMemory> chunks = chunkMemory(workload, stage);
        Fullest fullest;
        const Program *program = nullptr;
        const LiveOverTime *fullestLive = nullptr;
        double mostOffloaded = 0;
        for (const std::vector<LiveOverTime> &stagesOfClass : offloaded) {
            const LiveOverTime &live = stagesOfClass[std::size_t(stage)];
            mostOffloaded = std::max(mostOffloaded, live.mostOffloaded);
            fullestLive = !fullestLive || live.peak > fullestLive->peak ? &live : fullestLive;
        }
        for (const PipelineCosts &c : costs.iteration.classes) {
            if (fullestLive)
                break;
            const Fullest moment = fullestMoment(c.program, stage, chunks, recomputes);
            if (program && moment.total <= fullest.total)
                continue;
            fullest = moment;
            program = &c.program;
        }
        const LiveBytes live = fullestLive ? fullestLive->fullest : program ? liveAt(fullest, *program, stage, chunks, recomputes) : LiveBytes{};
        StageMemory memory = memoryOf(workload, stage, live, chunks);
        memory.offloaded += wholeBytes(mostOffloaded);   // beside states that lie elsewhere
        memory.capacity = workload.gpu(workload.layout.classes.front().locations[std::size_t(stage)]).memoryBytes;
        for (const PipelineClass &c : workload.layout.classes)
            memory.capacity = std::min(memory.capacity, workload.gpu(c.locations[std::size_t(stage)]).memoryBytes);
        stages.push_back(std::move(memory));
    }
    return stages;
}

} // namespace trainyard
