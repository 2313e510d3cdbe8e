// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/alternatives.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

#include "tests/support/plans.h"

using namespace trainyard;

namespace {

const Alternative *find(const std::vector<Alternative> &list, const std::string &id)
{
    const auto it = std::ranges::find(list, id, &Alternative::id);
    return it == list.end() ? nullptr : &*it;
}

bool hasGroup(const std::vector<Alternative> &list, const std::string &group)
{
    return std::ranges::any_of(list, [&](const Alternative &a) { return a.group == group; });
}

Plan withDrives()
{
    Plan plan = test::oneSite(2);
    plan.cluster.datacenters.front().pools.front().ssd = Ssd { .writeGBps = 20, .readGBps = 26 };
    return plan;
}

} // namespace

class OffloadAlternativesTest : public QObject {
    Q_OBJECT
private slots:
    void drivesThatAreNotThereCannotBeChosen()
    {
        auto list = strategyAlternatives(test::oneSite(2), builtinCatalogue());
        QVERIFY(find(list, "activation_offload=host")->plan);
        QVERIFY(!find(list, "activation_offload=ssd")->plan);
        QVERIFY(find(list, "activation_offload=ssd")->blockedBecause.find("drives") != std::string::npos);
        list = strategyAlternatives(withDrives(), builtinCatalogue());
        QVERIFY(find(list, "activation_offload=ssd")->plan);
        QCOMPARE(find(list, "activation_offload=ssd")->plan->memory.activationOffload, ActivationOffload::Ssd);
        Plan half = withDrives(); // a second pool without drives: stages on it have nowhere to store
        half.cluster.datacenters.front().pools.push_back(test::site("b", 1).pools.front());
        QVERIFY(!find(strategyAlternatives(half, builtinCatalogue()), "activation_offload=ssd")->plan);
    }

    void shareAndPolicyAppearWithOffload()
    {
        Plan plan = withDrives();
        QVERIFY(!hasGroup(strategyAlternatives(plan, builtinCatalogue()), "offload_fraction"));
        QVERIFY(!hasGroup(strategyAlternatives(plan, builtinCatalogue()), "offload_policy"));
        plan.memory.activationOffload = ActivationOffload::Ssd;
        plan.memory.offloadFraction = 0.333;
        const auto list = strategyAlternatives(plan, builtinCatalogue());
        QStringList labels;
        for (const Alternative &a : list)
            if (a.group == "offload_fraction")
                labels << QString::fromStdString(a.label) + (a.isCurrent ? "*" : "");
        QCOMPARE(labels, (QStringList { "auto", "25 %", "33.3 %*", "50 %", "75 %", "100 %" }));
        QVERIFY(hasGroup(list, "offload_policy"));
    }

    /// A policy that decides about recomputation is offered where the plan leaves it the choice, and has no share where
    /// it goes by room.
    void policiesAreOfferedWhereTheyApply()
    {
        Plan plan = withDrives();
        plan.memory.activationOffload = ActivationOffload::Ssd;
        for (const char *id : { "offload_policy=memo", "offload_policy=karma", "offload_policy=protrain" })
            QVERIFY2(find(strategyAlternatives(plan, builtinCatalogue()), id)->plan, id);
        plan.memory.recompute = Recompute::Full;
        for (const char *id : { "offload_policy=memo", "offload_policy=karma", "offload_policy=protrain" })
            QVERIFY2(find(strategyAlternatives(plan, builtinCatalogue()), id)->blockedBecause.find("recomputation")
                    != std::string::npos,
                id);
        QVERIFY(find(strategyAlternatives(plan, builtinCatalogue()), "offload_policy=ssdtrain")->plan);
        plan.memory.recompute = Recompute::None;
        plan.memory.offloadPolicy = OffloadPolicy::Memo;
        QVERIFY(hasGroup(strategyAlternatives(plan, builtinCatalogue()), "offload_fraction"));
        plan.memory.offloadPolicy = OffloadPolicy::ProTrain;
        QVERIFY(!hasGroup(strategyAlternatives(plan, builtinCatalogue()), "offload_fraction"));
    }

    void aProfileBlocksThem()
    {
        const Plan plan = test::atlasRow(4, 4, 1, 2, ScheduleKind::OneFOneB);
        for (const Alternative &a : strategyAlternatives(plan, builtinCatalogue()))
            if (a.group == "activation_offload" && !a.isCurrent)
                QVERIFY2(!a.plan && !a.blockedBecause.empty(), a.id.c_str());
    }
};

TRAINYARD_GUILESS_TEST(OffloadAlternativesTest)
#include "tst_offload_alternatives.moc"
