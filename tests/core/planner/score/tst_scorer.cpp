// SPDX-License-Identifier: GPL-3.0-or-later
// Scores hold what they claim against the engine, on spaces of every kind; they do not depend on what was scored
// before, and where plans are simple their bounds are close.
#include "tests/core/planner/score/score_claims.h"
#include "tests/support/samples.h"
#include "tests/support/search_spaces.h"
#include "tests/support/test_program.h"

#include "core/engine/schedule/traits.h"

#include <QtTest>

#include <array>

using namespace trainyard;
using namespace trainyard::test;
using K = ScheduleKind;

namespace {

Plan onePool(const char *model, const char *gpu, int nodes, int batch)
{
    Plan plan;
    plan.workload.model = model;
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = batch;
    Datacenter site;
    site.id = "here";
    Pool pool;
    pool.id = "pool";
    pool.gpu = gpu;
    pool.nodes = nodes;
    pool.gpusPerNode = 8;
    site.pools.push_back(pool);
    plan.cluster.datacenters.push_back(site);
    plan.parallelism.zeroStage = 1;
    return plan;
}

SearchSpace spaceOf(const Plan &base, std::vector<Axis> axes)
{
    return SearchSpace(std::make_shared<const Plan>(base), std::move(axes));
}

SearchSpace gpt3Space()
{
    Plan plan = samplePlan("gpt3-175b-1024-a100");
    plan.parallelism.data = std::nullopt;
    return spaceOf(plan,
        { tensorAxis(plan, { 1, 2, 4, 8, 16 }), pipelineAxis(plan, { 1, 2, 4, 8, 12, 16, 32 }),
            contextAxis(plan, { 1, 2 }),
            orderAxis(plan,
                { { K::OneFOneB, 1 }, { K::GPipe, 1 }, { K::Interleaved, 2 }, { K::Interleaved, 3 },
                    { K::Interleaved, 5 }, { K::Interleaved, 6 } }),
            microBatchAxis(plan, { 1, 2, 4, 5 }), batchAxis(plan, { 384, 1536, 1537 }),
            recomputeAxis(plan, { Recompute::None, Recompute::Selective, Recompute::Full }), sequenceAxis(plan),
            zeroAxis(plan, { 0, 1, 2, 3 }) });
}

const std::vector<std::pair<ScheduleKind, int>> kEveryOrder { { K::OneFOneB, 1 }, { K::GPipe, 1 },
    { K::Interleaved, 2 }, { K::Interleaved, 4 }, { K::BreadthFirst, 1 }, { K::BreadthFirst, 3 }, { K::ZbH1, 1 },
    { K::ZbH2, 1 }, { K::ZbV, 1 }, { K::ZbAuto, 1 }, { K::VHalf, 1 }, { K::VMin, 1 }, { K::DualPipe, 1 },
    { K::DualPipeV, 1 }, { K::Chimera, 1 }, { K::Hanayo, 1 }, { K::Varuna, 1 }, { K::TeraPipe, 1 }, { K::Atlas, 1 } };

std::vector<Axis> everyAxis(const Plan &plan)
{
    return { tensorAxis(plan, { 1, 2, 8 }), pipelineAxis(plan, { 1, 2, 4, 8 }), orderAxis(plan, kEveryOrder),
        microBatchAxis(plan, { 1, 2 }), recomputeAxis(plan, { Recompute::None, Recompute::Selective, Recompute::Full }),
        zeroAxis(plan, { 0, 1, 2, 3 }), sequenceAxis(plan) };
}

void report(const char *what, ClaimCounts &counts)
{
    qInfo("%s: %d looked at, %d refused, %d too large, %d open, %d with exact memory, %d feasible; bound over "
          "iteration: 10 %% quantile %.4f, median %.4f",
        what, counts.looked, counts.refused, counts.tooLarge, counts.open, counts.exact, counts.feasible,
        counts.quantile(0.1), counts.quantile(0.5));
}

} // namespace

class TestScorer : public QObject {
    Q_OBJECT

private slots:
    void boundsHoldAndAreCloseOnGpt3()
    {
        ClaimCounts counts;
        const SearchSpace space = gpt3Space();
        QVERIFY(Scorer(space, builtinCatalogue()).isTabled());
        checkClaims(space, 500, 1, counts);
        report("GPT-3 on 1,024", counts);
        QVERIFY2(counts.broken.empty(), counts.broken.c_str());
        QVERIFY(counts.quantile(0.5) > 0.97);
        QVERIFY(counts.quantile(0.1) > 0.93);
        QVERIFY(counts.exact > counts.open / 2);
    }

    void boundsHoldUnderEverySchedule()
    {
        ClaimCounts counts;
        const Plan plan = onePool("llama-2-13b", "h100-sxm-80gb", 8, 64);
        checkClaims(spaceOf(plan, everyAxis(plan)), 500, 2, counts);
        report("13B, every schedule", counts);
        QVERIFY2(counts.broken.empty(), counts.broken.c_str());
    }

    void boundsHoldUnderEveryStack_data()
    {
        QTest::addColumn<QString>("stack");
        for (const StackSpec &stack : builtinCatalogue().stacks)
            QTest::newRow(stack.id.c_str()) << QString::fromStdString(stack.id);
    }
    void boundsHoldUnderEveryStack()
    {
        QFETCH(QString, stack);
        ClaimCounts counts;
        Plan plan = onePool("llama-3-8b", "a100-sxm-80gb", 4, 48);
        plan.stack.name = stack.toStdString();
        checkClaims(spaceOf(plan, everyAxis(plan)), 60, 3, counts);
        report(plan.stack.name.c_str(), counts);
        QVERIFY2(counts.broken.empty(), counts.broken.c_str());
    }

    void boundsHoldWithExperts()
    {
        for (const ExpertOverlap overlap : { ExpertOverlap::None, ExpertOverlap::OneFOneB }) {
            ClaimCounts counts;
            Plan plan = onePool("mixtral-8x7b", "h100-sxm-80gb", 8, 64);
            plan.moe.expertOverlap = overlap;
            std::vector<Axis> axes = everyAxis(plan);
            axes.push_back(expertAxis(plan, { 1, 2, 8, 3 }));
            checkClaims(spaceOf(plan, axes), 150, 4, counts);
            report("experts", counts);
            QVERIFY2(counts.broken.empty(), counts.broken.c_str());
        }
    }

    void boundsHoldWhereNoTableApplies_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("count");
        for (const auto &[name, count] :
            std::vector<std::pair<const char *, int>> { { "llama-3-70b-three-regions", 30 },
                { "atlas-three-datacenters", 30 }, { "cephalo-lab", 30 }, { "gpt3-offload-a100-40gb", 15 },
                { "opt-30b-128-a100-384-v100", 20 }, { "mixed-lab", 20 }, { "hydra-lab", 5 } })
            QTest::newRow(name) << name << count;
    }
    void boundsHoldWhereNoTableApplies()
    {
        QFETCH(QString, name);
        QFETCH(int, count);
        const Plan plan = samplePlan(name.toStdString());
        const SearchSpace space = spaceOf(plan,
            { microBatchAxis(plan, { 1, 2 }), scheduleAxis(plan, { K::OneFOneB, K::GPipe, K::ZbH1, K::Atlas }),
                recomputeAxis(plan, { Recompute::None, Recompute::Full }) });
        QVERIFY(!Scorer(space, builtinCatalogue()).isTabled());
        ClaimCounts counts;
        checkClaims(space, count, 5, counts, true);
        report(qPrintable(name), counts);
        QVERIFY2(counts.broken.empty(), counts.broken.c_str());
    }

    void boundsHoldOnThePlannersOwnSpaces_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *name :
            { "gpt3-175b-1024-a100", "llama-7b-64-aws", "moe-2x70b-16-a800", "mixed-lab", "cephalo-lab",
                "llama-3-70b-three-regions", "all-systems-three-datacenters", "../tests/data/rivals/a100-v100",
                "../tests/data/rivals/two-zones", "../tests/data/rivals/five-zones" })
            QTest::newRow(name) << name;
    }
    void boundsHoldOnThePlannersOwnSpaces()
    {
        QFETCH(QString, name);
        const auto space = makeSpace(std::make_shared<const Plan>(samplePlan(name.toStdString())), builtinCatalogue());
        QVERIFY(space.has_value());
        ClaimCounts counts;
        checkClaims(*space, 60, 8, counts, true);
        report(qPrintable(name), counts);
        QVERIFY2(counts.broken.empty(), counts.broken.c_str());
    }

    void aScoreIsTheSameWhateverWasScoredBefore()
    {
        const SearchSpace space = gpt3Space();
        std::mt19937_64 random(6);
        Scorer scorer(space, builtinCatalogue());
        for (int i = 0; i < 300; ++i) {
            const std::uint64_t number = random() % (space.size() - 8);
            std::array<Score, 8> range;
            scorer.scoreRange(number, range);
            for (std::size_t k = 0; k < range.size(); ++k) {
                Scorer alone(space, builtinCatalogue());
                const Score fresh = alone.score(space.candidate(number + k));
                QCOMPARE(int(range[k].state), int(fresh.state));
                QCOMPARE(range[k].leastSeconds, fresh.leastSeconds);
                QCOMPARE(range[k].estimate, fresh.estimate);
                QCOMPARE(range[k].leastFill, fresh.leastFill);
                QCOMPARE(scorer.reasonText(range[k].reason), alone.reasonText(fresh.reason));
                k += 2; // some are enough
            }
        }
    }

    void anAxisThatNobodyKnowsIsScoredToo()
    {
        Plan plan = onePool("llama-2-13b", "h100-sxm-80gb", 8, 64);
        plan.parallelism.pipeline = 4;
        Axis gpus { "gpu", { "cluster.datacenters.0.pools.0.gpu" }, "GPU", {}, 0 };
        for (const char *name : { "h100-sxm-80gb", "a100-sxm-40gb", "l40s-48gb" })
            gpus.values.push_back(
                { name, [name](Plan &p) { p.cluster.datacenters.front().pools.front().gpu = name; } });
        Axis offload { "offload", { "memory.activation_offload" }, "Offload", {}, 0 };
        offload.values.push_back({ "none", [](Plan &) {} });
        offload.values.push_back({ "host", [](Plan &p) { p.memory.activationOffload = ActivationOffload::Host; } });
        const SearchSpace space = spaceOf(plan,
            { recomputeAxis(plan, { Recompute::None, Recompute::Full }), offload, tensorAxis(plan, { 1, 4 }), gpus,
                microBatchAxis(plan, { 1, 2, 7 }) });
        QVERIFY(Scorer(space, builtinCatalogue()).isTabled());
        ClaimCounts counts;
        checkClaims(space, 60, 7, counts);
        report("an axis of GPUs and one of offloading", counts);
        QVERIFY2(counts.broken.empty(), counts.broken.c_str());
    }
};

TRAINYARD_GUILESS_TEST(TestScorer)
#include "tst_scorer.moc"
