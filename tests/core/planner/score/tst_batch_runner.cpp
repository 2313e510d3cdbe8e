// SPDX-License-Identifier: GPL-3.0-or-later
// The reference is run() itself, candidate by candidate.
#include "core/planner/score/batch_runner.h"
#include "tests/core/planner/score/spaces.h"
#include "tests/support/plans.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <random>
#include <stdexcept>

using namespace trainyard;
using test::samplePlan;
using namespace spaces;

namespace {

const std::vector<ScheduleKind> kByShape { ScheduleKind::OneFOneB, ScheduleKind::Interleaved, ScheduleKind::GPipe,
    ScheduleKind::ZbH1, ScheduleKind::BreadthFirst, ScheduleKind::DualPipeV };
const std::vector<Recompute> kRecompute { Recompute::None, Recompute::Selective, Recompute::Full };

SearchSpace dense()
{
    Plan plan = test::oneSite(8);
    plan.workload.sequenceLength = 4096;
    return space(plan,
        { tensor({ 1, 2, 4, 8, 16, 3 }), pipeline({ 1, 2, 4, 8, 16, 5, 64 }), context({ 1, 2, 4 }), chunks({ 1, 2, 3 }),
            microBatch({ 1, 2, 3, 4 }), schedule(kByShape), recompute(kRecompute), zeroStage({ 0, 1, 2, 3 }),
            sequenceParallel() });
}

SearchSpace experts()
{
    Plan plan = test::oneSite(8);
    plan.workload.model = "mixtral-8x7b";
    plan.workload.sequenceLength = 4096;
    return space(plan,
        { tensor({ 1, 2, 4 }), pipeline({ 1, 2, 4 }), parallel("expert", std::vector { 1, 2, 8 }, &Parallelism::expert),
            parallel("expert_tensor", std::vector { 1, 2 }, &Parallelism::expertTensor), microBatch({ 1, 2 }),
            schedule({ ScheduleKind::OneFOneB, ScheduleKind::ZbH1, ScheduleKind::DualPipeV }), recompute(kRecompute),
            zeroStage({ 0, 1, 3 }),
            axis("expert_overlap", "moe.expert_overlap", std::vector { ExpertOverlap::None, ExpertOverlap::OneFOneB },
                [](Plan &of, ExpertOverlap value) { of.moe.expertOverlap = value; }) });
}

/// Schedules that decide by times, by memory or while they run, and those with two copies or slices.
SearchSpace otherSchedules()
{
    return space(test::oneSite(8),
        { pipeline({ 4, 2, 8 }), chunks({ 1, 2 }), microBatch({ 1, 2 }),
            schedule({ ScheduleKind::ZbH2, ScheduleKind::ZbV, ScheduleKind::ZbAuto, ScheduleKind::VHalf,
                ScheduleKind::VMin, ScheduleKind::DualPipe, ScheduleKind::Chimera, ScheduleKind::Hanayo,
                ScheduleKind::Varuna, ScheduleKind::TeraPipe, ScheduleKind::Atlas }),
            recompute(kRecompute), zeroStage({ 1, 2 }) });
}

SearchSpace offTheGpu()
{
    Plan plan = test::oneSite(8);
    for (Pool &pool : plan.cluster.datacenters.front().pools) {
        pool.host = Host { .memoryGib = 200, .gbytesPerSecondPerGpu = 20 };
        pool.ssd = Ssd { .writeGBps = 6, .readGBps = 6 };
    }
    return space(plan,
        { tensor({ 4, 8 }), pipeline({ 2, 4 }), recompute(kRecompute), zeroStage({ 1, 3 }),
            axis("activations", "memory.activation_offload",
                std::vector { ActivationOffload::None, ActivationOffload::Host, ActivationOffload::Ssd },
                [](Plan &p, ActivationOffload value) { p.memory.activationOffload = value; }),
            axis("optimizer", "memory.optimizer_offload",
                std::vector { OptimizerOffload::None, OptimizerOffload::Host, OptimizerOffload::Ssd },
                [](Plan &p, OptimizerOffload value) { p.memory.optimizerOffload = value; }) });
}

/// `linked`: three datacenters with several placements; else the hardware itself is an axis.
SearchSpace hardware(bool linked)
{
    const auto nodes = axis("nodes", "cluster.datacenters[0].pools[0].nodes", std::vector { 4, 8, 2 },
        [](Plan &p, int value) { p.cluster.datacenters.front().pools.front().nodes = value; });
    const auto layers = axis("layers", "placement.layers", std::vector<std::vector<int>> { {}, { 7, 9, 9, 7 }, { 8 } },
        [](Plan &p, const std::vector<int> &value) { p.placement.layers = value; });
    return linked
        ? space(test::threeSites(2, 6),
            { tensor({ 8, 4 }), pipeline({ 6, 4, 3 }), microBatch({ 1, 2 }), recompute(kRecompute), nodes })
        : space(test::oneSite(4), { nodes, layers, tensor({ 8, 4, 2 }), microBatch({ 1, 2 }), recompute(kRecompute) });
}

SearchSpace measured()
{
    return space(test::atlasRow(4, 8, 2, 2, ScheduleKind::OneFOneB),
        { microBatch({ 1, 2 }), schedule({ ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::Atlas }) });
}

/// Many tasks, and stacks of their own.
SearchSpace large(const char *stack)
{
    Plan plan = samplePlan("gpt3-175b-1024-a100");
    plan.parallelism.data = {};
    plan.stack.name = stack;
    return space(plan,
        { tensor({ 8, 4, 16 }), pipeline({ 8, 4, 12, 16 }), context({ 1, 2 }), chunks({ 1, 2, 3, 6 }),
            microBatch({ 1, 2, 4, 8 }), schedule(kByShape), recompute(kRecompute), zeroStage({ 0, 1, 2, 3 }),
            sequenceParallel() });
}

std::vector<Candidate> drawn(const SearchSpace &space, std::size_t count, unsigned seed)
{
    std::mt19937_64 random(seed);
    std::vector<Candidate> candidates { space.baseCandidate() };
    while (candidates.size() < count)
        candidates.push_back(space.candidate(random() % space.size()));
    return candidates;
}

Outcome reference(const SearchSpace &space, const Candidate &candidate)
{
    static EvaluationWorkspace workspace;
    const auto evaluation = run(space.plan(candidate), Depth::Score,
        { .catalogue = builtinCatalogue(), .workspace = workspace, .replicas = OpenReplicas::Most });
    if (!evaluation || !(*evaluation)->metrics.iterationTime)
        return {};
    const Metrics &metrics = (*evaluation)->metrics;
    Outcome outcome { true, (*evaluation)->feasible(), *metrics.iterationTime, 0, metrics.gpusUsed };
    if (metrics.memory)
        for (const StageMemory &stage : metrics.memory->perStage)
            outcome.fill = std::max(outcome.fill, double(stage.device) / double(stage.capacity));
    return outcome;
}

QString textOf(const SearchSpace &space, const Candidate &candidate)
{
    QString text;
    for (std::size_t a = 0; a < candidate.size(); ++a)
        text += QString("%1 %2, ").arg(space.axes()[a].id.c_str()).arg(candidate[a]);
    return text;
}

bool areEqual(const Outcome &a, const Outcome &b)
{
    return a.isRun == b.isRun && a.isFeasible == b.isFeasible && a.seconds == b.seconds
        && std::abs(a.fill - b.fill) <= 1e-12 && a.gpusUsed == b.gpusUsed;
}

} // namespace

class BatchRunnerTest : public QObject {
    Q_OBJECT
private slots:
    void everyOutcomeIsThatOfARunOfItsOwn_data()
    {
        QTest::addColumn<SearchSpace *>("space");
        QTest::addColumn<int>("count");
        QTest::addColumn<double>("leastInLanes"); // share of those that run
        const auto row = [&](const char *name, SearchSpace made, int count, double leastInLanes) {
            m_spaces.push_back(std::make_unique<SearchSpace>(std::move(made)));
            QTest::newRow(name) << m_spaces.back().get() << count << leastInLanes;
        };
        row("dense", dense(), 1500, 0.9);
        row("experts", experts(), 500, 0.5);
        row("other schedules", otherSchedules(), 150, 0);
        row("off the GPU", offTheGpu(), 72, 0.05);
        row("three datacenters", hardware(true), 40, 0);
        row("hardware and layers", hardware(false), 100, 0.1);
        row("measured stages", measured(), 6, 0);
        row("large", large("megatron-lm-2021"), 500, 0.9);
        row("large, another stack", large("megatron-core"), 250, 0.9);
        row("large, sharded", large("fsdp"), 150, 0.9);
    }

    void everyOutcomeIsThatOfARunOfItsOwn()
    {
        QFETCH(SearchSpace *, space);
        QFETCH(int, count);
        QFETCH(double, leastInLanes);
        const std::vector<Candidate> candidates = drawn(*space, std::size_t(count), 22);
        std::vector<Outcome> outcomes(candidates.size());
        BatchRunner runner(*space, builtinCatalogue());
        runner.run(candidates, outcomes);
        int ran = 0;
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            const Outcome expected = reference(*space, candidates[i]);
            ran += expected.isRun ? 1 : 0;
            QVERIFY2(areEqual(outcomes[i], expected),
                qPrintable(textOf(*space, candidates[i])
                    + QString("%1 s, fill %2, runs %3, feasible %4, not %5 s, %6, %7, %8")
                          .arg(outcomes[i].seconds, 0, 'f', 9)
                          .arg(outcomes[i].fill, 0, 'g', 15)
                          .arg(outcomes[i].isRun)
                          .arg(outcomes[i].isFeasible)
                          .arg(expected.seconds, 0, 'f', 9)
                          .arg(expected.fill, 0, 'g', 15)
                          .arg(expected.isRun)
                          .arg(expected.isFeasible)));
        }
        QVERIFY(ran > count / 10);
        qInfo("%d of %d run, %lld in lanes", ran, count, static_cast<long long>(runner.inLanes()));
        QVERIFY(double(runner.inLanes()) >= leastInLanes * ran);
    }

    void neitherOrderNorNumberChangesAnOutcome()
    {
        const SearchSpace of = dense();
        std::vector<Candidate> candidates = drawn(of, 300, 5);
        std::vector<Outcome> together(candidates.size());
        BatchRunner(of, builtinCatalogue()).run(candidates, together);
        BatchRunner oneByOne(of, builtinCatalogue());
        for (std::size_t i = candidates.size(); i-- > 0;) {
            Outcome outcome;
            oneByOne.run({ &candidates[i], 1 }, { &outcome, 1 });
            QVERIFY(areEqual(outcome, together[i]));
            QCOMPARE(outcome.fill, together[i].fill);
        }
    }

    void afterAnErrorNobodyWaits()
    {
        // The last value of the last axis cannot be set: what waits in lanes then belongs to outcomes that are gone.
        std::vector<Axis> axes = dense().axes();
        axes.push_back({ "broken", { "notes" }, "broken",
            { { {}, [](Plan &) {} },
                { {},
                    [](Plan &plan) {
                        if (plan.parallelism.pipeline > 1)
                            throw std::runtime_error("it cannot be set");
                    } } },
            0 });
        const SearchSpace of(dense().base(), std::move(axes));
        std::vector<Candidate> candidates = drawn(of, 40, 5);
        for (Candidate &candidate : candidates)
            candidate.back() = 0;
        BatchRunner runner(of, builtinCatalogue());
        {
            std::vector<Candidate> broken = candidates;
            broken.push_back(candidates.front());
            broken.back()[1] = 2; // four stages
            broken.back().back() = 1;
            std::vector<Outcome> gone(broken.size());
            QVERIFY_THROWS_EXCEPTION(std::runtime_error, runner.run(broken, gone));
        }
        const std::int64_t before = runner.inLanes();
        std::vector<Outcome> outcomes(candidates.size()), expected(candidates.size());
        runner.run(candidates, outcomes);
        BatchRunner fresh(of, builtinCatalogue());
        fresh.run(candidates, expected);
        QVERIFY(std::ranges::equal(outcomes, expected, areEqual));
        QCOMPARE(runner.inLanes() - before, fresh.inLanes());
    }

    void stoppedItRunsNothing()
    {
        const SearchSpace of = dense();
        const std::vector<Candidate> candidates = drawn(of, 20, 5);
        std::vector<Outcome> outcomes(candidates.size(), Outcome { .isRun = true });
        std::stop_source stop;
        stop.request_stop();
        BatchRunner runner(of, builtinCatalogue());
        runner.run(candidates, outcomes, stop.get_token());
        for (const Outcome &outcome : outcomes)
            QVERIFY(!outcome.isRun);
        QCOMPARE(runner.inLanes(), 0);
    }

private:
    std::vector<std::unique_ptr<SearchSpace>> m_spaces;
};

TRAINYARD_APPLESS_TEST(BatchRunnerTest)
#include "tst_batch_runner.moc"
