// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill in the bubbles of whole plans, from the plan's keys to the metrics.
#include "core/engine/timeline/analysis.h"
#include "core/iteration/prefill/backlog.h"
#include "core/iteration/prefill/bubble_fill.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QtTest>

#include "tests/core/iteration/prefill/filled_plans.h"

#include <cmath>
#include <fstream>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Llama 3 8B in the bubbles of a pipeline of four stages, eight replicas of 8 H100.
Plan filled(double requestsPerSecond)
{
    Plan plan = oneSite(32);
    plan.parallelism.pipeline = 4;
    plan.workload.globalBatch = 32;
    plan.bubbleFill.enabled = true;
    plan.bubbleFill.model = "llama-3-8b";
    plan.bubbleFill.stages = 8;
    plan.bubbleFill.requestsPerSecond = requestsPerSecond;
    plan.bubbleFill.promptTokens = 512;
    return plan;
}

Plan without(Plan plan)
{
    plan.bubbleFill.enabled = false;
    return plan;
}

/// The compute track of the same GPUs.
const Track &computeOf(const Timeline &timeline, const Track &prefill)
{
    return *std::ranges::find_if(timeline.tracks, [&](const Track &t) {
        return t.stream == Stream::Compute && t.pipelineClass == prefill.pipelineClass && t.stage == prefill.stage;
    });
}

} // namespace

class TestBubbleFill : public QObject {
    Q_OBJECT

private slots:
    void trainingIsTheSameWithAndWithout_data()
    {
        QTest::addColumn<bool>("isAcross");
        QTest::newRow("one site") << false;
        QTest::newRow("two datacenters") << true;
    }

    void trainingIsTheSameWithAndWithout()
    {
        QFETCH(bool, isAcross);
        const Plan plan = isAcross ? acrossTwo(200) : filled(2000);
        const auto with = evaluated(plan), alone = evaluated(without(plan));
        const Timeline &a = with->timeline, &b = alone->timeline;
        QVERIFY(with->metrics.bubbleFill->accepted > 0);
        QVERIFY(a.spanCount() > b.spanCount());
        QCOMPARE(a.duration, b.duration);
        for (std::size_t i = 0; i < b.spanCount(); ++i) {
            QCOMPARE(a.start[i], b.start[i]);
            QCOMPARE(a.end[i], b.end[i]);
            QCOMPARE(a.kind[i], b.kind[i]);
            QCOMPARE(a.cause[i], b.cause[i]);
        }
        QCOMPARE(criticalPath(a), criticalPath(b));
        QCOMPARE(*with->metrics.iterationTime, *alone->metrics.iterationTime);
        for (double Breakdown::*part : kBreakdownParts)
            QCOMPARE(with->metrics.breakdown.value().*part, alone->metrics.breakdown.value().*part);
        QCOMPARE(*with->metrics.bubbleFraction, *alone->metrics.bubbleFraction);
        QCOMPARE(*with->metrics.gpuUtilization, *alone->metrics.gpuUtilization);
        QCOMPARE(with->metrics.bubbleFill->trainingDelay, 0.0);
    }

    void prefillIsDrawnWhereItsGpuIsIdleWithTheGuardKept()
    {
        const auto evaluation = evaluated(acrossTwo(200));
        const Timeline &timeline = evaluation->timeline;
        const Nanoseconds guard = 1'000'000;
        int tracks = 0;
        for (const Track &track : timeline.tracks) {
            if (track.stream != Stream::Prefill)
                continue;
            ++tracks;
            const Track &compute = computeOf(timeline, track);
            QVERIFY(track.first < track.last);
            for (std::uint32_t span = track.first; span < track.last; ++span) {
                QCOMPARE(timeline.kind[span], WorkKind::Prefill);
                QVERIFY(timeline.end[span] > timeline.start[span] && timeline.end[span] <= timeline.duration);
                QVERIFY(span == track.first || timeline.start[span] >= timeline.end[span - 1]);
                for (std::uint32_t work = compute.first; work < compute.last; ++work) {
                    const bool endsBefore = timeline.end[span] + guard <= timeline.start[work];
                    QVERIFY(endsBefore || timeline.start[span] >= timeline.end[work]
                        || timeline.start[work] == timeline.end[work]);
                }
            }
        }
        QCOMPARE(tracks, 4);
        QCOMPARE(timeline.fingerprint, std::uint64_t(0));
    }

    /// Spans that come after the simulation are spans in every array: none is shorter where stores of activations ended
    /// early.
    void everySpanIsInEveryArray()
    {
        Plan plan = filled(50);
        plan.memory.activationOffload = ActivationOffload::Ssd;
        plan.memory.offloadFraction = 1;
        for (Datacenter &datacenter : plan.cluster.datacenters)
            for (Pool &pool : datacenter.pools)
                pool.ssd = Ssd { .writeGBps = 0.5, .readGBps = 50 };
        const auto evaluation = evaluated(plan);
        const Timeline &t = evaluation->timeline;
        QVERIFY(std::ranges::any_of(
            t.tracks, [](const Track &track) { return track.stream == Stream::Prefill && track.first < track.last; }));
        QVERIFY(std::ranges::any_of(t.moved, [](double share) { return share < 1; }));
        for (const std::size_t size : { t.end.size(), t.kind.size(), t.microBatch.size(), t.chunk.size(),
                 t.cause.size(), t.trackOf.size(), t.moved.size() })
            QCOMPARE(size, t.spanCount());
    }

    void theNumbersAddUp()
    {
        const auto evaluation = evaluated(acrossTwo(50));
        const Metrics &m = evaluation->metrics;
        const BubbleFillMetrics &fill = *m.bubbleFill;
        // Idle time = 1 - utilization here, where nothing but compute lies on the GPUs.
        const double filledShare = *m.gpuUtilizationWithFill - *m.gpuUtilization;
        QVERIFY(std::abs(filledShare - (1 - *m.gpuUtilization) * fill.filledFraction) < 1e-6);
        // One prompt on one GPU, its own time at no wait.
        QVERIFY(
            std::abs(filledShare * m.gpusUsed * *m.iterationTime - double(fill.accepted) * *fill.dedicatedTtftMs / 1e3)
            < 1e-6 * *m.iterationTime);
        QVERIFY(std::abs(fill.prefillTokensPerSecond - 2048.0 * double(fill.accepted) / *m.iterationTime) < 1e-6);
        QVERIFY(*fill.ttftP50Ms <= *fill.ttftP95Ms && *fill.ttftP95Ms <= *fill.ttftP99Ms);
        QVERIFY(*fill.ttftP99Ms <= evaluation->plan->bubbleFill.ttftSloMs);
        QVERIFY(*fill.ttftInflation >= 1);
        QCOMPARE(fill.rejected, rejections(fill));
        QVERIFY(std::abs(double(fill.accepted + fill.rejected) - 50 * *m.iterationTime)
            < 4 * std::sqrt(50 * *m.iterationTime));
        QCOMPARE(fill.gpus, 16);
        // Worth: the GPU hours served at the price of the pool.
        const double price = builtinCatalogue().gpu("a100-sxm-80gb")->usdPerHour;
        QVERIFY(std::abs(*fill.usdPerHour - filledShare * m.gpusUsed * price) < 1e-6 * *fill.usdPerHour);
        Plan priced = *evaluation->plan;
        priced.bubbleFill.usdPerMillionTokens = 0.5;
        QVERIFY(
            std::abs(*evaluated(priced)->metrics.bubbleFill->usdPerHour - fill.prefillTokensPerSecond * 3600 * 0.5e-6)
            < 1e-6);
    }

    void longBubblesFillToNineTenthsWhenRequestsSaturate()
    {
        const auto evaluation = evaluated(acrossTwo(500));
        QVERIFY(*evaluation->metrics.gpuUtilization < 0.5);
        QVERIFY2(evaluation->metrics.bubbleFill->filledFraction >= 0.89,
            qPrintable(QString::number(evaluation->metrics.bubbleFill->filledFraction)));
        QVERIFY(*evaluation->metrics.gpuUtilizationWithFill >= 0.9);
    }

    void memoryBesideTrainingIsRespected()
    {
        Plan plan = filled(500);
        const auto fits = evaluated(plan);
        const BubbleFillMetrics &fill = *fits->metrics.bubbleFill;
        // 2 N / p and the keys and values of two prompts, 131072 B a token / p
        QVERIFY(fill.accepted > 0);
        QVERIFY(std::abs(double(fill.memoryPerGpu) - (2 * 8.03e9 + 2 * 131072.0 * 512) / 8) < 0.01e9);
        for (const StageMemory &stage : fits->metrics.memory->perStage)
            QVERIFY(stage.device + fill.memoryPerGpu <= stage.capacity);
        plan.bubbleFill.model = "llama-3.1-405b"; // 101 GB a GPU
        const auto tooLarge = evaluated(plan);
        QCOMPARE(tooLarge->metrics.bubbleFill->accepted, std::int64_t(0));
        QCOMPARE(tooLarge->metrics.bubbleFill->rejectedForMemory, tooLarge->metrics.bubbleFill->rejected);
        QVERIFY(hasProblem(*tooLarge, "bubble_fill.model"));
    }

    void chainingUsesGpusThatAlignmentLeavesOver()
    {
        Plan plan = acrossTwo(20);
        plan.bubbleFill.stages = 8; // a stage has four GPUs, a datacenter eight
        const auto none = evaluated(plan);
        QCOMPARE(none->metrics.bubbleFill->groups, 0);
        QVERIFY(hasProblem(*none, "bubble_fill.stages"));
        for (const Problem &problem : none->problems)
            if (problem.where == "bubble_fill.stages")
                for (const Fix &fix : problem.fixes)
                    QVERIFY2(evaluated(*fix.plan)->metrics.bubbleFill->groups > 0, fix.label.c_str());
        plan.bubbleFill.chaining = true;
        plan.bubbleFill.requestsPerSecond = 500;
        const auto chained = evaluated(plan);
        QCOMPARE(chained->metrics.bubbleFill->groups, 2);
        QVERIFY(chained->metrics.bubbleFill->accepted > 0);
        Plan aligned = plan;
        aligned.bubbleFill.stages = 4;
        QVERIFY(evaluated(aligned)->metrics.bubbleFill->filledFraction > chained->metrics.bubbleFill->filledFraction);
    }

    void whatCannotBeServedIsAProblemAndNoCrash()
    {
        Plan plan = acrossTwo(10);
        plan.bubbleFill.stages = 4096;
        QVERIFY(hasProblem(*evaluated(plan), "bubble_fill.stages"));
        plan = acrossTwo(10);
        plan.bubbleFill.model.clear();
        const auto unnamed = evaluated(plan);
        QVERIFY(!unnamed->metrics.bubbleFill);
        QVERIFY(hasProblem(*unnamed, "bubble_fill.model"));
        QVERIFY(hasProblem(*evaluated(acrossTwo(0)), "bubble_fill.requests_per_s"));
        plan = acrossTwo(10);
        plan.bubbleFill.promptTokens = 100'000'000;
        plan.cluster.datacenters[0].pools[0].gpusPerNode = 1;
        QVERIFY(evaluated(plan)->metrics.bubbleFill->accepted == 0);
        plan = acrossTwo(10);
        plan.bubbleFill.guardMs = 1e9;
        QVERIFY(hasProblem(*evaluated(plan), "bubble_fill.stages"));
    }

    void aFloodFillsBubblesAndTheRestIsRejected()
    {
        const auto flood = evaluated(acrossTwo(1e9));
        const BubbleFillMetrics &fill = *flood->metrics.bubbleFill;
        QVERIFY(fill.filledFraction >= 0.89); // as under any saturation
        QVERIFY(std::abs(double(fill.accepted + fill.rejected) - 1e9 * *flood->metrics.iterationTime) < 2);
        QCOMPARE(fill.rejected, rejections(fill));
        QVERIFY(hasProblem(*flood, "bubble_fill.requests_per_s"));
        QVERIFY(!hasProblem(*evaluated(acrossTwo(5)), "bubble_fill.requests_per_s"));
    }

    void aPromiseThatNoPromptKeepsIsAProblem()
    {
        // An idle GPU takes d; the promise is below it.
        Plan plan = acrossTwo(20);
        plan.bubbleFill.ttftSloMs = 1e6;
        const double idleMs = *evaluated(plan)->metrics.bubbleFill->dedicatedTtftMs;
        plan.bubbleFill.ttftSloMs = std::floor(idleMs) - 1;
        const auto tight = evaluated(plan);
        QCOMPARE(tight->metrics.bubbleFill->accepted, std::int64_t(0));
        const std::string text = problemText(*tight, "bubble_fill.ttft_slo_ms");
        QVERIFY2(text.find("2048 tokens takes " + std::to_string(std::lround(idleMs)) + " ms on idle GPUs")
                != std::string::npos,
            text.c_str());
        plan.bubbleFill.ttftSloMs = std::ceil(idleMs) + 1;
        QVERIFY(problemText(*evaluated(plan), "bubble_fill.ttft_slo_ms").find("cannot be met") == std::string::npos);
        QTemporaryDir folder; // of a trace its shortest prompt
        std::ofstream(folder.filePath("trace.csv").toStdString()) << "time_s,prompt_tokens\n1,4096\n2,2048\n";
        plan.baseDir = folder.path().toStdString();
        plan.bubbleFill.arrivals = Arrivals::Trace;
        plan.bubbleFill.trace = "trace.csv";
        plan.bubbleFill.ttftSloMs = 1;
        QVERIFY(problemText(*evaluated(plan), "bubble_fill.ttft_slo_ms").find("2048 tokens") != std::string::npos);
    }

    void aSlowWayToDecodeIsBlamedForWhatItPrevents()
    {
        Plan plan = acrossTwo(20);
        plan.bubbleFill.kvGbps = 0.001; // 268 MB at 0.85 of it, as on any fabric: 42 minutes, longer than any bubble
        const std::string window = problemText(*evaluated(plan), "bubble_fill.kv_gbps");
        QVERIFY2(window.find("2526 s at 0.001 Gbps") != std::string::npos, window.c_str());
        plan.bubbleFill.kvGbps = 1; // 2.5 s: the bubbles hold it, the promise does not
        plan.bubbleFill.firstTokenFromDecode = true;
        const auto late = evaluated(plan);
        QCOMPARE(late->metrics.bubbleFill->rejectedAsLate, late->metrics.bubbleFill->rejected);
        const std::string text = problemText(*late, "bubble_fill.kv_gbps");
        QVERIFY2(text.find("2.53 s of it to move keys and values: 1000 ms cannot be met") != std::string::npos,
            text.c_str());
        plan.bubbleFill.firstTokenFromDecode = false;
        QVERIFY(evaluated(plan)->metrics.bubbleFill->accepted > 0);
    }

    void aTraceThatIsNotUsedIsSaid()
    {
        Plan plan = acrossTwo(20);
        QVERIFY(!hasProblem(*evaluated(plan), "bubble_fill.trace"));
        plan.bubbleFill.trace = "trace.csv";
        const auto unused = evaluated(plan);
        QVERIFY(hasProblem(*unused, "bubble_fill.trace"));
        const auto problem = std::ranges::find(unused->problems, std::string("bubble_fill.trace"), &Problem::where);
        QCOMPARE(problem->severity, Severity::Note);
        QCOMPARE(problem->fixes.front().plan->bubbleFill.arrivals, Arrivals::Trace);
    }

    void unknownNamesAreErrors()
    {
        Plan plan = acrossTwo(10);
        plan.bubbleFill.model = "lama-3-8b";
        plan.bubbleFill.arrivals = Arrivals::Trace;
        plan.bubbleFill.trace = "nowhere.csv";
        const auto service = resolveBubbleService(plan, builtinCatalogue());
        QVERIFY(!service);
        QCOMPARE(service.error().size(), std::size_t(2));
        QCOMPARE(service.error()[0].where, std::string("bubble_fill.model"));
        QVERIFY(service.error()[0].right.find("llama-3-8b") != std::string::npos);
        QCOMPARE(service.error()[1].code, ErrorCode::CannotRead);
    }

    void aTraceLiesBesideThePlan()
    {
        QTemporaryDir folder;
        std::ofstream(folder.filePath("trace.csv").toStdString())
            << "time_s,prompt_tokens\n1,512\n2,1024\n2.5,300\n1e6,5\n";
        Plan plan = acrossTwo(0);
        plan.baseDir = folder.path().toStdString();
        plan.bubbleFill.arrivals = Arrivals::Trace;
        plan.bubbleFill.trace = "trace.csv";
        plan.bubbleFill.ttftSloMs = 100'000;
        const auto evaluation = evaluated(plan);
        const BubbleFillMetrics &fill = *evaluation->metrics.bubbleFill;
        QCOMPARE(fill.accepted, std::int64_t(3));
        QVERIFY(std::abs(fill.prefillTokensPerSecond * *evaluation->metrics.iterationTime - (512 + 1024 + 300)) < 1e-6);
    }

    void aStopTokenEndsTheAdmission()
    {
        std::stop_source stop;
        stop.request_stop();
        ServingPlan plan;
        plan.period = 10;
        plan.sizes.resize(1);
        QVERIFY(admitRequests(plan, { { 0, 0 }, { 1, 0 } }, stop.get_token()).refused
            == (std::array<std::int64_t, kRefusals> {}));
    }

    void theSameSeedGivesTheSameNumbers()
    {
        Plan plan = acrossTwo(100);
        const auto a = evaluated(plan), b = evaluated(plan);
        QCOMPARE(a->timeline.start, b->timeline.start);
        QCOMPARE(a->metrics.bubbleFill->accepted, b->metrics.bubbleFill->accepted);
    }
};

TRAINYARD_APPLESS_TEST(TestBubbleFill)
#include "tst_bubble_fill.moc"
