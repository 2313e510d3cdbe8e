// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layouts/layered_problem.h"

#include "core/base/units.h"
#include "core/base/words.h"
#include "core/cost/stage_coster.h"
#include "core/hardware/gpu_name.h"
#include "core/layouts/dealt_states.h"
#include "core/memory/in_flight_room.h"
#include "core/mixed/layer_time.h"
#include "core/placement/class_workload.h"
#include "core/placement/layer_facts.h"
#include "core/states/stage_states.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kEverySize = 16; // every micro-batch up to it is costed, then steps of a quarter with lines between
constexpr double kRounding = 16; // bytes: parts of a GPU's memory are counted whole
constexpr int kLargestSize = 1024; // sizes beyond the batch say how much memory there is for them
constexpr double kGib = double(1 << 30);

/// What enters a layer and leaves for the host, of one micro-batch on one GPU.
double leavingBytes(const Workload &workload)
{
    return workload.plan->heterogeneity.boundaryOffload ? layerInputBytes(workload) : 0;
}

/// Costs and memory of one replica by the size of its micro-batch.
class SizeTables {
public:
    SizeTables(const Workload &workload, const PipelineClass &pipelines)
        : m_work(workload)
        , m_pipelines(pipelines)
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
        const double layers = m_work.model.layers, forward = cost.forward.total().value / layers,
                     backward = (cost.inputGrad + cost.weightGrad + cost.recompute).total().value / layers;
        const std::optional<double> measured = measuredBytes(view, m_pipelines.locations.front());
        const double bytes = measured ? *measured : work(view);
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

    /// Bytes beside states and beside what samples keep: the fullest layer at work. The last one is not recomputed,
    /// since its backward follows its own forward. Of boundaries that leave a few are on their way.
    static double work(const Workload &view)
    {
        const double leaves = leavingBytes(view);
        double most = 0;
        const std::vector<ChunkMemory> chunks = chunkMemory(view, 0);
        for (const ChunkMemory &chunk : chunks)
            most = std::max(most,
                &chunk == &chunks.back()
                    ? liveBound({ &chunk, 1 }, false).of(1, 1)
                    : liveBound({ &chunk, 1 }, false).of(1, 0) - std::max(0.0, chunk.kept - leaves));
        return most + kInputsOnTheirWay * leaves;
    }

    const Workload &m_work;
    const PipelineClass &m_pipelines;
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

/// Bytes that every sample keeps on a GPU until its backward: of all layers but the last, which is backward at once.
/// What was measured stands for all that lies there.
double keptOfSample(const Workload &workload, bool isMeasured)
{
    if (isMeasured)
        return 0;
    const Workload one = withMicroBatch(workload, 1);
    const double leaves = leavingBytes(one);
    double kept = 0;
    const std::vector<ChunkMemory> chunks = chunkMemory(one, 0);
    for (std::size_t layer = 0; layer + 1 < chunks.size(); ++layer)
        kept += std::max(0.0, chunks[layer].kept - leaves);
    return kept;
}

/// `runs`: those of the kinds that there are, and the one that is added.
void addKind(ShareProblem &problem, const Workload &workload, const std::vector<ReplicaRun> &runs)
{
    const ReplicaRun &run = runs[problem.kinds.size()];
    const Heterogeneity &h = workload.plan->heterogeneity;
    const StackSpec &stack = workload.stack;
    const PipelineClass replica = replicaAt(run.at, 1);
    const bool isMeasured = measuredBytes(workload, run.at).has_value();
    const FixedBytes fixed = fixedBytes(workload, replica);
    RankKind kind;
    kind.name = shortName(workload.gpu(run.at));
    kind.ranks = run.pipelines;
    kind.capacity = double(workload.gpu(run.at).memoryBytes);
    kind.buffers = h.commBufferGib ? *h.commBufferGib * kGib : communicators(workload) * stack.communicatorBytes;
    kind.room = kind.capacity * h.memoryFraction - kind.buffers;
    if (!isMeasured)
        kind.room = (kind.room - stack.contextBytes) / stack.fragmentation - fixed.buffers;
    kind.room -= fixed.own + kRounding;
    problem.stateBytes = fixed.divided / workload.degrees.context; // of each of a replica's context ranks
    kind.perSample = keptOfSample(workload, isMeasured);
    if (run.pin) {
        kind.microBatch = run.pin->microBatch;
        kind.microBatches = run.pin->microBatches;
        if (run.pin->stateShare)
            kind.stateShare = *run.pin->stateShare * workload.degrees.context; // tensor ranks hold slices of their own
    }
    const auto alike =
        std::ranges::find_if(runs, [&](const ReplicaRun &other) { return areAlike(workload, other.at, run.at); });
    if (const auto known = std::size_t(alike - runs.begin()); known < problem.kinds.size()) {
        kind.forward = problem.kinds[known].forward;
        kind.backward = problem.kinds[known].backward;
        kind.compute = problem.kinds[known].compute;
    } else
        SizeTables(workload, replica).fill(kind, std::clamp(problem.batch, kLargestSize, int(kMostSamples)));
    problem.kinds.push_back(std::move(kind));
}

} // namespace

std::vector<ReplicaRun> replicaRuns(const Workload &workload)
{
    const Heterogeneity &h = workload.plan->heterogeneity;
    const auto &datacenters = workload.plan->cluster.datacenters;
    const int gpus = workload.degrees.gpusOfStage();
    std::vector<ReplicaRun> runs;
    std::vector<int> pinned(h.assign.size(), 0); // replicas that have taken each pin
    for (const GpuRun &run : workload.layout.runs) {
        if (run.stage != 0)
            continue;
        const StageLocation at { run.datacenter, run.pool };
        const Datacenter &datacenter = datacenters[std::size_t(run.datacenter)];
        int done = 0;
        for (std::size_t p = 0; p < h.assign.size() && done < run.pipelines; ++p) {
            const RankPin &pin = h.assign[p];
            if (pin.datacenter != datacenter.id || !pin.isAbout(workload.pool(at)))
                continue;
            const int left = pin.gpus ? std::max(0, *pin.gpus / gpus - pinned[p]) : run.pipelines;
            const int taken = std::min(left, run.pipelines - done);
            if (taken > 0)
                runs.push_back({ at, run.firstPipeline + done, taken, &pin });
            pinned[p] += taken;
            done += taken;
        }
        if (done < run.pipelines)
            runs.push_back({ at, run.firstPipeline + done, run.pipelines - done, nullptr });
    }
    std::ranges::stable_sort(runs, {}, &ReplicaRun::firstPipeline);
    return runs;
}

std::string unansweredPin(const Workload &workload, const std::vector<ReplicaRun> &runs)
{
    const auto &assign = workload.plan->heterogeneity.assign;
    for (const RankPin &pin : assign) {
        int gpus = 0;
        for (const ReplicaRun &run : runs)
            gpus += run.pin == &pin ? run.pipelines * workload.degrees.gpusOfStage() : 0;
        if (gpus < pin.gpus.value_or(1))
            return "assign[" + std::to_string(&pin - assign.data()) + "] pins "
                + (pin.gpus ? counted(*pin.gpus, "GPU") : "GPUs") + " of " + pin.datacenter
                + (pin.pool.empty() ? "" : " (" + pin.pool + ")") + ", where replicas on " + counted(gpus, "GPU")
                + " are not pinned yet";
    }
    return {};
}

ShareProblem shareProblem(const Workload &workload, const std::vector<ReplicaRun> &runs)
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
    Seconds gather, scatter;
    for (const ReplicaRun &run : runs) {
        addKind(problem, workload, runs);
        StageCoster coster(workload);
        const PipelineClass replica = replicaAt(run.at, 1);
        Seconds gathers, scatters;
        for (int layer = 0; layer < workload.degrees.chunks; ++layer) {
            const ShardTimes times = coster.layerExchange(replica, layer);
            gathers += times.gather / workload.degrees.chunks;
            scatters += times.scatter / workload.degrees.chunks;
        }
        gather = std::max(gather, gathers);
        scatter = std::max(scatter, scatters);
    }
    if (!isOneSite)
        problem.stateBytes *= double(workload.layout.data) * workload.degrees.context / stateShards(workload, 0);
    problem.gather = gather.value;
    problem.reduceScatter = scatter.value;
    return problem;
}

} // namespace trainyard
