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

void addHeld(StageMemory &m, const Held &held)
{
    Parts parts(m);
    m.inFlight = held.inFlight;
    parts.add(m.activations, ofMicroBatches("activations", held.inFlight), held.activations + held.beside.kept);
    parts.add(m.activations, "kept for weight gradients", held.forWeightGrads);
    parts.add(m.buffers, "embedding masks and stage outputs", held.ends);
    parts.add(m.buffers, "layer under recomputation", held.beside.recomputed);
    parts.add(m.buffers, "logits and loss", held.loss + held.beside.logits);
    parts.add(m.buffers, "gradients of activations", held.beside.gradients);
    parts.add(m.buffers, "gradients of weights at work", held.beside.weightGradients);
}

StageMemory memoryOf(const Workload &workload, int stage, const Held &held, const std::vector<ChunkMemory> &chunks)
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
    addHeld(m, held);
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
            stages.push_back(heldOverTime(timeline, int(c), int(stage), costs.offload[c][stage], chunkMemory(workload, int(stage)),
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
        const HeldOverTime *away = nullptr;
        double mostAway = 0;
        for (const std::vector<HeldOverTime> &stagesOfClass : offloaded) {
            const HeldOverTime &held = stagesOfClass[std::size_t(stage)];
            mostAway = std::max(mostAway, held.mostAway);
            away = !away || held.peak > away->peak ? &held : away;
        }
        for (const PipelineCosts &c : costs.iteration.classes) {
            if (away)
                break;
            const Fullest moment = fullestMoment(c.program, stage, chunks, recomputes);
            if (program && moment.total <= fullest.total)
                continue;
            fullest = moment;
            program = &c.program;
        }
        const Held held = away ? away->fullest : program ? heldAt(fullest, *program, stage, chunks, recomputes) : Held{};
        StageMemory memory = memoryOf(workload, stage, held, chunks);
        memory.offloaded += wholeBytes(mostAway);   // beside states that lie elsewhere
        memory.capacity = workload.gpu(workload.layout.classes.front().locations[std::size_t(stage)]).memoryBytes;
        for (const PipelineClass &c : workload.layout.classes)
            memory.capacity = std::min(memory.capacity, workload.gpu(c.locations[std::size_t(stage)]).memoryBytes);
        stages.push_back(std::move(memory));
    }
    return stages;
}

} // namespace trainyard
