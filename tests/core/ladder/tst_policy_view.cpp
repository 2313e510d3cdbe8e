// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ladder/policy_view.h"

#include "core/placement/place.h"
#include "tests/core/ladder/ladder_plans.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using test::evaluated;
using test::oneNode;

namespace {

PolicyView viewOf(const Plan &plan)
{
    auto workload = resolve(std::make_shared<const Plan>(plan), builtinCatalogue());
    workload->layout = place(*workload, PlacementMode::PipelineAcross);
    return policyView(*workload);
}

Plan onHost(double rate, OffloadPolicy policy = OffloadPolicy::Memo)
{
    Plan plan = oneNode();
    plan.memory.activationOffload = ActivationOffload::Host;
    plan.memory.offloadPolicy = policy;
    plan.cluster.datacenters[0].pools[0].host->gbytesPerSecondPerGpu = rate;
    return plan;
}

} // namespace

class PolicyViewTest : public QObject {
    Q_OBJECT
private slots:
    /// alpha grows with the link, and what is computed again falls.
    void aFasterLinkSwapsMore()
    {
        double share = -1, again = 1e9;
        for (const double rate : {1.0, 20.0, 60.0, 1e4}) {
            const PolicyView view = viewOf(onHost(rate));
            QCOMPARE(view.layers, 32);
            QVERIFY(view.memoShare >= share && view.memoShare <= 1);
            QVERIFY(view.memoRecompute.value <= again);
            share = view.memoShare;
            again = view.memoRecompute.value;
        }
        QCOMPARE(share, 1.0);
        QCOMPARE(again, 0.0);
    }

    /// Both stay within the room that states leave, and neither is faster than keeping everything.
    void blocksStayInsideTheRoom()
    {
        Plan plan = onHost(50);
        plan.workload.microBatch = 8;
        plan.workload.globalBatch = 64;   // one for each of eight replicas
        const PolicyView view = viewOf(plan);
        for (const BlockPlan &blocks : {view.karma, view.proTrain}) {
            QVERIFY(blocks.peak <= view.room);
            QVERIFY(blocks.time >= view.plain);
            QVERIFY(std::ranges::count(blocks.fates, BlockFate::Keep) < 32);
        }
    }

    void thePlanSaysWhatItsPolicyWouldDo()
    {
        const auto says = [](const Plan &plan, const char *text) {
            const auto evaluation = evaluated(plan);
            return std::ranges::any_of(evaluation->problems, [&](const Problem &p) { return p.text.find(text) != std::string::npos; });
        };
        QVERIFY(says(onHost(50), "MEMO"));
        QVERIFY(says(onHost(50, OffloadPolicy::Karma), "KARMA"));
        QVERIFY(!says(onHost(50, OffloadPolicy::SsdTrain), "SSDTrain's rule"));
    }
};

QTEST_APPLESS_MAIN(PolicyViewTest)
#include "tst_policy_view.moc"
