// SPDX-License-Identifier: GPL-3.0-or-later
// Experts are dealt over expert x expert_tensor ranks in a row, in the order tensor, context, data. Where replicas lie
// in several datacenters such a row may cross a border: tokens then go over the WAN, which the plan pays and is told.
#include "core/evaluation/memory_fit/footprint.h"
#include "core/evaluation/selection/selection.h"
#include "core/iteration/layouts/placements.h"
#include "core/iteration/placement/expert_spread.h"
#include "tests/support/most_replicas.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"
#include "tests/support/trials.h"
#include "tests/support/workloads.h"

#include <QTest>

#include <array>
#include <cmath>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

EvaluationWorkspace &scratch()
{
    static EvaluationWorkspace workspace;
    return workspace;
}

/// Three replicas of eight stages of two GPUs in each of two datacenters: ranks 0 to 5 of a stage in one, 6 to 11 in
/// the other.
Plan sixReplicas(int expert)
{
    Plan plan;
    plan.cluster.datacenters = { site("a", 8, "h100-sxm-80gb", 6), site("b", 8, "h100-sxm-80gb", 6) };
    plan.cluster.wanLinks = { wanLink("a", "b") };
    plan.workload.model = "mixtral-8x7b";
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = 96;
    plan.parallelism.tensor = 2;
    plan.parallelism.pipeline = 8;
    plan.parallelism.data = 6;
    plan.parallelism.expert = expert;
    plan.placement.mode = PlacementMode::DataAcross;
    return plan;
}

const Problem *about(const Evaluation &evaluation, Severity severity)
{
    for (const Problem &problem : evaluation.problems)
        if (problem.severity == severity && problem.where == "parallelism.expert")
            return &problem;
    return nullptr;
}

} // namespace

class TestExpertsAcross : public QObject {
    Q_OBJECT

private slots:
    /// Groups of four: ranks 0-3, 4-7, 8-11. The second one has ranks in both.
    void aGroupThatSpansTwoDatacentersRunsWithAWarning()
    {
        const EvaluationPtr evaluation = evaluated(sixReplicas(4));
        QVERIFY(evaluation->feasible());
        const Problem *problem = about(*evaluation, Severity::Warning);
        QVERIFY(problem);
        for (const char *part : { "Groups of 4 ranks", "a and b", "experts over 2 ranks" })
            QVERIFY2(problem->text.find(part) != std::string::npos, (problem->text + " lacks " + part).c_str());
    }

    /// Of ranks 4 to 7 two are in each datacenter. Each sends D / 4 to each rank elsewhere, D = tokens x hidden x 2
    /// bytes x 2 experts, four times a layer and micro-batch (there and back, forward and backward): 2 x 2 x D / 4 each
    /// way. All parts of the experts lie in both datacenters, so that gradients cross as they do with groups of two.
    void tokensOnTheLinkAreCountedTimedAndPaid()
    {
        Plan across = sixReplicas(4), inside = sixReplicas(2);
        for (Plan *plan : { &across, &inside })
            plan->workload.trainingTokens = 96.0 * 4096; // one iteration
        const EvaluationPtr apart = evaluated(across), whole = evaluated(inside);
        const double visits = 4096.0 / 2 * 4096 * 2 * 2, layers = 32, microBatches = 96 / 6;
        const double expected = 2 * (2 * 2 * visits / 4) * 4 * layers * microBatches;
        const double bytes = apart->metrics.wanBytesPerIteration - whole->metrics.wanBytesPerIteration;
        QVERIFY2(
            std::abs(bytes / expected - 1) < 1e-9, qPrintable(QStringLiteral("%1 for %2").arg(bytes).arg(expected)));
        const WanLinkUse &use = apart->metrics.wanLinks[0], &other = whole->metrics.wanLinks[0];
        QVERIFY(std::abs(use.bytes[0] - other.bytes[0] - expected / 2) < 1e-6 * expected);
        const double capacity = 400e9 / 8;
        QVERIFY(std::abs(use.utilization * capacity * *apart->metrics.iterationTime / use.bytes[0] - 1) < 1e-9);
        const double egress = *apart->metrics.cost.egressUsdTotal - *whole->metrics.cost.egressUsdTotal;
        QVERIFY(std::abs(egress / (expected / 1e9 * 0.02) - 1) < 1e-9);
        // One of the group's ranks: a fourth of it, of one stage of eight.
        QVERIFY(std::abs(apart->metrics.experts->wanBytes / (expected / 4 / 8) - 1) < 1e-9);
        QCOMPARE(whole->metrics.experts->wanBytes, 0.0);
        // At the rate of its share of the pair, and the iteration waits for it.
        QVERIFY(use.expertSeconds[0] > 0 && other.expertSeconds[0] == 0);
        QVERIFY(*apart->metrics.iterationTime > *whole->metrics.iterationTime);
        QVERIFY(apart->metrics.breakdown->expertParallel > 2 * whole->metrics.breakdown->expertParallel);
    }

    void theWarningSaysForHowLongAndWhatWouldBeFaster()
    {
        const EvaluationPtr evaluation = evaluated(sixReplicas(4));
        const Problem *problem = about(*evaluation, Severity::Warning);
        QVERIFY(problem);
        QVERIFY2(problem->text.find("cross the WAN for") != std::string::npos, problem->text.c_str());
        QVERIFY(!problem->fixes.empty());
        for (const Fix &fix : problem->fixes) {
            const EvaluationPtr fixed = evaluated(*fix.plan);
            QVERIFY2(fixed->feasible() && *fixed->metrics.iterationTime < *evaluation->metrics.iterationTime,
                fix.label.c_str());
        }
        const auto smaller =
            std::ranges::find(problem->fixes, 2, [](const Fix &fix) { return fix.plan->parallelism.expert; });
        QVERIFY(smaller != problem->fixes.end());
        QVERIFY2(smaller->label.starts_with("Expert parallel 2: "), smaller->label.c_str());
    }

    /// The round trip is paid by every exchange, and a narrower pair by every byte.
    void aLongerAndANarrowerLinkTakeLonger()
    {
        Plan plan = sixReplicas(4);
        plan.cluster.wanLinks[0].tcpWindowMb = 1e4; // nothing of it binds
        const double before = *evaluated(plan)->metrics.iterationTime;
        Plan farther = plan, narrower = plan;
        farther.cluster.wanLinks[0].rttMs *= 2;
        narrower.cluster.wanLinks[0].nodePairGbps /= 2;
        QVERIFY(*evaluated(farther)->metrics.iterationTime > before);
        QVERIFY(*evaluated(narrower)->metrics.iterationTime > before);
    }

    /// Bytes <= capacity x time, each way of each link, whatever the datacenters, groups and dispatches: tokens and
    /// gradients share the link, and the larger side of an uneven group sends more.
    void noLinkCarriesMoreThanItsCapacityLets()
    {
        std::string broken;
        int across = 0;
        for (int trial = 0; trial < trials(250); ++trial) {
            std::mt19937 random(static_cast<unsigned>(trial));
            const auto one = [&](auto... values) { return std::array { values... }[random() % sizeof...(values)]; };
            Plan plan;
            const int sites = one(2, 2, 3);
            for (int d = 0; d < sites; ++d) {
                plan.cluster.datacenters.push_back(site(std::string(1, char('a' + d)), one(1, 2, 3, 5),
                    one("h100-sxm-80gb", "h100-sxm-80gb", "b200-sxm-180gb", "mi300x-192gb"), one(4, 6, 8)));
                if (one(0, 0, 1))
                    plan.cluster.datacenters.back().pools.push_back(
                        { .id = "more", .gpu = "a100-sxm-80gb", .nodes = one(1, 2), .gpusPerNode = 8 });
                for (int other = 0; other < d; ++other)
                    plan.cluster.wanLinks.push_back(wanLink(plan.cluster.datacenters[std::size_t(other)].id,
                        plan.cluster.datacenters.back().id, one(1, 20, 80), one(5, 25), one(5, 20, 100)));
            }
            plan.workload.model = one("qwen3-30b-a3b", "mixtral-8x7b", "llama-4-scout");
            plan.workload.sequenceLength = one(2048, 4096);
            plan.workload.microBatch = one(1, 2);
            plan.parallelism.pipeline = one(1, 1, 2, 4);
            plan.parallelism.tensor = one(1, 1, 2);
            plan.parallelism.expert = one(2, 4, 8, 16);
            plan.parallelism.zeroStage = one(0, 1, 3);
            plan.schedule = one(ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1, ScheduleKind::Chimera);
            plan.moe.dispatch = one(MoeDispatch::Flat, MoeDispatch::AllGather, MoeDispatch::Dedup,
                MoeDispatch::Hierarchical, MoeDispatch::RankDedup, MoeDispatch::TrafficAware);
            plan.memory.recompute = one(Recompute::None, Recompute::Full);
            plan.workload.globalBatch = one(64, 128, 512);
            plan.placement.mode = PlacementMode::DataAcross;
            if (trial % 4 > 0) // fewer often leave their experts in one datacenter
                plan = withMostReplicas(plan);
            EvaluationWorkspace workspace;
            const auto evaluation = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
            if (!evaluation || !(*evaluation)->metrics.iterationTime)
                continue;
            for (const WanLinkUse &use : (*evaluation)->metrics.wanLinks) {
                across += use.expertSeconds[0] > 0;
                if (use.utilization > 1 + 1e-9)
                    broken +=
                        "\nplan " + std::to_string(trial) + " uses " + std::to_string(use.utilization) + " of a link";
            }
        }
        QVERIFY2(broken.empty(), broken.c_str());
        QVERIFY2(across > 40, qPrintable(QString::number(across)));
    }

    /// Groups of two: six of them, three in each.
    void groupsThatStayInADatacenterAreNotWarnedOf()
    {
        const EvaluationPtr evaluation = evaluated(sixReplicas(2));
        QVERIFY(!about(*evaluation, Severity::Warning));
        QVERIFY(evaluation->feasible());
        QCOMPARE(evaluation->metrics.wanLinks[0].expertSeconds[0], 0.0);
    }

    /// All replicas of a stage are in one datacenter, and so is every group.
    void aPipelineAcrossDatacentersKeepsThemTogether()
    {
        Plan plan = withMostReplicas(sixReplicas(4));
        plan.placement.mode = PlacementMode::PipelineAcross;
        QVERIFY(!about(*evaluated(plan), Severity::Warning));
    }

    /// Gradients pass from a over b to c; tokens of a group that lies in a and c have no link.
    void withoutALinkBetweenThemTokensHaveNoWay()
    {
        Plan plan = sixReplicas(2);
        plan.cluster.datacenters = { site("b", 8, "h100-sxm-80gb", 4), site("a", 4, "h100-sxm-80gb", 4),
            site("c", 4, "h100-sxm-80gb", 4) };
        plan.cluster.wanLinks = { wanLink("b", "a"), wanLink("b", "c") };
        plan.parallelism.data = 4; // ranks 0-3 of a stage in b, 4-5 in a, 6-7 in c
        QVERIFY(evaluated(plan)->feasible());
        plan.parallelism.expert = 8;
        const EvaluationPtr evaluation = evaluated(plan);
        QVERIFY(!evaluation->feasible());
        QVERIFY(!evaluation->feasibility.isShaped);
        const Problem *problem = about(*evaluation, Severity::Blocking);
        QVERIFY(problem);
        QVERIFY2(problem->text.find("no WAN link joins them") != std::string::npos, problem->text.c_str());
        plan.cluster.wanLinks.push_back(wanLink("a", "c"));
        QVERIFY(evaluated(plan)->feasible());
    }

    /// Leaves of a star: ranks 4 to 7 of eight lie in b (4) and c (5 to 7), which only the root a joins. No rank of
    /// that group has a link, so that its time has no rate of any: still it is a sentence that the plan gets.
    void aGroupWithoutAnyLinkIsSaidToHaveNone()
    {
        Plan plan = sixReplicas(4);
        plan.cluster.datacenters = { site("a", 3, "h100-sxm-80gb", 1), site("b", 2, "h100-sxm-80gb", 1),
            site("c", 3, "h100-sxm-80gb", 1) };
        plan.cluster.wanLinks = { wanLink("a", "b"), wanLink("a", "c") };
        plan.parallelism.tensor = plan.parallelism.pipeline = 1;
        plan.parallelism.data = 8;
        EvaluationWorkspace workspace;
        const auto evaluation = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
        QVERIFY(evaluation.has_value());
        const Problem *problem = about(**evaluation, Severity::Blocking);
        QVERIFY(problem);
        QVERIFY2(problem->text.find("no WAN link joins them") != std::string::npos, problem->text.c_str());
    }

    /// Twelve ranks in each: 12 is no multiple of 8, so that ranks 8 to 15 compute one expert in two datacenters; it is
    /// one of 4.
    void ranksOfOneExpertStayInADatacenter()
    {
        for (const int expert : { 1, 2 }) {
            Plan plan = sixReplicas(expert);
            plan.cluster.datacenters = { site("a", 3, "h100-sxm-80gb", 4), site("b", 3, "h100-sxm-80gb", 4) };
            plan.parallelism.tensor = plan.parallelism.pipeline = 1;
            plan.parallelism.data = expert == 1 ? 24 : 16; // of 16 ranks 12 lie in a
            const auto cut = [&](int expertTensor) {
                plan.parallelism.expertTensor = expertTensor;
                const EvaluationPtr evaluation = evaluated(plan);
                for (const Problem &problem : evaluation->problems)
                    if (problem.where == "parallelism.expert_tensor" && problem.severity == Severity::Blocking)
                        return !evaluation->feasibility.isShaped
                            && problem.text.find("one expert together lie in a and b") != std::string::npos;
                return false;
            };
            QVERIFY(cut(8));
            QVERIFY(!cut(4));
        }
    }

    void whatJudgesMemoryAloneAgrees()
    {
        QVERIFY(footprint(std::make_shared<const Plan>(sixReplicas(4)), builtinCatalogue(), scratch()).isPlaced);
        QVERIFY(footprint(std::make_shared<const Plan>(sixReplicas(2)), builtinCatalogue(), scratch()).isPlaced);
    }

    void theRankingOfDatacentersTakesThemIn()
    {
        Plan plan = sixReplicas(4);
        plan.placement.mode = PlacementMode::PipelineAcross;
        EvaluationWorkspace workspace;
        const auto selection = selectDatacenters(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
        QVERIFY(selection);
        const auto apart =
            std::ranges::find_if(selection->options, [](const SelectionOption &o) { return o.blocks.empty(); });
        QVERIFY(apart != selection->options.end());
        QVERIFY2(apart->isFeasible, apart->infeasibleBecause.c_str());
    }

    /// Measured times of a stage say nothing of experts: there is no dispatch to cost.
    void aPlanWithMeasuredTimesIsLeftAlone()
    {
        Plan plan = sixReplicas(4);
        MeasuredStageTimes profile;
        profile.forwardMs = { 1 };
        profile.backwardMs = { 2 };
        profile.activationMb = 1;
        plan.profile = profile;
        QVERIFY(!about(*evaluated(plan), Severity::Warning));
    }

    /// Against a list of the datacenter of every rank of the first stage.
    void randomLayoutsAgreeWithAListOfRanks()
    {
        std::mt19937 random(12);
        int across = 0, inside = 0;
        for (int trial = 0; trial < 400; ++trial) {
            Plan plan = sixReplicas(1 << (random() % 4));
            const int tensor = 1 << (random() % 3), context = 1 + int(random() % 2);
            plan.cluster.datacenters.push_back(site("c", 1));
            plan.cluster.wanLinks.push_back(wanLink("b", "c"));
            for (Datacenter &datacenter : plan.cluster.datacenters) {
                datacenter.pools[0].nodes = 1 + int(random() % 6);
                datacenter.pools[0].gpusPerNode = 4 + int(random() % 5);
            }
            plan.parallelism.tensor = tensor;
            plan.parallelism.context = context;
            plan.parallelism.sequenceParallel = true;
            plan.parallelism.pipeline = 1 + int(random() % 2);
            plan.parallelism.data.reset();
            const Workload workload = test::placedWorkload(plan, PlacementMode::DataAcross);
            const Layout &layout = workload.layout;
            const int expert = plan.parallelism.expert;
            if (layout.data == 0 || tensor * context * layout.data % expert != 0)
                continue;
            std::vector<int> siteOf; // one rank a GPU, replica after replica
            for (const GpuRun &run : layout.runs) {
                if (run.stage == 0)
                    siteOf.insert(siteOf.end(), std::size_t(run.gpus), run.datacenter);
            }
            QCOMPARE(siteOf.size(), std::size_t(tensor * context * layout.data));
            const auto isCut = [&](int ranks) { // of so many in a row
                for (std::size_t first = 0; first + std::size_t(ranks) <= siteOf.size(); first += std::size_t(ranks))
                    for (std::size_t i = first; i < first + std::size_t(ranks); ++i)
                        if (siteOf[i] != siteOf[first])
                            return true;
                return false;
            };
            const auto answer = expertsAcross(workload);
            QCOMPARE(answer.has_value(), isCut(expert));
            (answer ? across : inside) += 1;
            if (!answer)
                continue;
            int largest = expert; // of the divisors
            while (expert % largest != 0 || isCut(largest))
                --largest;
            QCOMPARE(answer->expert, largest);
        }
        QVERIFY2(
            across > 30 && inside > 30, qPrintable(QStringLiteral("%1 across, %2 inside").arg(across).arg(inside)));
    }
};

TRAINYARD_APPLESS_TEST(TestExpertsAcross)
#include "tst_experts_across.moc"
