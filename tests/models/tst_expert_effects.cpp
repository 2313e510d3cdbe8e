// SPDX-License-Identifier: GPL-3.0-or-later
// What the window predicts of each choice about experts, before anyone chooses it, is what the plan comes to that the
// choice leads to.
#include "core/evaluation/advice/evaluate.h"
#include "models/effects.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QSignalSpy>
#include <QTest>

#include <set>

using namespace trainyard;

class ExpertEffectsTest : public QObject {
    Q_OBJECT
private slots:
    void anEffectIsTheEvaluationOfItsPlan()
    {
        Plan made = test::oneSite(2, 1);
        made.workload.model = "mixtral-8x7b";
        made.workload.sequenceLength = 4096;
        made.parallelism.sequenceParallel = false;
        made.parallelism.expert = 2;
        made.parallelism.expertTensor = 8;
        const auto plan = std::make_shared<const Plan>(made);

        StrategyEffects effects(builtinCatalogue());
        EffectTablePtr table;
        connect(&effects, &StrategyEffects::effectsChanged, this,
            [&table](const EffectTablePtr &newest) { table = newest; });
        effects.setRest(std::chrono::milliseconds(0));
        effects.setPlan(plan);
        QTRY_VERIFY_WITH_TIMEOUT(table && table->complete, 120000);

        const std::set<std::string> groups { "expert", "expert_tensor", "dispatch", "overlap_chunks", "expert_overlap",
            "capacity_factor", "moe_baseline" };
        EvaluationWorkspace workspace;
        std::set<std::string> compared;
        for (const Alternative &choice : strategyAlternatives(*plan, builtinCatalogue())) {
            if (!groups.contains(choice.group) || !choice.plan || choice.isCurrent)
                continue;
            QVERIFY2(table->strategies.contains(choice.id), choice.id.c_str());
            const Effect &effect = table->strategies.at(choice.id);
            const auto evaluation = evaluate(choice.plan, builtinCatalogue(), workspace, {}, Depth::Score);
            QVERIFY2(evaluation, choice.id.c_str());
            QCOMPARE(effect.iterationTime, (*evaluation)->metrics.iterationTime);
            QCOMPARE(effect.feasible, (*evaluation)->feasible());
            compared.insert(choice.group);
        }
        QCOMPARE(compared, groups);
    }
};

TRAINYARD_GUILESS_TEST(ExpertEffectsTest)
#include "tst_expert_effects.moc"
