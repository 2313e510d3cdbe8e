// SPDX-License-Identifier: GPL-3.0-or-later
// DP-cells: how large they are, who is in one, and what the plan says where they cannot be formed.
#include "tests/support/plans.h"

#include <QtTest>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Plan temporalRow(int data, int cell)
{
    Plan plan = atlasRow(4, 4, data, 2, ScheduleKind::Atlas);
    plan.wan.sharing = WanSharing::Temporal;
    plan.wan.cell = cell;
    return plan;
}

} // namespace

class TestCells : public QObject {
    Q_OBJECT

private slots:
    // D = cells x lanes: six pipelines in cells of three are three lanes of two.
    void lanesStandForTheirCells()
    {
        const Layout layout = evaluated(temporalRow(6, 3))->layout;
        QCOMPARE(layout.classes.size(), std::size_t{3});
        for (int k = 0; k < 3; ++k) {
            QCOMPARE(layout.classes[std::size_t(k)].lane, k);
            QCOMPARE(layout.classes[std::size_t(k)].lanes, 3);
            QCOMPARE(layout.classes[std::size_t(k)].pipelines, 2);
        }
    }

    // Seven pipelines in cells of three: two whole cells, and one of a single pipeline.
    void whatIsLeftMakesASmallerCell()
    {
        const Layout layout = evaluated(temporalRow(7, 3))->layout;
        int pipelines = 0;
        for (const PipelineClass &c : layout.classes)
            pipelines += c.pipelines;
        QCOMPARE(pipelines, 7);
        QCOMPARE(layout.classes.back().lanes, 1);
        QCOMPARE(layout.classes.back().firstPipeline, 6);
    }

    // auto: C = s / tf rounded, here 1.0117 x 4 s over 1 s.
    void autoIsTheRatioRounded()
    {
        Plan plan = temporalRow(4, 1);
        plan.wan.cell.reset();
        const CellSize cell = evaluated(plan)->layout.cell;
        QVERIFY(std::abs(cell.ratio - 4.0468) < 1e-9);
        QCOMPARE(cell.reached, 4);
    }

    // Pipelines of one node share its pairs: a node of four pipelines a stage forms no cell, and the plan says so.
    void aCellTakesPipelinesOfDifferentNodes()
    {
        Plan plan = temporalRow(4, 4);
        for (Datacenter &datacenter : plan.cluster.datacenters) {
            datacenter.pools[0].nodes = 2;
            datacenter.pools[0].gpusPerNode = 4;
        }
        const auto evaluation = evaluated(plan);
        QCOMPARE(evaluation->layout.cell.reached, 1);
        QCOMPARE(evaluation->layout.cell.wanted, 4);
        QVERIFY(std::ranges::any_of(evaluation->problems, [](const Problem &p) { return p.where == "wan.cell"; }));
        Plan spatial = plan;
        spatial.wan.sharing = WanSharing::Spatial;
        QCOMPARE(*evaluation->metrics.iterationTime, *evaluated(spatial)->metrics.iterationTime);
    }

    // Two pipelines a node: cells of at most half of them.
    void cellsHaveAsManyPipelinesAsNodes()
    {
        Plan plan = temporalRow(8, 8);
        for (Datacenter &datacenter : plan.cluster.datacenters) {
            datacenter.pools[0].nodes = 8;
            datacenter.pools[0].gpusPerNode = 2;
        }
        QCOMPARE(evaluated(plan)->layout.cell.reached, 4);
    }

    void spatialSharingFormsNone()
    {
        Plan plan = temporalRow(4, 4);
        plan.wan.sharing = WanSharing::Spatial;
        const Layout layout = evaluated(plan)->layout;
        QCOMPARE(layout.classes.size(), std::size_t{1});
        QCOMPARE(layout.classes.front().lanes, 1);
    }
};

QTEST_APPLESS_MAIN(TestCells)
#include "tst_cells.moc"
