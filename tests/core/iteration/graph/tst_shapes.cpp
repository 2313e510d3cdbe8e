// SPDX-License-Identifier: GPL-3.0-or-later
// What shape() of the contributors must name: costs of one fingerprint append the same tasks, which wait for the same,
// so that only their classes are written anew; and costs that differ in times alone have one fingerprint. Every field
// of the costs is changed by itself, on random pipelines of many schedules that offload, send over WANs in cells and
// step off the GPU.
#include "core/engine/timeline/graph_builder.h"
#include "tests/core/iteration/offload/pipeline_case.h"
#include "tests/support/test_program.h"

#include <map>
#include <tuple>

using namespace offload;

namespace {

using Random = std::mt19937;

int whole(Random &random, int low, int high)
{
    return std::uniform_int_distribution(low, high)(random);
}

template <class T> T &any(std::vector<T> &values, Random &random)
{
    return values[std::size_t(whole(random, 0, int(values.size()) - 1))];
}

/// All of a graph but its classes' times.
auto topologyOf(const TaskGraph &g)
{
    std::vector<std::tuple<Discipline, const RunTimePolicy *, std::uint32_t, Stream, int, int, int, int, std::uint32_t,
        std::uint32_t>>
        resources;
    for (const Resource &r : g.resources)
        resources.emplace_back(r.discipline, r.policy, r.policy ? r.limit : 0, r.track.stream, r.track.pipelineClass,
            r.track.stage, r.track.toStage, r.track.wanLink, r.track.first, r.track.last);
    return std::tuple(resources, g.kind, g.flow, g.resource, g.taskClass, g.microBatch, g.chunk, g.pairedMicroBatch,
        g.pairedChunk, g.origin, g.priority, g.overtakes, g.mayStop, g.continues, g.predBegin, g.pred, g.lag,
        g.waitsForStarts, g.table.durations.size(), g.table.lags.size(), g.table.flows.size());
}
using Topology = decltype(topologyOf(TaskGraph {}));

IterationCosts randomCosts(Random &random)
{
    constexpr std::array kSchedules { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1,
        ScheduleKind::Atlas, ScheduleKind::Varuna, ScheduleKind::DualPipe, ScheduleKind::TeraPipe };
    PipelineCase c = randomPipeline(random, kSchedules[random() % kSchedules.size()]);
    c.offloads = random() % 3 > 0;
    IterationCosts costs;
    costs.isRecomputing = c.recomputes;
    costs.optimizerBarrier = random() % 2 == 0;
    if (random() % 2 == 0)
        costs.linkCapacity = { 1e9, 1e9 };
    StateTimes states;
    if (random() % 2 == 0)
        states.moves.assign(std::size_t(c.devices * c.chunks), { { 5, 5, 5, 5, 5 } });
    if (random() % 2 == 0)
        states.steps.assign(std::size_t(c.devices),
            { { { Stream::StepCpu, { { WorkKind::CpuOptimizer, 9 }, { WorkKind::CpuOptimizer, 9 } } },
                { Stream::StepToGpu, { { WorkKind::StatesToGpu, 4, 0, 1 } } } } });
    for (int member = 0; member < c.cellMembers; ++member) {
        PipelineCosts &pipeline = costs.classes.emplace_back(pipelineOf(c));
        pipeline.cellMember = member;
        pipeline.cellMembers = c.cellMembers;
        pipeline.syncAndStep.assign(std::size_t(c.devices), { 50, 5, 7, 30 });
        pipeline.states = states;
    }
    return costs;
}

enum class Shows { Never, Sometimes, Perhaps }; // Perhaps: named without need where nothing is kept whole

struct Change {
    const char *of; // the contributor, and the field
    Shows shows; // in the graph
    /// Of one class of pipelines; nothing where it has no such field.
    void (*make)(IterationCosts &costs, PipelineCosts &pipeline, Random &random);
};

OffloadSegment *anySegment(PipelineCosts &pipeline, Random &random)
{
    if (pipeline.offload.isEmpty())
        return nullptr;
    std::vector<OffloadSegment> &segments = any(pipeline.offload.ops, random);
    return segments.empty() ? nullptr : &any(segments, random);
}

template <auto field, auto... values> void setSegment(IterationCosts &, PipelineCosts &pipeline, Random &random)
{
    constexpr std::array kValues { values... };
    if (OffloadSegment *segment = anySegment(pipeline, random))
        segment->*field = kValues[random() % kValues.size()];
}

template <auto field, auto... values> void setSync(IterationCosts &, PipelineCosts &pipeline, Random &random)
{
    any(pipeline.syncAndStep, random).*field = std::array { values... }[random() % sizeof...(values)];
}

template <auto field, Nanoseconds value> void setOp(IterationCosts &, PipelineCosts &pipeline, Random &random)
{
    any(pipeline.ops, random).*field = value;
}

/// Of a boundary, in one direction.
template <auto field, auto value> void setBoundary(IterationCosts &, PipelineCosts &pipeline, Random &random)
{
    if (!pipeline.boundaries.empty())
        (any(pipeline.boundaries, random).*field)[random() % 2] = value;
}

template <auto field, auto value> void setTask(IterationCosts &, PipelineCosts &pipeline, Random &random)
{
    if (!pipeline.states.steps.empty())
        any(any(any(pipeline.states.steps, random).rows, random).tasks, random).*field = value;
}

constexpr Change kChanges[] = {
    { "operations: forward", Shows::Never, setOp<&OpTimes::forward, 17> },
    { "operations: backward", Shows::Never, setOp<&OpTimes::backward, 99'999> },
    { "operations: recomputation or none", Shows::Sometimes, setOp<&OpTimes::recompute, 0> },
    { "operations: recomputation", Shows::Sometimes, setOp<&OpTimes::recompute, 3> },
    { "operations: order", Shows::Sometimes,
        [](IterationCosts &, PipelineCosts &p, Random &random) {
            auto &order = any(p.program.order, random);
            std::swap(any(order, random), any(order, random));
        } },
    { "operations: limit", Shows::Sometimes,
        [](IterationCosts &, PipelineCosts &p, Random &random) {
            p.program.shape.inFlightLimit.assign(p.program.order.size(), whole(random, 0, 3));
        } },
    { "operations: pairs", Shows::Never,
        [](IterationCosts &, PipelineCosts &p, Random &) { std::ranges::fill(p.pairs, 12'345); } },
    { "operations: recomputing", Shows::Perhaps,
        [](IterationCosts &costs, PipelineCosts &, Random &) { costs.isRecomputing = !costs.isRecomputing; } },
    { "operations: memory", Shows::Perhaps, [](IterationCosts &, PipelineCosts &p, Random &) { p.memory.clear(); } },
    { "operations: boundary", Shows::Never, setBoundary<&BoundaryTimes::serialization, Nanoseconds { 77 }> },
    { "moves: forward", Shows::Never, setSegment<&OffloadSegment::forward, Nanoseconds { 1 }> },
    { "moves: backward", Shows::Never, setSegment<&OffloadSegment::backward, Nanoseconds { 1 }> },
    { "moves: bytes", Shows::Never, setSegment<&OffloadSegment::bytes, 12.0> },
    { "moves: load", Shows::Never, setSegment<&OffloadSegment::load, Nanoseconds { 3 }> },
    { "moves: store", Shows::Sometimes, setSegment<&OffloadSegment::store, Nanoseconds { 0 }, Nanoseconds { 9 }> },
    { "moves: recomputation", Shows::Sometimes,
        setSegment<&OffloadSegment::recompute, Nanoseconds { 0 }, Nanoseconds { 9 }> },
    { "moves: stays", Shows::Sometimes, setSegment<&OffloadSegment::staysAtTurn, false, true> },
    { "moves: group", Shows::Sometimes, setSegment<&OffloadSegment::group, 0, 1, 5> },
    { "moves: buffers", Shows::Sometimes,
        [](IterationCosts &, PipelineCosts &p, Random &random) {
            if (!p.offload.isEmpty() && p.offload.ops.front().size() > 1)
                any(p.offload.ops, random).front().releases = 1;
        } },
    { "moves: ahead", Shows::Sometimes,
        [](IterationCosts &, PipelineCosts &p, Random &random) {
            if (!p.offload.isEmpty())
                any(p.offload.ahead, random) = whole(random, 1, 4);
        } },
    { "moves: rate", Shows::Never,
        [](IterationCosts &, PipelineCosts &p, Random &random) {
            if (!p.offload.isEmpty())
                any(p.offload.paths, random).storeCap = 5e8;
        } },
    { "moves: none", Shows::Sometimes, [](IterationCosts &, PipelineCosts &p, Random &) { p.offload = {}; } },
    { "states: moves", Shows::Sometimes,
        [](IterationCosts &, PipelineCosts &p, Random &random) {
            if (!p.states.moves.empty())
                any(p.states.moves, random).time[random() % 5] = 0;
        } },
    { "states: time of moves", Shows::Never,
        [](IterationCosts &, PipelineCosts &p, Random &random) {
            if (!p.states.moves.empty())
                any(p.states.moves, random).time[random() % 5] = 8;
        } },
    { "states: step", Shows::Never, setTask<&StepTask::duration, Nanoseconds { 2 }> },
    { "states: lag of a step", Shows::Never, setTask<&StepTask::lag, Nanoseconds { 2 }> },
    { "states: kind of a step", Shows::Sometimes, setTask<&StepTask::kind, WorkKind::DriveRead> },
    { "states: order of a step", Shows::Sometimes, setTask<&StepTask::after, kNoSpan> },
    { "states: row of a step", Shows::Sometimes,
        [](IterationCosts &, PipelineCosts &p, Random &random) {
            if (!p.states.steps.empty())
                any(any(p.states.steps, random).rows, random).stream = Stream::StepDrive;
        } },
    { "states: tasks of a step", Shows::Sometimes,
        [](IterationCosts &, PipelineCosts &p, Random &random) {
            if (!p.states.steps.empty())
                any(p.states.steps, random).rows.pop_back();
        } },
    { "states: beside", Shows::Sometimes,
        [](IterationCosts &, PipelineCosts &p, Random &) { p.states.runsBeside = !p.states.runsBeside; } },
    { "transfers: WAN", Shows::Sometimes,
        [](IterationCosts &, PipelineCosts &p, Random &random) {
            if (!p.boundaries.empty())
                any(p.boundaries, random).isWan ^= true;
        } },
    { "transfers: link", Shows::Sometimes,
        [](IterationCosts &, PipelineCosts &p, Random &) {
            for (BoundaryTimes &b : p.boundaries)
                b.wanLink = 1;
        } },
    { "transfers: scatter", Shows::Sometimes, setBoundary<&BoundaryTimes::scatter, Nanoseconds { 4 }> },
    { "transfers: gather", Shows::Sometimes, setBoundary<&BoundaryTimes::gather, Nanoseconds { 4 }> },
    { "transfers: latency", Shows::Never, setBoundary<&BoundaryTimes::latency, Nanoseconds { 44 }> },
    { "transfers: bytes", Shows::Never, setBoundary<&BoundaryTimes::bytes, 44.0> },
    { "transfers: rate", Shows::Never, setBoundary<&BoundaryTimes::rateCap, 44.0> },
    { "transfers: turns", Shows::Sometimes,
        [](IterationCosts &costs, PipelineCosts &, Random &) { costs.turns = TurnOrder::DrainFirst; } },
    { "transfers: shared links", Shows::Sometimes,
        [](IterationCosts &costs, PipelineCosts &, Random &) {
            costs.linkCapacity = costs.linkCapacity.empty() ? std::vector { 1e9, 1e9 } : std::vector<double> {};
        } },
    { "transfers: pipelines", Shows::Never,
        [](IterationCosts &costs, PipelineCosts &, Random &) {
            for (PipelineCosts &p : costs.classes)
                p.pipelines = 3;
        } },
    { "sync: reduction", Shows::Sometimes, setSync<&SyncAndStepTimes::reduce, Nanoseconds { 0 }, Nanoseconds { 51 }> },
    { "sync: optimizer", Shows::Sometimes,
        setSync<&SyncAndStepTimes::optimizer, Nanoseconds { 0 }, Nanoseconds { 8 }> },
    { "sync: gather", Shows::Sometimes, setSync<&SyncAndStepTimes::gather, Nanoseconds { 0 }, Nanoseconds { 8 }> },
    { "sync: early reduction", Shows::Never,
        setSync<&SyncAndStepTimes::reduceEarly, Nanoseconds { 0 }, Nanoseconds { 6 }> },
    { "sync: barrier", Shows::Sometimes,
        [](IterationCosts &costs, PipelineCosts &, Random &) { costs.optimizerBarrier = !costs.optimizerBarrier; } },
    { "sync: classes", Shows::Sometimes,
        [](IterationCosts &costs, PipelineCosts &, Random &) {
            costs.reduceJoinsClasses = !costs.reduceJoinsClasses;
        } },
    { "sync: overhead", Shows::Sometimes,
        [](IterationCosts &costs, PipelineCosts &, Random &) { costs.overhead = 11; } },
};

} // namespace

class TstShapes : public QObject {
    Q_OBJECT

private slots:
    /// print(a) = print(b)  =>  graph(a) = graph(b), over all plans and changes; a change of times alone  =>  print(a)
    /// = print(b).
    void oneFingerprintIsOneGraph()
    {
        Random random(71);
        std::map<std::uint64_t, Topology> known;
        std::map<std::string, int> changed; // graphs, by what was changed
        int again = 0;
        const auto look = [&](const TaskGraph &graph, const char *what) {
            const auto [found, isNew] = known.try_emplace(graph.fingerprint, topologyOf(graph));
            again += isNew ? 0 : 1;
            QVERIFY2(isNew || found->second == topologyOf(graph), what);
        };
        for (int trial = 0; trial < 150; ++trial) {
            const IterationCosts costs = randomCosts(random);
            const auto graph = buildPipelineGraph(costs);
            QVERIFY2(graph.has_value(), graph ? "" : toString(graph.error()).c_str());
            look(*graph, "the plan itself");
            for (const Change &change : kChanges) {
                IterationCosts other = costs;
                PipelineCosts &first = any(other.classes, random);
                const bool isOfCell = std::string_view(change.of).starts_with("transfers"); // whose members are alike
                const unsigned seed = random();
                for (PipelineCosts &pipeline : other.classes) {
                    Random own(seed);
                    if (isOfCell || &pipeline == &first)
                        change.make(other, pipeline, own);
                }
                const auto built = buildPipelineGraph(other);
                if (!built)
                    continue; // an order that cannot run
                look(*built, change.of);
                QVERIFY2(change.shows != Shows::Never || built->fingerprint == graph->fingerprint, change.of);
                changed[change.of] +=
                    built->fingerprint != graph->fingerprint && topologyOf(*built) != topologyOf(*graph) ? 1 : 0;
            }
        }
        QVERIFY(again > 1000);
        for (const Change &change : kChanges)
            QVERIFY2(change.shows != Shows::Sometimes || changed[change.of] > 0, change.of);
    }
};

TRAINYARD_APPLESS_TEST(TstShapes)
#include "tst_shapes.moc"
