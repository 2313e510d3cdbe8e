// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/run.h"
#include "core/facts/plan/plan_io.h"
#include "core/planner/search/objective.h"
#include "tests/support/test_program.h"

#include "tests/support/plans.h"

#include <QTest>

#include <cmath>

using namespace trainyard;

namespace {

bool areNear(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

EvaluationPtr scored(Plan plan)
{
    EvaluationWorkspace workspace;
    auto evaluation =
        run(std::make_shared<const Plan>(std::move(plan)), Depth::Score, { builtinCatalogue(), workspace });
    return evaluation ? *evaluation : nullptr;
}

} // namespace

class TstObjective : public QObject {
    Q_OBJECT

private slots:
    void figuresAgreeWithTheMetrics()
    {
        Plan plan = test::threeSites(2);
        plan.workload.trainingTokens = 1e12;
        const auto evaluation = scored(plan);
        QVERIFY(evaluation && evaluation->metrics.iterationTime);
        const Metrics &metrics = evaluation->metrics;
        const auto figures = figuresOf(*evaluation, builtinCatalogue());
        QVERIFY(figures && metrics.gpusUsed == metrics.gpusTotal);
        // J per token × tokens = MWh × 3.6 · 10⁹ J
        QVERIFY(areNear(figures->joulesPerToken * 1e12, *metrics.cost.energyMwhTotal * 3.6e9));
        // USD per hour = USD per token × tokens per hour, where all GPUs are used
        QVERIFY(
            areNear(figures->usdPerHour, *metrics.cost.usdPerMillionTokens / 1e6 * *metrics.tokensPerSecond * 3600));
        QCOMPARE(figures->days, metrics.cost.daysTotal);
        // a plan fits where what is in use of the fullest GPU is at most its memory
        const StageMemory &fullest = metrics.memory->perStage[std::size_t(metrics.memory->fullestStage)];
        QCOMPARE(figures->fill, double(fullest.device) / double(fullest.capacity));
        QVERIFY(figures->fill > 0 && figures->fill < 1);
        QCOMPARE(figures->gpus, metrics.gpusUsed);
        QCOMPARE(objectiveValue(Objective::Time, *figures), *metrics.cost.daysTotal);
        QVERIFY(areNear(objectiveValue(Objective::Throughput, *figures), 1 / *metrics.tokensPerSecond));
    }

    void idleGpusCostNothingByTheHourOfThoseThatAreUsed()
    {
        Plan plan = test::oneSite(5); // 40 GPUs, of which replicas of 32 take 32
        const auto figures = figuresOf(*scored(plan), builtinCatalogue());
        QCOMPARE(figures->gpus, 32);
        plan.cluster.datacenters[0].pools[0].usdPerGpuHour = 2;
        QVERIFY(areNear(figuresOf(*scored(plan), builtinCatalogue())->usdPerHour, 64));
        plan.cluster.datacenters[0].pools[0].usdPerGpuHour = 0; // own hardware pays for its power
        plan.cluster.datacenters[0].usdPerKwh = 0.1;
        const double own = figuresOf(*scored(plan), builtinCatalogue())->usdPerHour;
        const double most = 32 * builtinCatalogue().gpu("h100-sxm-80gb")->tdpWatts / 1e3 * 0.1;
        QVERIFY(own > 0 && own <= most);
    }

    /// used USD per hour = price × GPUs on which a job ran ≤ price × GPUs of the cluster, as evaluate counts
    void jobsPayForTheGpusOnWhichOneRan()
    {
        auto plan = readPlan(TRAINYARD_SOURCE_DIR "/samples/hydra-lab.trainyard.json");
        QVERIFY(plan && plan->cluster.gpus() == 8);
        Pool &pool = plan->cluster.datacenters[0].pools[0];
        for (const int rates : { 6, 1 }) { // two models at each: 12 jobs on 8 GPUs, then two
            plan->jobGrid->learningRate.resize(std::size_t(rates));
            pool.usdPerGpuHour = 2.5;
            const auto evaluation = scored(*plan);
            const auto figures = figuresOf(*evaluation, builtinCatalogue());
            QVERIFY(figures);
            QCOMPARE(figures->gpus, evaluation->metrics.gpusUsed);
            QCOMPARE(figures->gpus == 8, rates == 6);
            QVERIFY(areNear(figures->usdPerHour, 2.5 * figures->gpus));
            QVERIFY(areNear(figures->clusterUsdPerHour, 2.5 * 8));
            QVERIFY(figures->usdPerHour <= figures->clusterUsdPerHour);
            QVERIFY(figures->usdPerMillionTokens <= figures->clusterUsdPerMillionTokens);
            // own hardware pays for its power: work is that of the jobs, and idle GPUs draw something as well
            pool.usdPerGpuHour = 0;
            plan->cluster.datacenters[0].usdPerKwh = 0.1;
            const auto own = figuresOf(*scored(*plan), builtinCatalogue());
            QVERIFY(own->usdPerHour > 0 && own->usdPerHour <= own->clusterUsdPerHour);
            QCOMPARE(areNear(own->usdPerHour, own->clusterUsdPerHour), rates == 6);
        }
    }

    void fewerGpusBeatAnyTimeAndOfEqualsTheFasterWins()
    {
        const auto value = [](int gpus, double seconds) {
            return objectiveValue(Objective::Gpus, { .seconds = seconds, .gpus = gpus });
        };
        QVERIFY(value(8, 1e6) < value(9, 1e-3));
        QVERIFY(value(8, 60) < value(8, 61));
    }

    void withoutAnIterationThereAreNone()
    {
        QVERIFY(!figuresOf(*scored(test::oneSite(1)), builtinCatalogue())); // 8 GPUs for 32
    }
};

TRAINYARD_GUILESS_TEST(TstObjective)
#include "tst_objective.moc"
