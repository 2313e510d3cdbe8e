// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/run_overlay.h"
#include "tests/support/test_program.h"

#include "core/runs/overlay/curves.h"
#include "tests/core/runs/overlay/small_runs.h"
#include "tests/support/plans.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace trainyard;
using namespace trainyard::test;
using enum RecordedWork;

namespace {

const RunCurve *curveOf(const RunOverlayPtr &overlay, std::string_view name, std::string_view where = {})
{
    for (const RunCurve &curve : overlay->curves)
        if (curve.name == name && curve.where == where)
            return &curve;
    return nullptr;
}

const MeasuredRow *rowOf(const RunOverlayPtr &overlay, Stream stream, int stage, int replica = 0, int peer = -1)
{
    for (const MeasuredRow &row : overlay->rows)
        if (row.key.stream == stream && row.key.stage == stage && row.key.firstReplica <= replica
            && replica < row.key.firstReplica + row.key.replicas && (peer < 0 || row.key.peer == peer))
            return &row;
    return nullptr;
}

/// Of 8 ranks of a node, which is one stage of tensor 8.
std::vector<int> ranksFrom(int first)
{
    std::vector<int> ranks(8);
    std::iota(ranks.begin(), ranks.end(), first);
    return ranks;
}

} // namespace

class TestRunOverlay : public QObject {
    Q_OBJECT
private slots:
    void eachTrackThatARunCanShowHasARowByItsKey()
    {
        const EvaluationPtr plan = evaluated(threeSites(4));
        SmallRecording made;
        made.rank(0).step(1, 0, 100).span(Compute, 0, 100, 0);
        const RunOverlayPtr overlay = overlayRun(plan, made.run(), {});
        QVERIFY(overlay->evaluation == plan);
        std::set<TrackKey> keys;
        for (const Track &track : plan->timeline.tracks) {
            const MeasuredRow *row = overlay->rowOf(keyOf(*plan, track));
            if (track.stream == Stream::Compute || track.stream == Stream::Wan || track.stream == Stream::Collective) {
                QVERIFY(row);
                keys.insert(row->key);
            }
        }
        QCOMPARE(keys.size(), overlay->rows.size()); // one row a key
        QVERIFY(!overlay->rowOf({ 99, 1, 0, Stream::Compute, -1 }));
    }

    void aRowStandsForItsRanksAndShowsTheSlowest()
    {
        // 32 GPUs: 4 stages of 8 ranks. Of stage 1, ranks 8 to 15, three were recorded; 10 computes most
        const EvaluationPtr plan = evaluated(oneSite(4));
        SmallRecording made;
        for (const int rank : { 8, 10, 15 })
            made.rank(rank, 32)
                .step(1, 0, 1000)
                .span(Compute, 100, 200, 0)
                .span(Compute, 300, rank == 10 ? 700 : 500, 0);
        const RunPtr run = made.run();
        const RunOverlayPtr overlay = overlayRun(plan, run, {});
        const MeasuredRow *row = rowOf(overlay, Stream::Compute, 1);
        QVERIFY(row);
        QCOMPARE(row->ranks, ranksFrom(8));
        QCOMPARE(row->missing, std::vector<int>({ 9, 11, 12, 13, 14 }));
        QCOMPARE(row->shown, 10);
        QCOMPARE(row->start, std::vector<Nanoseconds>({ 100000, 300000 }));
        QCOMPARE(row->end, std::vector<Nanoseconds>({ 200000, 700000 }));
        QCOMPARE(overlay->duration, Nanoseconds(1000000));
        QCOMPARE(overlay->missingRanks.size(), std::size_t(29));
        QCOMPARE(rowOf(overlay, Stream::Compute, 0)->missing, ranksFrom(0)); // all: hatched
        QCOMPARE(rowOf(overlay, Stream::Compute, 0)->shown, -1);
        QVERIFY(hasNote(overlay->notes, "29 ranks of the plan's 32 were not recorded"));
        const RunOverlayPtr asked = overlayRun(plan, run, { .rank = 15 }, overlay);
        QCOMPARE(rowOf(asked, Stream::Compute, 1)->shown, 15);
        QCOMPARE(rowOf(asked, Stream::Compute, 1)->end.back(), Nanoseconds(500000));
    }

    void transfersAndExchangesBetweenReplicasHaveRowsOfTheirOwn()
    {
        // 6 stages over 3 datacenters, 2 a datacenter: stage 1 sends over the WAN to stage 2
        Plan plan = threeSites(4);
        plan.parallelism.data = 2;
        const EvaluationPtr evaluation = evaluated(plan);
        const RankMap map(*evaluation->plan, evaluation->layout);
        QCOMPARE(map.worldSize(), 96);
        const int own = map.rankOf({ .stage = 1 }), next = map.rankOf({ .stage = 2 });
        const int twin = map.rankOf({ .replica = 1, .stage = 1 }), beside = map.rankOf({ .stage = 1, .tensor = 1 });
        SmallRecording made;
        made.rank(own, 96)
            .step(1, 0, 1000)
            .span(Compute, 0, 400, 0)
            .collective("all_reduce", 400, 450, 1e6, 24, 0, { own, beside }) // of tensor parallelism
            .collective("send", 450, 600, 1e6, 30, 0, { own, next })
            .collective("reduce_scatter", 600, 700, 1e6, 40, 0, { own, twin })
            .span(Copy, 700, 720, 0, 50, "Memcpy DtoH (Device -> Pinned)");
        const RunOverlayPtr overlay = overlayRun(evaluation, made.run(), {});
        const MeasuredRow *wan = rowOf(overlay, Stream::Wan, 1, 0, 2);
        QVERIFY(wan);
        QCOMPARE(wan->start, std::vector<Nanoseconds>({ 450000 }));
        const MeasuredRow *exchange = rowOf(overlay, Stream::Collective, 1);
        QVERIFY(exchange);
        QCOMPARE(exchange->start, std::vector<Nanoseconds>({ 600000 }));
        const MeasuredRow *compute = rowOf(overlay, Stream::Compute, 1);
        QCOMPARE(compute->start, std::vector<Nanoseconds>({ 0, 400000, 700000 })); // what has no row of its own
        QCOMPARE(compute->work, std::vector<RecordedWork>({ Compute, Communication, Copy }));
        std::size_t shown = 0;
        for (const MeasuredRow &row : overlay->rows)
            shown += row.size();
        QCOMPARE(shown, std::size_t(5)); // each span on one row
    }

    void withoutAPlanARowIsAStreamOfARank()
    {
        SmallRecording made;
        made.rank(3, 8).step(1, 0, 100).span(Compute, 0, 60, 0, 7).collective("all_reduce", 60, 100);
        made.rank(5, 8).step(1, 0, 100).span(Compute, 0, 60, 0, 7);
        const RunOverlayPtr overlay = overlayRun(nullptr, made.run(), {});
        QCOMPARE(overlay->rows.size(), std::size_t(3));
        QCOMPARE(QString::fromStdString(overlay->rows[1].label), QString("rank 3, stream 24"));
        QVERIFY(overlay->rows[1].key.stream == Stream::Collective && overlay->rows[2].shown == 5);
        QCOMPARE(overlayRun(nullptr, made.run(), { .rank = 5 })->rows.size(), std::size_t(1));
        // An infeasible plan has no iteration
        Plan none = oneSite(1); // 4 stages of 8 GPUs need 4 nodes
        const RunOverlayPtr alone = overlayRun(evaluated(none), made.run(), {});
        QVERIFY(!alone->evaluation && alone->rows.size() == 3 && hasNote(alone->notes, "no iteration"));
    }

    void worldsThatDifferAreSaid()
    {
        const EvaluationPtr plan = evaluated(oneSite(4));
        SmallRecording small, large, unnumbered;
        small.rank(0, 8).step(1, 0, 100).span(Compute, 0, 100, 0);
        large.rank(40, 64).step(1, 0, 100).span(Compute, 0, 100, 0);
        unnumbered.rank(-1).step(1, 0, 100).span(Compute, 0, 100, 0);
        QVERIFY(hasNote(overlayRun(plan, small.run(), {})->notes,
            "The run has 8 ranks, the plan 32: rows of ranks 8 to 31 stay empty"));
        QVERIFY(hasNote(overlayRun(plan, large.run(), {})->notes, "ranks from 32 on are on no row"));
        const RunOverlayPtr alone = overlayRun(plan, unnumbered.run(), {});
        QVERIFY(hasNote(alone->notes, "taken as rank 0"));
        QCOMPARE(rowOf(alone, Stream::Compute, 0)->shown, 0);
        small.m_recording.arguments["global_batch_size"] = "512";
        QVERIFY(hasNote(overlayRun(plan, small.run(), {})->notes, "sequences per step 512, plan 64"));
    }

    void ofAnotherJobThatIsSaidFirstAndNoRateIsMadeOfThePlansWork()
    {
        // 8 ranks beside a plan of 32: the work of a step of the plan is not the run's
        const EvaluationPtr plan = evaluated(oneSite(4));
        SmallRecording made;
        made.rank(0, 8).step(1, 0, 100).step(2, 100, 200).span(Compute, 0, 100, 0).span(Compute, 100, 190, 100);
        const RunOverlayPtr overlay = overlayRun(plan, made.run(), {});
        for (const char *rate :
            { samples::kTflopsPerGpu, samples::kMfu, samples::kTokensPerSecondPerGpu, samples::kSamplesPerSecond })
            QVERIFY2(!curveOf(overlay, rate), rate);
        QVERIFY(overlay->notes.front().find("The run has 8 ranks, the plan 32") == 0);
        QVERIFY(overlay->differences.notes.front().find("The run has 8 ranks, the plan 32") == 0);
        QVERIFY(!hasNote(overlay->notes, "plan's model"));
        // A log alone says so too; torchtitan's names, and those with hyphens, are understood
        SmallRecording log;
        log.series(samples::kStepTime, 1, { 2, 1, 1 });
        log.m_recording.arguments = { { "world-size", "8" }, { "parallelism.tensor_parallel_degree", "2" },
            { "training.seq_len", "4096abc" } };
        const RunOverlayPtr told = overlayRun(plan, log.run(), {});
        QVERIFY(told->notes.front().find("The run has 8 ranks, the plan 32") == 0);
        QVERIFY(hasNote(told->notes, "tensor parallelism 2, plan 8") && !hasNote(told->notes, "4,096"));
        // So it is with two runs
        const RunOverlayPtr runs = overlayRuns(log.run(), made.run(), {});
        QVERIFY(!hasNote(runs->notes, "compared with")); // 8 and 8
        log.m_recording.arguments["world-size"] = "16";
        const RunOverlayPtr unequal = overlayRuns(log.run(), made.run(), {});
        QVERIFY(unequal->notes.front().find("The run has 8 ranks, the one that it is compared with 16") == 0);
        QVERIFY(unequal->differences.notes.front() == unequal->notes.front());
    }

    void ratesAreOfEachStepsOwnBatch()
    {
        // The batch grows from 8 to 64, steps of one second; sequences of 1,024 tokens on 32 GPUs
        const EvaluationPtr plan = evaluated(oneSite(4));
        SmallRecording made;
        made.series(samples::kStepTime, 1, { 1, 1, 1, 1 }).series(samples::kGlobalBatch, 1, { 8, 8, 64, 64 });
        made.m_recording.arguments = { { "seq_length", "1024" }, { "world_size", "32" } };
        const RunOverlayPtr overlay = overlayRun(nullptr, made.run(), {});
        QCOMPARE(curveOf(overlay, samples::kSamplesPerSecond)->value, std::vector<double>({ 8, 8, 64, 64 }));
        QCOMPARE(curveOf(overlay, samples::kTokensPerSecondPerGpu)->value,
            std::vector<double>(
                { 8 * 32., 8 * 32., 64 * 32., 64 * 32. })); // 1024 / 32 = 32 tokens of a sequence and GPU
        made.m_recording.arguments = {};
        const RunOverlayPtr planned = overlayRun(plan, made.run(), {});
        const RunCurve *mfu = curveOf(planned, samples::kMfu);
        const double ofPlan = *plan->metrics.mfu * *plan->metrics.iterationTime / plan->plan->workload.globalBatch;
        QVERIFY(mfu && std::abs(mfu->value[0] - 8 * ofPlan) < 1e-12 && std::abs(mfu->value[3] - 64 * ofPlan) < 1e-12);
    }

    void ranksAreNumberedAsTheRunsArgumentsTell()
    {
        // 2 replicas of 6 stages of 8: rank 8 is replica 1 of stage 0, or stage 1 of replica 0
        Plan plan = threeSites(4);
        plan.parallelism.data = 2;
        const EvaluationPtr evaluation = evaluated(plan);
        SmallRecording made;
        made.rank(8, 96).step(1, 0, 100).span(Compute, 0, 100, 0);
        const RunOverlayPtr unasked = overlayRun(evaluation, made.run(), {});
        QCOMPARE(rowOf(unasked, Stream::Compute, 0, 1)->shown, 8);
        QVERIFY(hasNote(unasked->notes, "Nothing tells how ranks were numbered"));
        for (const char *name : { "use_tp_pp_dp_mapping", "use-tp-pp-dp-mapping" }) {
            made.m_recording.arguments = { { name, "True" } };
            const RunOverlayPtr told = overlayRun(evaluation, made.run(), {});
            QCOMPARE(rowOf(told, Stream::Compute, 1, 0)->shown, 8);
            QVERIFY(hasNote(told->notes, "over stages before replicas"));
        }
        made.m_recording.arguments = { { "use_tp_pp_dp_mapping", "False" } };
        const RunOverlayPtr off = overlayRun(evaluation, made.run(), {});
        QCOMPARE(rowOf(off, Stream::Compute, 0, 1)->shown, 8);
        QVERIFY(!hasNote(off->notes, "numbered"));
    }

    void collectivesOfARankLaidOverOthersAreInItsSteps()
    {
        // Ranks 1 and 2 share a clock an hour off, which no collective joins with rank 0's: 1 MB in 20 us, of step 1
        SmallRecording made;
        const Moment hour = Moment(3600) * 1000 * 1000;
        made.rank(0).step(1, 0, 100).span(Compute, 0, 100, 0);
        made.rank(3).step(1, 0, 100).span(Compute, 0, 100, 0);
        for (const int rank : { 1, 2 })
            made.rank(rank)
                .step(1, hour, hour + 100)
                .collective("all_reduce", hour + 50, hour + 70, 1e6, 24, hour, { 1, 2 });
        const RunPtr run = made.run();
        QVERIFY(hasNote(run->notes, "laid over"));
        const RunOverlayPtr overlay = overlayRun(nullptr, run, {});
        const RunCurve *bus = curveOf(overlay, curves::kBusBandwidth);
        QVERIFY(bus && bus->step == std::vector<double>({ 1 }));
        QVERIFY(std::abs(bus->value[0] / (1e6 / 20e-6) - 1) < 1e-9);
    }

    void curvesCarryWhatThePlanSaysOfThem()
    {
        const EvaluationPtr plan = evaluated(oneSite(4));
        const Metrics &metrics = plan->metrics;
        SmallRecording made;
        made.series(samples::kLoss, 1, { 5, 4, 3 }).series(samples::kTflopsPerGpu, 1, { 400, 410, 420 });
        made.series(samples::kStepTime, 1, { 2, 1, 1 });
        made.overTime(samples::kStepEnded, { 2, 3, 4 }, { 1, 2, 3 });
        made.overTime(samples::kPower, { 0.5, 2.2, 2.8, 3.5 }, { 300, 500, 600, 650 }, "node0/gpu0");
        made.overTime(samples::kPower, { 0.5, 2.2, 2.8, 3.5 }, { 500, 500, 600, 750 }, "node0/gpu1");
        const RunOverlayPtr overlay = overlayRun(plan, made.run(), {});
        QCOMPARE(QString::fromStdString(overlay->curves.front().name), QString(samples::kStepTime));
        const RunCurve *time = curveOf(overlay, samples::kStepTime);
        QCOMPARE(time->value, std::vector<double>({ 2, 1, 1 }));
        QCOMPARE(time->predicted, metrics.iterationTime);
        QCOMPARE(curveOf(overlay, samples::kTflopsPerGpu)->predicted, metrics.modelTflopsPerGpu);
        QVERIFY(!curveOf(overlay, samples::kLoss)->predicted);
        // Not told by the run: MFU x time is the plan's, of the same work
        const RunCurve *mfu = curveOf(overlay, samples::kMfu);
        QVERIFY(mfu && std::abs(mfu->value[1] - *metrics.mfu * *metrics.iterationTime) < 1e-12);
        QCOMPARE(mfu->predicted, metrics.mfu);
        // Samples in (2, 3] are step 2's; the job's is the mean over the GPUs
        QCOMPARE(curveOf(overlay, samples::kPower, "node0/gpu1")->value, std::vector<double>({ 500, 550, 750 }));
        const RunCurve *power = curveOf(overlay, samples::kPower);
        QCOMPARE(power->value, std::vector<double>({ 400, 550, 700 }));
        QVERIFY(!power->isOverTime && !power->predicted);
        bool isOfPlaces = false;
        for (const RunCurve &curve : overlay->curves) { // the job's first
            QVERIFY(!isOfPlaces || !curve.where.empty());
            isOfPlaces |= !curve.where.empty();
        }
        QVERIFY(overlay->rows.empty() && overlay->missingRanks.empty()); // of a log no row
    }

    void samplesWithoutStepsAreOverTime()
    {
        SmallRecording made;
        made.overTime(samples::kPower, { 100, 101, 103 }, { 300, 500, 600 }, "gpu0");
        const RunOverlayPtr overlay = overlayRun(nullptr, made.run(), {});
        const RunCurve *power = curveOf(overlay, samples::kPower, "gpu0");
        QVERIFY(power && power->isOverTime);
        QCOMPARE(power->step, std::vector<double>({ 0, 1, 3 }));
        QCOMPARE(overlay->step, -1);
        QCOMPARE(overlay->differences.measuredSeconds, 0.0);
    }

    void curvesOfTracesAreTheirStepsAndCollectives()
    {
        // 1 MB over two ranks: bus factor 2 (n - 1) / n = 1, in 50 us
        SmallRecording made;
        for (int rank = 0; rank < 2; ++rank)
            made.rank(rank, 2)
                .step(1, 0, 200)
                .span(Compute, 0, 100 + 50 * rank, 0)
                .collective("all_reduce", 100 + 50 * rank, 200, 1e6, 24, 0);
        const RunOverlayPtr overlay = overlayRun(nullptr, made.run(), {});
        const RunCurve *bus = curveOf(overlay, curves::kBusBandwidth);
        QVERIFY(bus && std::abs(bus->value[0] / (1e6 / 50e-6) - 1) < 1e-9);
        const RunCurve *share = curveOf(overlay, curves::kComputeShare);
        QVERIFY(share && std::abs(share->value[0] - (0.5 + 0.75) / 2) < 1e-9);
    }

    void twoRunsAreComparedByStepsAndMedians()
    {
        SmallRecording a, b;
        a.series(samples::kStepTime, 1, { 1, 1, 1, 1 }).series(samples::kMfu, 1, { 0.4, 0.4, 0.42, 0.4 });
        b.series(samples::kStepTime, 1, { 3, 1.2, 1.2, 1.2 }).series(samples::kMfu, 1, { 0.2, 0.35, 0.35, 0.35 });
        const RunOverlayPtr overlay = overlayRuns(a.run(), b.run(), { .step = 3 });
        QCOMPARE(overlay->run->steps[std::size_t(overlay->step)].number, std::int64_t(3));
        QVERIFY(std::abs(overlay->differences.measuredSeconds - overlay->differences.referenceSeconds - 0.2) < 1e-12);
        QCOMPARE(curveOf(overlay, samples::kStepTime)->predicted, std::optional(1.0));
        QCOMPARE(curveOf(overlay, samples::kMfu)->predicted, std::optional(0.4));
        QVERIFY(hasNote(overlayRuns(a.run(), b.run(), { .step = 77 })->notes, "no step 77"));
    }

    void anotherStepIsWhatItWouldBeMadeAnew()
    {
        const EvaluationPtr plan = evaluated(oneSite(4));
        SmallRecording made;
        for (int rank = 0; rank < 4; ++rank) {
            auto one = made.rank(rank, 32);
            for (int step = 0; step < 5; ++step) {
                one.step(step, step * 100, step * 100 + 100);
                one.span(Compute, step * 100, step * 100 + 50 + 5 * rank + step, step * 100);
            }
        }
        const RunPtr run = made.run();
        const RunOverlayPtr first = overlayRun(plan, run, { .step = 1 });
        const RunOverlayPtr next = overlayRun(plan, run, { .step = 4 }, first);
        const RunOverlayPtr anew = overlayRun(plan, run, { .step = 4 });
        QCOMPARE(next->step, 4);
        QVERIFY(next->differences == anew->differences);
        QCOMPARE(next->rows.size(), anew->rows.size());
        for (std::size_t i = 0; i < next->rows.size(); ++i)
            QVERIFY(next->rows[i].start == anew->rows[i].start && next->rows[i].end == anew->rows[i].end
                && next->rows[i].shown == anew->rows[i].shown);
        QCOMPARE(next->curves.size(), anew->curves.size());
        QVERIFY(hasNote(anew->notes, "computed from its step times"));
        QCOMPARE(next->notes, anew->notes); // those of the curves too
    }
};

TRAINYARD_GUILESS_TEST(TestRunOverlay)
#include "tst_run_overlay.moc"
