// SPDX-License-Identifier: GPL-3.0-or-later
// What moved between two maps, of pairs that are made by known edits.
#include "models/session/map_changes.h"

#include "core/facts/cluster/edits.h"
#include "tests/support/plans.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>

using namespace trainyard;

namespace {

/// Four stages of a node each over two sites of four nodes; the first `here` in a.
Plan pipelineWith(int here)
{
    Plan plan = test::oneSite(1);
    plan.cluster.datacenters = { test::site("a", 4), test::site("b", 4) };
    plan.cluster.wanLinks = { test::wanLink("a", "b") };
    plan.parallelism.data = 1;
    plan.placement.mode = PlacementMode::PipelineAcross;
    plan.placement.stages = { { "a", here, {} }, { "b", 4 - here, {} } };
    return plan;
}

MapChanges changesOf(const Plan &before, const Plan &after)
{
    return mapChanges(*test::evaluated(before), *test::evaluated(after));
}

std::vector<MapChange> ofKind(const MapChanges &changes, MapChange::Kind kind)
{
    std::vector<MapChange> found;
    std::ranges::copy_if(
        changes.changes, std::back_inserter(found), [kind](const MapChange &one) { return one.kind == kind; });
    return found;
}

} // namespace

class MapChangesTest : public QObject {
    Q_OBJECT

private slots:
    void nothingMovesBetweenEqualPlans()
    {
        const MapChanges none = changesOf(pipelineWith(2), pipelineWith(2));
        QVERIFY(none.changes.empty());
        QVERIFY(none.whyNoStages.isEmpty());
    }

    void gpusThatMoveAreFewerHereAndMoreThere()
    {
        Plan before = test::threeSites(4), after = before;
        after.cluster = *moveGpus(before.cluster, GpuSelection { 0, 0, 24, 8 }, 2);
        const auto gpus = ofKind(changesOf(before, after), MapChange::Kind::Gpus);
        QCOMPARE(gpus.size(), std::size_t(2));
        QVERIFY((gpus[0]
            == MapChange {
                MapChange::Kind::Gpus, { "a" }, {}, QStringLiteral("−8"), QStringLiteral("H100 SXM: 32 → 24 GPUs") }));
        QVERIFY((gpus[1]
            == MapChange {
                MapChange::Kind::Gpus, { "c" }, {}, QStringLiteral("+8"), QStringLiteral("H100 SXM: 32 → 40 GPUs") }));
    }

    void aSplitPoolIsNoChange()
    {
        Plan before = test::threeSites(4), after = before;
        Pool rest = after.cluster.datacenters[0].pools[0];
        rest.id = "rest";
        rest.nodes = 1;
        after.cluster.datacenters[0].pools[0].nodes = 3;
        after.cluster.datacenters[0].pools.push_back(rest);
        QVERIFY(ofKind(changesOf(before, after), MapChange::Kind::Gpus).empty());
    }

    void aDatacenterThatGoesIsToldWithItsLinks()
    {
        Plan before = test::threeSites(4, 4), after = before;
        after.cluster = *withoutDatacenter(before.cluster, 2);
        const MapChanges found = changesOf(before, after);
        const auto gpus = ofKind(found, MapChange::Kind::Gpus);
        QCOMPARE(gpus.size(), std::size_t(1));
        QCOMPARE(gpus[0].text, QStringLiteral("Datacenter removed, 32 GPUs"));
        QCOMPARE(gpus[0].brief, QStringLiteral("−32"));
        int removed = 0;
        for (const MapChange &link : ofKind(found, MapChange::Kind::Link))
            removed += link.text.startsWith(QStringLiteral("Link removed: round trip 40 ms"));
        QCOMPARE(removed, 2);
    }

    void aStageThatLiesElsewhereIsTheOnlyOne()
    {
        const MapChanges found = changesOf(pipelineWith(2), pipelineWith(1));
        const auto stages = ofKind(found, MapChange::Kind::Stages);
        QCOMPARE(stages.size(), std::size_t(1));
        QCOMPARE(stages[0].stages, std::vector<int> { 1 });
        QCOMPARE(stages[0].datacenters, (std::vector<std::string> { "a", "b" }));
        QCOMPARE(stages[0].text, QStringLiteral("Stage 2: a → b"));
        QVERIFY(ofKind(found, MapChange::Kind::Gpus).empty());
    }

    void stagesThatMoveAlikeAreOneChange()
    {
        const auto stages = ofKind(changesOf(pipelineWith(1), pipelineWith(3)), MapChange::Kind::Stages);
        QCOMPARE(stages.size(), std::size_t(1));
        QCOMPARE(stages[0].stages, (std::vector<int> { 1, 2 }));
        QCOMPARE(stages[0].text, QStringLiteral("Stages 2–3: b → a"));
    }

    void moreReplicasInTheSamePlacesMoveNoStage()
    {
        Plan twice = test::oneSite(8), once = twice;
        once.parallelism.data = 1;
        twice.parallelism.data = 2;
        QVERIFY(ofKind(changesOf(once, twice), MapChange::Kind::Stages).empty());
    }

    void plansOfOtherStagesAreNotComparedByStage()
    {
        const MapChanges found = changesOf(test::oneSite(8, 4), test::oneSite(8, 8));
        QVERIFY(ofKind(found, MapChange::Kind::Stages).empty());
        QCOMPARE(found.whyNoStages, QStringLiteral("4 → 8 stages: which GPUs a stage has is not compared."));
        const MapChanges jobs = mapChanges(*test::evaluated(test::oneSite(8)), *test::evaluatedSample("hydra-lab"));
        QCOMPARE(jobs.whyNoStages, QStringLiteral("Jobs have no stages."));
    }

    void aLinkSaysWhatOfItDiffers()
    {
        Plan before = pipelineWith(2), after = before;
        after.cluster.wanLinks[0].rttMs = 60;
        after.cluster.wanLinks[0].capacityGbps = 800;
        const auto links = ofKind(changesOf(before, after), MapChange::Kind::Link);
        QCOMPARE(links.size(), std::size_t(1));
        QCOMPARE(links[0].datacenters, (std::vector<std::string> { "a", "b" }));
        QVERIFY2(links[0].text.startsWith(QStringLiteral("Round trip 40 → 60 ms; capacity 400 → 800 Gbps")),
            qPrintable(links[0].text));
    }

    void aLinkOfOtherUseIsTold()
    {
        Plan before = pipelineWith(2), after = before;
        after.workload.globalBatch *= 2; // twice the micro-batches cross it
        const EvaluationPtr one = test::evaluated(before), two = test::evaluated(after);
        QVERIFY(two->metrics.wanLinks.at(0).totalBytes() > 1.5 * one->metrics.wanLinks.at(0).totalBytes());
        const auto links = ofKind(mapChanges(*one, *two), MapChange::Kind::Link);
        QCOMPARE(links.size(), std::size_t(1));
        QVERIFY2(links[0].text.contains(QStringLiteral("per iteration")), qPrintable(links[0].text));
        QVERIFY(!links[0].text.contains(QStringLiteral("ound trip")));
    }

    void theOtherWayRoundItIsTheOpposite()
    {
        const MapChanges there = changesOf(pipelineWith(1), pipelineWith(2));
        QCOMPARE(ofKind(there, MapChange::Kind::Stages).at(0).text, QStringLiteral("Stage 2: b → a"));
    }
};

TRAINYARD_APPLESS_TEST(MapChangesTest)
#include "tst_map_changes.moc"
