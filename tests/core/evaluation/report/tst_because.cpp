// SPDX-License-Identifier: GPL-3.0-or-later
// Why one plan does better than another, against numbers that a reader can check.
#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/report/because.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

#include "tests/support/plans.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// 10 s: 6 s of compute, 3 s of bubble, 1 s of WAN; 16 replicas on 60 of 64 GPUs; 50 of 80 GB.
Evaluation base()
{
    Evaluation e;
    e.layout.data = 16;
    Metrics &m = e.metrics;
    m.iterationTime = 10;
    m.breakdown = Breakdown { .compute = 6, .bubble = 3, .wan = 1 };
    m.gpusTotal = 64;
    m.gpusUsed = 60;
    StageMemory stage;
    stage.weights = 20'000'000'000;
    stage.activations = 30'000'000'000;
    stage.peak = stage.reserved = stage.device = 50'000'000'000;
    stage.capacity = 80'000'000'000;
    m.memory = MemoryMetrics { stage.peak, stage.capacity, 0, true, { stage } };
    return e;
}

Evaluation with(auto change)
{
    Evaluation e = base();
    change(e);
    return e;
}

/// With 1 GB each way over one link.
Evaluation overLink(WanLimit limit)
{
    return with([limit](Evaluation &e) {
        WanLinkUse use;
        use.bytes = { 1e9, 1e9 };
        use.usableUtilization = 0.5;
        use.limit = limit;
        e.metrics.wanLinks = { use };
        e.metrics.wanBytesPerIteration = 2e9;
    });
}

std::string reason(auto change)
{
    return because(base(), with(change));
}

} // namespace

class BecauseTest : public QObject {
    Q_OBJECT
private slots:
    void anEqualPlanHasNoReason() { QCOMPARE(because(base(), base()), std::string()); }

    void jobsTellWhatBoundsThemAndHowBusyGpusAre()
    {
        Evaluation before;
        before.metrics.jobs = JobMetrics { .makespan = 100, .bound = 80, .gpuUtilization = 0.8 };
        Evaluation after = before;
        QCOMPARE(because(before, after), std::string());
        after.metrics.jobs->makespan = 90;
        after.metrics.jobs->gpuUtilization = 0.89;
        QCOMPARE(because(before, after), std::string("GPUs at work 80 → 89 %"));
        after.metrics.jobs->bound = 60;
        QCOMPARE(because(before, after), std::string("bound 80.0 → 60.0 s; GPUs at work 80 → 89 %"));
        after.metrics.jobs->makespan.reset();
        QCOMPARE(because(before, after), std::string("no job runs"));
    }

    void theLargestChangeOfTheBreakdownIsNamed()
    {
        QCOMPARE(reason([](Evaluation &e) {
            e.metrics.iterationTime = 8;
            e.metrics.breakdown = Breakdown {
                .compute = 6.2, .bubble = 1.3, .wan = 0.5
            }; // −1.7 s of bubble, −0.5 of WAN, +0.2 of compute
        }),
            std::string("bubble 3.00 → 1.30 s"));
    }

    /// Compute grows most, but the iteration gets shorter: it is no reason for that.
    void whatMovesAgainstTheIterationIsNoReason()
    {
        QCOMPARE(reason([](Evaluation &e) {
            e.metrics.iterationTime = 9.9;
            e.metrics.breakdown = Breakdown { .compute = 7, .bubble = 2.8, .wan = 0.1 };
        }),
            std::string("WAN 1.00 s → 100 ms"));
    }

    void replicasAndIdleGpusComeFirst()
    {
        QCOMPARE(reason([](Evaluation &e) {
            e.layout.data = 15;
            e.metrics.gpusUsed = 28;
            e.metrics.iterationTime = 12;
        }),
            std::string("15 replicas instead of 16; 36 GPUs idle instead of 4"));
        QCOMPARE(reason([](Evaluation &e) { e.metrics.gpusUsed = 64; }), std::string("no GPU idle"));
        QCOMPARE(reason([](Evaluation &e) { e.metrics.gpusUsed = 63; }), std::string("1 GPU idle instead of 4"));
    }

    /// More replicas and no idle GPU would speed it up: the reason is the sync that grew, and for how many replicas.
    void whatWouldSpeedItUpIsNoReasonForASlowerIteration()
    {
        QCOMPARE(reason([](Evaluation &e) {
            e.layout.data = 24;
            e.metrics.gpusUsed = 64;
            e.metrics.iterationTime = 60;
            e.metrics.breakdown = Breakdown { .compute = 5, .bubble = 3, .wan = 1, .dataParallel = 51 };
        }),
            std::string("data parallel 0 → 51.0 s; 24 replicas instead of 16"));
        const Evaluation before = overLink(WanLimit::TcpWindow);
        Evaluation after = overLink(WanLimit::NodePair);
        after.metrics.iterationTime = 20;
        QCOMPARE(because(before, after), std::string());
        after.metrics.gpusUsed = 64;
        QCOMPARE(because(before, after), std::string());
    }

    /// Whatever moves, a part is named only if none moved further the way of the iteration (100 random pairs).
    void theNamedPartIsTheOneThatMovedMost()
    {
        std::mt19937 random(7);
        std::uniform_real_distribution<double> seconds(0.1, 10);
        for (int i = 0; i < 100; ++i) {
            const auto drawn = [&] {
                return with([&](Evaluation &e) {
                    e.metrics.breakdown = Breakdown { .compute = seconds(random),
                        .bubble = seconds(random),
                        .wan = seconds(random),
                        .dataParallel = seconds(random) };
                    const Breakdown &b = *e.metrics.breakdown;
                    e.metrics.iterationTime = b.compute + b.bubble + b.wan + b.dataParallel;
                });
            };
            const Evaluation before = drawn(), after = drawn();
            const double sign = *after.metrics.iterationTime > *before.metrics.iterationTime ? 1 : -1;
            const Breakdown &was = *before.metrics.breakdown, &is = *after.metrics.breakdown;
            std::vector<std::pair<double, std::string>> moved { { sign * (is.compute - was.compute), "compute" },
                { sign * (is.bubble - was.bubble), "bubble" }, { sign * (is.wan - was.wan), "WAN" },
                { sign * (is.dataParallel - was.dataParallel), "data parallel" } };
            const std::string text = because(before, after);
            QVERIFY2(text.starts_with(std::ranges::max(moved).second), text.c_str());
        }
    }

    void memoryThatDoesNotFitSaysOfWhat()
    {
        const auto overfull = [](Evaluation &e) {
            StageMemory &stage = e.metrics.memory->perStage.front();
            stage.activations += 42'000'000'000;
            stage.weights += 1'000'000'000;
            stage.peak = stage.reserved = stage.device = 93'000'000'000;
            e.metrics.memory->fits = false;
        };
        QCOMPARE(reason(overfull), std::string("does not fit: +42.0 GB activations"));
        QCOMPARE(because(with(overfull), base()), std::string("fits: −42.0 GB activations"));
    }

    void bytesAloneAreAReasonWhereTimeStays()
    {
        QCOMPARE(reason([](Evaluation &e) { e.metrics.memory->perStage.front().weights -= 10'000'000'000; }),
            std::string("−10.0 GB weights"));
    }

    void aLimitThatBindsNoMoreIsNamed()
    {
        QCOMPARE(because(overLink(WanLimit::TcpWindow), overLink(WanLimit::NodePair)),
            std::string("TCP window no longer binds"));
    }

    void aPlanThatCannotRunSaysWhatKeepsItFromThat()
    {
        QCOMPARE(reason([](Evaluation &e) {
            e.metrics.iterationTime.reset();
            e.problems = { { Severity::Blocking, "Stage 1 has no place", {}, {} } };
            e.feasibility.isPlaced = false;
        }),
            std::string("stage 1 has no place"));
    }

    /// Every switch and part of a sample that changes its iteration by a thousandth says why.
    void everyAlternativeThatMattersHasAReason()
    {
        auto plan = readPlan(TRAINYARD_SOURCE_DIR "/samples/llama-3-70b-three-regions.trainyard.json");
        QVERIFY(plan);
        const auto shared = std::make_shared<const Plan>(*plan);
        EvaluationWorkspace workspace;
        const auto now = evaluate(shared, builtinCatalogue(), workspace, {}, Depth::Score);
        QVERIFY(now);
        std::vector<Alternative> all = strategyAlternatives(*shared, builtinCatalogue());
        std::ranges::move(betterParts(*shared, builtinCatalogue()).list, std::back_inserter(all));
        int judged = 0;
        for (const Alternative &a : all) {
            if (a.isCurrent || !a.plan)
                continue;
            const auto other = evaluate(a.plan, builtinCatalogue(), workspace, {}, Depth::Score);
            if (!other)
                continue;
            const Metric time = (*other)->metrics.iterationTime;
            if (time && std::abs(*time / *(*now)->metrics.iterationTime - 1) < 1e-3)
                continue;
            ++judged;
            QVERIFY2(!because(**now, **other).empty(), a.id.c_str());
        }
        QVERIFY(judged > 50);
    }
};

TRAINYARD_APPLESS_TEST(BecauseTest)
#include "tst_because.moc"
