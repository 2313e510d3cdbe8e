// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/layered_problem.h"

#include "core/base/units.h"
#include "core/base/words.h"
#include "core/facts/hardware/gpu_name.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/layouts/dealt_states.h"
#include "core/iteration/model_states/stage_states.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/class_workload.h"
#include "core/iteration/placement/layer_facts.h"
#include "core/systems/unequal_gpus/layer_time.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace trainyard {

namespace {

constexpr int kEverySize = 16; // every micro-batch up to it is costed, then steps of a quarter with lines between
constexpr double kRounding = 16; // bytes: parts of a GPU's memory are counted whole
constexpr int kLargestSize = 1024; // sizes beyond the batch say how much memory there is for them
constexpr double kGib = double(1 << 30);

/// Bytes a second that a GPU writes of activations while all of its node do: over its way to the host, or on its share
/// of the drives.
double offloadRate(const Workload &workload, StageLocation at)
{
    if (activationsLeaveTo(workload.plan->memory) == ActivationOffload::Host)
        return workload.hostRate(at).value;
    const Ssd *drives = workload.drives(at);
    return drives ? std::min(drives->writeGBps, drives->readGBps) * 1e9 / workload.pool(at).gpusPerNode : 0;
}

/// Costs and memory of one replica by the size of its micro-batch.
class SizeTables {
public:
    SizeTables(const Workload &workload, const PipelineClass &pipelines, CountedAway away)
        : m_work(workload)
        , m_pipelines(pipelines)
        , m_away(away)
    {
    }

    void fill(RankKind &kind, int largest)
    {
        int size = 1, before = 0;
        while (before < largest) {
            add(kind, before, size);
            before = size;
            if (kind.compute.back() > kind.room)
                return; // nor does anything larger fit
            size = std::min(largest, std::max(size + 1, size < kEverySize ? size + 1 : size + size / 4));
        }
    }

private:
    void add(RankKind &kind, int before, int size)
    {
        PipelineClass pipelines = m_pipelines;
        pipelines.microBatch = size;
        const Workload view = withMicroBatch(m_work, size);
        StageCoster coster(view);
        const StageCosts whole = coster.wholeStage(pipelines, 0);
        const ChunkCost &cost = whole.chunks.front();
        const double layers = m_work.model.layers, moved = movedSeconds(view),
                     forward = std::max(moved, cost.forward.total().value / layers),
                     backward =
                         std::max(moved, (cost.inputGrad + cost.weightGrad + cost.recompute).total().value / layers);
        const std::optional<double> measured = measuredBytes(view, m_pipelines.locations.front());
        const double bytes = measured ? *measured : layeredWork(view, m_away);
        const double low[] = { kind.forward.empty() ? forward : kind.forward.back(),
            kind.backward.empty() ? backward : kind.backward.back(),
            kind.compute.empty() ? bytes : kind.compute.back() };
        for (int m = before + 1; m <= size; ++m) {
            const double part = double(m - before) / (size - before);
            kind.forward.push_back(std::lerp(low[0], forward, part));
            kind.backward.push_back(std::lerp(low[1], backward, part));
            kind.compute.push_back(std::lerp(low[2], bytes, part));
        }
    }

    /// Of what a layer's micro-batch has to move one way, where the plan states how much leaves, whatever it takes.
    [[nodiscard]] double movedSeconds(const Workload &view) const
    {
        if (m_away != CountedAway::ActivationOffload || !offloadFreesShares(*view.plan)
            || !view.plan->memory.offloadFraction)
            return 0;
        const double rate = offloadRate(view, m_pipelines.locations.front());
        return rate > 0 ? layeredLeaving(view) / rate : 0;
    }

    const Workload &m_work;
    const PipelineClass &m_pipelines;
    CountedAway m_away;
};

/// Bytes that lie on a GPU of the set whatever it computes.
struct FixedBytes {
    double divided = 0; // all that ZeRO divides, over all ranks
    double own = 0; // states that it does not
    double buffers = 0; // of the framework
};
FixedBytes fixedBytes(const Workload &workload, const PipelineClass &pipelines)
{
    RankSet ranks = rankSet(workload, pipelines, 0);
    const auto states = [&](double share) {
        ranks.stateShare = share;
        return stageStates(workload, ranks);
    };
    const auto sum = [](const StageStates &s) { return s.weights + s.gradients + s.optimizer; };
    const StageStates none = states(kNoStates);
    FixedBytes fixed { sum(states(1)) - sum(none), sum(none), 0 };
    for (const auto &[name, bytes] : none.buffers)
        fixed.buffers += bytes;
    return fixed;
}

PipelineClass replicaAt(StageLocation at, int microBatches)
{
    PipelineClass replica;
    replica.microBatches = microBatches;
    replica.locations = { at };
    return replica;
}

/// Replicas whose tensor groups are of another size divide states among other numbers of GPUs. Bytes of a kind are
/// those of its GPU times what a GPU of the first kind holds of the states over what one of its own does: so all kinds
/// share the same states, and what fits fits.
void scaleBytes(RankKind &kind, double factor)
{
    for (double *bytes : { &kind.capacity, &kind.buffers, &kind.room, &kind.perSample })
        *bytes *= factor;
    for (double &bytes : kind.compute)
        bytes *= factor;
}

/// `runs`: those of the kinds that there are, and the one that is added. `views`: of the workload.
void addKind(ShareProblem &problem, ClassWorkloads &views, const std::vector<ReplicaRun> &runs, CountedAway away)
{
    const ReplicaRun &run = runs[problem.kinds.size()];
    const Workload &workload = views.of(replicaAt(run.at(), 1), 0);
    const Heterogeneity &h = workload.plan->heterogeneity;
    const StackSpec &stack = workload.stack;
    const PipelineClass replica = replicaAt(run.at(), 1);
    const bool isMeasured = measuredBytes(workload, run.at()).has_value();
    const FixedBytes fixed = fixedBytes(workload, replica);
    RankKind kind;
    kind.name = shortName(workload.gpu(run.at()));
    kind.ranks = run.pipelines;
    kind.capacity = double(workload.gpu(run.at()).memoryBytes);
    kind.buffers = h.commBufferGib ? *h.commBufferGib * kGib : communicators(workload) * stack.communicatorBytes;
    kind.room = kind.capacity * h.memoryFraction - kind.buffers;
    if (!isMeasured)
        kind.room = (kind.room - stack.contextBytes) / stack.fragmentation - fixed.buffers;
    kind.room -= fixed.own + kRounding;
    const double states = fixed.divided / workload.degrees.context; // of each of a replica's context ranks
    if (workload.tensorAt(runs.front().at()) == workload.degrees.tensor)
        problem.stateBytes = states;
    const double factor = states > 0 && problem.stateBytes > 0 ? problem.stateBytes / states : 1;
    if (!isMeasured) // which stands for all that lies there
        kind.perSample = layeredKept(withMicroBatch(workload, 1), away);
    if (run.pin) {
        kind.microBatch = run.pin->microBatch;
        kind.microBatches = run.pin->microBatches;
        if (run.pin->stateShare)
            kind.stateShare = *run.pin->stateShare * workload.degrees.context; // tensor ranks hold slices of their own
    }
    const auto alike =
        std::ranges::find_if(runs, [&](const ReplicaRun &other) { return areAlike(workload, other.at(), run.at()); });
    if (const auto known = std::size_t(alike - runs.begin()); known < problem.kinds.size()) {
        kind.forward = problem.kinds[known].forward;
        kind.backward = problem.kinds[known].backward;
        kind.compute = problem.kinds[known].compute;
        for (double &bytes : kind.compute) // as they were before they were scaled
            bytes /= factor;
    } else
        SizeTables(workload, replica, away).fill(kind, std::clamp(problem.batch, kLargestSize, int(kMostSamples)));
    if (factor != 1)
        scaleBytes(kind, factor);
    problem.kinds.push_back(std::move(kind));
}

/// Of the replica's layers, those that are as large as the one before asked once.
ShardTimes meanExchange(const Workload &workload, StageCoster &coster, const PipelineClass &replica)
{
    const auto &layers = workload.layout.chunks.front();
    ShardTimes mean, one;
    for (int layer = 0; layer < workload.degrees.chunks; ++layer) {
        const auto at = std::size_t(layer);
        if (layer == 0 || !areAsLarge(layers[at], layers[at - 1]))
            one = coster.layerExchange(replica, layer);
        mean.gather += one.gather / workload.degrees.chunks;
        mean.scatter += one.scatter / workload.degrees.chunks;
    }
    return mean;
}

} // namespace

ShareProblem shareProblem(const Workload &workload, const std::vector<ReplicaRun> &runs, CountedAway away)
{
    const Plan &plan = *workload.plan;
    const Heterogeneity &h = plan.heterogeneity;
    ShareProblem problem;
    problem.batch = plan.workload.globalBatch;
    problem.overhead = h.accumulationOverheadMs / 1000;
    problem.unevenPenalty = h.unevenPenalty;
    problem.stateFill = h.state == StateSharing::MinUtilization ? StateFill::MinUtilization
        : h.releasedStateFill                                   ? StateFill::MinParamsReleased
                                                                : StateFill::MinParams;
    // Replicas in several datacenters divide the states inside each, the fewest most coarsely.
    const bool isOneSite = replicaSites(workload, 0).size() < 2;
    problem.balancesState = h.state != StateSharing::Even && isOneSite;
    problem.balancesCompute = h.compute == ComputeSharing::Balanced;
    problem.overlaps = h.gatherPrefetch;
    problem.recomputes = false; // the tables of backwards have what the plan recomputes
    ClassWorkloads views(workload);
    StageCoster coster(workload);
    ShardTimes longest;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        addKind(problem, views, runs, away);
        const auto isAlike = [&](const ReplicaRun &other) { return areAlike(workload, other.at(), runs[i].at()); };
        if (std::ranges::any_of(std::span(runs).first(i), isAlike))
            continue;
        const ShardTimes mean = meanExchange(workload, coster, replicaAt(runs[i].at(), 1));
        longest.gather = std::max(longest.gather, mean.gather);
        longest.scatter = std::max(longest.scatter, mean.scatter);
    }
    if (!isOneSite)
        problem.stateBytes *= double(workload.layout.data) * workload.degrees.context / stateShards(workload, 0);
    problem.gather = longest.gather.value;
    problem.reduceScatter = longest.scatter.value;
    return problem;
}

} // namespace trainyard
