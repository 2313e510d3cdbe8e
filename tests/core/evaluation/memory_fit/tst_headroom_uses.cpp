// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/memory_fit/headroom_uses.h"
#include "tests/support/test_program.h"

#include "tests/core/evaluation/memory_fit/ladder_plans.h"

#include <QTest>

using namespace trainyard;
using test::evaluated;
using test::oneNode;

class PurchasesTest : public QObject {
    Q_OBJECT
private slots:
    /// Every offer fits and trains faster than the plan, by the gain that it names.
    void freeMemoryBuysThroughput()
    {
        Plan plan = oneNode();
        plan.memory.recompute = Recompute::Full;
        plan.parallelism.tensor = 4;
        EvaluationWorkspace workspace;
        const HeadroomUses uses =
            headroomSuggestions(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
        QVERIFY(!uses.offers.empty());
        const double now = *evaluated(plan)->metrics.tokensPerSecond;
        double last = 1e9;
        for (const HeadroomUse &offer : uses.offers) {
            const auto evaluation = evaluated(*offer.plan);
            QVERIFY(evaluation->feasible());
            QCOMPARE(*evaluation->metrics.tokensPerSecond, offer.tokensPerSecond);
            QVERIFY(std::abs(offer.tokensPerSecond / now - 1 - offer.gain) < 1e-9);
            QVERIFY(offer.gain >= kLeastGain && offer.gain <= last);
            QVERIFY(!offer.sentence.empty());
            last = offer.gain;
        }
    }

    void aFullClusterBuysNothing()
    {
        Plan plan = oneNode("llama-3-70b"); // does not fit at all
        plan.workload.microBatch = 16;
        plan.parallelism.tensor = 1;
        EvaluationWorkspace workspace;
        const HeadroomUses uses =
            headroomSuggestions(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
        QVERIFY(uses.offers.empty());
    }
};

TRAINYARD_APPLESS_TEST(PurchasesTest)
#include "tst_headroom_uses.moc"
