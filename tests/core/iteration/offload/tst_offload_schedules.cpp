// SPDX-License-Identifier: GPL-3.0-or-later
// What must hold of offloading under schedules that decide while they run, and under those that run a forward and a
// backward at once.
#include "tests/core/iteration/offload/pipeline_case.h"
#include "tests/support/rewritten_graph.h"
#include "tests/support/test_program.h"

#include <map>
#include <span>
#include <tuple>

using namespace offload;
using test::rewritten;

namespace {

constexpr int kTrials = 200;
constexpr ScheduleKind kAtRunTime[] = { ScheduleKind::Atlas, ScheduleKind::Varuna };
constexpr ScheduleKind kAll[] = { ScheduleKind::Atlas, ScheduleKind::Varuna, ScheduleKind::DualPipe,
    ScheduleKind::DualPipeV, ScheduleKind::TeraPipe };

PipelineCase withoutOffload(PipelineCase c)
{
    c.offloads = false;
    return c;
}

/// Moves of one tick, asked for at the hand-over.
PipelineCase withoutLimitOfBandwidth(PipelineCase c)
{
    c.store = c.load = 1;
    return c;
}

/// Forwards that are followed at once by their own backward, for sure.
int turnsOf(const Program &program, std::size_t device)
{
    const std::vector<Op> &order = program.order[device];
    int turns = 0;
    for (std::size_t i = 1;
         i < order.size() && (program.rule == OrderRule::Strict || device + 1 == program.order.size()); ++i)
        turns += isForward(order[i - 1].kind) && makesGradient(order[i].kind) && order[i].chunk == order[i - 1].chunk
            && order[i].microBatch == order[i - 1].microBatch;
    return turns;
}

template <class Check> void forEachCase(unsigned seed, std::span<const ScheduleKind> schedules, Check check)
{
    std::mt19937 random(seed);
    for (const ScheduleKind schedule : schedules)
        for (int trial = 0; trial < kTrials; ++trial)
            check(randomPipeline(random, schedule));
}

/// What belongs to one micro-batch of one virtual stage, in order of start; a pair belongs to two.
struct SpansOf {
    std::vector<std::uint32_t> forwards, backwards, recomputations, stores, loads;
    bool isBackwardWhole = false;
};

std::map<std::tuple<int, int, int, int>, SpansOf> cells(const Timeline &t, bool splitsBackward)
{
    std::map<std::tuple<int, int, int, int>, SpansOf> all;
    for (std::uint32_t i = 0; i < t.spanCount(); ++i) {
        const Track &track = t.tracks[t.trackOf[i]];
        SpansOf &of = all[{ track.pipelineClass, track.stage, t.chunk[i], t.microBatch[i] }];
        switch (t.kind[i]) {
        case WorkKind::Forward:
            of.forwards.push_back(i);
            break;
        case WorkKind::Backward:
            of.isBackwardWhole = splitsBackward;
            [[fallthrough]];
        case WorkKind::InputGrad:
            of.backwards.push_back(i);
            break;
        case WorkKind::Recompute:
            of.recomputations.push_back(i);
            break;
        case WorkKind::OffloadStore:
            of.stores.push_back(i);
            break;
        case WorkKind::OffloadLoad:
            of.loads.push_back(i);
            break;
        case WorkKind::ForwardBackward: {
            of.forwards.push_back(i);
            SpansOf &paired = all[{ track.pipelineClass, track.stage, t.pairedChunk[i], t.pairedMicroBatch[i] }];
            paired.backwards.push_back(i);
            paired.isBackwardWhole = true;
            break;
        }
        default:
            break;
        }
    }
    return all;
}

} // namespace

class TstOffloadSchedules : public QObject {
    Q_OBJECT

private slots:
    void whatIsWrittenIsReadOrForwarded()
    {
        // written = read + forwarded; offered = written + dropped + the last module before its own backward
        forEachCase(21, kAll, [](const PipelineCase &c) {
            const PipelineRun run = offload::run(c);
            for (const auto &stages : run.live)
                for (std::size_t stage = 0; stage < stages.size(); ++stage) {
                    const OffloadUse &use = stages[stage].use;
                    QCOMPARE(use.written, use.read + use.forwarded);
                    const int turns = c.leaving == c.modules ? turnsOf(run.costs.classes.front().program, stage) : 0;
                    const int passes =
                        c.microBatches * (c.schedule == ScheduleKind::DualPipe ? 1 : c.chunks); // of a device
                    QCOMPARE(use.written + use.dropped, kModuleBytes * (c.leaving * passes - turns));
                }
        });
    }

    void nothingIsUsedBeforeItIsThere()
    {
        // The n-th load from the end of a micro-batch is of the n-th module that leaves. A module's store starts after
        // its forward; its recomputation or, without one, its backward starts after its load. What is not cut needs
        // all.
        forEachCase(22, kAll, [](const PipelineCase &c) {
            const PipelineRun run = offload::run(c);
            const Timeline &t = run.timeline;
            for (const auto &[key, of] : cells(t, hasKind(run.costs.classes.front().program, OpKind::InputGrad))) {
                const auto &users = of.recomputations.empty() ? of.backwards : of.recomputations;
                QCOMPARE(of.loads.size(), of.stores.size());
                QVERIFY(of.loads.empty() || of.isBackwardWhole || users.size() == std::size_t(c.modules));
                for (std::size_t i = 0; i < of.loads.size(); ++i) {
                    const std::size_t module = of.loads.size() - 1 - i;
                    const std::uint32_t store = of.stores[module], load = of.loads[i];
                    QVERIFY(
                        t.end[load] <= t.start[of.isBackwardWhole ? users.front() : users[users.size() - 1 - module]]);
                    QVERIFY(
                        t.start[store] >= t.end[of.forwards.size() == 1 ? of.forwards.front() : of.forwards[module]]);
                    if (t.end[load] > t.start[load]) // really read: the store had ended
                        QVERIFY(t.end[store] <= t.start[load] && t.end[store] > t.start[store]);
                }
            }
        });
    }

    void anOperationIsNotInterrupted()
    {
        // Between the first segment of an operation and its last there is no other operation.
        forEachCase(23, kAtRunTime, [](const PipelineCase &c) {
            const Timeline t = offload::run(c).timeline;
            for (const Track &track : t.tracks) {
                if (track.stream != Stream::Compute)
                    continue;
                std::map<std::pair<bool, int>, int> runs; // forward?, micro-batch
                for (std::uint32_t i = track.first; i < track.last; ++i) {
                    const auto key = std::pair(t.kind[i] == WorkKind::Forward, t.microBatch[i]);
                    const bool goesOn =
                        i > track.first && key == std::pair(t.kind[i - 1] == WorkKind::Forward, t.microBatch[i - 1]);
                    QVERIFY(i == track.first || t.start[i] >= t.end[i - 1]);
                    runs[key] += goesOn ? 0 : 1;
                }
                for (const auto &[key, count] : runs)
                    QVERIFY(count == 1
                        || (c.recomputes && !key.first && count == 2)); // recomputation ahead of its gradient
            }
        });
    }

    void thePeakIsNeverAboveKeeping()
    {
        forEachCase(24, kAll, [](const PipelineCase &c) {
            for (const auto &stages : offload::run(c).live)
                for (const LiveOverTime &live : stages)
                    QVERIFY(holdsLessAndNothingInTheEnd(live));
        });
    }

    void limitsHold()
    {
        // A stage of atlas never holds more micro-batches than it may.
        forEachCase(25, kAtRunTime, [](const PipelineCase &c) {
            if (c.limit == 0)
                return;
            const PipelineRun run = offload::run(c);
            for (std::size_t member = 0; member < run.live.size(); ++member)
                for (std::size_t stage = 0; stage < run.live[member].size(); ++stage) {
                    const OpMemory &memory = *run.costs.classes[member].memory[stage];
                    QVERIFY(
                        fullestMoment(run.live[member][stage], run.timeline, int(member), int(stage), memory).inFlight
                        <= c.limit);
                }
        });
    }

    void withoutLimitOfBandwidthNothingStalls()
    {
        // A load of a tick hides behind the hand-over.
        forEachCase(26, kAtRunTime, [](const PipelineCase &c) {
            QCOMPARE(offload::run(withoutLimitOfBandwidth(c)).timeline.duration,
                offload::run(withoutOffload(c)).timeline.duration);
        });
    }

    void pairsWaitForLoadsThatNothingHides()
    {
        // Of a backward right after its forward: as many ticks as it has loads. Fixed orders are never faster than
        // keeping.
        constexpr ScheduleKind kPairs[] = { ScheduleKind::DualPipe, ScheduleKind::DualPipeV };
        forEachCase(28, kPairs, [](const PipelineCase &c) {
            const Nanoseconds kept = offload::run(withoutOffload(c)).timeline.duration;
            const Nanoseconds most = Nanoseconds(c.modules) * (2 * c.microBatches + c.devices);
            const Nanoseconds longer = offload::run(withoutLimitOfBandwidth(c)).timeline.duration - kept;
            QVERIFY(longer >= 0 && longer <= most);
            QVERIFY(offload::run(c).timeline.duration >= kept);
        });
    }

    // Greedy choices have anomalies (Graham 1969): a backward that waits for its load may let a forward go first that
    // the next stage needs more. Counted and bounded.
    void slowDrivesSeldomShortenAnIteration()
    {
        int shorter = 0, cases = 0;
        double most = 0;
        forEachCase(29, kAtRunTime, [&](const PipelineCase &c) {
            const Nanoseconds kept = offload::run(withoutOffload(c)).timeline.duration,
                              with = offload::run(c).timeline.duration;
            ++cases;
            shorter += with < kept;
            most = std::max(most, 1 - double(with) / double(kept));
        });
        qInfo("%d of %d cases shorter than keeping, by %.1f %% at most", shorter, cases, 100 * most);
        QVERIFY(shorter <= cases / 50);
        QVERIFY(most < 0.15);
    }

    void updatingAGraphGivesWhatBuildingGives()
    {
        forEachCase(30, kAll, [](PipelineCase c) {
            IterationCosts slow, fast;
            slow.classes.push_back(pipelineOf(c));
            c.forward += 17;
            c.load = c.load / 2 + 1;
            fast.classes.push_back(pipelineOf(c));
            const auto same = rewritten(*buildPipelineGraph(slow), fast);
            QVERIFY(same);
            SimulationWorkspace workspace;
            const Timeline updated = *simulate(*same, workspace),
                           built = *simulate(*buildPipelineGraph(fast), workspace);
            QCOMPARE(updated.start, built.start);
            QCOMPARE(updated.end, built.end);
        });
    }

    void withoutBandwidthEverythingStays()
    {
        forEachCase(27, kAll, [](PipelineCase c) {
            c.leaving = 0;
            const PipelineRun run = offload::run(c);
            QCOMPARE(run.timeline.duration, offload::run(withoutOffload(c)).timeline.duration);
            for (const auto &stages : run.live)
                for (const LiveOverTime &live : stages) {
                    QCOMPARE(live.peak, live.peakWhole);
                    QCOMPARE(live.use.written, 0.0);
                }
        });
    }
};

TRAINYARD_APPLESS_TEST(TstOffloadSchedules)
#include "tst_offload_schedules.moc"
