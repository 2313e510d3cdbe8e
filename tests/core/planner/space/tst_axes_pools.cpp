// SPDX-License-Identifier: GPL-3.0-or-later
// Axes of clusters with several kinds of GPUs: which plans their values make.

#include "core/planner/space/axes_pools.h"
#include "tests/core/planner/rivals/cases.h"
#include "tests/support/test_program.h"

#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

const Axis *axisOf(const std::vector<Axis> &axes, const char *id)
{
    const auto found = std::ranges::find(axes, id, &Axis::id);
    return found == axes.end() ? nullptr : &*found;
}

Plan with(const PlanPtr &plan, const AxisValue &value)
{
    Plan changed = *plan;
    value.set(changed);
    return changed;
}

} // namespace

class TstAxesPools : public QObject {
    Q_OBJECT

private slots:
    void oneKindHasNoSuchAxes() { QVERIFY(poolAxes(*rivalCase("five-zones"), builtinCatalogue()).empty()); }

    void twoKindsOfOneDatacenterAreUsedInBothOrdersAndAlone()
    {
        const PlanPtr plan = rivalCase("a100-v100");
        const auto axes = poolAxes(*plan, builtinCatalogue());
        const Axis *kinds = axisOf(axes, "kinds");
        QVERIFY(kinds);
        std::set<std::vector<std::pair<std::string, int>>> seen;
        for (const AxisValue &value : kinds->values) {
            std::vector<std::pair<std::string, int>> pools;
            for (const Pool &pool : with(plan, value).cluster.datacenters[0].pools)
                if (pool.nodes > 0)
                    pools.emplace_back(pool.gpu, pool.nodes);
            seen.insert(pools);
        }
        const std::pair<std::string, int> a { "a100-sxm-40gb", 32 }, v { "v100-sxm-16gb", 96 };
        QCOMPARE(seen, (std::set<std::vector<std::pair<std::string, int>>> { { a, v }, { v, a }, { a }, { v } }));
        QCOMPARE(kinds->base, std::uint16_t(0));
        QVERIFY(with(plan, kinds->values[0]) == *plan);
    }

    void tensorDegreesOfAKindAreMultiplesOfThePlans()
    {
        const PlanPtr plan = rivalCase("a100-v100");
        const auto axes = poolAxes(*plan, builtinCatalogue());
        const Axis *tensor = axisOf(axes, "kind_tensor");
        QVERIFY(tensor);
        std::set<std::pair<int, int>> degrees; // A100, V100
        for (const AxisValue &value : tensor->values) {
            Plan changed = *plan;
            changed.parallelism.tensor = 2;
            value.set(changed);
            std::pair<int, int> now { 2, 2 };
            for (const RankPin &pin : changed.heterogeneity.assign)
                (pin.pool == "us-central1-a-a100" ? now.first : now.second) = *pin.tensor;
            degrees.insert(now);
        }
        QCOMPARE(degrees, (std::set<std::pair<int, int>> { { 2, 2 }, { 2, 4 }, { 2, 8 }, { 4, 2 }, { 8, 2 } }));
    }

    void valuesTellThemselvesApart()
    {
        for (unsigned seed = 0; seed < 30; ++seed) {
            const PlanPtr plan = randomMixed(seed);
            for (const Axis &axis : poolAxes(*plan, builtinCatalogue())) {
                std::set<std::string> texts;
                std::vector<Plan> plans;
                for (const AxisValue &value : axis.values) {
                    QVERIFY2(texts.insert(value.text).second, value.text.c_str());
                    Plan made = with(plan, value);
                    QVERIFY(std::ranges::find(plans, made) == plans.end());
                    QCOMPARE(made.cluster.datacenters.size(), plan->cluster.datacenters.size());
                    QVERIFY(made.cluster.gpus() > 0 && made.cluster.gpus() <= plan->cluster.gpus());
                    plans.push_back(std::move(made));
                }
                QVERIFY(plans[axis.base] == *plan);
            }
        }
    }
};

TRAINYARD_APPLESS_TEST(TstAxesPools)
#include "tst_axes_pools.moc"
