// SPDX-License-Identifier: GPL-3.0-or-later
// Signs: which way an answer may move when one key does. Six small plans, dense and with experts, in one datacenter and
// in several, placement pinned so that nothing but the key changes.
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/plan/plan_io.h"
#include "core/facts/workload/model_math.h"
#include "tests/support/test_program.h"

#include <QTest>

#include "tests/support/plans.h"

#include <functional>

using namespace trainyard;
using namespace trainyard::test;

namespace {

struct Named {
    const char *name;
    Plan plan;
    [[nodiscard]] bool crosses() const { return plan.cluster.datacenters.size() > 1; }
    [[nodiscard]] bool hasExperts() const { return plan.workload.model == "mixtral-8x7b"; }
};

void pin(Plan &plan, int stagesEach)
{
    plan.placement.mode = PlacementMode::PipelineAcross;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        plan.placement.stages.push_back({ datacenter.id, stagesEach, {} });
}

Plan dense(std::vector<Datacenter> sites, int tensor, int pipeline, int data)
{
    Plan plan = oneSite(1, pipeline);
    plan.cluster.datacenters = std::move(sites);
    for (std::size_t i = 1; i < plan.cluster.datacenters.size(); ++i)
        plan.cluster.wanLinks.push_back(
            wanLink(plan.cluster.datacenters[i - 1].id, plan.cluster.datacenters[i].id, 40, 5, 100));
    if (plan.cluster.datacenters.size() > 2) // chunks dealt round and round go back from the last to the first
        plan.cluster.wanLinks.push_back(
            wanLink(plan.cluster.datacenters.back().id, plan.cluster.datacenters.front().id, 60, 5, 100));
    plan.workload.globalBatch = 96; // micro-batches a pipeline: a multiple of its stages
    plan.parallelism.tensor = tensor;
    plan.parallelism.data = data;
    return plan;
}

Plan withExperts(Plan plan, int expert)
{
    plan.workload.model = "mixtral-8x7b";
    plan.workload.sequenceLength = 4096;
    plan.parallelism.expert = expert;
    return plan;
}

std::vector<Named> sixPlans()
{
    std::vector<Named> plans {
        { "a dense pipeline in one datacenter", dense({ site("a", 8) }, 8, 4, 2) },
        { "dense replicas in one datacenter", dense({ site("a", 4) }, 4, 1, 8) },
        { "a dense pipeline across three datacenters", dense({ site("a", 4), site("b", 4), site("c", 4) }, 8, 6, 2) },
        { "dense replicas in two datacenters", dense({ site("a", 4), site("b", 4) }, 8, 2, 4) },
        { "an expert model in one datacenter", withExperts(dense({ site("a", 8) }, 2, 4, 8), 8) },
        { "an expert model across two datacenters", withExperts(dense({ site("a", 4), site("b", 4) }, 2, 4, 8), 4) },
    };
    pin(plans[0].plan, 4);
    pin(plans[1].plan, 1);
    pin(plans[2].plan, 2);
    plans[3].plan.placement.mode = PlacementMode::DataAcross;
    pin(plans[4].plan, 4);
    pin(plans[5].plan, 2);
    return plans;
}

/// A row "plan" for each of them on each stack. `sentence`: %1 is the plan, %2 the stack.
void addSixPlansOn(std::initializer_list<const char *> stacks, const char *sentence)
{
    QTest::addColumn<Plan>("plan");
    for (const char *stack : stacks) {
        for (const Named &named : sixPlans()) {
            Plan plan = named.plan;
            plan.stack.name = stack;
            QTest::newRow(qPrintable(QString(sentence).arg(named.name, stack))) << plan;
        }
    }
}

double seconds(const EvaluationPtr &evaluation)
{
    return evaluation->metrics.iterationTime.value();
}

/// A transfer is rounded to a tick, and a full link shares its rate tick by tick: far below a millionth.
constexpr double kTicks = 1e-6;

using Change = std::function<void(Plan &, double)>;

Change onLinks(double WanLink::*key)
{
    return [key](Plan &plan, double value) {
        for (WanLink &link : plan.cluster.wanLinks)
            link.*key = value;
    };
}

/// Orders that no time decides.
constexpr ScheduleKind kFixedOrders[] = { ScheduleKind::OneFOneB, ScheduleKind::GPipe, ScheduleKind::ZbH1,
    ScheduleKind::Interleaved, ScheduleKind::Hanayo };

void take(Plan &plan, ScheduleKind schedule)
{
    plan.schedule = schedule;
    if (schedule == ScheduleKind::Interleaved || schedule == ScheduleKind::BreadthFirst
        || schedule == ScheduleKind::Hanayo)
        plan.parallelism.virtualPipeline = 2;
}

/// Stacks reduce gradients of 16 or of 32 bits, and where the WAN is what an iteration waits for, half the bytes are
/// half the time: the same bits cross for all.
Plan withGradientsOf16Bits(Plan plan)
{
    plan.wan.gradientBits = 16;
    return plan;
}

} // namespace

class TestSigns : public QObject {
    Q_OBJECT

private slots:
    void aBetterPartNeverLengthensTheIteration_data();
    void aBetterPartNeverLengthensTheIteration();
    void recomputationTradesTimeForMemory_data();
    void recomputationTradesTimeForMemory();
    void aHigherZeroStageNeverTakesMoreMemory_data();
    void aHigherZeroStageNeverTakesMoreMemory();
    void moreMicroBatchesNeverEnlargeTheBubble_data();
    void moreMicroBatchesNeverEnlargeTheBubble();
    void roomForMoreTokensCostsTimeMemoryAndFlops_data();
    void roomForMoreTokensCostsTimeMemoryAndFlops();
    void noStackIsFasterThanTheIdealOne_data();
    void noStackIsFasterThanTheIdealOne();
    void deepSpeedIsNotFasterThanMegatronCore_data();
    void deepSpeedIsNotFasterThanMegatronCore();
};

void TestSigns::aBetterPartNeverLengthensTheIteration_data()
{
    QTest::addColumn<Plan>("plan");
    QTest::addColumn<Change>("change");
    QTest::addColumn<std::vector<double>>("values"); // from worst to best
    struct Key {
        const char *sentence;
        Change change;
        std::vector<double> values;
    };
    const Change connections = [](Plan &plan, double n) { plan.wan.tcpConnections = int(n); };
    const Change losses = onLinks(&WanLink::lossRate);
    const Key across[] = {
        { "a wider node pair", onLinks(&WanLink::nodePairGbps), { 0.5, 2, 5, 12.5, 25, 50, 100, 200, 400, 800 } },
        { "a wider link", onLinks(&WanLink::capacityGbps), { 0.5, 2, 5, 10, 40, 100, 400, 1600 } },
        { "a shorter round trip", onLinks(&WanLink::rttMs), { 500, 300, 200, 100, 40, 20, 10, 2, 0 } },
        { "a shorter round trip under loss",
            [losses](Plan &plan, double rtt) {
                losses(plan, 1e-3);
                onLinks (&WanLink::rttMs)(plan, rtt);
            },
            { 800, 400, 200, 100, 50, 10, 0 } },
        { "a larger window", onLinks(&WanLink::tcpWindowMb), { 0.016, 0.064, 0.25, 1, 1.5, 4, 100, 1e4 } },
        { "more connections", connections, { 1, 2, 4, 8, 16, 17, 32, 64, 128, 1000 } },
        { "fewer losses", losses, { 0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-6, 0 } },
        { "fewer losses under BBR",
            [losses](Plan &plan, double share) {
                plan.wan.congestion = CongestionControl::Bbr;
                losses(plan, share);
            },
            { 0.3, 0.21, 0.19, 0.1, 1e-3, 0 } },
    };
    const Key anywhere[] = {
        { "a faster fabric",
            [](Plan &plan, double gbps) {
                for (Datacenter &datacenter : plan.cluster.datacenters)
                    datacenter.fabricGbpsPerGpu = gbps;
            },
            { 5, 10, 25, 50, 100, 200, 400, 800, 1600 } },
    };
    const auto add = [](const Key &key, const Named &named, ScheduleKind schedule, const char *under) {
        Plan plan = named.plan;
        take(plan, schedule);
        QTest::newRow(qPrintable(QString("%1 never slows %2%3").arg(key.sentence, named.name, under)))
            << plan << key.change << key.values;
    };
    for (const Named &named : sixPlans()) {
        for (const Key &key : anywhere)
            add(key, named, ScheduleKind::OneFOneB, "");
        if (named.crosses())
            for (const Key &key : across)
                add(key, named, ScheduleKind::OneFOneB, "");
    }
    for (const ScheduleKind schedule : kFixedOrders)
        if (schedule != ScheduleKind::OneFOneB)
            for (const Key &key : across)
                add(key, sixPlans()[2], schedule, qPrintable(QString(" under %1").arg(toString(schedule))));
}

void TestSigns::aBetterPartNeverLengthensTheIteration()
{
    // values[i] is worse than values[i + 1]: T(values[i + 1]) <= T(values[i])
    QFETCH(Plan, plan);
    QFETCH(Change, change);
    QFETCH(std::vector<double>, values);
    double before = std::numeric_limits<double>::infinity();
    for (const double value : values) {
        change(plan, value);
        const double now = seconds(evaluated(plan));
        QVERIFY2(now <= before * (1 + kTicks),
            qPrintable(QString("%1: %2 after %3 s").arg(value).arg(now, 0, 'g', 12).arg(before, 0, 'g', 12)));
        before = now;
    }
}

void TestSigns::recomputationTradesTimeForMemory_data()
{
    addSixPlansOn({ "megatron-core", "megatron-lm-2021", "fsdp" },
        "the more of %1 is recomputed, the less memory and the more time it takes on %2");
}

void TestSigns::recomputationTradesTimeForMemory()
{
    // none, selective, full: no stage's peak rises, the iteration does not get shorter
    QFETCH(Plan, plan);
    EvaluationPtr before;
    for (const Recompute recompute : { Recompute::None, Recompute::Selective, Recompute::Full }) {
        plan.memory.recompute = recompute;
        const EvaluationPtr now = evaluated(plan);
        if (before) {
            QVERIFY2(seconds(now) >= seconds(before) * (1 - kTicks),
                qPrintable(QString("%1 after %2 s").arg(seconds(now)).arg(seconds(before))));
            for (std::size_t s = 0; s < now->metrics.memory->perStage.size(); ++s) {
                const auto peak = now->metrics.memory->perStage[s].device,
                           was = before->metrics.memory->perStage[s].device;
                QVERIFY2(peak <= was, qPrintable(QString("stage %1: %2 after %3 bytes").arg(s).arg(peak).arg(was)));
            }
        }
        before = now;
    }
}

void TestSigns::aHigherZeroStageNeverTakesMoreMemory_data()
{
    addSixPlansOn({ "megatron-core", "fsdp" }, "a higher ZeRO stage never takes more memory of %1 on %2");
}

void TestSigns::aHigherZeroStageNeverTakesMoreMemory()
{
    // 0, 1, 2, 3: weights, gradients and optimizer states of no stage rise, nor does its peak but for buffers: what
    // ZeRO-2 and 3 keep whole for a run of micro-batches in a pipeline, and gather. Of a few ranks and small stages
    // that is more than the shards save.
    QFETCH(Plan, plan);
    std::vector<StageMemory> before;
    for (int zero = 0; zero <= 3; ++zero) {
        plan.parallelism.zeroStage = zero;
        const std::vector<StageMemory> now = evaluated(plan)->metrics.memory->perStage;
        for (std::size_t s = 0; s < before.size(); ++s) {
            const auto states = [](const StageMemory &m) { return m.weights + m.gradients + m.optimizer; };
            const auto gathered = zero > 1 ? std::max<std::int64_t>(0, now[s].buffers - before[s].buffers) : 0;
            QVERIFY2(states(now[s]) <= states(before[s]),
                qPrintable(QString("ZeRO-%1, stage %2: %3 after %4 bytes of states")
                               .arg(zero)
                               .arg(s)
                               .arg(states(now[s]))
                               .arg(states(before[s]))));
            QVERIFY2(now[s].peak <= before[s].peak + gathered,
                qPrintable(QString("ZeRO-%1, stage %2: %3 after %4 bytes, %5 gathered")
                               .arg(zero)
                               .arg(s)
                               .arg(now[s].peak)
                               .arg(before[s].peak)
                               .arg(gathered)));
        }
        before = now;
    }
}

void TestSigns::moreMicroBatchesNeverEnlargeTheBubble_data()
{
    QTest::addColumn<Plan>("plan");
    QTest::addColumn<int>("least"); // micro-batches
    QTest::addColumn<bool>("searches"); // lays its order by times, or finds it while it runs
    constexpr ScheduleKind kAll[] = { ScheduleKind::GPipe, ScheduleKind::OneFOneB, ScheduleKind::Interleaved,
        ScheduleKind::BreadthFirst, ScheduleKind::ZbH1, ScheduleKind::ZbH2, ScheduleKind::ZbV, ScheduleKind::ZbAuto,
        ScheduleKind::VHalf, ScheduleKind::VMin, ScheduleKind::DualPipe, ScheduleKind::DualPipeV, ScheduleKind::Chimera,
        ScheduleKind::Hanayo, ScheduleKind::Varuna, ScheduleKind::TeraPipe, ScheduleKind::Atlas };
    for (const ScheduleKind schedule : kAll)
        for (const Named &named : sixPlans()) {
            Plan plan = named.plan;
            if (plan.parallelism.pipeline < 4 || named.crosses())
                continue; // a link that is the bottleneck sets how much of a long iteration is waited, and a short one
                          // is all reduction
            take(plan, schedule);
            const bool pairs = schedule == ScheduleKind::DualPipe || schedule == ScheduleKind::DualPipeV;
            QTest::newRow(qPrintable(QString("more micro-batches never enlarge the bubble of %1 under %2")
                                         .arg(named.name, toString(schedule))))
                << plan << plan.parallelism.pipeline * (pairs ? 2 : 1)
                << (schedule == ScheduleKind::ZbV || schedule == ScheduleKind::ZbAuto || schedule == ScheduleKind::VHalf
                       || schedule == ScheduleKind::VMin || schedule == ScheduleKind::Atlas
                       || schedule == ScheduleKind::Varuna || schedule == ScheduleKind::Chimera);
        }
}

void TestSigns::moreMicroBatchesNeverEnlargeTheBubble()
{
    // bubble / T with M, 2 M, 4 M ... micro-batches a pipeline. What searches for an order finds one that is a little
    // worse at times: up to a twentieth, or a hundredth of the iteration.
    QFETCH(Plan, plan);
    QFETCH(int, least);
    QFETCH(bool, searches);
    const double slack = searches ? 0.05 : kTicks;
    double before = 1;
    for (int microBatches = least; microBatches <= 16 * least; microBatches *= 2) {
        plan.workload.globalBatch = microBatches * *plan.parallelism.data;
        const double bubble = evaluated(plan)->metrics.bubbleFraction.value();
        QVERIFY2(bubble <= std::max(before * (1 + slack), searches ? before + 0.01 : 0),
            qPrintable(QString("%1 micro-batches: %2 after %3").arg(microBatches).arg(bubble).arg(before)));
        before = bubble;
    }
}

void TestSigns::roomForMoreTokensCostsTimeMemoryAndFlops_data()
{
    QTest::addColumn<Plan>("plan");
    for (const Named &named : sixPlans())
        if (named.hasExperts())
            QTest::newRow(qPrintable(QString("room for more tokens costs %1 time, memory and FLOPs").arg(named.name)))
                << named.plan;
}

void TestSigns::roomForMoreTokensCostsTimeMemoryAndFlops()
{
    // F(c) = F(1) - (1 - c) of the routed experts' products for c < 1, F(1) from 1 on: mfu(c) T(c) = F(c) / peak never
    // falls with c, nor do T and the peak of any stage. Dropped tokens go on through the model: tokens/s = batch s / T.
    QFETCH(Plan, plan);
    const auto at = [&](std::optional<double> factor) {
        plan.moe.capacityFactor = factor;
        return evaluated(plan);
    };
    const auto work = [](const EvaluationPtr &e) { return *e->metrics.mfu * seconds(e); };
    const EvaluationPtr whole = at({}), one = at(1.0), half = at(0.5);
    const double s = plan.workload.sequenceLength;
    QCOMPARE(work(one), work(whole));
    QCOMPARE(work(at(1.25)), work(whole));
    QVERIFY(std::abs(work(half) / work(one)
                    / (modelFlopsPerSequence(one->model, s, 0.5) / modelFlopsPerSequence(one->model, s))
                - 1)
        < 1e-9);
    QVERIFY(*half->metrics.mfu * seconds(half) < *one->metrics.mfu * seconds(one));
    EvaluationPtr before;
    for (const double factor : { 0.25, 0.5, 0.75, 1.0, 1.25, 2.0 }) {
        const EvaluationPtr now = at(factor);
        QCOMPARE(*now->metrics.tokensPerSecond * seconds(now), double(plan.workload.globalBatch) * s);
        QCOMPARE(*now->metrics.hfu, *now->metrics.mfu);
        if (before) {
            QVERIFY(work(now) >= work(before) * (1 - 1e-12));
            QVERIFY(seconds(now) >= seconds(before) * (1 - kTicks));
            for (std::size_t stage = 0; stage < now->metrics.memory->perStage.size(); ++stage)
                QVERIFY(now->metrics.memory->perStage[stage].peak >= before->metrics.memory->perStage[stage].peak);
        }
        before = now;
    }
}

void TestSigns::noStackIsFasterThanTheIdealOne_data()
{
    QTest::addColumn<Plan>("plan");
    QTest::addColumn<QString>("stack");
    for (const StackSpec &stack : builtinCatalogue().stacks)
        for (const Named &named : sixPlans())
            if (stack.id != "ideal")
                QTest::newRow(qPrintable(QString("%1 does not run %2 faster than a stack that adds nothing")
                                             .arg(QString::fromStdString(stack.id), named.name)))
                    << withGradientsOf16Bits(named.plan) << QString::fromStdString(stack.id);
}

void TestSigns::noStackIsFasterThanTheIdealOne()
{
    // T(stack) >= T(ideal): the ideal one runs the same kernels, hides what can be hidden and adds nothing of its own
    QFETCH(Plan, plan);
    QFETCH(QString, stack);
    plan.stack.name = "ideal";
    const double ideal = seconds(evaluated(plan));
    plan.stack.name = stack.toStdString();
    const double named = seconds(evaluated(plan));
    QVERIFY2(named >= ideal * (1 - kTicks), qPrintable(QString("%1 s, ideal %2 s").arg(named).arg(ideal)));
}

void TestSigns::deepSpeedIsNotFasterThanMegatronCore_data()
{
    QTest::addColumn<Plan>("plan");
    for (const Named &named : sixPlans())
        QTest::newRow(qPrintable(QString("deepspeed does not run %1 faster than megatron-core").arg(named.name)))
            << withGradientsOf16Bits(named.plan);
}

void TestSigns::deepSpeedIsNotFasterThanMegatronCore()
{
    // The same model with eager kernels and less overlap: T(deepspeed) >= T(megatron-core)
    QFETCH(Plan, plan);
    plan.stack.name = "megatron-core";
    const double megatron = seconds(evaluated(plan));
    plan.stack.name = "deepspeed";
    const double deepSpeed = seconds(evaluated(plan));
    QVERIFY2(deepSpeed >= megatron * (1 - kTicks),
        qPrintable(QString("%1 s, megatron-core %2 s").arg(deepSpeed).arg(megatron)));
}

TRAINYARD_APPLESS_TEST(TestSigns)
#include "tst_signs.moc"
