// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of unequal GPUs whose activations leave: each sentence is about plans that were evaluated, and silent
// where they are no better.
#include "tests/core/evaluation/advice/with_fixes.h"
#include "tests/support/mixed_plans.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// The problem there that has these words; nullptr: none has.
const Problem *saying(const Evaluation &evaluation, const std::string &where, const std::string &words)
{
    const auto it = std::ranges::find_if(evaluation.problems,
        [&](const Problem &p) { return p.where == where && p.text.find(words) != std::string::npos; });
    return it == evaluation.problems.end() ? nullptr : &*it;
}

/// Cephalo's 64 GPUs, with activation offload beside.
Plan llamaOn64(ActivationOffload offload)
{
    Plan plan = samplePlan("llama-7b-64-aws");
    plan.memory.activationOffload = offload;
    return plan;
}

} // namespace

class TestUnequalAdvice : public QObject {
    Q_OBJECT

private slots:
    // 23.4 s without; 29.2 s while shares were dealt as if nothing left.
    void activationOffloadCostsCephaloNothing()
    {
        const auto without = evaluated(llamaOn64(ActivationOffload::None)),
                   with = evaluated(llamaOn64(ActivationOffload::Host));
        QVERIFY(with->feasible());
        const double slower = *with->metrics.iterationTime / *without->metrics.iterationTime;
        QVERIFY2(slower < 1.01, qPrintable(QString::number(slower)));
        QVERIFY(with->metrics.offload && with->metrics.offload->activationPeakReduction > 0.5);
    }

    // Where the way to the host is too slow for what a small share would free, the plan says what it costs.
    void whatOffloadCostsIsSaid()
    {
        Plan plan = llamaOn64(ActivationOffload::Host);
        plan.memory.offloadFraction = 1;
        for (Pool &pool : plan.cluster.datacenters.front().pools)
            pool.host = Host { 1024, 0.2, {} };
        plan.heterogeneity.boundaryOffload = false;
        const auto evaluation = withFixes(plan);
        plan.memory.activationOffload = ActivationOffload::None;
        const auto without = evaluated(plan);
        const Problem *problem = saying(*evaluation, "memory.activation_offload", "makes an iteration longer");
        const bool isLonger =
            without->feasible() && *evaluation->metrics.iterationTime > 1.005 * *without->metrics.iterationTime;
        QVERIFY(isLonger);
        QVERIFY(problem);
        QCOMPARE(problem->fixes.size(), 1u);
        QCOMPARE(*evaluated(*problem->fixes.front().plan)->metrics.iterationTime, *without->metrics.iterationTime);
    }

    void andNothingWhereItCostsNothing()
    {
        QVERIFY(!saying(
            *withFixes(llamaOn64(ActivationOffload::Host)), "memory.activation_offload", "makes an iteration longer"));
    }

    void boundaryOffloadWithoutALayerLoopIsSaidToDoNothing()
    {
        Plan plan = balanced(mixedReplicas());
        plan.heterogeneity.boundaryOffload = true;
        const auto evaluation = evaluated(plan);
        const Problem *problem = saying(*evaluation, "heterogeneity.boundary_offload", "layer by layer");
        QVERIFY(problem);
        const auto off = evaluated(*problem->fixes.front().plan);
        QCOMPARE(*off->metrics.iterationTime, *evaluation->metrics.iterationTime);
        QVERIFY(!saying(*off, "heterogeneity.boundary_offload", ""));
        plan.heterogeneity.accumulation = Accumulation::Layered;
        QVERIFY(!saying(*evaluated(plan), "heterogeneity.boundary_offload", ""));
    }
};

TRAINYARD_GUILESS_TEST(TestUnequalAdvice)
#include "tst_unequal_advice.moc"
