// SPDX-License-Identifier: GPL-3.0-or-later
// Sailor's published cases with a budget that is held: no answer exceeds it, by what evaluate() says of the answer's
// own plan; and what a search of them does is bounded, by counts. How long it takes: scripts/rivals-time.

#include "core/planner/search/idle_nodes.h"
#include "core/planner/search/search.h"
#include "tests/core/planner/rivals/cases.h"
#include "tests/core/planner/rivals/decisions.h"
#include "tests/support/test_program.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

constexpr const char *kCases[] = { "a100-v100", "five-zones", "two-zones" };
/// Of the cases as they are asked, with room: they take 3,000 simulations and 15,000 scores at most.
constexpr std::uint64_t kMostSimulated = 4'000, kMostScored = 20'000;

double usdPerHour(const Evaluation &evaluation)
{
    return usedUsd(evaluation, builtinCatalogue()) / *evaluation.metrics.iterationTime * 3600;
}

/// Every GPU of the plan at work, an hour.
double allUsdPerHour(const Plan &plan)
{
    double usd = 0;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        for (const Pool &pool : datacenter.pools)
            usd += pool.gpus() * pool.usdPerGpuHour.value_or(builtinCatalogue().gpu(pool.gpu)->usdPerHour);
    return usd;
}

} // namespace

class TstBudgets : public QObject {
    Q_OBJECT

private slots:
    void noAnswerExceedsAHeldBudget_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<double>("share");
        for (const auto &[file, share] : { std::pair(kCases[0], 0.25), { kCases[1], 0.6 }, { kCases[2], 0.25 } })
            QTest::addRow("%s, %.0f %% of all", file, 100 * share) << file << share;
    }
    /// USD an hour of the GPUs that are used and of egress <= the budget; without idle nodes too, and where no GPU of
    /// these nodes is idle, by the plan's own cost.
    void noAnswerExceedsAHeldBudget()
    {
        QFETCH(QString, file);
        QFETCH(double, share);
        const PlanPtr plan = rivalCase(qPrintable(file));
        QVERIFY(plan);
        SearchOptions options = sailorsDecisions(*plan, {});
        const double budget = share * allUsdPerHour(*plan);
        options.constraints.mostUsdPerHour = budget;
        const auto found = search(plan, builtinCatalogue(), options);
        QVERIFY(found && !found->best.empty());
        QVERIFY2(found->simulated <= kMostSimulated && found->scored <= kMostScored,
            qPrintable(QStringLiteral("%1 simulated, %2 scored").arg(found->simulated).arg(found->scored)));
        EvaluationWorkspace workspace;
        const RunContext context { .catalogue = builtinCatalogue(), .workspace = workspace };
        for (const std::size_t row : found->best) {
            const PlanPtr answer = found->plan(row);
            const auto evaluation = run(answer, Depth::Score, context);
            QVERIFY(evaluation && (*evaluation)->feasible());
            QVERIFY2(usdPerHour(**evaluation) <= budget * (1 + 1e-9),
                qPrintable(QStringLiteral("%1 of %2 an hour").arg(usdPerHour(**evaluation)).arg(budget)));
            const auto trimmed = withoutIdleNodes(answer, context);
            QVERIFY(trimmed.has_value());
            const Evaluation &own = *trimmed->evaluation;
            QCOMPARE(*own.metrics.iterationTime, *(*evaluation)->metrics.iterationTime);
            QVERIFY(usdPerHour(own) <= budget * (1 + 1e-9));
            if (own.metrics.gpusUsed == own.plan->cluster.gpus())
                QVERIFY(*own.metrics.cost.usdPerIteration / *own.metrics.iterationTime * 3600 <= budget * (1 + 1e-9));
        }
    }

    /// USD of an iteration <= the budget, and a smaller one never gives a shorter iteration.
    void noAnswerExceedsWhatAnIterationMayCost()
    {
        const PlanPtr plan = rivalCase("two-zones");
        QVERIFY(plan);
        EvaluationWorkspace workspace;
        double before = 0;
        for (const double budget : { 1.2, 0.9 }) {
            const auto found = search(plan, builtinCatalogue(), sailorsDecisions(*plan, { .mostUsd = budget }));
            QVERIFY(found && !found->best.empty());
            QVERIFY(found->simulated <= kMostSimulated && found->scored <= kMostScored);
            for (const std::size_t row : found->best) {
                const auto evaluation =
                    run(found->plan(row), Depth::Score, { .catalogue = builtinCatalogue(), .workspace = workspace });
                QVERIFY(evaluation && (*evaluation)->feasible());
                QVERIFY2(usedUsd(**evaluation, builtinCatalogue()) <= budget * (1 + 1e-9),
                    qPrintable(QString::number(usedUsd(**evaluation, builtinCatalogue()))));
            }
            const double seconds = found->rows[found->best.front()].seconds;
            QVERIFY2(seconds >= before * (1 - 1e-9), qPrintable(QString::number(seconds)));
            before = seconds;
        }
    }
};

TRAINYARD_APPLESS_TEST(TstBudgets)
#include "tst_budgets.moc"
