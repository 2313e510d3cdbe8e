// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/layer/shard_runs.h"

#include <algorithm>

namespace trainyard {

namespace {

/// What is left of a run's work to hide exchanges behind: they share one way to the other ranks.
class Window {
public:
    Window(Seconds work, const StackSpec &stack)
        : m_left(work)
        , m_stack(stack)
    {
    }

    /// Adds what shows of an exchange, and the compute that it takes while it hides; both times `perOperation`.
    void add(OpSplit &split, Seconds exchange, double overlap, double perOperation)
    {
        const Seconds hidden = std::min(exchange, m_left * overlap);
        m_left = m_left - hidden;
        split.data += (exchange - hidden) * perOperation;
        split.compute += hidden * (m_stack.overlapSlowdown * perOperation);
    }

private:
    Seconds m_left;
    const StackSpec &m_stack;
};

} // namespace

Seconds workOfChunk(const ChunkCost &whole, double chunks)
{
    return (whole.forward.total() + whole.inputGrad.total() + whole.weightGrad.total() + whole.recompute.total())
        * (1 / chunks);
}

void addExchangesOfRuns(ChunkCost &cost, const Workload &workload, const ShardTimes &times, ChunkRuns runs,
    double microBatches, Seconds work, bool isLast)
{
    const StackSpec &stack = workload.stack;
    Window window(work * (microBatches / std::max(1, runs.backward)), stack);
    const int atTheEnd = isLast ? 1 : 0;
    window.add(cost.inputGrad, times.scatter, stack.gradientOverlap, (runs.backward - atTheEnd) / microBatches);
    if (workload.degrees.zeroStage < 3)
        return;
    window.add(cost.inputGrad, times.gather, stack.parameterOverlap, runs.backward / microBatches);
    window.add(cost.forward, times.gather, stack.parameterOverlap, (runs.forward - atTheEnd) / microBatches);
}

} // namespace trainyard
