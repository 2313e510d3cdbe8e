// SPDX-License-Identifier: GPL-3.0-or-later
// What the map says: texts, stages and idle GPUs from plan and evaluation.
#include "tests/support/test_program.h"
#include "tests/views/cluster/map_fixtures.h"
#include "views/cluster/map_scene.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::testing;

class MapSceneTest : public QObject {
    Q_OBJECT

private slots:
    void stagesReadAsRanges()
    {
        QCOMPARE(stageText({ 4 }), QStringLiteral("stage 5"));
        QCOMPARE(stageText({ 11, 8, 9, 10 }), QStringLiteral("stages 9–12"));
        QCOMPARE(stageText({ 0, 3, 5, 6, 7 }), QStringLiteral("stages 1, 4 and 6–8"));
    }

    void anIslandSaysWhatItHasAndDoes()
    {
        const auto plan = std::make_shared<const Plan>(threeRegions());
        const MapScene scene = buildScene(*plan, dealt(plan, 12, 16).get());
        QCOMPARE(scene.summary, QStringLiteral("576 GPUs · 3 datacenters"));
        QVERIFY(scene.islands[0].subtitle.startsWith(QStringLiteral("192 × H100")));
        QVERIFY(scene.islands[0].subtitle.endsWith(QStringLiteral("stages 9–12")));
        QCOMPARE(scene.islands[0].idleText, QStringLiteral("16 idle"));
        // 4.9 of the 5 Gbps that a node pair may use: the node pair binds.
        QCOMPARE(scene.links[1].head, QStringLiteral("36 ms · 5 Gbps"));
        QCOMPARE(scene.links[1].foot, QStringLiteral("node pair · 48 %"));
        QCOMPARE(scene.links[1].brief, QStringLiteral("36 ms · 48 %")); // where the whole card has no room
    }

    void withoutAnEvaluationNothingIsCalledIdle()
    {
        const MapScene scene = buildScene(threeRegions(), nullptr);
        QVERIFY(scene.islands[0].idleText.isEmpty());
        QCOMPARE(scene.islands[0].pools[0].stageOfGpu[0], kUnknownStage);
        QVERIFY(scene.links[0].foot.isEmpty());
    }

    void aGpusCardTellsItsStageOrWhyItIsIdle()
    {
        const auto plan = std::make_shared<const Plan>(threeRegions());
        const MapScene scene = buildScene(*plan, dealt(plan, 12, 16).get());
        QCOMPARE(gpuCard(scene, 0, 0, 0).at(0), QStringLiteral("Oregon · node 1 · GPU 1"));
        QVERIFY(gpuCard(scene, 0, 0, 0).at(1).startsWith(QStringLiteral("stage 9 of 12 · pipelines 1–")));
        QCOMPARE(gpuCard(scene, 0, 0, 191).at(1), QStringLiteral("idle: a stage needs 64 GPUs here, 16 are left"));
        QVERIFY(gpuCard(scene, 7, 0, 0).isEmpty());
    }

    void anEvaluationOfANeighbouringPlanStillColoursByIds()
    {
        const auto before = std::make_shared<const Plan>(threeRegions());
        Plan after = *before;
        std::swap(after.cluster.datacenters[0], after.cluster.datacenters[2]);
        const MapScene scene = buildScene(after, dealt(before, 12).get());
        QCOMPARE(scene.islands[0].title, QStringLiteral("Virginia"));
        QCOMPARE(scene.islands[0].pools[0].stageOfGpu[0], 0);
        QVERIFY(scene.islands[0].idleText.isEmpty());
    }

    void poolsOfOneGpuTypeShareALabel()
    {
        Plan plan = threeRegions();
        plan.cluster.datacenters[0].pools.push_back(pool("part", 1, 3));
        plan.cluster.datacenters[0].pools.push_back(pool("a100", 2, 8, "a100-sxm-80gb"));
        const MapScene scene = buildScene(plan, nullptr);
        QCOMPARE(scene.islands[0].groups.size(), std::size_t(2));
        QVERIFY(scene.islands[0].groups[0].label.startsWith(QStringLiteral("195 × ")));
        QCOMPARE(scene.islands[0].subtitle, QStringLiteral("211 GPUs"));
    }
};

TRAINYARD_APPLESS_TEST(MapSceneTest)
#include "tst_map_scene.moc"
