// SPDX-License-Identifier: GPL-3.0-or-later
// Which datacenters: the loop of Algorithm 1, that its numbers are the simulator's, what is left out and why, and the
// front.
#include "core/evaluation/selection/selection.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include "core/evaluation/evaluate/estimate.h"
#include "core/facts/cluster/wan.h"
#include "core/iteration/layouts/placements.h"

#include <QtTest>

#include "tests/support/gpt_forms.h"
#include "tests/support/plans.h"
#include "tests/support/workloads.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace trainyard;
using namespace trainyard::test;

namespace {

Selection selected(const Plan &plan, SelectionOptions options = {})
{
    EvaluationWorkspace workspace;
    auto result = selectDatacenters(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, options);
    if (!result)
        qFatal("%s", toString(result.error().front()).c_str());
    return std::move(*result);
}

/// Measured stages over datacenters of so many one-GPU nodes: 1 s forward, 2 s backward, `hold` seconds over a node
/// pair.
Plan measured(const std::vector<int> &gpus, int stages, int batch, double serialization = 0.1)
{
    Plan plan = atlasRow(stages, 1, 1, 1, ScheduleKind::GPipe);
    plan.cluster = {};
    for (std::size_t d = 0; d < gpus.size(); ++d) {
        plan.cluster.datacenters.push_back(site(std::string(1, char('a' + d)), gpus[d], "a100-sxm-80gb", 1));
        plan.cluster.datacenters.back().pools.front().usdPerGpuHour = 2;
        for (std::size_t other = 0; other < d; ++other)
            plan.cluster.wanLinks.push_back(
                wanLink(std::string(1, char('a' + other)), std::string(1, char('a' + d)), 20, 5, 1e6));
    }
    plan.placement = {};
    plan.parallelism.data.reset();
    plan.workload.globalBatch = batch;
    plan.profile->backwardMs = { 2000 };
    plan.profile->recomputeMs = { 0 };
    plan.profile->activationMb = serialization * 5e9 / 8 / 1e6;
    for (WanLink &link : plan.cluster.wanLinks)
        link.tcpWindowMb = 1e4;
    return plan;
}

const SelectionOption *withBlocks(const Selection &selection, const std::vector<DatacenterBlock> &blocks, int data)
{
    const auto found = std::ranges::find_if(
        selection.options, [&](const SelectionOption &o) { return o.blocks == blocks && o.data() == data; });
    return found == selection.options.end() ? nullptr : &*found;
}

/// Every order of the datacenters with every number of replicas, each datacenter taking all the stages that it can
/// hold.
std::vector<Plan> everyPlacement(const Plan &plan)
{
    std::vector<Plan> all;
    std::vector<int> order(plan.cluster.datacenters.size());
    std::iota(order.begin(), order.end(), 0);
    do {
        for (int data = 1; data <= 64; ++data) {
            Plan next = plan;
            next.placement = {};
            next.placement.mode = PlacementMode::PipelineAcross;
            next.parallelism.data = data;
            int left = plan.parallelism.pipeline;
            for (const int d : order) {
                const Datacenter &site = plan.cluster.datacenters[std::size_t(d)];
                if (const int stages = std::min(left, site.gpus() / (data * plan.parallelism.tensor)); stages > 0) {
                    next.placement.stages.push_back({ site.id, stages, {} });
                    left -= stages;
                }
            }
            if (left == 0)
                all.push_back(std::move(next));
        }
    } while (std::next_permutation(order.begin(), order.end()));
    return all;
}

/// GPU hours of the GPUs in use at the catalogue's or the pool's price, and egress.
double usdPerMillionTokens(const Evaluation &evaluation)
{
    const Plan &plan = *evaluation.plan;
    const Pool &pool = plan.cluster.datacenters.front().pools.front();
    const double price = pool.usdPerGpuHour.value_or(builtinCatalogue().gpu(pool.gpu)->usdPerHour);
    double usd = *evaluation.metrics.iterationTime / 3600 * evaluation.layout.gpusUsed * price;
    for (const WanLinkUse &use : evaluation.metrics.wanLinks) {
        const auto egress = egressUsdPerGb(plan, builtinCatalogue(), use.link);
        usd += (use.bytes[0] * egress[0] + use.bytes[1] * egress[1]) / 1e9;
    }
    return usd / (double(plan.workload.globalBatch) * plan.workload.sequenceLength) * 1e6;
}

bool mentions(const std::vector<std::string> &remarks, const std::string &text)
{
    return std::ranges::any_of(remarks, [&](const std::string &r) { return r.find(text) != std::string::npos; });
}

} // namespace

class TestSelection : public QObject {
    Q_OBJECT

private slots:
    void stagesPerDatacenterAreGpusOverThoseOfAStage();
    void theValuesShownAreTheSimulators();
    void theClosedFormIsThatOfTheOptionsOwnPlan();
    void costIsTheUsedGpusAndEgressBothWays();
    void theBestIsTheBestOfEveryPlacement();
    void aSmallSecondDatacenterHoldsNoStageAndDoesNotHelp();
    void aDatacenterBehindASlowLinkDoesNotHelpAndTheReasonIsTheLink();
    void wholePipelinesInEachDatacenterStandBesides();
    void noMoreAreSimulatedThanAreLookedAt();
    void whereTheCheapestDoesNotFitTheNextThatFitsIsFound();
    void neighboursInThePipelineNeedALink();
    void cellsAreWholeAndGivenByThePlan();
    void theGlobalBatchStaysUnlessMicroBatchesAreFixed();
    void theFrontHoldsWhatNothingElseBeatsInBoth();
    void anOptionIsAPlanThatPinsIt();
    void thePresentPlanIsMarkedOrListedBesides();
    void manyDatacentersAreTakenByGpusAndByPrice();
    void oneDatacenterLeavesNothingToSelect();
    void aPlanThatCannotBePlacedStillHasOptions();
    void itStopsWhenAsked();
};

void TestSelection::stagesPerDatacenterAreGpusOverThoseOfAStage()
{
    // 12, 8 and 4 GPUs, 4 stages: Dn = 3 needs floor(12/3) = 4, all of them in a; Dn = 6 needs floor(12/6) + floor(8/6)
    // + 0 < 4
    const Selection selection = selected(measured({ 12, 8, 4 }, 4, 24), { .mostSimulated = 1000 });
    const SelectionOption *alone = withBlocks(selection, { { 0, 4 } }, 3);
    QVERIFY(alone);
    QVERIFY(std::ranges::any_of(
        selection.options, [](const SelectionOption &o) { return o.data() == 4 && o.blocks.size() > 1; }));
    for (const SelectionOption &option : selection.options) {
        int stages = 0;
        for (const DatacenterBlock &block : option.blocks) {
            const int most = selection.plan->cluster.datacenters[std::size_t(block.datacenter)].gpus() / option.data();
            QVERIFY(block.stages <= most);
            stages += block.stages;
        }
        QVERIFY(option.blocks.empty() || (stages == 4 && option.data() < 6));
    }
}

void TestSelection::theValuesShownAreTheSimulators()
{
    for (const Plan &plan : { measured({ 12, 8, 4 }, 4, 24), samplePlan("llama-3-70b-three-regions") }) {
        const Selection selection = selected(plan);
        QVERIFY(selection.options.size() > 2);
        for (const SelectionOption &option : selection.options) {
            const EvaluationPtr evaluation = evaluated(*option.plan);
            QVERIFY(option.isSimulated);
            QCOMPARE(option.seconds, *evaluation->metrics.iterationTime);
            // throughput = sequences of an iteration / T
            QCOMPARE(option.sequencesPerSecond, option.plan->workload.globalBatch / option.seconds);
            QCOMPARE(option.isFeasible, evaluation->feasible());
            QCOMPARE(option.data(), evaluation->layout.data);
        }
    }
}

void TestSelection::theClosedFormIsThatOfTheOptionsOwnPlan()
{
    int compared = 0;
    const Selection selection = selected(samplePlan("llama-3-70b-three-regions"));
    for (const SelectionOption &option : selection.options) {
        if (option.isCurrent || option.blocks.empty())
            continue;
        const Workload workload = test::placedWorkload(*option.plan, PlacementMode::PipelineAcross);
        QCOMPARE(option.screenedSeconds, estimate(workload).iteration.value);
        QCOMPARE(option.data(), workload.layout.data);
        ++compared;
    }
    QVERIFY(compared > 5);
}

void TestSelection::costIsTheUsedGpusAndEgressBothWays()
{
    // USD = T/3600 · used GPUs · price + 2·M·A·|X|·D bytes, half at the price of each direction
    Plan plan = measured({ 4, 4, 4 }, 4, 8);
    for (WanLink &link : plan.cluster.wanLinks)
        link.usdPerGb = std::array { 0.02, 0.08 };
    const Selection selection = selected(plan, { .mostSimulated = 1000 });
    const SelectionOption *two = withBlocks(selection, { { 0, 2 }, { 1, 2 } }, 2);
    if (!two)
        two = withBlocks(selection, { { 1, 2 }, { 0, 2 } }, 2);
    QVERIFY(two);
    const double boundary = plan.profile->activationMb * 1e6;
    const double egress = 8 * boundary * (0.02 + 0.08) / 1e9;
    QCOMPARE(two->gpusUsed, 8);
    QVERIFY(std::abs(two->egressUsdPerIteration / egress - 1) < 1e-9);
    QVERIFY(std::abs(two->usdPerIteration / (two->seconds / 3600 * 8 * 2 + egress) - 1) < 1e-9);
    QVERIFY(std::abs(two->wanBytes / wanBytesPerIteration(4, boundary, 1, 2) - 1) < 1e-9);
    QVERIFY(
        std::abs(two->usdPerMillionTokens - two->usdPerIteration / (8.0 * plan.workload.sequenceLength) * 1e6) < 1e-9);
}

void TestSelection::theBestIsTheBestOfEveryPlacement()
{
    for (const Plan &plan : { measured({ 12, 8, 4 }, 4, 24), measured({ 9, 7, 5 }, 5, 60, 0.8),
             measured({ 16, 2, 2 }, 4, 32, 2), samplePlan("llama-3-70b-three-regions") }) {
        const double fastest = selected(plan).options.front().sequencesPerSecond;
        const double cheapest =
            selected(plan, { .objective = SelectionObjective::Cost }).options.front().usdPerMillionTokens;
        for (const Plan &any : everyPlacement(plan)) {
            const EvaluationPtr evaluation = evaluated(any);
            if (!evaluation->feasible() || !evaluation->metrics.iterationTime)
                continue;
            QVERIFY(fastest > 0.98 * any.workload.globalBatch / *evaluation->metrics.iterationTime);
            QVERIFY(cheapest < 1.02 * usdPerMillionTokens(*evaluation));
        }
    }
}

void TestSelection::aSmallSecondDatacenterHoldsNoStageAndDoesNotHelp()
{
    // 4 cells of 2 replicas on one GPU each: a stage needs 8, b has 3
    Plan plan = measured({ 32, 3 }, 4, 64);
    plan.wan.cell = 2;
    const Selection selection = selected(plan);
    const SelectionOption &best = selection.options.front();
    QCOMPARE(best.blocks, (std::vector<DatacenterBlock> { { 0, 4 } }));
    QCOMPARE(best.cells, 4);
    QCOMPARE(best.leftOut.size(), std::size_t(1));
    QCOMPARE(best.leftOut.front().reason, std::string("b's 3 GPUs hold no stage of 4 cells: a stage needs 8"));
    QVERIFY(mentions(selection.remarks, "Adding b does not help: "));
    plan.cluster.datacenters[1].pools.front().nodes = 1; // not even of one cell
    plan.wan.cell.reset();
    QVERIFY(mentions(selected(plan).remarks, "it holds no stage of more than 1 replica, the best has 8"));
    plan.wan.cell = 2;
    const Selection tiny = selected(plan);
    QVERIFY(mentions(tiny.remarks,
        "Adding b does not help: its 1 GPU holds no stage: the smallest, one cell of 2 replicas, needs 2."));
}

void TestSelection::aDatacenterBehindASlowLinkDoesNotHelpAndTheReasonIsTheLink()
{
    // 8 stages: a's 28 GPUs hold 3 replicas alone, 4 with one stage in b. s = 30 s ≫ tf + tb = 3 s does not pay for
    // that
    const Selection selection = selected(measured({ 28, 7 }, 8, 36, 30));
    QCOMPARE(selection.options.front().blocks, (std::vector<DatacenterBlock> { { 0, 8 } }));
    QCOMPARE(selection.options.front().data(), 3);
    const auto across =
        std::ranges::find_if(selection.options, [](const SelectionOption &o) { return o.blocks.size() == 2; });
    QVERIFY(across != selection.options.end());
    QCOMPARE(across->bound, Bound::Link);
    QVERIFY2(mentions(selection.remarks, "for its 4 replicas instead of 3, each micro-batch waits for the link"),
        selection.remarks.empty() ? "no remark" : selection.remarks.front().c_str());
    // With a fast link it does help, and nothing is said
    const Selection fast = selected(measured({ 28, 7 }, 8, 36, 0.01));
    QCOMPARE(fast.options.front().blocks.size(), std::size_t(2));
    QVERIFY(fast.remarks.empty());
}

void TestSelection::wholePipelinesInEachDatacenterStandBesides()
{
    // 4 replicas in each of two datacenters, hardly anything to exchange: faster than any pipeline over a link of 30 s
    Plan plan = measured({ 16, 16 }, 4, 32, 30);
    plan.profile->parametersMb = 0.1;
    const Selection selection = selected(plan);
    QVERIFY(selection.options.front().blocks.empty());
    QCOMPARE(selection.options.front().data(), 8);
    QCOMPARE(selection.options.front().plan->placement.mode == PlacementMode::DataAcross
            || selection.options.front().isCurrent,
        true);
    QVERIFY(selection.remarks.empty()); // both are of use
    const auto withoutBlocks = [](const Selection &s) {
        return std::ranges::count_if(s.options, [](const SelectionOption &o) { return o.blocks.empty(); });
    };
    Plan small = measured({ 16, 3 }, 4, 32, 30); // b holds no whole pipeline
    small.profile->parametersMb = 0.1;
    QCOMPARE(withoutBlocks(selected(small)), 0);
    plan.profile->parametersMb = 0; // gradients of unknown size: no comparison
    plan.placement.mode = PlacementMode::PipelineAcross;
    QCOMPARE(withoutBlocks(selected(plan)), 0);
}

void TestSelection::noMoreAreSimulatedThanAreLookedAt()
{
    // The plan as it is and whole pipelines in each datacenter come on top of what Algorithm 1 lists.
    Plan plan = measured({ 4, 4 }, 4, 32);
    plan.parallelism.data = 1;
    for (const bool isAcross : { false, true }) {
        plan.profile->parametersMb = isAcross ? 0.1 : 0;
        const Selection selection = selected(plan);
        QVERIFY(!selection.options.empty());
        QVERIFY2(int(selection.options.size()) <= selection.screened,
            qPrintable(QStringLiteral("%1 of %2").arg(selection.options.size()).arg(selection.screened)));
    }
}

void TestSelection::whereTheCheapestDoesNotFitTheNextThatFitsIsFound()
{
    // The sample's optimizer state is sharded over the replicas: few of them do not fit, and few are cheapest
    const Selection selection =
        selected(samplePlan("llama-3-70b-three-regions"), { .objective = SelectionObjective::Cost });
    QVERIFY(std::ranges::any_of(selection.options, [](const SelectionOption &o) { return !o.isFeasible; }));
    QVERIFY(selection.bestCost == 0 && selection.options.front().isFeasible);
    for (const SelectionOption &option : selection.options)
        QVERIFY(option.isFeasible == option.infeasibleBecause.empty());
}

void TestSelection::neighboursInThePipelineNeedALink()
{
    // a — b — c: b must be the middle one, though a and c are larger
    Plan plan = measured({ 4, 3, 4 }, 11, 4);
    std::erase_if(plan.cluster.wanLinks, [](const WanLink &l) { return l.between[0] == "a" && l.between[1] == "c"; });
    const Selection selection = selected(plan);
    QVERIFY(!selection.options.empty());
    for (const SelectionOption &option : selection.options) {
        QCOMPARE(option.blocks.size(), std::size_t(3));
        QCOMPARE(option.blocks[1].datacenter, 1);
        QVERIFY(option.isFeasible);
    }
}

void TestSelection::cellsAreWholeAndGivenByThePlan()
{
    // data-parallel degree = Dn · Dc
    Plan plan = measured({ 24, 24 }, 4, 48);
    plan.wan.cell = 4;
    for (const SelectionOption &option : selected(plan).options) // in one datacenter no WAN asks for cells
        QVERIFY(option.blocks.size() < 2 || (option.cell == 4 && option.data() % 4 == 0));
    // auto, in turns: what is fastest, no slower than C = s/tf = 3 on the slowest link
    plan = measured({ 24, 24 }, 4, 48, 3.1);
    plan.wan.sharing = WanSharing::Temporal;
    EvaluationWorkspace workspace;
    int compared = 0;
    for (const SelectionOption &option : selected(plan).options) {
        if (option.blocks.size() < 2 || !option.isSimulated || option.data() % 3 != 0)
            continue;
        Plan given = *option.plan;
        given.wan.cell = 3;
        const auto evaluation = evaluate(std::make_shared<const Plan>(given), builtinCatalogue(), workspace);
        QVERIFY(option.seconds <= *(*evaluation)->metrics.iterationTime);
        ++compared;
    }
    QVERIFY(compared > 0);
}

void TestSelection::theGlobalBatchStaysUnlessMicroBatchesAreFixed()
{
    const Plan plan = measured({ 12, 8, 4 }, 4, 24);
    for (const SelectionOption &option : selected(plan).options) {
        QCOMPARE(option.plan->workload.globalBatch, 24);
        QCOMPARE(option.microBatches, (24 + option.data() - 1) / option.data()); // M = global / (micro · D)
    }
    for (const SelectionOption &option : selected(plan, { .microBatches = 5 }).options) {
        if (option.isCurrent || option.blocks.empty())
            continue;
        QCOMPARE(option.microBatches, 5);
        QCOMPARE(option.plan->workload.globalBatch, 5 * option.data());
    }
}

void TestSelection::theFrontHoldsWhatNothingElseBeatsInBoth()
{
    Plan plan = measured({ 16, 16, 16 }, 4, 64, 0.5);
    plan.cluster.datacenters[2].pools.front().usdPerGpuHour = 1;
    const Selection selection = selected(plan);
    int front = 0;
    for (const SelectionOption &a : selection.options) {
        const bool isBeaten = std::ranges::any_of(selection.options, [&](const SelectionOption &b) {
            return b.isFeasible && b.sequencesPerSecond > a.sequencesPerSecond
                && b.usdPerMillionTokens < a.usdPerMillionTokens;
        });
        QVERIFY(!(a.isOnFront && isBeaten));
        front += a.isOnFront;
    }
    QVERIFY(front >= 2);
    QVERIFY(selection.options[std::size_t(selection.bestThroughput)].isOnFront);
    QVERIFY(selection.options[std::size_t(selection.bestCost)].isOnFront);
    // By price alone the cheap datacenter wins
    const Selection cheapest = selected(plan, { .objective = SelectionObjective::Cost });
    QCOMPARE(cheapest.options.front().blocks, (std::vector<DatacenterBlock> { { 2, 4 } }));
}

void TestSelection::anOptionIsAPlanThatPinsIt()
{
    const Selection selection = selected(measured({ 12, 8, 4 }, 4, 24));
    for (const SelectionOption &option : selection.options) {
        if (option.isCurrent || option.blocks.empty())
            continue;
        QCOMPARE(option.plan->placement.mode, PlacementMode::PipelineAcross);
        QCOMPARE(option.plan->placement.stages.size(), option.blocks.size());
        QCOMPARE(option.plan->parallelism.data, Auto<int>(option.data()));
        QVERIFY(option.sentence.starts_with("Select "));
        // applied, it is the present plan of its own selection
        const Selection again = selected(*option.plan);
        QVERIFY(again.current >= 0);
        QCOMPARE(again.options[std::size_t(again.current)].blocks, option.blocks);
        QCOMPARE(again.options[std::size_t(again.current)].seconds, option.seconds);
    }
}

void TestSelection::thePresentPlanIsMarkedOrListedBesides()
{
    const Selection selection = selected(samplePlan("llama-3-70b-three-regions"));
    QVERIFY(selection.current >= 0);
    QCOMPARE(std::ranges::count(selection.options, true, &SelectionOption::isCurrent), 1);
    Plan across = samplePlan("llama-3-70b-three-regions");
    across.placement.mode = PlacementMode::DataAcross;
    const Selection other = selected(across);
    QVERIFY(other.current >= 0);
    QVERIFY(other.options[std::size_t(other.current)].blocks.empty());
    QCOMPARE(blocksText({}, across.cluster), std::string("whole pipelines in each datacenter"));
}

void TestSelection::manyDatacentersAreTakenByGpusAndByPrice()
{
    // Beyond six datacenters Algorithm 1's own orders remain; the largest first holds all stages of one replica
    Plan plan = measured({ 2, 3, 4, 5, 6, 7, 8 }, 8, 8);
    plan.cluster.datacenters[0].pools.front().usdPerGpuHour = 0.1;
    const Selection selection = selected(plan, { .mostSimulated = 1000 });
    QVERIFY(withBlocks(selection, { { 6, 8 } }, 1));
    QVERIFY(std::ranges::any_of(selection.options,
        [](const SelectionOption &o) { return !o.blocks.empty() && o.blocks.front().datacenter == 0; }));
}

void TestSelection::oneDatacenterLeavesNothingToSelect()
{
    const Selection selection = selected(oneSite(8));
    QVERIFY(selection.options.empty());
    QCOMPARE(selection.nothingToSelect, std::string("The cluster has one datacenter: there is nothing to select."));
}

void TestSelection::aPlanThatCannotBePlacedStillHasOptions()
{
    Plan plan = measured({ 8, 8 }, 4, 16);
    plan.placement.mode = PlacementMode::PipelineAcross;
    plan.placement.stages = { { "a", 4, {} } };
    plan.parallelism.data = 3; // a holds two replicas
    const Selection selection = selected(plan);
    QCOMPARE(selection.current, -1);
    QVERIFY(!selection.options.empty());
    QVERIFY(selection.options.front().isFeasible);
}

void TestSelection::itStopsWhenAsked()
{
    std::stop_source stop;
    stop.request_stop();
    EvaluationWorkspace workspace;
    const auto result = selectDatacenters(std::make_shared<const Plan>(samplePlan("llama-3-70b-three-regions")),
        builtinCatalogue(), workspace, stop.get_token());
    QVERIFY(!result);
    QCOMPARE(result.error().front().code, ErrorCode::Cancelled);
}

TRAINYARD_APPLESS_TEST(TestSelection)
#include "tst_selection.moc"
