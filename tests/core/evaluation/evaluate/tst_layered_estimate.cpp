// SPDX-License-Identifier: GPL-3.0-or-later
// The closed form of accumulation layer by layer against the engine, over even and uneven shares of the states.
#include "core/evaluation/evaluate/estimate.h"
#include "core/iteration/layouts/placements.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/most_replicas.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QtTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Llama 3 8B on 4 H200 and 4 A100 of little memory, which hold less of the states.
Plan uneven(double penalty, bool prefetches)
{
    Plan plan = balanced(mixedReplicas());
    auto &pools = plan.cluster.datacenters.front().pools;
    pools[0].gpu = "h200-sxm-141gb";
    GpuSpec small = *builtinCatalogue().gpu("a100-sxm-80gb");
    small.memoryBytes = 24'000'000'000;
    pools[1].inlineGpu = small;
    pools[1].gpu.clear();
    plan.workload.model = "llama-3-8b";
    plan.workload.sequenceLength = 2048;
    plan.parallelism.zeroStage = 3;
    plan.memory.recompute = Recompute::Full;
    plan.heterogeneity.state = StateSharing::MinParams;
    plan.heterogeneity.accumulation = Accumulation::Layered;
    plan.heterogeneity.gatherPrefetch = prefetches;
    plan.heterogeneity.unevenPenalty = penalty;
    plan.stack.overrides["host_us_per_kernel"] = 1; // who waits for the host does not see the penalty whole
    return plan;
}

struct Answer {
    double form = 0, engine = 0;
    int unevenLayers = 0;
};

Answer answerOf(const Plan &plan)
{
    const Workload workload = test::dealtWorkload(plan);
    return { estimate(workload).iteration.value, *evaluated(withMostReplicas(plan))->metrics.iterationTime,
        int(std::ranges::count(workload.layout.shares.layersUneven, true)) };
}

} // namespace

class TestLayeredEstimate : public QObject {
    Q_OBJECT

private slots:
    void theFormIsNearTheEngineWhateverThePenalty()
    {
        for (const bool prefetches : { false, true })
            for (const double penalty : { 1.0, 1.25, 3.0 }) {
                const Answer answer = answerOf(uneven(penalty, prefetches));
                QVERIFY(answer.unevenLayers > 0);
                QVERIFY2(std::abs(answer.form / answer.engine - 1) < 0.05,
                    qPrintable(QStringLiteral("%1 s, engine %2 s").arg(answer.form).arg(answer.engine)));
            }
    }

    // Nothing hides but a little of what is reduced: t(p) = t(1) + (p - 1) u (2 G + R), a line.
    void withoutPrefetchingThePenaltyIsALine()
    {
        const double one = answerOf(uneven(1, false)).form, two = answerOf(uneven(2, false)).form,
                     three = answerOf(uneven(3, false)).form;
        QVERIFY(two > one);
        QVERIFY2(std::abs((three - two) - (two - one)) < 0.04 * (two - one),
            qPrintable(QStringLiteral("%1, %2, %3").arg(one).arg(two).arg(three)));
    }
};

TRAINYARD_APPLESS_TEST(TestLayeredEstimate)
#include "tst_layered_estimate.moc"
