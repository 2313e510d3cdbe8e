// SPDX-License-Identifier: GPL-3.0-or-later
// DP-cells: how large they are, who is in one, and what the plan says where they cannot be formed.
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

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
        QCOMPARE(layout.classes.size(), std::size_t { 3 });
        for (int k = 0; k < 3; ++k) {
            QCOMPARE(layout.classes[std::size_t(k)].cellMember, k);
            QCOMPARE(layout.classes[std::size_t(k)].cellMembers, 3);
            QCOMPARE(layout.classes[std::size_t(k)].pipelines, 2);
        }
    }

    // Seven pipelines in cells of three at most: cells of 3, 2 and 2; every pipeline in one lane of one cell.
    void cellsAreAsEqualAsTheyCanBe()
    {
        const auto evaluation = evaluated(temporalRow(7, 3));
        std::vector<int> sizes;
        int pipelines = 0;
        for (const PipelineClass &c : evaluation->layout.classes) {
            pipelines += c.pipelines;
            if (c.cellMember == 0)
                sizes.insert(sizes.end(), std::size_t(c.pipelines), c.cellMembers);
        }
        QCOMPARE(pipelines, 7);
        QCOMPARE(sizes, (std::vector<int> { 3, 2, 2 }));
        QVERIFY(std::ranges::any_of(
            evaluation->problems, [](const Problem &p) { return p.text.find("do not divide") != std::string::npos; }));
    }

    // Micro-batches that do not divide: less work never takes longer than one micro-batch more for every pipeline, and
    // the pipelines with one more share cells with the others.
    void cellsSpanPipelinesWithOneMicroBatchMore()
    {
        Plan plan = temporalRow(4, 4);
        const auto time = [&](int batch) {
            plan.workload.globalBatch = batch;
            return *evaluated(plan)->metrics.iterationTime;
        };
        const double twelve = time(12), sixteen = time(16);
        for (const int batch : { 13, 14, 15 }) {
            QVERIFY2(time(batch) >= twelve && time(batch) <= sixteen, qPrintable(QString::number(batch)));
            QCOMPARE(evaluated(plan)->layout.cell.smallest, 4);
        }
    }

    // bytes = 2 M A over all pipelines, dealt evenly or not.
    void unevenLanesSendWhatTheyCompute()
    {
        Plan plan = temporalRow(6, 4);
        plan.workload.globalBatch = 27;
        const auto evaluation = evaluated(plan);
        QCOMPARE(evaluation->metrics.wanLinks.front().totalBytes(), 2 * 27 * plan.profile->activationMb * 1e6);
        std::uint32_t transfers = 0;
        for (const Track &track : evaluation->timeline.tracks) {
            if (track.stream != Stream::Wan)
                continue;
            const auto like = evaluation->layout.classes[std::size_t(track.pipelineClass)];
            transfers += (track.last - track.first) * std::uint32_t(like.pipelines);
        }
        QCOMPARE(transfers, 2u * 27u);
    }

    // auto begins with C = s / tf rounded, here 1.0117 x 4 s over 1 s; other sizes are tried by simulation alone.
    void autoBeginsWithTheRatioRounded()
    {
        Plan plan = temporalRow(4, 1);
        plan.wan.cell.reset();
        EvaluationWorkspace workspace;
        const auto estimate =
            run(std::make_shared<const Plan>(plan), Depth::Estimate, { builtinCatalogue(), workspace });
        const CellSize cell = (*estimate)->layout.cell;
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
        QCOMPARE(layout.classes.size(), std::size_t { 1 });
        QCOMPARE(layout.classes.front().cellMembers, 1);
    }
};

TRAINYARD_APPLESS_TEST(TestCells)
#include "tst_cells.moc"
