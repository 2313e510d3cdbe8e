// SPDX-License-Identifier: GPL-3.0-or-later
// The one walk over what tasks take of memory and give back: against the order of work, against sums over all that is
// alive at an instant, against closed forms, and what it must keep.
#include "core/iteration/memory/live_memory.h"
#include "tests/core/iteration/offload/pipeline_case.h"
#include "tests/support/test_program.h"

#include <cmath>
#include <map>
#include <set>
#include <tuple>

using namespace offload;

namespace {

constexpr ScheduleKind kSchedules[] = { ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Interleaved,
    ScheduleKind::BreadthFirst, ScheduleKind::ZbH1, ScheduleKind::ZbH2, ScheduleKind::ZbV, ScheduleKind::ZbAuto,
    ScheduleKind::VHalf, ScheduleKind::VMin, ScheduleKind::DualPipe, ScheduleKind::DualPipeV, ScheduleKind::Chimera,
    ScheduleKind::Hanayo, ScheduleKind::Varuna, ScheduleKind::TeraPipe, ScheduleKind::Atlas };
constexpr ScheduleKind kOffloading[] = { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1,
    ScheduleKind::Atlas, ScheduleKind::Varuna, ScheduleKind::DualPipe, ScheduleKind::TeraPipe };

double bytes(std::mt19937 &random)
{
    return double(random() % 1000);
}

Workspace workspace(std::mt19937 &random)
{
    return { 0, bytes(random), bytes(random), bytes(random), bytes(random) };
}

/// Every part of it something else.
ChunkMemory anyChunk(std::mt19937 &random)
{
    ChunkMemory chunk {
        .kept = bytes(random), .whole = 0, .ends = bytes(random), .loss = bytes(random), .forWeightGrads = bytes(random)
    };
    chunk.whole = chunk.kept + bytes(random);
    for (Workspace *part :
        { &chunk.forward, &chunk.backward, &chunk.sparedBackward, &chunk.atHead, &chunk.atLayers, &chunk.atEmbedding })
        *part = workspace(random);
    return chunk;
}

/// Costs of a program whose stages keep everything, with times and bytes of their own.
IterationCosts anyCosts(std::mt19937 &random, Program program, bool isRecomputing)
{
    const auto time = [&] { return Nanoseconds(1 + random() % 500); };
    IterationCosts costs;
    costs.isRecomputing = isRecomputing;
    PipelineCosts &pipeline = costs.classes.emplace_back();
    const auto stages = std::size_t(program.virtualStages());
    for (std::size_t q = 0; q < stages; ++q) {
        OpTimes op {
            .forward = time(), .inputGrad = time(), .weightGrad = time(), .recompute = isRecomputing ? time() : 0
        };
        op.inputGrad += op.recompute;
        op.backward = op.inputGrad + op.weightGrad;
        pipeline.ops.push_back(op);
        if (q > 0)
            pipeline.boundaries.push_back({ .serialization = { time(), time() } });
    }
    if (hasKind(program, OpKind::PairedForward))
        for (std::size_t i = 0; i < stages * std::size_t(program.shape.chunks); ++i)
            pipeline.pairs.push_back(time());
    for (int stage = 0; stage < program.shape.devices; ++stage) {
        std::vector<ChunkMemory> chunks;
        for (int c = 0; c < program.shape.chunks; ++c)
            chunks.push_back(anyChunk(random));
        pipeline.memory.push_back(std::make_shared<const OpMemory>(std::move(chunks), nullptr,
            OpMemory::Program { splitsBackward(program), hasKind(program, OpKind::PairedForward) }));
    }
    pipeline.syncAndStep.resize(std::size_t(program.shape.devices));
    pipeline.program = std::move(program);
    return costs;
}

Timeline timelineOf(const IterationCosts &costs)
{
    const auto graph = buildPipelineGraph(costs);
    if (!graph)
        qFatal("%s", toString(graph.error()).c_str());
    SimulationWorkspace workspace;
    auto timeline = simulate(*graph, workspace);
    if (!timeline)
        qFatal("%s", toString(timeline.error()).c_str());
    return std::move(*timeline);
}

/// Calls check(costs, timeline) for every schedule that keeps its order, over shapes that it accepts, with
/// recomputation and without.
template <class Check> void forEachStrict(Check check)
{
    std::mt19937 random(51);
    std::set<ScheduleKind> seen;
    for (const ScheduleKind schedule : kSchedules)
        for (const int devices : { 1, 2, 4 })
            for (const int microBatches : { 1, 4, 8, 11 })
                for (const int chunks : { 1, 2, 3 })
                    for (const bool isRecomputing : { false, true }) {
                        const auto program = makeProgram(schedule, { devices, microBatches, chunks, {} });
                        if (!program || program->rule != OrderRule::Strict)
                            continue;
                        seen.insert(schedule);
                        const IterationCosts costs = anyCosts(random, *program, isRecomputing);
                        check(costs, timelineOf(costs));
                    }
    QCOMPARE(seen.size(), std::size(kSchedules) - 2); // but Varuna and Atlas
}

/// Calls check(case, run) for random pipelines that offload.
template <class Check> void forEachOffloading(Check check)
{
    std::mt19937 random(52);
    for (const ScheduleKind schedule : kOffloading)
        for (int trial = 0; trial < 60; ++trial) {
            const PipelineCase c = randomPipeline(random, schedule);
            check(c, offload::run(c));
        }
}

/// Calls visit(span) for each span of a stage that is not in vain.
template <class Visit> void eachSpan(const Timeline &timeline, int pipelineClass, int stage, Visit visit)
{
    for (const Track &track : timeline.tracks)
        for (std::uint32_t span = track.first;
             track.pipelineClass == pipelineClass && track.stage == stage && span < track.last; ++span)
            if (timeline.isVoid.empty() || timeline.isVoid[span] == 0)
                visit(span, timeline.classOf(span).memory);
}

double gpuAt(const Timeline &timeline, int pipelineClass, int stage, Nanoseconds time)
{
    double sum = 0;
    eachSpan(timeline, pipelineClass, stage, [&](std::uint32_t span, const MemoryChange &change) {
        const bool hasBegun = timeline.start[span] <= time, hasEnded = timeline.end[span] <= time;
        sum += (hasBegun ? change.atStart.gpu : 0) + (hasEnded ? change.atEnd.gpu : 0)
            + (hasBegun && !hasEnded ? change.running : 0);
    });
    return sum;
}

bool isNear(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max({ 1.0, std::abs(a), std::abs(b) });
}

bool isRounded(std::int64_t whole, double bytes)
{
    return std::abs(double(whole) - bytes) < 0.5 + 1e-6;
}

/// What belongs to a micro-batch of a virtual stage, in order of start.
struct Cell {
    std::vector<std::uint32_t> forwards, backwards, stores, loads;
};

std::map<std::tuple<int, int, int>, Cell> cellsOf(const Timeline &t)
{
    std::map<std::tuple<int, int, int>, Cell> cells;
    for (std::uint32_t span = 0; span < t.spanCount(); ++span) {
        Cell &cell = cells[{ t.tracks[t.trackOf[span]].stage, t.chunk[span], t.microBatch[span] }];
        switch (t.kind[span]) {
        case WorkKind::Forward:
            cell.forwards.push_back(span);
            break;
        case WorkKind::Backward:
            cell.backwards.push_back(span);
            break;
        case WorkKind::OffloadStore:
            cell.stores.push_back(span);
            break;
        case WorkKind::OffloadLoad:
            cell.loads.push_back(span);
            break;
        default:
            break;
        }
    }
    return cells;
}

} // namespace

class TestMemoryWalk : public QObject {
    Q_OBJECT
private slots:
    // Where the order of work is fixed: peak(spans) = peak(order), and the same part by part.
    void spansAndTheOrderOfWorkHoldTheSame()
    {
        forEachStrict([](const IterationCosts &costs, const Timeline &timeline) {
            const PipelineCosts &pipeline = costs.classes.front();
            for (int stage = 0; stage < pipeline.program.shape.devices; ++stage) {
                const OpMemory &memory = *pipeline.memory[std::size_t(stage)];
                const LiveOverTime ofSpans = liveOverTime(timeline, 0, stage, false, false),
                                   ofOrder = liveInOrder(pipeline.program, stage, memory, costs.isRecomputing);
                QVERIFY(ofSpans.peak > 0);
                QVERIFY(isNear(ofSpans.peak, ofOrder.peak));
                QCOMPARE(
                    liveOverTime(timeline, 0, stage, true, false).peak, ofSpans.peak); // as if something might leave
                const LiveBytes a = fullestMoment(ofSpans, timeline, 0, stage, memory);
                const LiveBytes b = fullestMoment(ofOrder, pipeline.program, stage, memory, costs.isRecomputing);
                for (double LiveBytes::*part : { &LiveBytes::activations, &LiveBytes::ends, &LiveBytes::forWeightGrads,
                         &LiveBytes::loss, &LiveBytes::inFlight })
                    QVERIFY(isNear(a.*part, b.*part));
                QVERIFY(isNear(a.workspace.total(), b.workspace.total()));
            }
        });
    }

    // Of m micro-batches 1F1B keeps min(m, p - i) on stage i, GPipe all; beside the fullest runs the larger of forward
    // and backward.
    void closedFormsOfTwoSchedules()
    {
        for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe })
            for (const int p : { 1, 2, 5 })
                for (const int m : { 1, 3, 8 })
                    for (int stage = 0; stage < p; ++stage) {
                        ChunkMemory chunk;
                        chunk.kept = chunk.whole = 100;
                        chunk.ends = 10;
                        chunk.forward.logits = 3;
                        chunk.backward.gradients = chunk.sparedBackward.gradients = 7;
                        const OpMemory memory({ chunk }, nullptr, {});
                        const int kept = schedule == ScheduleKind::GPipe ? m : std::min(m, p - stage);
                        QCOMPARE(liveInOrder(*makeProgram(schedule, { p, m, 1, {} }), stage, memory, false).peak,
                            kept * 110.0 + 7);
                    }
    }

    // held(t) = sum over tasks that have begun of what they take + over those that have ended of what they add or give
    // back
    // + over those that run of their workspace. The curve is that at every instant, and the peak no less than its
    // highest point.
    void theCurveIsTheSumOverAllThatIsAlive()
    {
        forEachOffloading([](const PipelineCase &c, const PipelineRun &run) {
            for (int member = 0; member < int(run.live.size()); ++member)
                for (int stage = 0; stage < c.devices; ++stage) {
                    const LiveOverTime &live = run.live[std::size_t(member)][std::size_t(stage)];
                    std::set<Nanoseconds> instants;
                    eachSpan(run.timeline, member, stage, [&](std::uint32_t span, const MemoryChange &) {
                        instants.insert(run.timeline.start[span]);
                        instants.insert(run.timeline.end[span]);
                    });
                    double highest = 0;
                    for (const Nanoseconds instant : instants) {
                        const double sum = gpuAt(run.timeline, member, stage, instant);
                        QVERIFY(isRounded(bytesAt(live.gpu, instant), sum));
                        highest = std::max(highest, sum);
                    }
                    QVERIFY(live.peak >= highest - 1e-6);
                }
        });
    }

    // Without recomputation, from the spans alone: a module is held from the end of its forward to the end of its
    // backward, but for the time from the end of its store to the start of its load, where that brings anything.
    void aModuleIsHeldButWhileItIsAway()
    {
        std::mt19937 random(53);
        int away = 0;
        for (const ScheduleKind schedule : { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::Atlas })
            for (int trial = 0; trial < 60; ++trial) {
                PipelineCase c = randomPipeline(random, schedule);
                c.recomputes = false;
                c.cellMembers = 1;
                const PipelineRun run = offload::run(c);
                const Timeline &t = run.timeline;
                std::map<std::pair<int, Nanoseconds>, double> changes; // [stage, time]
                for (const auto &[key, cell] : cellsOf(t)) {
                    const auto change = [&, stage = std::get<0>(key)](Nanoseconds time, double by) {
                        changes[{ stage, time }] += by;
                    };
                    QCOMPARE(cell.forwards.size(), std::size_t(c.modules));
                    for (std::size_t k = 0; k < cell.forwards.size(); ++k) {
                        change(t.end[cell.forwards[k]], kModuleBytes);
                        change(t.end[cell.backwards[cell.backwards.size() - 1 - k]], -kModuleBytes);
                    }
                    for (std::size_t i = 0; i < cell.stores.size(); ++i)
                        if (const std::uint32_t load = cell.loads[cell.loads.size() - 1 - i];
                            t.end[load] > t.start[load]) {
                            change(t.end[cell.stores[i]], -kModuleBytes);
                            change(t.start[load], kModuleBytes);
                            ++away;
                        }
                }
                std::map<int, double> held;
                for (const auto &[at, by] : changes) {
                    held[at.first] += by;
                    QVERIFY(isRounded(bytesAt(run.live.front()[std::size_t(at.first)].gpu, at.second), held[at.first]));
                }
            }
        QVERIFY(away > 1000);
    }

    // Over an iteration what is taken of each pool is given back: the changes add up to nothing.
    void everythingIsGivenBack()
    {
        const auto check = [](const Timeline &timeline, int pipelineClass, int stage) {
            PoolBytes sum;
            eachSpan(timeline, pipelineClass, stage, [&](std::uint32_t, const MemoryChange &change) {
                sum += change.atStart;
                sum += change.atEnd;
            });
            QVERIFY(std::abs(sum.gpu) < 1e-6 && std::abs(sum.offloaded) < 1e-6 && std::abs(sum.discarded) < 1e-6);
        };
        forEachStrict([&](const IterationCosts &costs, const Timeline &timeline) {
            for (int stage = 0; stage < costs.classes.front().program.shape.devices; ++stage)
                check(timeline, 0, stage);
        });
        forEachOffloading([&](const PipelineCase &c, const PipelineRun &run) {
            for (int member = 0; member < int(run.live.size()); ++member)
                for (int stage = 0; stage < c.devices; ++stage)
                    check(run.timeline, member, stage);
        });
    }

    // sum of the parts at the fullest moment = peak.
    void partsAddUpToThePeak()
    {
        forEachStrict([](const IterationCosts &costs, const Timeline &timeline) {
            const PipelineCosts &pipeline = costs.classes.front();
            for (int stage = 0; stage < pipeline.program.shape.devices; ++stage) {
                const LiveOverTime live = liveOverTime(timeline, 0, stage, false, false);
                QVERIFY(isNear(
                    fullestMoment(live, timeline, 0, stage, *pipeline.memory[std::size_t(stage)]).total(), live.peak));
            }
        });
        forEachOffloading([](const PipelineCase &c, const PipelineRun &run) {
            for (int member = 0; member < int(run.live.size()); ++member)
                for (int stage = 0; stage < c.devices; ++stage) {
                    const LiveOverTime &live = run.live[std::size_t(member)][std::size_t(stage)];
                    const OpMemory &memory = *run.costs.classes[std::size_t(member)].memory[std::size_t(stage)];
                    QVERIFY(isNear(fullestMoment(live, run.timeline, member, stage, memory).total(), live.peak));
                }
        });
    }

    // written = read + forwarded; what was written is what the stores moved, what was read what the loads moved.
    void whatIsWrittenIsReadOrForwarded()
    {
        forEachOffloading([](const PipelineCase &c, const PipelineRun &run) {
            for (int member = 0; member < int(run.live.size()); ++member)
                for (int stage = 0; stage < c.devices; ++stage) {
                    double stored = 0, loaded = 0;
                    for (const Track &track : run.timeline.tracks)
                        for (std::uint32_t span = track.first;
                             track.pipelineClass == member && track.stage == stage && span < track.last; ++span) {
                            stored += track.stream == Stream::Store ? run.timeline.bytesMoved(span) : 0;
                            loaded += track.stream == Stream::Load ? run.timeline.bytesMoved(span) : 0;
                        }
                    const OffloadUse &use = run.live[std::size_t(member)][std::size_t(stage)].use;
                    QVERIFY(isNear(use.written, use.read + use.forwarded));
                    QVERIFY(isNear(use.written, stored) && isNear(use.read, loaded));
                }
        });
    }

    // Two modules of 100, thrown away after their forwards, made anew one after the other before their backwards; none
    // is stored. On the GPU one at a time, if everything had stayed both.
    void whatIsThrownAwayCountsWhereEverythingStays()
    {
        PipelineCase c;
        c.schedule = ScheduleKind::OneFOneB;
        c.devices = c.microBatches = 1;
        c.modules = 2;
        c.leaving = 0;
        c.recomputes = true;
        IterationCosts costs;
        costs.isRecomputing = true;
        PipelineCosts &pipeline = costs.classes.emplace_back(pipelineOf(c));
        for (std::vector<Op> &order : pipeline.program.order)
            for (Op &op : order)
                op.recomputes = op.kind == OpKind::Backward; // though it directly follows its forward
        StageOffload offload;
        offload.chunks = { { { 0, 0, 100, false, true, false }, { 0, 0, 100, false, true, false } } };
        ChunkMemory chunk;
        chunk.kept = chunk.whole = 200;
        pipeline.memory = { std::make_shared<const OpMemory>(std::vector { chunk }, &offload, OpMemory::Program {}) };
        const Timeline timeline = timelineOf(costs);
        const LiveOverTime live = liveOverTime(timeline, 0, 0, true, true);
        QCOMPARE(live.peak, 100.0);
        QCOMPARE(live.peakWhole, 200.0);
        QCOMPARE(live.use.written, 0.0);
        const Nanoseconds turn = 2 * c.forward; // both forwards have ended, and the second module is made anew
        QCOMPARE(bytesAt(live.gpu, turn - 1), std::int64_t { 0 });
        QCOMPARE(bytesAt(live.whole, turn - 1), std::int64_t { 100 });
        QCOMPARE(bytesAt(live.gpu, turn), std::int64_t { 100 });
        QCOMPARE(bytesAt(live.whole, turn), std::int64_t { 200 });
        QCOMPARE(live.whole.back().bytes, std::int64_t { 0 });
    }

    // Steps are asked for or not: the figures are the same.
    void aCurveChangesNoFigure()
    {
        forEachOffloading([](const PipelineCase &c, const PipelineRun &run) {
            for (int stage = 0; stage < c.devices; ++stage) {
                const LiveOverTime &with = run.live.front()[std::size_t(stage)],
                                   without = liveOverTime(run.timeline, 0, stage, true, false);
                QVERIFY(without.gpu.empty() && !with.gpu.empty());
                QCOMPARE(without.peak, with.peak);
                QCOMPARE(without.peakWhole, with.peakWhole);
                QCOMPARE(without.mostOffloaded, with.mostOffloaded);
                QCOMPARE(without.fullest, with.fullest);
            }
        });
    }
};

TRAINYARD_APPLESS_TEST(TestMemoryWalk)
#include "tst_memory_walk.moc"
