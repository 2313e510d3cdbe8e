// SPDX-License-Identifier: GPL-3.0-or-later
// Placements of clusters with so many datacenters that not every one of them is a value.
#include "core/planner/space/space.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Linked each to each, of unlike sizes; 5 of them have Σ 5! / k! / 2 ≈ 160 orders, and sets in three modes beside.
Plan manySites(int count)
{
    Plan plan = oneSite(1, 6);
    plan.cluster.datacenters.clear();
    plan.cluster.wanLinks.clear();
    for (int d = 0; d < count; ++d) {
        plan.cluster.datacenters.push_back(site(std::string(1, char('a' + d)), 1 + d % 3));
        for (int other = 0; other < d; ++other)
            plan.cluster.wanLinks.push_back(
                wanLink(std::string(1, char('a' + other)), plan.cluster.datacenters.back().id, 40, 50, 100 + 10 * d));
    }
    return plan;
}

struct Placements {
    std::vector<std::string> texts; // of the values, in their order
    std::vector<Plan> plans;
    std::size_t base = 0, thinned = 0;
};

Placements placementsOf(const Plan &plan, std::size_t mostValues)
{
    auto space = makeSpace(std::make_shared<const Plan>(plan), builtinCatalogue(), { .mostValues = mostValues });
    if (!space)
        qFatal("%s", toString(space.error().front()).c_str());
    const Axis &axis = space->axes().at(std::size_t(space->axis("placement")));
    Placements placements { {}, {}, axis.base, axis.thinned };
    for (const AxisValue &value : axis.values) {
        placements.texts.push_back(value.text);
        value.set(placements.plans.emplace_back(plan));
    }
    return placements;
}

} // namespace

class TstAxesPlacement : public QObject {
    Q_OBJECT

private slots:
    void manyPlacementsAreThinned_data()
    {
        QTest::addColumn<bool>("isStated");
        QTest::newRow("left to the placement's search") << false;
        QTest::newRow("stages stated in an order that comes late") << true;
    }
    /// values + thinned = all; the values are the first of all, the plan's own in front.
    void manyPlacementsAreThinned()
    {
        QFETCH(bool, isStated);
        Plan plan = manySites(5);
        if (isStated)
            plan.placement = { .mode = PlacementMode::PipelineAcross, .stages = { { "a", 5, {} }, { "d", 1, {} } } };
        const Placements all = placementsOf(plan, 1'000);
        QCOMPARE(all.thinned, std::size_t(0));
        QVERIFY(all.texts.size() > 80);
        for (const std::size_t most : { 16, 4 }) {
            const Placements some = placementsOf(plan, most);
            QCOMPARE(some.texts.size(), 5 * most);
            QCOMPARE(some.texts.size() + some.thinned, all.texts.size());
            QCOMPARE(some.plans[some.base], plan);
            for (std::size_t i = 0; i < some.texts.size(); ++i) { // a subset, each value the same plan
                QCOMPARE(some.texts[i], all.texts[i]);
                QCOMPARE(some.plans[i], all.plans[i]);
            }
            const Placements again = placementsOf(plan, most);
            QCOMPARE(again.texts, some.texts);
            QCOMPARE(again.base, some.base);
        }
    }

    /// Whatever is left out, each datacenter alone and the modes over all of them stay.
    void oneDatacenterAloneIsNeverThinned()
    {
        const Plan plan = manySites(6);
        const Placements some = placementsOf(plan, 4);
        QVERIFY(some.thinned > 0);
        for (const Datacenter &one : plan.cluster.datacenters) {
            const auto isAlone = [&](const Plan &value) {
                return value.placement.stages.size() == 1 && value.placement.stages.front().datacenter == one.id;
            };
            QVERIFY(std::ranges::any_of(some.plans, isAlone));
        }
        for (const PlacementMode mode :
            { PlacementMode::Auto, PlacementMode::PipelineAcross, PlacementMode::DataAcross })
            QVERIFY(std::ranges::any_of(some.plans, [&](const Plan &value) {
                return value.placement.stages.empty() && value.placement.mode == mode && value.cluster == plan.cluster;
            }));
    }

    void fewPlacementsAreAllThere()
    {
        QCOMPARE(placementsOf(threeSites(1), 16).thinned, std::size_t(0));
        QCOMPARE(placementsOf(threeSites(1), 16).texts, placementsOf(threeSites(1), 1'000).texts);
    }
};

TRAINYARD_GUILESS_TEST(TstAxesPlacement)
#include "tst_axes_placement.moc"
