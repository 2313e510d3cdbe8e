// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/memory/stage_memory.h"

#include "core/base/units.h"
#include "core/iteration/model_states/stage_states.h"
#include "core/iteration/placement/layer_facts.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

namespace trainyard {

namespace {

// Parts of the buffers that come and go with micro-batches
constexpr const char *kEnds = "embedding masks and stage outputs", *kRecomputed = "layer under recomputation",
                     *kLogits = "logits and loss", *kGradients = "gradients of activations",
                     *kWeightGradients = "gradients of weights at work";

std::string ofMicroBatches(const char *what, double count)
{
    char text[96];
    std::snprintf(text, sizeof text, "%s of %.3g micro-batch%s", what, count, count == 1 ? "" : "es");
    return text;
}

/// Collects named parts and their sums, in whole bytes, so that the parts add up to the last one.
class StageParts {
public:
    StageParts(StageMemory &memory, bool isNamed)
        : m_memory(memory)
        , m_isNamed(isNamed)
    {
    }

    template <class Name> void add(std::int64_t &field, Name &&name, double bytes)
    {
        const std::int64_t whole = wholeBytes(bytes);
        field += whole;
        if (whole != 0 && m_isNamed)
            m_memory.parts.emplace_back(std::forward<Name>(name), whole);
    }

private:
    StageMemory &m_memory;
    bool m_isNamed;
};

void addLive(StageMemory &m, const LiveBytes &live, bool isNamed)
{
    StageParts parts(m, isNamed);
    m.inFlight = live.inFlight;
    parts.add(m.activations, isNamed ? ofMicroBatches("activations", live.inFlight) : std::string(),
        live.activations + live.workspace.kept);
    parts.add(m.activations, "kept for weight gradients", live.forWeightGrads);
    parts.add(m.buffers, kEnds, live.ends);
    parts.add(m.buffers, kRecomputed, live.workspace.recomputed);
    parts.add(m.buffers, kLogits, live.loss + live.workspace.logits);
    parts.add(m.buffers, kGradients, live.workspace.gradients);
    parts.add(m.buffers, kWeightGradients, live.workspace.weightGradients);
}

} // namespace

StageMemory stageMemory(const Workload &workload, const RankSet &ranks, const LiveBytes &live,
    const std::vector<ChunkMemory> &chunks, bool isNamed)
{
    StageMemory m;
    m.stage = ranks.stage;
    const Heterogeneity &h = workload.plan->heterogeneity;
    m.capacity = std::int64_t(double(workload.gpu(ranks.at).memoryBytes) * h.memoryFraction);
    const std::optional<double> measured = measuredBytes(workload, ranks.at);
    StageParts parts(m, isNamed);
    StageStates states = stageStates(workload, ranks);
    parts.add(m.weights, "weights", states.weights);
    parts.add(m.gradients, "gradients", states.gradients);
    parts.add(m.optimizer, "optimizer states", states.optimizer);
    for (auto &[name, bytes] : states.buffers)
        if (!measured)
            parts.add(m.buffers, std::move(name), bytes);
    m.offloaded += wholeBytes(states.inHost + states.onDrives);
    double perMicroBatch = 0;
    for (const ChunkMemory &chunk : chunks)
        perMicroBatch += chunk.kept;
    m.activationPerMicroBatch = wholeBytes(perMicroBatch);
    if (measured) {
        m.inFlight = live.inFlight;
        parts.add(m.activations, "measured beside the states", *measured);
    } else
        addLive(m, live, isNamed);
    m.peak = m.weights + m.gradients + m.optimizer + m.activations + m.buffers;
    m.reserved = m.peak;
    if (!measured)
        parts.add(m.reserved, "allocator reserve", double(m.peak) * (workload.stack.fragmentation - 1));
    m.device = m.reserved;
    if (!measured)
        parts.add(m.device, "CUDA context", workload.stack.contextBytes);
    parts.add(m.device, "communication buffers",
        h.commBufferGib ? *h.commBufferGib * kBytesPerGiB : communicators(workload) * workload.stack.communicatorBytes);
    std::stable_sort(m.parts.begin(), m.parts.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
    return m;
}

std::int64_t bytesOfMicroBatches(const StageMemory &memory)
{
    std::int64_t bytes = memory.activations;
    for (const auto &[name, part] : memory.parts)
        for (const char *own : { kEnds, kRecomputed, kLogits, kGradients, kWeightGradients })
            bytes += name == own ? part : 0;
    return bytes;
}

} // namespace trainyard
