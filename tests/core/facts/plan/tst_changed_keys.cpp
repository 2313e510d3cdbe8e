// SPDX-License-Identifier: GPL-3.0-or-later
// Which keys two plans differ in, and a plan with one of them put back. The reference is --set itself: a key that was
// set is a key that differs, and putting all of them back gives the first plan.
#include "core/facts/plan/changed_keys.h"
#include "core/facts/plan/key_list.h"
#include "core/facts/plan/plan_io.h"
#include "tests/core/facts/plan/random_plan.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::vector<std::string> pathsOf(const std::vector<ChangedKey> &keys)
{
    std::vector<std::string> paths;
    std::ranges::transform(keys, std::back_inserter(paths), &ChangedKey::path);
    return paths;
}

Plan with(const Plan &plan, const std::vector<KeySetting> &settings)
{
    return withKeysSet(plan, settings).value();
}

} // namespace

class ChangedKeysTest : public QObject {
    Q_OBJECT
private slots:
    void keysThatWereSetAreTheOnesThatDiffer()
    {
        const Plan plan = samplePlan("llama-3-70b-three-regions");
        const std::vector<KeySetting> settings { { "cluster.datacenters[1].pools[0].nodes", "3" },
            { "workload.precision", "fp16" }, { "memory.recompute_norms", "true" }, { "moe.imbalance", "2" },
            { "profile", R"({"forward_ms": 1, "backward_ms": 2})" } };
        std::vector<std::string> set;
        std::ranges::transform(settings, std::back_inserter(set), &KeySetting::first);
        std::vector<std::string> found = pathsOf(changedKeys(plan, with(plan, settings)));
        std::ranges::sort(set);
        std::ranges::sort(found);
        QVERIFY(found == set);
    }

    void aKeyIsNamedAsTheListOfKeysNamesIt()
    {
        const Plan plan = samplePlan("llama-3-70b-three-regions");
        const auto keys = changedKeys(plan, with(plan, { { "cluster.datacenters[1].pools[0].nodes", "3" } }));
        QCOMPARE(keys.size(), std::size_t(1));
        QCOMPARE(planKey(keys.front().row).path, std::string("cluster.datacenters[].pools[].nodes"));
    }

    /// 1000 is the default: a file leaves it out.
    void aKeyAtItsDefaultIsPutBackByLeavingItOut()
    {
        const Plan plan = samplePlan("atlas-headline");
        const Plan set = with(plan, { { "memory.offload_ahead", "4" }, { "memory.recompute_norms", "true" } });
        for (const ChangedKey &key : changedKeys(plan, set)) {
            const Plan back = withKeyOf(set, plan, key).value();
            QVERIFY2(!std::ranges::count(pathsOf(changedKeys(plan, back)), key.path), key.path.c_str());
            QCOMPARE(changedKeys(plan, back).size(), std::size_t(1)); // the other one stays
        }
    }

    /// Name and notes are no settings.
    void whatNothingIsComputedFromIsNoChange()
    {
        Plan plan = samplePlan("atlas-headline"), renamed = plan;
        renamed.name += ", again";
        renamed.notes += "!";
        QVERIFY(changedKeys(plan, renamed).empty());
    }

    void putBackOneByOneAnyPlanBecomesAnyOther()
    {
        for (unsigned seed = 1; seed <= 40; ++seed) {
            const Plan to = parsePlan(formatPlan(RandomPlan(seed).plan()), "random").value();
            Plan plan = parsePlan(formatPlan(RandomPlan(seed + 1000).plan()), "random").value();
            plan.name = to.name;
            plan.notes = to.notes;
            const std::vector<ChangedKey> keys = changedKeys(plan, to);
            QVERIFY(!keys.empty());
            bool isWhole = true;
            for (const ChangedKey &key : keys) {
                auto next = withKeyOf(plan, to, key);
                isWhole = isWhole && next; // some keys only fit each other together
                if (next)
                    plan = std::move(*next);
            }
            const auto left = pathsOf(changedKeys(plan, to));
            if (isWhole)
                QVERIFY2(left.empty(), left.empty() ? "" : left.front().c_str());
        }
    }
};

TRAINYARD_APPLESS_TEST(ChangedKeysTest)
#include "tst_changed_keys.moc"
