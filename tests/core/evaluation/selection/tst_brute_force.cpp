// SPDX-License-Identifier: GPL-3.0-or-later
// The ranking against trying everything: each data-parallel degree, each order of linked datacenters, each number of
// stages in each, all simulated.
#include "core/evaluation/selection/selection.h"
#include "tests/support/test_program.h"

#include "core/facts/cluster/wan.h"

#include <QtTest>

#include "tests/core/evaluation/evaluate/random_cluster.h"
#include "tests/support/plans.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <random>

using namespace trainyard;
using namespace trainyard::test;

namespace {

struct Best {
    double sequencesPerSecond = 0, usdPerSequence = INFINITY;
    int feasible = 0;
};

/// Hourly prices of the GPUs in use, and egress of what crossed each link.
double usdOf(const Evaluation &answer)
{
    const Plan &plan = *answer.plan;
    double usd = 0;
    for (const GpuRun &run : answer.layout.runs)
        usd += run.gpus
            * *plan.cluster.datacenters[std::size_t(run.datacenter)].pools[std::size_t(run.pool)].usdPerGpuHour / 3600
            * *answer.metrics.iterationTime;
    for (const WanLinkUse &use : answer.metrics.wanLinks) {
        const auto egress = egressUsdPerGb(plan, builtinCatalogue(), use.link);
        usd += (use.bytes[0] * egress[0] + use.bytes[1] * egress[1]) / 1e9;
    }
    return usd;
}

Best bestOfAll(const Plan &plan, EvaluationWorkspace &workspace)
{
    Best best;
    std::vector<StagePin> pins;
    const auto take = [&](int data) {
        Plan pinned = plan;
        pinned.parallelism.data = data;
        pinned.placement.mode = PlacementMode::PipelineAcross;
        pinned.placement.stages = pins;
        const auto answer =
            evaluate(std::make_shared<const Plan>(pinned), builtinCatalogue(), workspace, {}, Depth::Score);
        if (!answer || !(*answer)->feasible() || !(*answer)->metrics.iterationTime)
            return;
        ++best.feasible;
        best.sequencesPerSecond =
            std::max(best.sequencesPerSecond, plan.workload.globalBatch / *(*answer)->metrics.iterationTime);
        best.usdPerSequence = std::min(best.usdPerSequence, usdOf(**answer) / plan.workload.globalBatch);
    };
    const std::function<void(int, int)> extend = [&](int left, int data) {
        if (left == 0)
            return take(data);
        for (const Datacenter &site : plan.cluster.datacenters) {
            const bool isUsed = std::ranges::find(pins, site.id, &StagePin::datacenter) != pins.end();
            if (isUsed || (!pins.empty() && plan.cluster.linkBetween(pins.back().datacenter, site.id) < 0))
                continue;
            const Pool &pool = site.pools.front();
            const int most = pool.nodes * (pool.gpusPerNode / plan.parallelism.tensor) / data;
            for (int stages = 1; stages <= std::min(left, most); ++stages) {
                pins.push_back({ site.id, stages, {} });
                extend(left - stages, data);
                pins.pop_back();
            }
        }
    };
    for (int data = 1; data <= plan.workload.globalBatch; ++data)
        extend(plan.parallelism.pipeline, data);
    return best;
}

} // namespace

class TestBruteForce : public QObject {
    Q_OBJECT

private slots:
    void theBestByThroughputAndByCostAreThoseOfEverything();
    void aLargeDatacenterAloneIsFoundBesideWholeCells();
    void aRemarkNamesThePartThatGrowsMost();
};

void TestBruteForce::theBestByThroughputAndByCostAreThoseOfEverything()
{
    RandomClusters random(41);
    EvaluationWorkspace workspace;
    const std::vector<ScheduleKind> schedules { ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::ZbH1,
        ScheduleKind::ZbH2, ScheduleKind::Interleaved, ScheduleKind::DualPipe };
    int cases = 0, proven = 0, missed = 0;
    for (int trial = 0; trial < 400 && cases < 200; ++trial) {
        Plan plan = random.next(schedules);
        plan.cluster.datacenters.resize(std::min<std::size_t>(plan.cluster.datacenters.size(), 3));
        std::erase_if(plan.cluster.wanLinks, [&](const WanLink &link) {
            return plan.cluster.indexOf(link.between[0]) < 0 || plan.cluster.indexOf(link.between[1]) < 0;
        });
        for (Datacenter &site : plan.cluster.datacenters) {
            site.pools.front().nodes = 1 + random.pick(3);
            site.pools.front().gpusPerNode = 2;
            site.pools.front().usdPerGpuHour = random.one({ 1, 2, 4, 8 });
        }
        plan.parallelism.tensor = 1;
        plan.parallelism.pipeline = 2 + random.pick(3);
        plan.parallelism.data.reset();
        if (plan.schedule == ScheduleKind::DualPipe)
            plan.parallelism.pipeline = 4;
        plan.workload.globalBatch =
            plan.schedule == ScheduleKind::Interleaved ? 12 * plan.parallelism.pipeline : 4 + random.pick(20);
        plan.placement = {};
        if (plan.profile)
            plan.profile->parametersMb = 0; // whole pipelines in each datacenter are no part of this
        const Best all = bestOfAll(plan, workspace);
        auto selection = selectDatacenters(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
        QVERIFY(selection.has_value());
        std::erase_if(selection->options, [](const SelectionOption &o) { return o.blocks.empty() || !o.isFeasible; });
        QCOMPARE(selection->options.empty(), all.feasible == 0);
        if (all.feasible < 3)
            continue;
        ++cases;
        proven += selection->isProven;
        const double fastest =
            std::ranges::max(selection->options, {}, &SelectionOption::sequencesPerSecond).sequencesPerSecond;
        const SelectionOption &cheap = std::ranges::min(selection->options, {}, &SelectionOption::usdPerMillionTokens);
        const double cheapest = cheap.usdPerIteration / plan.workload.globalBatch;
        const QByteArray where = qPrintable(QString("case %1, schedule %2, %3: %4 of %5 sequences/s, %6 of %7 USD")
                                                .arg(trial)
                                                .arg(int(plan.schedule))
                                                .arg(selection->isProven ? "proven" : "not proven")
                                                .arg(fastest)
                                                .arg(all.sequencesPerSecond)
                                                .arg(cheapest)
                                                .arg(all.usdPerSequence));
        const double missing = selection->isProven ? 1e-9 : 0.1; // what a search that ended early may miss
        QVERIFY2(fastest > all.sequencesPerSecond * (1 - missing), where.constData());
        QVERIFY2(fastest < all.sequencesPerSecond * (1 + 1e-9), where.constData());
        QVERIFY2(cheapest < all.usdPerSequence * (1 + missing), where.constData());
        QVERIFY2(cheapest > all.usdPerSequence * (1 - 1e-9), where.constData());
        missed += fastest < all.sequencesPerSecond * (1 - 1e-9) || cheapest > all.usdPerSequence * (1 + 1e-9);
    }
    qInfo("%d cases, %d of them proven, in %d something better", cases, proven, missed);
    QVERIFY(missed <= 4);
    QCOMPARE(cases, 200);
    QVERIFY(proven > 100);
}

void TestBruteForce::aLargeDatacenterAloneIsFoundBesideWholeCells()
{
    // 600 GPUs in a hold ten replicas of 60 stages; over a and b cells of four make twelve. Ten are faster and cheaper.
    Plan plan = atlasRow(60, 1, 1, 1, ScheduleKind::Varuna);
    plan.cluster = {};
    plan.cluster.datacenters = { site("a", 600, "a100-sxm-80gb", 1), site("b", 120, "a100-sxm-80gb", 1) };
    plan.cluster.wanLinks = { wanLink("a", "b", 40, 5, 1e6) };
    plan.placement = {};
    plan.parallelism.data.reset();
    plan.workload.globalBatch = 600;
    plan.wan.sharing = WanSharing::Temporal;
    plan.wan.cell = 4;
    plan.profile->forwardMs = { 10 };
    plan.profile->backwardMs = { 20 };
    plan.profile->recomputeMs = { 10 };
    plan.profile->activationMb = 4 * 10e-3 * 5e9 / 8 / 1e6; // C = 4
    EvaluationWorkspace workspace;
    const auto selection = selectDatacenters(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
    QVERIFY(selection.has_value());
    const auto alone = std::ranges::find_if(
        selection->options, [](const SelectionOption &o) { return o.blocks.size() == 1 && o.data() == 10; });
    const auto over = std::ranges::find_if(
        selection->options, [](const SelectionOption &o) { return o.blocks.size() == 2 && o.data() == 12; });
    QVERIFY(alone != selection->options.end());
    QVERIFY(over != selection->options.end());
    QVERIFY(alone->usdPerMillionTokens < over->usdPerMillionTokens);
    QCOMPARE(alone->sequencesPerSecond > over->sequencesPerSecond, alone < over);
}

/// Sites with slower or as fast GPUs behind near or far links: of every remark the named part is the one that grows
/// most between the two evaluations, told apart here, and slower GPUs are blamed only where they are slower.
void TestBruteForce::aRemarkNamesThePartThatGrowsMost()
{
    std::mt19937 random(5);
    const auto one = [&random](auto... values) {
        const std::array list { values... };
        return list[random() % list.size()];
    };
    EvaluationWorkspace workspace;
    const RunContext context { builtinCatalogue(), workspace };
    int named = 0, slower = 0, farther = 0;
    for (int trial = 0; trial < 60; ++trial) {
        Plan plan = threeSites(1, 4);
        plan.workload.globalBatch = 32;
        plan.placement = {};
        plan.parallelism.data.reset();
        for (Datacenter &site : plan.cluster.datacenters) {
            site.pools.front().nodes = one(2, 3, 4);
            site.pools.front().gpu = one("h100-sxm-80gb", "a100-sxm-80gb");
        }
        for (WanLink &link : plan.cluster.wanLinks) {
            link.rttMs = one(2., 30., 120.);
            link.nodePairGbps = one(2., 20., 200.);
        }
        const auto selection = selectDatacenters(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace);
        QVERIFY(selection.has_value());
        if (selection->bestThroughput < 0)
            continue;
        const SelectionOption &best = selection->options[std::size_t(selection->bestThroughput)];
        for (const std::string &remark : selection->remarks) {
            QVERIFY2(remark.find("further apart") == std::string::npos, remark.c_str());
            if (remark.find(" takes ") == std::string::npos)
                continue;
            const auto site = std::ranges::find_if(plan.cluster.datacenters,
                [&](const Datacenter &d) { return remark.starts_with("Adding " + d.label() + " does not help"); });
            QVERIFY2(site != plan.cluster.datacenters.end(), remark.c_str());
            const int index = int(site - plan.cluster.datacenters.begin());
            const auto with = std::ranges::find_if(selection->options, [&](const SelectionOption &option) {
                return option.isFeasible && option.blocks.size() > 1
                    && std::ranges::find(option.blocks, index, &DatacenterBlock::datacenter) != option.blocks.end();
            });
            QVERIFY(with != selection->options.end());
            const auto was = run(best.plan, Depth::Score, context), is = run(with->plan, Depth::Score, context);
            QVERIFY(was && is && (*was)->metrics.breakdown && (*is)->metrics.breakdown);
            const Breakdown &a = *(*was)->metrics.breakdown, &b = *(*is)->metrics.breakdown;
            const std::vector<std::pair<double, std::string>> grown { { b.compute - a.compute, "compute" },
                { b.bubble - a.bubble, "bubble" }, { b.tensorParallel - a.tensorParallel, "tensor parallel" },
                { b.contextParallel - a.contextParallel, "context parallel" },
                { b.expertParallel - a.expertParallel, "expert parallel" }, { b.wan - a.wan, "WAN" },
                { b.pipeline - a.pipeline, "pipeline transfers" }, { b.dataParallel - a.dataParallel, "data parallel" },
                { b.offloadStall - a.offloadStall, "offload stalls" }, { b.optimizer - a.optimizer, "optimizer" },
                { b.overhead - a.overhead, "overhead" } };
            const auto most = std::ranges::max(grown);
            QVERIFY2(remark.find(": " + most.second + " takes ") != std::string::npos,
                (remark + " but " + most.second).c_str());
            ++named;
            const bool blamesGpus = remark.find("are slower") != std::string::npos;
            slower += blamesGpus;
            farther += !blamesGpus;
            if (!blamesGpus)
                continue;
            QCOMPARE(site->pools.front().gpu, std::string("a100-sxm-80gb"));
            for (const DatacenterBlock &block : best.blocks)
                QCOMPARE(plan.cluster.datacenters[std::size_t(block.datacenter)].pools.front().gpu,
                    std::string("h100-sxm-80gb"));
        }
    }
    QVERIFY2(named > 10 && slower > 2 && farther > 2,
        qPrintable(QString("%1 named, %2 slower, %3 farther").arg(named).arg(slower).arg(farther)));
}

TRAINYARD_APPLESS_TEST(TestBruteForce)
#include "tst_brute_force.moc"
