// SPDX-License-Identifier: GPL-3.0-or-later
// Experts in the whole window: a click on a GPU tells its experts and who sends to them, a click on an expert draws its
// senders' lines over the map, and commands go from expert to expert.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "core/evaluation/evaluate/expert_places.h"
#include "models/text/format.h"
#include "views/commands/command_registry.h"
#include "views/details/details_panel.h"
#include "views/details/expert_table.h"
#include "views/panels/evidence_table.h"
#include "views/window/experts_on_map.h"

#include <QHeaderView>

using namespace trainyard;

namespace {

/// 128 experts over sixteen GPUs: a node in Oregon and one in Iowa, the last rank's experts fuller than the others.
Plan twoNodesApart()
{
    Plan plan;
    plan.name = "Experts apart";
    const auto add = [&](const char *id, const char *name, double longitude) {
        Datacenter d;
        d.id = id;
        d.name = name;
        d.latitude = 43;
        d.longitude = longitude;
        Pool pool;
        pool.id = std::string(id) + "-h100";
        pool.gpu = "h100-sxm-80gb";
        pool.nodes = 1;
        pool.gpusPerNode = 8;
        d.pools = { pool };
        plan.cluster.datacenters.push_back(d);
    };
    add("oregon", "Oregon", -121);
    add("iowa", "Iowa", -96);
    WanLink link;
    link.between = { "oregon", "iowa" };
    link.rttMs = 36;
    link.capacityGbps = 400;
    plan.cluster.wanLinks = { link };
    plan.workload.model = "qwen3-30b-a3b";
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = 64;
    plan.parallelism.expert = 16;
    plan.parallelism.zeroStage = 3;
    plan.placement.mode = PlacementMode::DataAcross;
    plan.moe.expertLoads.assign(128, 1);
    for (std::size_t e = 120; e < 128; ++e)
        plan.moe.expertLoads[e] = 2;
    return plan;
}

struct ExpertFixture : WindowFixture {
    ExpertFixture()
    {
        document.apply(std::make_shared<const Plan>(twoNodesApart()), QStringLiteral("Experts"));
        settle();
    }
    ExpertTable &table() { return *window.workbench().experts->table(); }
    void clickGpu(int island, int gpu)
    {
        const QPoint at = gpuRect(map()->mapLayout(), island, 0, gpu).center().toPoint();
        QTest::mouseClick(map(), Qt::LeftButton, {}, at);
        QApplication::processEvents();
    }
    void clickRow(EvidenceTable *of, int row)
    {
        const QRect cell = of->visualRect(of->model()->index(row, 0));
        QTest::mouseClick(of->viewport(), Qt::LeftButton, {}, cell.center());
        QApplication::processEvents();
    }
    void run(const char *command) { QVERIFY(window.commands().trigger(QLatin1String(command))); }
};

} // namespace

class TestExpertPlacesWindow : public QObject {
    Q_OBJECT

private slots:
    /// The second of sixteen GPUs holds experts 8 to 15. Half of what it gets comes from the other node.
    void aClickOnAGpuTellsItsExpertsAndWhoSendsToThem()
    {
        ExpertFixture f;
        f.clickGpu(0, 1);
        QVERIFY(f.window.workbench().details->isVisible());
        QVERIFY(f.table().isVisible());
        const ExpertsHere &here = f.table().content();
        QCOMPARE(here.experts.size(), 8u);
        QCOMPARE(here.experts.front().expert, 8);
        QCOMPARE(here.experts.back().expert, 15);
        QCOMPARE(here.senders.size(), 2u);
        double share = 0;
        for (const SenderHere &sender : here.senders) {
            QVERIFY(std::abs(sender.share - 0.5) < 1e-9);
            share += sender.share;
        }
        QVERIFY(std::abs(share - 1) < 1e-9);
        QCOMPARE(f.table().senders()->model()->rowCount(), 2);
    }

    void aClickOnAnExpertDrawsItsSendersLines()
    {
        ExpertFixture f;
        f.clickGpu(1, 0);
        QVERIFY(!f.map()->traffic());
        f.clickRow(f.table().experts(), 2); // expert 66
        QVERIFY(f.map()->traffic());
        const MapTraffic &traffic = *f.map()->traffic();
        QVERIFY2(traffic.title.startsWith("Expert 66"), qPrintable(traffic.title));
        QCOMPARE(traffic.ends.size(), 1u); // one group of sixteen
        QCOMPARE(traffic.ends.front().island, 1);
        QCOMPARE(traffic.ends.front().firstGpu, 0);
        QCOMPARE(traffic.flows.size(), 1u); // its own node apart
        QCOMPARE(traffic.flows.front().from.island, 0);
        QTest::keyClick(f.map(), Qt::Key_Escape);
        QVERIFY(!f.map()->traffic());
        QVERIFY(!f.map()->selection().empty()); // only the lines went
    }

    void commandsGoFromExpertToExpert()
    {
        ExpertFixture f;
        f.run("experts.show");
        QCOMPARE(f.window.workbench().experts->expert(), 120); // the first of the fullest rank
        f.run("experts.next");
        QCOMPARE(f.window.workbench().experts->expert(), 121);
        f.run("experts.previous");
        f.run("experts.previous");
        QCOMPARE(f.window.workbench().experts->expert(), 119);
        f.run("experts.hide");
        QVERIFY(!f.map()->traffic());
        QVERIFY(!f.window.commands().trigger(QStringLiteral("experts.hide")));
    }

    /// What is shown follows the plan, and goes with its experts.
    void linesFollowAnEdit()
    {
        ExpertFixture f;
        f.run("experts.show");
        QCOMPARE(f.map()->traffic()->flows.size(), 1u);
        Plan plan = *f.document.plan();
        plan.parallelism.data = f.bridge.evaluation()->layout.data;
        plan.parallelism.expert = 8;
        f.document.apply(std::make_shared<const Plan>(plan), QStringLiteral("Groups of eight"));
        f.settle();
        QVERIFY(f.map()->traffic());
        QCOMPARE(f.map()->traffic()->ends.size(), 2u); // a group in each node
        QVERIFY(f.map()->traffic()->flows.empty()); // nobody sends from elsewhere
        plan.workload.model = "llama-3-8b";
        plan.parallelism.expert = 1;
        plan.moe = {};
        f.document.apply(std::make_shared<const Plan>(plan), QStringLiteral("Dense"));
        f.settle();
        QVERIFY(!f.map()->traffic());
        QVERIFY(!f.window.commands().trigger(QStringLiteral("experts.show")));
    }

    void aClickOnASenderSelectsIt()
    {
        ExpertFixture f;
        f.clickGpu(0, 0);
        const auto &senders = f.table().content().senders;
        const auto other = std::ranges::find_if(senders, [](const SenderHere &s) { return !s.isHere; });
        QVERIFY(other != senders.end());
        f.clickRow(f.table().senders(), int(other - senders.begin()));
        QCOMPARE(f.map()->selection().back().island, 1);
        QCOMPARE(f.table().content().experts.size(), 64u); // of a whole node
        QCOMPARE(f.table().content().experts.front().expert, 64);
    }

    void linesAreAsWideAsTheirBytes()
    {
        QCOMPARE(flowWidth(4, 4) / flowWidth(1, 4), 2.0); // by area
        QCOMPARE(flowWidth(0, 4), flowWidth(1e-9, 4));
    }
};

TRAINYARD_TEST(TestExpertPlacesWindow)
#include "tst_expert_places_window.moc"
