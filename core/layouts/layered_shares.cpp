// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layouts/layered_shares.h"

#include "core/base/units.h"
#include "core/cost/stage_coster.h"
#include "core/memory/in_flight_room.h"
#include "core/mixed/baselines.h"
#include "core/mixed/layer_shards.h"
#include "core/mixed/layer_time.h"
#include "core/mixed/shares.h"
#include "core/placement/class_workload.h"
#include "core/states/stage_states.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace trainyard {

namespace {

constexpr int kEverySize = 16; // every micro-batch up to it is costed, then steps of a quarter with lines between
constexpr double kRounding = 16; // bytes: parts of a GPU's memory are counted whole
constexpr int kQuickBatch = 2048; // samples that are shared out while somebody drags
constexpr int kLargestSize = 1024; // sizes beyond the batch say how much memory there is for them
constexpr double kGib = double(1 << 30);

/// What enters a layer and leaves for the host, of one micro-batch on one GPU.
double leavingBytes(const Workload &workload)
{
    return workload.plan->heterogeneity.boundaryOffload
        ? workload.boundaryBytes(false) / (workload.degrees.isSequenceParallel ? workload.degrees.tensor : 1)
        : 0;
}

/// It was measured with recomputation.
bool hasMeasuredMemory(const Workload &workload, const GpuLayerTimes *measured)
{
    return measured && !measured->computeGib.empty() && workload.plan->memory.recompute == Recompute::Full;
}

/// Costs and memory of one replica by the size of its micro-batch.
class SizeTables {
public:
    SizeTables(const Workload &workload, const PipelineClass &pipelines, const GpuLayerTimes *measured)
        : m_work(workload)
        , m_pipelines(pipelines)
        , m_measured(measured)
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
        const double bytes = hasMeasuredMemory(m_work, m_measured) ? m_measured->computeGibAt(size) * kGib : work(view);
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
        constexpr int kOnTheirWay = 3;
        const double leaves = leavingBytes(view);
        double most = 0;
        const std::vector<ChunkMemory> chunks = chunkMemory(view, 0);
        for (const ChunkMemory &chunk : chunks)
            most = std::max(most,
                liveBound({ &chunk, 1 }, false).of(1, &chunk == &chunks.back() ? 1 : 0)
                    - std::max(0.0, chunk.kept - leaves));
        return most + kOnTheirWay * leaves;
    }

    const Workload &m_work;
    const PipelineClass &m_pipelines;
    const GpuLayerTimes *m_measured;
};

const GpuLayerTimes *measuredOn(const Workload &workload, StageLocation at)
{
    const auto &profiles = workload.plan->layerProfiles;
    if (!profiles)
        return nullptr;
    const auto found = profiles->gpus.find(workload.gpu(at).id);
    return found == profiles->gpus.end() ? nullptr : &found->second;
}

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
    const StageStates none = states(1e-30);
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

void addKind(ShareProblem &problem, const Workload &workload, const ReplicaRun &run)
{
    const Heterogeneity &h = workload.plan->heterogeneity;
    const StackSpec &stack = workload.stack;
    const PipelineClass replica = replicaAt(run.at, 1);
    const GpuLayerTimes *measured = measuredOn(workload, run.at);
    const bool isMeasured = hasMeasuredMemory(workload, measured);
    const FixedBytes fixed = fixedBytes(workload, replica);
    RankKind kind;
    kind.name = workload.gpu(run.at).name;
    kind.ranks = run.pipelines;
    kind.capacity = double(workload.gpu(run.at).memoryBytes);
    kind.buffers = h.commBufferGib ? *h.commBufferGib * kGib : communicators(workload) * stack.communicatorBytes;
    kind.room = kind.capacity * h.memoryFraction - kind.buffers;
    if (!isMeasured)
        kind.room = (kind.room - stack.contextBytes) / stack.fragmentation - fixed.buffers;
    kind.room -= fixed.own + kRounding;
    problem.stateBytes = fixed.divided;
    const Workload one = withMicroBatch(workload, 1);
    const double leaves = leavingBytes(one);
    if (!isMeasured)
        for (const ChunkMemory &chunk : chunkMemory(one, 0))
            kind.perSample += std::max(0.0, chunk.kept - leaves);
    if (run.pin) {
        kind.microBatch = run.pin->microBatch;
        kind.microBatches = run.pin->microBatches;
        if (run.pin->stateShare)
            kind.stateShare = *run.pin->stateShare * workload.degrees.context; // tensor ranks hold parts of their own
    }
    const auto alike = std::ranges::find_if(problem.kinds, [&](const RankKind &other) {
        return other.name == kind.name && other.room == kind.room && other.perSample == kind.perSample;
    });
    if (alike != problem.kinds.end()) {
        kind.forward = alike->forward;
        kind.backward = alike->backward;
        kind.compute = alike->compute;
    } else
        SizeTables(workload, replica, measured).fill(kind, std::max(problem.batch, kLargestSize));
    problem.kinds.push_back(std::move(kind));
}

/// "5 of 64 samples, 26 % of the states: slow, but its memory is free".
std::string whyOf(const ShareProblem &problem, const Shares &shares, const RankShare &share, int batch)
{
    const RankKind &kind = problem.kinds[std::size_t(share.kind)];
    const auto speed = [](const RankKind &k) { return 1 / (2 * k.forward.front() + k.backward.front()); };
    double fastest = 0, slowest = 1e300, most = 0, least = 1;
    for (const RankKind &other : problem.kinds) {
        fastest = std::max(fastest, speed(other));
        slowest = std::min(slowest, speed(other));
    }
    for (const RankShare &other : shares.ranks) {
        most = std::max(most, other.stateShare);
        least = std::min(least, other.stateShare);
    }
    const bool isFast = speed(kind) > fastest * 0.99, isSlow = speed(kind) < slowest * 1.01 && !isFast;
    const bool hasMore = share.stateShare > most * 0.999 && most > least * 1.001,
               hasLess = share.stateShare < least * 1.001 && most > least * 1.001;
    const std::string pace = fastest < slowest * 1.01 ? "as fast as the others"
        : isFast                                      ? "fast"
        : isSlow                                      ? "slow"
                                                      : "of middling speed";
    const std::string memory = share.samples() == 0 ? ", so it only holds states"
        : hasMore                                   ? isSlow ? ", but its memory is free" : ", with memory to spare"
        : hasLess                                   ? ", and its memory is full of work"
                                                    : "";
    char shareText[32];
    std::snprintf(shareText, sizeof shareText, "%.3g %%", 100 * share.stateShare);
    return kind.name + ": " + std::to_string(share.samples()) + " of " + std::to_string(batch) + " samples, "
        + shareText + " of the states: " + pace + memory;
}

/// Whether any rank holds more or less of the states than another.
bool areUneven(const Shares &shares)
{
    const double first = shares.ranks.front().stateShare;
    return std::ranges::any_of(
        shares.ranks, [&](const RankShare &rank) { return std::abs(rank.stateShare - first) > 1e-12; });
}

void setClasses(Layout &layout, const std::vector<ReplicaRun> &runs, const Shares &shares, const Workload &workload)
{
    const bool isUneven = areUneven(shares) && replicaSites(workload, 0).size() < 2;
    std::vector<PipelineClass> classes;
    std::vector<int> taken(runs.size(), 0);
    for (const RankShare &share : shares.ranks) {
        const ReplicaRun &run = runs[std::size_t(share.kind)];
        PipelineClass made = replicaAt(run.at, share.microBatches);
        made.firstPipeline = run.firstPipeline + taken[std::size_t(share.kind)];
        made.pipelines = share.ranks;
        made.microBatch = share.microBatch;
        made.stateShare = isUneven ? std::max(share.stateShare / workload.degrees.context, 1e-30) : 0;
        taken[std::size_t(share.kind)] += share.ranks;
        const auto like = std::ranges::find_if(classes, [&](const PipelineClass &other) {
            return other.microBatches == made.microBatches && areAlike(workload, other, made, 0);
        });
        if (like == classes.end())
            classes.push_back(std::move(made));
        else
            like->pipelines += made.pipelines;
    }
    layout.classes = std::move(classes);
}

/// A batch that takes long to share out is cut, with its ranks and states, into equal parts, as few as make it short
/// enough; says how many. One part is left in the problem.
int equalParts(ShareProblem &problem)
{
    int most = problem.batch;
    for (const RankKind &kind : problem.kinds)
        most = std::gcd(most, kind.ranks);
    int parts = 1;
    for (int next = 2; next <= most && problem.batch / parts > kQuickBatch; ++next)
        if (most % next == 0)
            parts = next;
    problem.batch /= parts;
    problem.stateBytes /= parts;
    for (RankKind &kind : problem.kinds) {
        kind.ranks /= parts;
        if (kind.stateShare)
            *kind.stateShare *= parts;
    }
    return parts;
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
        addKind(problem, workload, run);
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

void shareOutLayered(Workload &workload)
{
    Layout &layout = workload.layout;
    const std::vector<ReplicaRun> runs = replicaRuns(workload);
    if (layout.data == 0 || runs.empty())
        return;
    ShareProblem problem = shareProblem(workload, runs);
    const int copies = equalParts(problem);
    auto shares = fastShares(problem);
    if (shares)
        for (RankShare &share : shares->ranks) {
            share.ranks *= copies;
            share.stateShare /= copies;
        }
    if (!shares) {
        const Error &error = shares.error();
        layout.shares.why = "Work and states stay even: the " + error.where + " " + error.what
            + (error.right.empty() ? "" : "; expected " + error.right);
        return;
    }
    SharedOut &out = layout.shares;
    if (workload.plan->heterogeneity.state != StateSharing::Even && !problem.balancesState)
        out.why = "States stay even: the replicas of each datacenter hold all of them";
    out.layerTime = shares->layerTime;
    if (auto even = sharesBy(ShareWay::EvenAccumulated, problem))
        out.evenLayerTime = even->layerTime;
    out.slowest = int(std::ranges::max_element(shares->ranks, {}, &RankShare::time) - shares->ranks.begin());
    std::vector<int> taken(runs.size(), 0);
    for (const RankShare &share : shares->ranks) {
        const auto kind = std::size_t(share.kind);
        out.ranks.push_back({ runs[kind].at, runs[kind].firstPipeline + taken[kind], share.ranks, share.samples(),
            share.stateShare, whyOf(problem, *shares, share, workload.plan->workload.globalBatch) });
        taken[kind] += share.ranks;
        out.evenMicroBatch.push_back(evenMicroBatch(problem, problem.kinds[kind]));
        out.largestMicroBatch.push_back(largestMicroBatch(problem, problem.kinds[kind]));
    }
    if (problem.balancesState && areUneven(*shares))
        for (const LayerShards &some : layerShards(*shares, workload.degrees.chunks))
            out.layersUneven.insert(out.layersUneven.end(), std::size_t(some.layers), !some.isEven);
    setClasses(layout, runs, *shares, workload);
}

} // namespace trainyard
