// SPDX-License-Identifier: GPL-3.0-or-later
// A plan that states what its placement came to.
#include "core/iteration/placement/as_placed.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;

namespace {

Plan openPlan()
{
    Plan plan;
    plan.cluster.datacenters.resize(2);
    plan.cluster.datacenters[0].id = "a";
    plan.cluster.datacenters[1].id = "b";
    plan.placement.mode = PlacementMode::Auto;
    return plan;
}

/// Classes of pipelines, each by the datacenters of its stages.
Layout layoutOf(const std::vector<std::vector<int>> &classes)
{
    Layout layout;
    layout.data = 3;
    for (const std::vector<int> &stages : classes) {
        PipelineClass &made = layout.classes.emplace_back();
        for (const int datacenter : stages)
            made.locations.push_back({ datacenter, 0, 0 });
    }
    return layout;
}

} // namespace

class TstAsPlaced : public QObject {
    Q_OBJECT

private slots:
    /// Stages 0 and 1 in a, 2 in b; the second class in other pools of the same datacenters.
    void pipelinesOfOneWayArePinned()
    {
        const Plan stated = asPlaced(openPlan(), layoutOf({ { 0, 0, 1 }, { 0, 0, 1 } }));
        QVERIFY(stated.parallelism.data == 3 && stated.placement.mode == PlacementMode::PipelineAcross);
        QVERIFY(stated.placement.stages == (std::vector<StagePin> { { "a", 2, {} }, { "b", 1, {} } }));
    }

    void pipelinesOfDifferentWaysHaveTheirModeAlone()
    {
        const Plan stated = asPlaced(openPlan(), layoutOf({ { 0, 0, 1 }, { 0, 1, 1 } }));
        QVERIFY(stated.parallelism.data == 3 && stated.placement.mode == PlacementMode::PipelineAcross);
        QVERIFY(stated.placement.stages.empty());
    }

    void pinsThatAreThereStay()
    {
        Plan plan = openPlan();
        plan.placement.stages = { { "b", 3, {} } };
        QVERIFY(asPlaced(plan, layoutOf({ { 1, 1, 1 } })).placement.stages == plan.placement.stages);
    }

    void aLayoutThatHoldsNothingChangesNothing() { QVERIFY(asPlaced(openPlan(), Layout {}) == openPlan()); }
};

TRAINYARD_APPLESS_TEST(TstAsPlaced)
#include "tst_as_placed.moc"
