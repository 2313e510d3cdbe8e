// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/score/uniform_memory.h"

#include "core/engine/timeline/graph_builder.h"
#include "core/iteration/memory/live_memory.h"
#include "core/iteration/memory/off_gpu.h"
#include "core/iteration/memory/stage_memory.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/recompute.h"
#include "core/iteration/placement/shard_exchange.h"

#include <algorithm>
#include <type_traits>

namespace trainyard {

namespace {

/// Beyond that a stage's peak is the lower one whatever is rounded: a part to a byte, and there are few.
constexpr double kRounding = 64;
constexpr std::size_t kMostHeld = 200'000;

void add(Fingerprint &print, const std::vector<ChunkMemory> &chunks)
{
    static_assert(std::is_trivially_copyable_v<ChunkMemory> && sizeof(ChunkMemory) % sizeof(std::uint64_t) == 0);
    print.add(reinterpret_cast<const std::uint64_t *>(chunks.data()),
        chunks.size() * sizeof(ChunkMemory) / sizeof(std::uint64_t));
}

bool isEqual(const LiveBytes &a, const LiveBytes &b)
{
    return a.activations == b.activations && a.ends == b.ends && a.forWeightGrads == b.forWeightGrads
        && a.loss == b.loss && a.inFlight == b.inFlight && a.workspace.total() == b.workspace.total()
        && a.workspace.kept == b.workspace.kept && a.workspace.logits == b.workspace.logits
        && a.workspace.recomputed == b.workspace.recomputed && a.workspace.gradients == b.workspace.gradients;
}

} // namespace

std::vector<UniformMemory::Held> UniformMemory::walk(
    const UniformFrame &frame, const PlainWork &work, bool isRecomputing) const
{
    std::vector<OpMemory> ofKind;
    ofKind.reserve(m_chunks.size());
    for (const std::vector<ChunkMemory> &chunks : m_chunks)
        ofKind.emplace_back(chunks, nullptr, OpMemory::Program { false, work.pairs });
    const std::size_t stages = frame.kindOf.size();
    std::vector<LiveOverTime> live(work.effects.size());
    std::vector<double> most(ofKind.size(), 0); // [kind]
    for (std::size_t i = 0; i < live.size(); ++i) {
        const std::size_t kind = frame.kindOf[i % stages];
        if (work.likeOf[i] != i)
            continue;
        MemorySum sum;
        for (const std::uint16_t effect : work.effects[i]) {
            sum.start(ofKind[kind].change(effect));
            sum.end(ofKind[kind].change(effect));
        }
        sum.tell(live[i]);
        most[kind] = std::max(most[kind], live[i].peak);
    }
    std::vector<Held> held;
    for (std::size_t i = 0; i < live.size(); ++i) {
        const std::uint16_t kind = frame.kindOf[i % stages];
        if (work.likeOf[i] != i || live[i].peak < most[kind] - kRounding)
            continue;
        const Held found { kind, fullestMoment(live[i], work.order, int(i), ofKind[kind], isRecomputing) };
        if (std::ranges::none_of(
                held, [&](const Held &other) { return other.kind == kind && isEqual(other.live, found.live); }))
            held.push_back(found);
    }
    return held;
}

UniformFill UniformMemory::fill(const Workload &workload, const UniformFrame &frame, const PlainWork &work)
{
    m_chunks.resize(frame.firstOf.size());
    const bool isRecomputing = recomputesAnything(*workload.plan);
    Fingerprint print;
    print.add(work.number);
    for (std::size_t kind = 0; kind < m_chunks.size(); ++kind) {
        m_chunks[kind] = chunkMemory(workload, frame.firstOf[kind]);
        add(print, m_chunks[kind]);
    }
    const std::uint64_t number = print.value();
    const std::vector<Held> *held = m_held.find(number);
    if (!held) {
        if (m_kept > kMostHeld) {
            m_held.clear();
            m_kept = 0;
        }
        held = &m_held.add(number, walk(frame, work, isRecomputing));
        m_kept += held->size();
    }
    UniformFill found { .isKnown = true, .fits = true };
    const PipelineClass &pipelines = workload.layout.classes.front();
    for (const Held &at : *held) {
        const StageMemory memory = stageMemory(
            workload, rankSet(workload, pipelines, frame.firstOf[at.kind]), at.live, m_chunks[at.kind], false);
        found.isKnown &= memory.offloaded == 0;
        found.fits &= memory.fits();
        found.fill = std::max(found.fill, double(memory.device) / double(std::max<std::int64_t>(1, memory.capacity)));
    }
    return found;
}

bool isPlainFeasible(const Workload &workload)
{
    return hasRunnableShape(workload) && !refusesSharding(*workload.plan, workload.stack) && !lacksDrives(workload);
}

} // namespace trainyard
