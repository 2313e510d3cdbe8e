// SPDX-License-Identifier: GPL-3.0-or-later
// Nodes that idle, dropped: the plan that is left trains as before, to the last bit, and pays for what it uses.
#include "core/planner/search/idle_nodes.h"
#include "tests/support/test_program.h"

#include "core/facts/plan/validate.h"
#include "core/planner/search/objective.h"
#include "core/planner/search/shortfall.h"
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/support/plans.h"

#include <QTest>

using namespace trainyard;

namespace {

EvaluationPtr scored(const PlanPtr &plan)
{
    EvaluationWorkspace workspace;
    auto evaluation = run(plan, Depth::Score, { builtinCatalogue(), workspace });
    return evaluation ? *evaluation : nullptr;
}

ExpectedAll<Trimmed> trimmed(const PlanPtr &plan)
{
    EvaluationWorkspace workspace;
    return withoutIdleNodes(plan, { builtinCatalogue(), workspace });
}

} // namespace

class TstIdleNodes : public QObject {
    Q_OBJECT

private slots:
    void aPlanWithoutThemTrainsAsBefore()
    {
        int dropped = 0;
        for (unsigned seed = 0; seed < 400; ++seed) {
            const PlanPtr plan = test::randomValidPlan(seed);
            const EvaluationPtr before = scored(plan);
            const auto made = trimmed(plan);
            QCOMPARE(made.has_value(), before != nullptr);
            if (!before || !made)
                continue;
            const EvaluationPtr after = scored(made->plan);
            QVERIFY(after && validatePlan(*made->plan).empty());
            QCOMPARE(after->metrics.iterationTime, before->metrics.iterationTime);
            QCOMPARE(after->metrics.tokensPerSecond, before->metrics.tokensPerSecond);
            QCOMPARE(after->metrics.gpusUsed, before->metrics.gpusUsed);
            QCOMPARE(after->feasible(), before->feasible());
            QCOMPARE(after->metrics.wanBytesPerIteration, before->metrics.wanBytesPerIteration);
            // GPUs that are gone are those that the cluster has no longer.
            QCOMPARE(plan->cluster.gpus() - made->plan->cluster.gpus(), made->gone);
            const auto idle = idleNodes(*made->plan, after->layout);
            int idleGpus = 0;
            for (const PoolNodes &one : idle)
                idleGpus += one.nodes
                    * made->plan->cluster.datacenters[std::size_t(one.datacenter)]
                          .pools[std::size_t(one.pool)]
                          .gpusPerNode;
            if (!hasJobs(*plan) && !before->layout.runs.empty())
                QCOMPARE(idleGpus, made->kept);
            if (made->gone == 0)
                continue;
            ++dropped;
            const auto was = figuresOf(*before, builtinCatalogue()), is = figuresOf(*after, builtinCatalogue());
            QCOMPARE(was.has_value(), is.has_value());
            if (was && is) { // of GPUs that are used nothing changes, of all of them the idle ones are saved
                QVERIFY(std::abs(is->usdPerHour - was->usdPerHour) <= 1e-9 * was->usdPerHour);
                QVERIFY(is->clusterUsdPerHour <= was->clusterUsdPerHour * (1 + 1e-12));
            }
        }
        QVERIFY2(dropped > 50, qPrintable(QString::number(dropped)));
    }

    void allNodesThatWorkStay()
    {
        const auto plan = std::make_shared<const Plan>(test::oneSite(4, 4));
        const auto made = trimmed(plan);
        QVERIFY(made && made->plan == plan && made->gone == 0 && made->kept == 0);
    }

    void aNodeThatIsUsedInPartIsPaidForWhole()
    {
        Plan plan = test::oneSite(3, 2); // 24 GPUs, of which tensor 4 × pipeline 2 × data 1 use 8, then 12
        plan.parallelism.tensor = 4;
        plan.parallelism.pipeline = 3;
        plan.parallelism.data = 1;
        plan.workload.globalBatch = 8;
        const auto made = trimmed(std::make_shared<const Plan>(plan));
        QVERIFY(made.has_value());
        QCOMPARE(made->evaluation->metrics.gpusUsed, 12);
        QCOMPARE(made->plan->cluster.gpus(), 16);
        QCOMPARE(made->gone, 8);
        QCOMPARE(made->kept, 0);
        // All GPUs of the two nodes are rented, and the cluster has no others.
        const auto figures = figuresOf(*made->evaluation, builtinCatalogue());
        QVERIFY(std::abs(figures->clusterUsdPerHour / figures->usdPerHour - 1) < 1e-12);
    }

    void shortfallsAreToldWithNumbers()
    {
        ObjectiveFigures figures;
        figures.seconds = 10;
        figures.tokensPerSecond = 5000;
        figures.usdPerHour = 212;
        figures.days = 444;
        figures.fill = 0.97;
        figures.gpus = 72;
        const auto told = [&](const Constraints &constraints, double margin = 0) {
            SearchRow row { .state = RowState::OutOfConstraint, .reason = "it is out" };
            tellShortfall(row, figures, constraints, margin);
            return std::pair(reasonWithNumbers(row), row.missedBy);
        };
        QCOMPARE(told({}).first, std::string("it is out"));
        QCOMPARE(
            told({ .mostGpus = 1 }), (std::pair<std::string, double> { "it is out: needs 72 GPUs, allowed 1", 71 }));
        QCOMPARE(told({ .mostUsdPerHour = 200 }).first, std::string("it is out: needs $212 an hour, allowed $200"));
        QCOMPARE(
            told({ .mostDays = 1 }), (std::pair<std::string, double> { "it is out: needs 444 days, allowed 1", 443 }));
        QCOMPARE(told({ .leastTokensPerSecond = 1e4 }),
            (std::pair<std::string, double> { "it is out: reaches 5.00k tokens/s, asked for 10.0k", 1 }));
        QCOMPARE(told({}, 0.05).first, std::string("it is out: leaves 3.00 % of memory free, the margin is 5 %"));
        // of several the one that is missed by most, and never two figures that read the same
        QCOMPARE(told({ .mostUsdPerHour = 200, .mostGpus = 70 }).first,
            std::string("it is out: needs $212 an hour, allowed $200"));
        figures.days = 444.2;
        QCOMPARE(told({ .mostDays = 444 }).first, std::string("it is out: needs 444.2 days, allowed 444"));
    }
};

TRAINYARD_APPLESS_TEST(TstIdleNodes)
#include "tst_idle_nodes.moc"
