// SPDX-License-Identifier: GPL-3.0-or-later
// Where the placement is open: no simulation goes below its bound, and what gets better makes nothing slower.
#include "core/engine/schedule/traits.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/layouts/search_times.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"

#include <QtTest>

#include "tests/core/evaluation/evaluate/random_cluster.h"

#include <algorithm>
#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

std::vector<ScheduleKind> schedules(bool areFixed)
{
    std::vector<ScheduleKind> found;
    for (int kind = 0; kind <= int(ScheduleKind::Atlas); ++kind)
        if ((traitsOf(ScheduleKind(kind)).orderedBy() == OrderedBy::Shape) == areFixed)
            found.push_back(ScheduleKind(kind));
    return found;
}

const std::vector<ScheduleKind> kFixed = schedules(true), kChoosing = schedules(false);

EvaluationPtr tried(const Plan &plan, EvaluationWorkspace &workspace)
{
    auto answer = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Score);
    return answer ? *answer : nullptr;
}

/// "0 0 1 2", and whether it fits: the datacenters of the first pipeline's stages.
QString stagesOf(const Evaluation &evaluation)
{
    QString text = evaluation.feasible() ? "fits" : "does not fit";
    for (const StageLocation location : evaluation.layout.classes.front().locations)
        text += QString(" %1").arg(location.datacenter);
    return text;
}

struct Reversals {
    int compared = 0, reversed = 0;
    double worst = 1;
};

Reversals reversals(const std::vector<ScheduleKind> &kinds, int clusters, unsigned seed)
{
    RandomClusters random(seed);
    EvaluationWorkspace workspace;
    Reversals result;
    for (int i = 0; i < clusters; ++i) {
        const Plan plan = random.next(kinds);
        const EvaluationPtr before = tried(plan, workspace);
        if (!before || !before->metrics.iterationTime)
            continue;
        int variant = 0;
        for (const Plan &better : { withLowerRoundTrips(plan), withMoreBandwidth(plan), withFasterGpus(plan) }) {
            const EvaluationPtr after = tried(better, workspace);
            ++variant;
            if (!after || !after->metrics.iterationTime)
                qFatal("cluster %d, schedule %d, change %d: no time: %s", i, int(plan.schedule), variant,
                    !after || after->problems.empty() ? "" : after->problems.front().text.c_str());
            ++result.compared;
            const double ratio = *after->metrics.iterationTime / *before->metrics.iterationTime;
            if (ratio > 1 + 1e-6) {
                ++result.reversed;
                result.worst = std::max(result.worst, ratio);
                qInfo("cluster %d, schedule %d, change %d: %.9f s, %s -> %.9f s, %s", i, int(plan.schedule), variant,
                    *before->metrics.iterationTime, qPrintable(stagesOf(*before)), *after->metrics.iterationTime,
                    qPrintable(stagesOf(*after)));
            }
        }
    }
    return result;
}

} // namespace

class TestOpenPlacement : public QObject {
    Q_OBJECT

private slots:
    void noIterationIsShorterThanItsBound();
    void theBestPlacementIsTheOneThatIsTaken();
    void withEverythingElseEqualBetterHardwareSlowsNoFixedOrder();
    void reversalsOfSchedulesThatChooseAreFewAndSmall();
    void aFasterGpuSlowsNoSplitBackwardWhoseWeightsLieInHostMemory();
    void copiesAtEitherEndCountTheLinkBetweenThem();
    void aRingIsClosedThoughADatacenterIsNotFull();
    void halfTheRoundTripsDoNotMoveAPipelineOntoANarrowLink();
    void aSlowerGpuBehindTheSameLinkIsNotTaken();
    void aScheduleThatCannotBeBuiltIsMendedFromTheBestBound();
};

void TestOpenPlacement::noIterationIsShorterThanItsBound()
{
    std::vector<ScheduleKind> all = kFixed;
    all.insert(all.end(), kChoosing.begin(), kChoosing.end());
    RandomClusters random(11);
    EvaluationWorkspace workspace;
    int checked = 0;
    double tightest = 0;
    for (int i = 0; i < trials(120); ++i) {
        Plan plan = random.next(all);
        plan.placement.mode = PlacementMode::PipelineAcross;
        plan.wan.sharing = random.pick(2) ? WanSharing::Temporal : WanSharing::Spatial;
        auto workload = resolve(std::make_shared<const Plan>(plan), builtinCatalogue());
        QVERIFY(workload.has_value());
        const int data = place(*workload, PlacementMode::PipelineAcross).layout.data;
        if (data == 0)
            continue;
        const FoundBlocks found = searchBlocks(searchTimes(*workload, data), { BlockSizes::Any, false, 6, 20'000 });
        for (const BoundedBlocks &candidate : found.blocks) {
            Plan pinned = plan;
            pinned.parallelism.data = data;
            for (const DatacenterBlock &b : candidate.blocks)
                pinned.placement.stages.push_back(
                    { plan.cluster.datacenters[std::size_t(b.datacenter)].id, b.stages, {} });
            const EvaluationPtr answer = tried(pinned, workspace);
            if (!answer || !answer->metrics.iterationTime)
                continue;
            ++checked;
            tightest = std::max(tightest, candidate.seconds / *answer->metrics.iterationTime);
            QVERIFY2(candidate.seconds <= *answer->metrics.iterationTime * (1 + 1e-9),
                qPrintable(QString("cluster %1, schedule %2: bound %3 s, simulated %4 s")
                               .arg(i)
                               .arg(int(plan.schedule))
                               .arg(candidate.seconds)
                               .arg(*answer->metrics.iterationTime)));
            if (!candidate.mayFit)
                QVERIFY(!answer->feasible());
        }
    }
    QVERIFY2(checked > 5 * trials(120) / 2, qPrintable(QString::number(checked)));
    QVERIFY2(tightest > 0.95, qPrintable(QString::number(tightest))); // and it is not a bound in name only
}

void TestOpenPlacement::theBestPlacementIsTheOneThatIsTaken()
{
    // Brute force: of all orders in which every datacenter but the first, or but the last, takes what it holds
    RandomClusters random(29);
    EvaluationWorkspace workspace;
    int compared = 0;
    for (int i = 0; i < trials(50); ++i) {
        Plan plan = random.next(kFixed);
        plan.placement.mode = PlacementMode::PipelineAcross;
        const EvaluationPtr open = tried(plan, workspace);
        if (!open || !open->metrics.iterationTime)
            continue;
        const int count = int(plan.cluster.datacenters.size()), data = open->layout.data;
        std::vector<int> order(std::size_t(count), 0), locations;
        for (int d = 0; d < count; ++d) {
            order[std::size_t(d)] = d;
            const Pool &pool = plan.cluster.datacenters[std::size_t(d)].pools.front();
            locations.push_back(pool.nodes * (pool.gpusPerNode / plan.parallelism.tensor) / data);
        }
        double best = INFINITY, bestFitting = INFINITY;
        do {
            for (const bool fromBack : { false, true }) {
                Plan pinned = plan;
                pinned.parallelism.data = data;
                std::vector<StagePin> pins;
                int left = plan.parallelism.pipeline;
                for (const int d : order) {
                    const int stages = std::min(left, locations[std::size_t(d)]);
                    if (stages > 0)
                        pins.push_back({ plan.cluster.datacenters[std::size_t(d)].id, stages, {} });
                    left -= stages;
                }
                if (left > 0)
                    continue;
                if (fromBack)
                    std::ranges::reverse(pins);
                pinned.placement.stages = pins;
                const EvaluationPtr answer = tried(pinned, workspace);
                if (!answer || !answer->metrics.iterationTime)
                    continue;
                best = std::min(best, *answer->metrics.iterationTime);
                if (answer->feasible())
                    bestFitting = std::min(bestFitting, *answer->metrics.iterationTime);
            }
        } while (std::next_permutation(order.begin(), order.end()));
        ++compared;
        QCOMPARE(open->feasible(), std::isfinite(bestFitting));
        const double expected = std::isfinite(bestFitting) ? bestFitting : best;
        QVERIFY2(*open->metrics.iterationTime <= expected * (1 + 1e-9)
                && (*open->metrics.iterationTime >= expected * (1 - 1e-9)),
            qPrintable(QString("cluster %1, schedule %2: %3 s, brute force %4 s")
                           .arg(i)
                           .arg(int(plan.schedule))
                           .arg(*open->metrics.iterationTime)
                           .arg(expected)));
    }
    QVERIFY2(compared > 2 * trials(50) / 5, qPrintable(QString::number(compared)));
}

void TestOpenPlacement::withEverythingElseEqualBetterHardwareSlowsNoFixedOrder()
{
    const Reversals found = reversals(kFixed, trials(250), 5);
    QVERIFY2(found.compared > trials(250), qPrintable(QString::number(found.compared)));
    QVERIFY2(found.reversed == 0,
        qPrintable(QString("%1 of %2, at most × %3").arg(found.reversed).arg(found.compared).arg(found.worst)));
}

void TestOpenPlacement::reversalsOfSchedulesThatChooseAreFewAndSmall()
{
    // Who chooses by times, or at run time, may choose worse when an operation is shorter: Graham's anomalies
    const Reversals found = reversals(kChoosing, trials(80), 17);
    qInfo("%d of %d are slower, at most × %.4f", found.reversed, found.compared, found.worst);
    QVERIFY2(
        found.reversed <= found.compared / 20, qPrintable(QString("%1 of %2").arg(found.reversed).arg(found.compared)));
    QVERIFY2(found.worst < 1.15, qPrintable(QString::number(found.worst)));
}

void TestOpenPlacement::aFasterGpuSlowsNoSplitBackwardWhoseWeightsLieInHostMemory()
{
    // Each part of a split backward is max(compute, its own move): shorter compute makes no part longer. What hides of
    // reductions at the end moves by less than a thousandth
    RandomClusters random(3);
    EvaluationWorkspace workspace;
    int compared = 0;
    for (int i = 0; i < trials(50); ++i) {
        Plan plan = random.next({ ScheduleKind::ZbH1, ScheduleKind::ZbH2 });
        plan.profile.reset();
        plan.parallelism.zeroStage = 3;
        plan.stack.name = "deepspeed";
        plan.parallelism.pipeline = 1 + random.pick(4);
        plan.workload.globalBatch = 16 * plan.parallelism.pipeline;
        plan.memory.parameterOffload = ParameterOffload::Host;
        const EvaluationPtr before = tried(plan, workspace), after = tried(withFasterGpus(plan), workspace);
        if (!before || !before->metrics.iterationTime)
            continue;
        ++compared;
        QVERIFY2(*after->metrics.iterationTime <= *before->metrics.iterationTime * 1.001,
            qPrintable(QString("cluster %1: %2 -> %3 s")
                           .arg(i)
                           .arg(*before->metrics.iterationTime)
                           .arg(*after->metrics.iterationTime)));
    }
    QVERIFY2(compared > trials(50) / 4, qPrintable(QString::number(compared)));
}

void TestOpenPlacement::copiesAtEitherEndCountTheLinkBetweenThem()
{
    // DualPipe keeps stage i's layers on stage p - 1 - i too. c is nearer to b than d is, but no link joins it with a,
    // where the other copy of its layers lies; with d there is one.
    Plan plan = oneSite(1, 4);
    plan.cluster.datacenters = { site("a", 1, "a100-sxm-80gb", 1), site("b", 2, "h200-sxm-141gb", 1),
        site("c", 1, "h100-sxm-80gb", 1), site("d", 1, "h100-sxm-80gb", 1) };
    plan.cluster.wanLinks = { wanLink("a", "b", 10, 10, 100), wanLink("b", "c", 10, 20, 200),
        wanLink("b", "d", 12, 10, 100), wanLink("a", "d", 800, 10, 100) };
    plan.workload.model = "gpt-3-1.3b";
    plan.workload.sequenceLength = 2048;
    plan.workload.globalBatch = 16;
    plan.parallelism.tensor = plan.parallelism.data.emplace(1);
    plan.schedule = ScheduleKind::DualPipe;
    plan.placement.mode = PlacementMode::PipelineAcross;
    Plan pinned = plan;
    pinned.placement.stages = { { "a", 1, {} }, { "b", 2, {} }, { "d", 1, {} } };
    QVERIFY(*evaluated(plan)->metrics.iterationTime <= *evaluated(pinned)->metrics.iterationTime);
}

void TestOpenPlacement::aRingIsClosedThoughADatacenterIsNotFull()
{
    // Two chunks a stage: the last hands on to the first, so that all four of a ring of four take part, five stages on
    // eight locations
    Plan plan = oneSite(1, 5);
    plan.cluster.datacenters = { site("a", 2, "h100-sxm-80gb", 1), site("b", 2, "h100-sxm-80gb", 1),
        site("c", 2, "h100-sxm-80gb", 1), site("d", 2, "h100-sxm-80gb", 1) };
    plan.cluster.wanLinks = { wanLink("a", "b"), wanLink("b", "c"), wanLink("c", "d"), wanLink("d", "a") };
    plan.workload.model = "gpt-3-1.3b";
    plan.workload.globalBatch = 20;
    plan.parallelism.tensor = plan.parallelism.data.emplace(1);
    plan.parallelism.virtualPipeline = 2;
    plan.schedule = ScheduleKind::Interleaved;
    plan.placement.mode = PlacementMode::PipelineAcross;
    QVERIFY(evaluated(plan)->metrics.iterationTime.has_value());
}

void TestOpenPlacement::halfTheRoundTripsDoNotMoveAPipelineOntoANarrowLink()
{
    // Three datacenters, links of 150, 20 and 40 ms with 5, 400 and 400 Gbps of capacity: eight pipelines over the
    // narrow one share 5 Gbps, whatever its round trip
    for (const ScheduleKind schedule : { ScheduleKind::Hanayo, ScheduleKind::ZbH2, ScheduleKind::VHalf }) {
        Plan plan = oneSite(1, 16);
        plan.cluster.datacenters = { site("a", 6), site("b", 6), site("c", 6) };
        plan.cluster.wanLinks = { wanLink("a", "b", 150, 10, 5), wanLink("a", "c", 20, 10, 400),
            wanLink("b", "c", 40, 10, 400) };
        plan.parallelism.tensor = 1;
        plan.parallelism.data = 8;
        plan.schedule = schedule;
        plan.placement.mode = PlacementMode::PipelineAcross;
        plan.workload.globalBatch = 128;
        plan.workload.sequenceLength = 2048;
        const EvaluationPtr before = evaluated(plan), after = evaluated(withLowerRoundTrips(plan));
        QVERIFY(*after->metrics.iterationTime <= *before->metrics.iterationTime);
        for (const EvaluationPtr &answer : { before, after })
            for (const WanLinkUse &use : answer->metrics.wanLinks)
                QVERIFY(use.link != 0 || use.bytes[0] + use.bytes[1] == 0);
    }
}

void TestOpenPlacement::aSlowerGpuBehindTheSameLinkIsNotTaken()
{
    // Two of three datacenters are enough. The L4 has a quarter of an H100's memory and an eighth of its speed; its
    // link is the nearest by far
    Plan plan = oneSite(1, 4);
    plan.cluster.datacenters = { site("a", 2), site("slow", 2, "l4-24gb"), site("b", 2) };
    plan.cluster.wanLinks = { wanLink("a", "slow", 2), wanLink("slow", "b", 2), wanLink("a", "b", 60) };
    plan.parallelism.data = 1;
    plan.placement.mode = PlacementMode::PipelineAcross;
    for (const PipelineClass &c : evaluated(plan)->layout.classes)
        for (const StageLocation location : c.locations)
            QVERIFY(location.datacenter != 1);
}

/// 8, 8, 4 and 4 nodes are four replicas of six stages across, the best bound, or two whole pipelines. Of 18
/// micro-batches they give 5 and 9 to each, no multiples of the stages, as three replicas do: 18 / 3 = 6. Who started
/// from two would end at one.
void TestOpenPlacement::aScheduleThatCannotBeBuiltIsMendedFromTheBestBound()
{
    Plan plan = oneSite(1, 6);
    plan.cluster.datacenters = { site("a", 8), site("b", 8), site("c", 4), site("d", 4) };
    for (const auto &[from, to] :
        { std::pair("a", "b"), { "a", "c" }, { "a", "d" }, { "b", "c" }, { "b", "d" }, { "c", "d" } })
        plan.cluster.wanLinks.push_back(wanLink(from, to));
    plan.schedule = ScheduleKind::Interleaved;
    plan.parallelism.virtualPipeline = 2;
    plan.workload.globalBatch = 18;
    const auto workload = resolve(std::make_shared<const Plan>(plan), builtinCatalogue());
    QVERIFY(workload);
    const std::vector<PlacedLayout> found = placements(*workload).found;
    QCOMPARE(found.front().layout.data, 4);
    QVERIFY(std::ranges::find(found, 2, [](const PlacedLayout &p) { return p.layout.data; }) != found.end());
    plan.parallelism.data = 4;
    const EvaluationPtr evaluation = evaluated(plan);
    const std::vector<Fix> &fixes = evaluation->problems.front().fixes;
    QVERIFY(!fixes.empty());
    QCOMPARE(fixes.front().label, std::string("3 replicas"));
}

TRAINYARD_APPLESS_TEST(TestOpenPlacement)
#include "tst_open_placement.moc"
