// SPDX-License-Identifier: GPL-3.0-or-later
// Every price of a ranking by cost against evaluate() of the plan that it offers.
#include "core/facts/catalogue/catalogue.h"
#include "core/planner/search/given_back.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace trainyard;

namespace {

double priceOf(const PlanPtr &plan)
{
    EvaluationWorkspace workspace;
    const auto evaluation = evaluate(plan, builtinCatalogue(), workspace);
    return evaluation ? (*evaluation)->metrics.cost.usdPerMillionTokens.value_or(-1) : -1;
}

Selection ranked(SelectionObjective objective)
{
    EvaluationWorkspace workspace;
    auto selection = selectDatacenters(std::make_shared<const Plan>(test::samplePlan("llama-3-70b-three-regions")),
        builtinCatalogue(), workspace, {}, { .objective = objective });
    if (selection)
        giveBackIdle(*selection, { builtinCatalogue(), workspace });
    return selection ? *selection : Selection {};
}

} // namespace

class GivenBackTest : public QObject {
    Q_OBJECT
private slots:
    void aPriceIsThatOfThePlanThatIsOffered_data()
    {
        QTest::addColumn<int>("objective");
        QTest::newRow("throughput") << int(SelectionObjective::Throughput);
        QTest::newRow("cost") << int(SelectionObjective::Cost);
    }

    void aPriceIsThatOfThePlanThatIsOffered()
    {
        QFETCH(const int, objective);
        const Selection selection = ranked(SelectionObjective(objective));
        int compared = 0;
        for (const SelectionOption &option : selection.options) {
            if (!option.isFeasible)
                continue;
            QVERIFY(std::abs(priceOf(option.plan) / option.usdWritten - 1) < 1e-9);
            ++compared;
        }
        QVERIFY(compared >= 3);
    }

    void byCostIdleNodesAreGivenBackAndTheOrderIsThatOfThePrices()
    {
        const Selection selection = ranked(SelectionObjective::Cost);
        const int gpus = selection.plan->cluster.gpus();
        int trimmed = 0;
        double before = 0;
        for (const SelectionOption &option : selection.options) {
            QCOMPARE(option.plan->cluster.gpus(), gpus - option.givenBack);
            if (!option.isFeasible)
                continue;
            QVERIFY(option.usdWritten >= before);
            before = option.usdWritten;
            if (option.isCurrent)
                QCOMPARE(option.givenBack, 0);
            if (option.givenBack == 0)
                continue;
            ++trimmed;
            QVERIFY(option.sentence.ends_with(std::to_string(option.givenBack) + " idle GPUs"));
        }
        QVERIFY(trimmed > 0);
        QCOMPARE(selection.bestCost, 0);
        QVERIFY(selection.options.front().isOnFront);
        QVERIFY(selection.options[std::size_t(selection.bestThroughput)].isOnFront);
    }

    void byThroughputTheClusterStaysAsItIs()
    {
        const Selection selection = ranked(SelectionObjective::Throughput);
        QVERIFY(!selection.options.empty());
        for (const SelectionOption &option : selection.options) {
            QCOMPARE(option.givenBack, 0);
            QCOMPARE(option.plan->cluster.gpus(), selection.plan->cluster.gpus());
        }
    }
};

TRAINYARD_GUILESS_TEST(GivenBackTest)
#include "tst_given_back.moc"
