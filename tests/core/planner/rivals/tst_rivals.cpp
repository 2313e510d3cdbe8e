// SPDX-License-Identifier: GPL-3.0-or-later
// Our search beside the rules of Sailor, AMP, Metis and FlashFlex, all judged by the one evaluator: on Sailor's
// published cases and on random mixed clusters. How long it takes: tests/benchmarks/core_rivals.cpp.

#include "core/planner/search/search.h"
#include "tests/core/planner/rivals/cases.h"
#include "tests/core/planner/rivals/decisions.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Of our search, by what is asked: seconds or USD of an iteration; infinite where it finds nothing.
struct Ours {
    double seconds = std::numeric_limits<double>::infinity(), usd = seconds;
};

Ours ourAnswer(const PlanPtr &plan, const RivalWishes &wishes)
{
    SearchOptions options = sailorsDecisions(*plan, wishes);
    options.mostTasks = 8'000'000; // no rival is better from 4 to 5 million on
    const auto found = search(plan, builtinCatalogue(), options);
    if (!found || found->best.empty())
        return {};
    EvaluationWorkspace workspace;
    const auto evaluation = run(
        found->plan(found->best.front()), Depth::Score, { .catalogue = builtinCatalogue(), .workspace = workspace });
    if (!evaluation || !(*evaluation)->feasible())
        return {};
    return { *(*evaluation)->metrics.iterationTime, usedUsd(**evaluation, builtinCatalogue()) };
}

void compareWithRivals(const PlanPtr &plan, const RivalWishes &wishes, int &beaten, int &answered)
{
    const Ours ours = ourAnswer(plan, wishes);
    const double mine = wishes.wantsCheap ? ours.usd : ours.seconds;
    QVERIFY(ours.usd <= wishes.mostUsd.value_or(std::numeric_limits<double>::infinity()));
    QVERIFY(ours.seconds <= wishes.mostSeconds.value_or(std::numeric_limits<double>::infinity()));
    for (const Rival rival : kRivals) {
        const RivalAnswer answer = planBy(rival, plan, builtinCatalogue(), {}, wishes);
        if (!answer.plan)
            continue;
        ++answered;
        const double theirs = wishes.wantsCheap ? usedUsd(*answer.evaluation, builtinCatalogue())
                                                : *answer.evaluation->metrics.iterationTime;
        beaten += mine <= theirs * (1 + 1e-9);
        QVERIFY2(mine <= theirs * (1 + 1e-9),
            qPrintable(QStringLiteral("%1: ours %2, %3 %4 (%5)")
                           .arg(QString::fromStdString(plan->name))
                           .arg(mine)
                           .arg(QLatin1String(toString(rival)))
                           .arg(theirs)
                           .arg(QString::fromStdString(shapeOf(*answer.plan)))));
    }
}

} // namespace

class TstRivals : public QObject {
    Q_OBJECT

private slots:
    void onRandomMixedClustersNoRivalIsBetter()
    {
        int beaten = 0, answered = 0;
        const unsigned clusters = unsigned(trials(8));
        for (unsigned seed = 0; seed < clusters; ++seed)
            compareWithRivals(randomMixed(seed), {}, beaten, answered);
        qInfo("%d of %d answers of rivals are no better", beaten, answered);
        QVERIFY(answered > int(2 * clusters));
    }

    /// USD an hour of what is used <= the budget that is held, whatever it is.
    void aHeldBudgetIsNeverExceeded()
    {
        int held = 0;
        for (unsigned seed = 100; seed < 120; ++seed) {
            const PlanPtr plan = randomMixed(seed);
            EvaluationWorkspace workspace;
            SearchOptions options = sailorsDecisions(*plan, {});
            options.mostTasks = 150'000;
            const double all = 3.0 * plan->cluster.gpus();
            options.constraints.mostUsdPerHour = all * double(1 + seed % 10) / 10;
            const auto found = search(plan, builtinCatalogue(), options);
            QVERIFY(found);
            for (const std::size_t row : found->best) {
                const auto evaluation =
                    run(found->plan(row), Depth::Score, { .catalogue = builtinCatalogue(), .workspace = workspace });
                QVERIFY(evaluation && (*evaluation)->feasible());
                const double perHour =
                    usedUsd(**evaluation, builtinCatalogue()) / *(*evaluation)->metrics.iterationTime * 3600;
                QVERIFY2(
                    perHour <= *options.constraints.mostUsdPerHour * (1 + 1e-9), qPrintable(QString::number(perHour)));
                ++held;
            }
        }
        QVERIFY(held > 15);
    }

    void whoeverHasNoAnswerSaysWhy()
    {
        auto plan = std::make_shared<Plan>(*randomMixed(3));
        plan->workload.model = "gpt-oss-20b"; // experts
        for (const Rival rival : kRivals) {
            const RivalAnswer answer = planBy(rival, plan, builtinCatalogue());
            QVERIFY(!answer.plan);
            QVERIFY(!answer.why.empty());
        }
        plan->workload.model = "opt-175b"; // more than there is memory for
        plan->cluster.datacenters.resize(1);
        plan->cluster.wanLinks.clear();
        for (const Rival rival : kRivals) {
            const RivalAnswer answer = planBy(rival, plan, builtinCatalogue());
            QVERIFY(!answer.plan);
            QVERIFY(!answer.why.empty());
        }
    }
};

TRAINYARD_APPLESS_TEST(TstRivals)
#include "tst_rivals.moc"
