// SPDX-License-Identifier: GPL-3.0-or-later
// Random mixtures of GPUs under layered accumulation, by the cost model: what is dealt adds up and fits, time adds up,
// and what a reader of plans would expect of more bandwidth, of prefetching and of faster GPUs holds.
#include "core/evaluation/advice/evaluate.h"
#include "core/facts/catalogue/catalogue.h"
#include "tests/support/most_replicas.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <random>
#include <set>

using namespace trainyard;

namespace {

EvaluationPtr evaluated(const Plan &plan, Depth depth = Depth::Score)
{
    EvaluationWorkspace workspace;
    auto result = evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, depth);
    if (!result)
        qFatal("%s", toString(result.error()[0]).c_str());
    return *result;
}

class RandomMixtures {
public:
    explicit RandomMixtures(unsigned seed)
        : m_random(seed)
    {
    }

    Plan next()
    {
        Plan plan;
        Datacenter &site = plan.cluster.datacenters.emplace_back();
        site.id = "lab";
        site.fabricGbpsPerGpu = one({ 25.0, 100.0, 400.0 });
        const int pools = whole(1, 3);
        for (int i = 0; i < pools; ++i) {
            Pool &pool = site.pools.emplace_back();
            pool.id = "pool-" + std::to_string(i);
            pool.gpu = one({ "h100-sxm-80gb", "a100-sxm-80gb", "a100-sxm-40gb", "a6000-48gb", "l4-24gb", "a10g-24gb" });
            pool.nodes = whole(1, 4);
            pool.gpusPerNode = one({ 1, 2, 4, 8 });
        }
        plan.workload.model = one({ "gpt-3-1.3b", "gpt-3-2.7b", "opt-1.3b" });
        plan.workload.sequenceLength = one({ 512, 1024, 2048 });
        plan.workload.globalBatch = site.gpus() * whole(1, 9) + (whole(0, 1) ? whole(0, 5) : 0);
        plan.workload.precision = Precision::Bf16;
        plan.parallelism.zeroStage = one({ 2, 3, 3 });
        plan.parallelism.tensor = one({ 1, 1, 2 });
        plan.parallelism.context = one({ 1, 1, 1, 2 });
        plan.stack = { "fsdp", {} };
        plan.memory.recompute = one({ Recompute::Full, Recompute::Full, Recompute::None });
        Heterogeneity &h = plan.heterogeneity;
        h.accumulation = Accumulation::Layered;
        h.compute = one({ ComputeSharing::Balanced, ComputeSharing::Balanced, ComputeSharing::Even });
        h.state = one({ StateSharing::Even, StateSharing::MinParams, StateSharing::MinUtilization });
        h.boundaryOffload = whole(0, 1);
        h.gatherPrefetch = whole(0, 3) > 0;
        h.memoryFraction = one({ 0.8, 0.9, 1.0 });
        return plan;
    }

private:
    template <class T> T one(std::initializer_list<T> values) { return values.begin()[m_random() % values.size()]; }
    int whole(int least, int most) { return least + int(m_random() % unsigned(most - least + 1)); }

    std::mt19937 m_random;
};

constexpr int kPlans = 120;

/// Some or all GPUs of a pool in groups of another size; every other plan goes micro-batch by micro-batch.
Plan withOwnGroups(Plan plan, std::mt19937 &random)
{
    const auto &pools = plan.cluster.datacenters.front().pools;
    const Pool &pool = pools[random() % pools.size()];
    RankPin pin;
    pin.datacenter = plan.cluster.datacenters.front().id;
    pin.pool = pool.id;
    pin.tensor = std::min(1 << random() % 3, pool.gpusPerNode);
    const int group = *pin.tensor * plan.parallelism.context;
    if (random() % 3 == 0 && pool.gpus() > group)
        pin.gpus = group * int(1 + random() % unsigned(pool.gpus() / group));
    plan.heterogeneity.assign = { pin };
    if (random() % 2) {
        plan.heterogeneity.accumulation = Accumulation::Standard;
        plan.heterogeneity.boundaryOffload = false;
    }
    return plan;
}

bool isDealt(const Evaluation &evaluation)
{
    return evaluation.layout.data > 0 && evaluation.layout.shares.why.empty();
}

double seconds(const Evaluation &evaluation)
{
    return *evaluation.metrics.iterationTime;
}

} // namespace

class TstRandomMixed : public QObject {
    Q_OBJECT

private slots:
    void samplesAndStatesAddUpAndFit()
    {
        RandomMixtures mixtures(1);
        int dealt = 0;
        for (int i = 0; i < kPlans; ++i) {
            const Plan plan = mixtures.next();
            const EvaluationPtr evaluation = evaluated(plan);
            if (!isDealt(*evaluation))
                continue;
            ++dealt;
            int samples = 0, byClass = 0, replicas = 0;
            double states = 0;
            for (const ReplicaShare &share : evaluation->layout.shares.ranks) {
                samples += share.pipelines * share.samples;
                states += share.pipelines * share.stateShare;
                replicas += share.pipelines;
            }
            for (const PipelineClass &c : evaluation->layout.classes)
                byClass += c.pipelines * c.microBatch * c.microBatches;
            QCOMPARE(samples, plan.workload.globalBatch);
            QCOMPARE(byClass, samples);
            QCOMPARE(replicas, evaluation->layout.data);
            QVERIFY2(std::abs(states - 1) < 1e-9, qPrintable(QString::number(states)));
            QVERIFY2(evaluation->feasible(), qPrintable(QString::number(i)));
        }
        QVERIFY2(dealt > kPlans / 2, qPrintable(QString::number(dealt)));
    }

    // The same with tensor groups of their own for some GPUs, layer by layer and not: every replica's samples, its
    // share of the states (on each GPU of a group as large a share of its slice) and its GPUs are counted once, and
    // what was dealt fits.
    void unlikeTensorGroupsAddUpAndFitToo()
    {
        RandomMixtures mixtures(7);
        std::mt19937 random(7);
        int dealt = 0, unlike = 0;
        for (int i = 0; i < kPlans; ++i) {
            Plan plan = withOwnGroups(mixtures.next(), random);
            const EvaluationPtr evaluation = evaluated(plan);
            if (!isDealt(*evaluation) || !evaluation->metrics.iterationTime)
                continue;
            ++dealt;
            std::set<int> degrees;
            int gpus = 0, samples = 0;
            double states = 0;
            for (const DeviceMetrics &device : evaluation->metrics.devices) {
                const double replicas = double(device.ranks) / device.tensor / plan.parallelism.context;
                degrees.insert(device.tensor);
                gpus += device.ranks;
                samples += int(std::lround(replicas)) * device.microBatch * device.microBatches;
                states += replicas * plan.parallelism.context * device.stateShare;
                QVERIFY(device.device <= device.capacity || !evaluation->feasible());
            }
            unlike += degrees.size() > 1;
            QCOMPARE(gpus, evaluation->metrics.gpusUsed);
            int idle = 0;
            for (const IdleGpus &group : evaluation->layout.idle)
                idle += group.gpus;
            QCOMPARE(gpus + idle, plan.cluster.gpus());
            if (plan.heterogeneity.isLayered()) {
                QCOMPARE(samples, plan.workload.globalBatch);
                QVERIFY2(evaluation->feasible(), qPrintable(QString::number(i)));
            } else
                QVERIFY(samples >= plan.workload.globalBatch);
            QVERIFY2(std::abs(states - 1) < 1e-9, qPrintable(QString::number(states)));
            QVERIFY(
                std::abs(evaluation->metrics.breakdown->total() - seconds(*evaluation)) < 1e-6 * seconds(*evaluation));
        }
        QVERIFY2(dealt > kPlans / 3 && unlike > kPlans / 6, qPrintable(QStringLiteral("%1 %2").arg(dealt).arg(unlike)));
    }

    void timeAddsUp()
    {
        RandomMixtures mixtures(2);
        for (int i = 0; i < kPlans; ++i) {
            const EvaluationPtr evaluation = evaluated(mixtures.next());
            if (!evaluation->metrics.iterationTime)
                continue;
            QVERIFY(
                std::abs(evaluation->metrics.breakdown->total() - seconds(*evaluation)) < 1e-6 * seconds(*evaluation));
        }
    }

    void theEstimateIsNearTheSimulation()
    {
        // The closed form adds maxima over replicas and layers; the simulation knows which layers are longer, and lets
        // replicas run ahead by a layer.
        RandomMixtures mixtures(3);
        double worst = 0;
        for (int i = 0; i < kPlans; ++i) {
            const Plan plan = test::withMostReplicas(mixtures.next());
            const EvaluationPtr simulated = evaluated(plan), estimated = evaluated(plan, Depth::Estimate);
            if (!simulated->metrics.iterationTime || !isDealt(*simulated))
                continue;
            worst = std::max(worst, std::abs(seconds(*estimated) / seconds(*simulated) - 1));
        }
        QVERIFY2(worst < 0.25, qPrintable(QString::number(worst)));
    }

    void moreBandwidthIsNeverSlowerForTheSameShares()
    {
        // With the shares of one bandwidth pinned, another changes only how long collectives take.
        RandomMixtures mixtures(4);
        for (int i = 0; i < kPlans / 2; ++i) {
            Plan plan = mixtures.next();
            plan.heterogeneity.compute = ComputeSharing::Even;
            plan.heterogeneity.state = StateSharing::Even;
            const EvaluationPtr slow = evaluated(plan);
            *plan.cluster.datacenters[0].fabricGbpsPerGpu *= 2;
            const EvaluationPtr fast = evaluated(plan);
            if (isDealt(*slow) && isDealt(*fast))
                QVERIFY2(fast->layout.shares.layerTime <= slow->layout.shares.layerTime * (1 + 1e-9),
                    qPrintable(QString::number(i)));
        }
    }

    void prefetchingNeverLengthensALayer()
    {
        RandomMixtures mixtures(5);
        for (int i = 0; i < kPlans / 2; ++i) {
            Plan plan = mixtures.next();
            plan.heterogeneity.gatherPrefetch = false;
            const EvaluationPtr without = evaluated(plan);
            plan.heterogeneity.gatherPrefetch = true;
            const EvaluationPtr with = evaluated(plan);
            if (isDealt(*without) && isDealt(*with))
                QVERIFY2(with->layout.shares.layerTime <= without->layout.shares.layerTime * (1 + 1e-9),
                    qPrintable(QString::number(i)));
        }
    }

    void balancingIsNeverSlowerThanEvenShares()
    {
        RandomMixtures mixtures(6);
        for (int i = 0; i < kPlans; ++i) {
            Plan plan = mixtures.next();
            plan.heterogeneity.compute = ComputeSharing::Balanced;
            const EvaluationPtr evaluation = evaluated(plan);
            if (isDealt(*evaluation) && evaluation->layout.shares.evenLayerTime > 0)
                QVERIFY2(evaluation->layout.shares.layerTime <= evaluation->layout.shares.evenLayerTime * (1 + 1e-9),
                    qPrintable(QString::number(i)));
        }
    }

    void aFasterGpuWithAsMuchMemoryNeverSlowsALayer()
    {
        // An A100 80 GB becomes an H100 80 GB of exactly its memory.
        const GpuSpec *const a100 = builtinCatalogue().gpu("a100-sxm-80gb");
        GpuSpec h100 = *builtinCatalogue().gpu("h100-sxm-80gb");
        h100.memoryBytes = a100->memoryBytes;
        RandomMixtures mixtures(7);
        int compared = 0;
        for (int i = 0; i < kPlans; ++i) {
            Plan plan = mixtures.next();
            plan.heterogeneity.compute = ComputeSharing::Balanced;
            plan.cluster.datacenters[0].pools[0].gpu = "a100-sxm-80gb";
            plan = test::withMostReplicas(plan);
            Pool &pool = plan.cluster.datacenters[0].pools[0];
            const EvaluationPtr before = evaluated(plan);
            pool.gpu.clear();
            pool.inlineGpu = h100;
            const EvaluationPtr after = evaluated(plan);
            if (!isDealt(*before) || !isDealt(*after))
                continue;
            ++compared;
            QVERIFY2(after->layout.shares.layerTime <= before->layout.shares.layerTime * (1 + 1e-9),
                qPrintable(QString::number(i)));
        }
        QVERIFY(compared > 20);
    }

    void prefillMovesNoSpanOfUnequalRanks()
    {
        RandomMixtures mixtures(8);
        int filled = 0;
        for (int i = 0; i < 25; ++i) {
            Plan plan = mixtures.next();
            plan.heterogeneity.compute = ComputeSharing::Even; // so that the faster ones wait
            const EvaluationPtr without = evaluated(plan, Depth::Spans);
            plan.bubbleFill.enabled = true;
            plan.bubbleFill.model = "llama-3-8b";
            plan.bubbleFill.requestsPerSecond = 20;
            plan.bubbleFill.promptTokens = 256;
            plan.bubbleFill.ttftSloMs = 1e5;
            const EvaluationPtr with = evaluated(plan, Depth::Spans);
            if (!without->metrics.iterationTime)
                continue;
            const Timeline &a = without->timeline, &b = with->timeline;
            QCOMPARE(b.duration, a.duration);
            for (std::size_t track = 0; track < a.tracks.size(); ++track)
                for (std::uint32_t k = 0; k < a.tracks[track].last - a.tracks[track].first; ++k) {
                    QCOMPARE(b.start[b.tracks[track].first + k], a.start[a.tracks[track].first + k]);
                    QCOMPARE(b.end[b.tracks[track].first + k], a.end[a.tracks[track].first + k]);
                }
            if (!with->metrics.bubbleFill || with->metrics.bubbleFill->accepted == 0)
                continue;
            ++filled;
            for (std::size_t track = a.tracks.size(); track < b.tracks.size(); ++track) // they lie in what was free
                for (std::uint32_t span = b.tracks[track].first; span < b.tracks[track].last; ++span)
                    for (const Track &own : a.tracks) {
                        if (own.stream != Stream::Compute || own.pipelineClass != b.tracks[track].pipelineClass
                            || own.stage != b.tracks[track].stage)
                            continue;
                        for (std::uint32_t k = own.first; k < own.last; ++k)
                            QVERIFY(a.end[k] <= b.start[span] || a.start[k] >= b.end[span]);
                    }
        }
        QVERIFY2(filled > 3, qPrintable(QString::number(filled)));
    }
};

TRAINYARD_GUILESS_TEST(TstRandomMixed)
#include "tst_random_mixed.moc"
