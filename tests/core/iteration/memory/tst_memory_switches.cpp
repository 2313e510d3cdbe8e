// SPDX-License-Identifier: GPL-3.0-or-later
// What latent attention and experts let a plan spare: bytes that go, time that they cost, and what is said where a
// switch has nothing to do.
#include "core/evaluation/advice/alternatives.h"
#include "core/evaluation/memory_fit/memory_savings.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/activation_shape.h"
#include "core/iteration/placement/resolve.h"
#include "tests/support/plans.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>
#include <set>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// DeepSeek-V2-Lite on 16 H100, two stages, with a stack that keeps the experts' results.
Plan lite()
{
    Plan plan = oneSite(2, 2);
    plan.workload.model = "deepseek-v2-lite";
    plan.workload.sequenceLength = 4096;
    plan.workload.globalBatch = 64;
    plan.parallelism.tensor = 1;
    plan.parallelism.expert = 8;
    plan.stack.overrides["stores_expert_outputs"] = 1;
    return plan;
}

template <class Change> Plan with(Plan plan, Change change)
{
    change(plan);
    return plan;
}

double time(const EvaluationPtr &of)
{
    return of->metrics.iterationTime.value();
}

double kept(const EvaluationPtr &of, std::size_t stage)
{
    return double(of->metrics.memory->perStage[stage].activationPerMicroBatch);
}

/// Expert layers of a stage.
double expertLayers(const EvaluationPtr &of, std::size_t stage)
{
    return of->layout.chunks[stage].front().expertLayers;
}

bool says(const EvaluationPtr &of, const char *where, const char *text)
{
    return std::ranges::any_of(
        of->problems, [&](const Problem &p) { return p.where == where && p.text.find(text) != std::string::npos; });
}

bool near(double a, double b, double relative = 1e-9)
{
    return std::abs(a - b) <= relative * std::abs(b);
}

} // namespace

class TestMemorySwitches : public QObject {
    Q_OBJECT

private slots:
    void stageZeroOfDeepSeekV3HoldsWhatWasPublished();
    void recomputedUpProjectionsSpareKeysAndValuesAndTakeTheirProducts();
    void recomputedSharedExpertsSpareTheirInnerTensorsAndTakeTheirProducts();
    void sharedExpertsOfATensorGroupExchangeOnceMore();
    void theMemoryEfficientPermutationSparesResultsAndTakesNoTime();
    void expertsInputLeavesForHostMemory();
    void aNarrowWayToHostMemoryShows();
    void hostMemoryHasToHoldIt();
    void unevenLoadsHoldMoreOnTheFullestRank();
    void aSwitchWithNothingToDoIsSaid();
    void laddersAndAlternativesOfferWhatTheModelHas();
    void aPredictingLayerStandsOnTheLastStage();
    void windowsShortenAttentionAndNothingElse();
};

void TestMemorySwitches::stageZeroOfDeepSeekV3HoldsWhatWasPublished()
{
    // Sequence 4096, PP16 EP64 TP1, 1024 GPUs, four layers with experts a stage: 131.0 GiB of 15 micro-batches, and
    // what each switch takes off (tests/core/facts/workload/tst_spared_activations.cpp has the formulas).
    const auto v3 = [](auto change) {
        Plan plan = oneSite(128, 16);
        ModelSpec model = *builtinCatalogue().model("deepseek-v3");
        model.layers = 64;
        model.denseLayers = 0;
        plan.workload.model.clear();
        plan.workload.inlineModel = model;
        plan.workload.sequenceLength = 4096;
        plan.workload.globalBatch = 64 * 32;
        plan.parallelism.tensor = 1;
        plan.parallelism.expert = 64;
        plan.stack.overrides["stores_expert_outputs"] = 1;
        change(plan);
        return evaluated(plan);
    };
    constexpr double kGib = 0x1p30, kWaiting = 15;
    const EvaluationPtr all = v3([](Plan &) {});
    const auto spared = [&](auto change) { return kWaiting * (kept(all, 0) - kept(v3(change), 0)) / kGib; };
    QVERIFY(near(kWaiting * kept(all, 0) / kGib, 131.0, 0.0005));
    QVERIFY(near(spared([](Plan &p) { p.memory.recomputeActivationFunction = true; }), 8.44, 0.001));
    QVERIFY(near(spared([](Plan &p) { p.memory.recomputeNorms = true; }), 6.56, 0.001));
    QVERIFY(near(spared([](Plan &p) { p.memory.recomputeUpProjection = true; }), 30.0, 0.001));
    QVERIFY(near(spared([](Plan &p) { p.moe.permute = MoePermute::MemoryEfficient; }), 26.25, 0.001));
    QVERIFY(near(spared([](Plan &p) { p.memory.recomputeSharedExperts = true; }), 2.81, 0.001));
    const EvaluationPtr away = v3([](Plan &p) { p.memory.offloadExpertInput = true; });
    const double left = double(all->metrics.memory->perStage[0].peak - away->metrics.memory->perStage[0].peak) / kGib;
    // Of 16 micro-batches at the peak, 28 GiB; what has not left yet and what is back already stays.
    QVERIFY2(left > 0.9 * 26.25 && left < 28, qPrintable(QString::number(left)));
    // States beside the token table: 5.33 GiB (the router left out) and 11.81.
    const StageMemory &stage = all->metrics.memory->perStage[0];
    const double table = embeddingParameters(all->model) * (6 + 12 / 64.0);
    QVERIFY(near((double(stage.weights + stage.gradients + stage.optimizer) - table) / kGib, 17.14, 0.005));
}

void TestMemorySwitches::recomputedUpProjectionsSpareKeysAndValuesAndTakeTheirProducts()
{
    const EvaluationPtr plain = evaluated(lite()),
                        again = evaluated(with(lite(), [](Plan &p) { p.memory.recomputeUpProjection = true; }));
    // K and V of every layer: 2 a (d_qk + d_v) bytes a token, queries are not compressed
    const ModelSpec &m = plain->model;
    const double layer = 4096.0 * 2 * m.heads * (192 + m.latent.valueDim);
    for (const std::size_t stage : { 0u, 1u })
        QVERIFY(near(kept(plain, stage) - kept(again, stage), layer * plain->layout.chunks[stage].front().layers));
    QVERIFY(time(again) > time(plain));
    QVERIFY(*again->metrics.hfu > *again->metrics.mfu && near(*plain->metrics.hfu, *plain->metrics.mfu));
    const double added = (*again->metrics.hfu / *again->metrics.mfu - 1) * modelFlopsPerSequence(m, 4096);
    QVERIFY(near(added, m.layers * remadeFlops(m, true, 4096, { true, false }), 1e-6));
}

void TestMemorySwitches::recomputedSharedExpertsSpareTheirInnerTensorsAndTakeTheirProducts()
{
    const EvaluationPtr plain = evaluated(lite()),
                        again = evaluated(with(lite(), [](Plan &p) { p.memory.recomputeSharedExperts = true; }));
    for (const std::size_t stage : { 0u, 1u }) // 6 fs bytes a token of a layer with experts
        QVERIFY(near(kept(plain, stage) - kept(again, stage),
            4096.0 * 6 * plain->model.sharedExpertFfn * expertLayers(plain, stage)));
    QVERIFY(time(again) > time(plain));
}

void TestMemorySwitches::sharedExpertsOfATensorGroupExchangeOnceMore()
{
    const auto tensor = [](bool isAgain) {
        return evaluated(with(lite(), [&](Plan &p) {
            p.parallelism.tensor = 2;
            p.memory.recomputeSharedExperts = isAgain;
        }));
    };
    QVERIFY(tensor(true)->metrics.breakdown->tensorParallel > tensor(false)->metrics.breakdown->tensorParallel);
}

void TestMemorySwitches::theMemoryEfficientPermutationSparesResultsAndTakesNoTime()
{
    const EvaluationPtr plain = evaluated(lite()),
                        spared = evaluated(with(lite(), [](Plan &p) { p.moe.permute = MoePermute::MemoryEfficient; }));
    const double layer = 4096.0 * 2 * plain->model.expertsPerToken * plain->model.hidden; // 2kh
    for (const std::size_t stage : { 0u, 1u })
        QVERIFY(near(kept(plain, stage) - kept(spared, stage), layer * expertLayers(plain, stage)));
    QCOMPARE(time(spared), time(plain));
}

void TestMemorySwitches::expertsInputLeavesForHostMemory()
{
    const EvaluationPtr plain = evaluated(lite()),
                        away = evaluated(with(lite(), [](Plan &p) { p.memory.offloadExpertInput = true; }));
    const double layer = 4096.0 * 2 * plain->model.expertsPerToken * plain->model.hidden; // 2kh
    const MemoryMetrics &before = *plain->metrics.memory, &after = *away->metrics.memory;
    // Stage 0 has two micro-batches between forward and backward: nearly all of what they keep of it is away.
    const double could = layer * expertLayers(plain, 0) * before.perStage[0].inFlight;
    const double spared = double(before.perStage[0].peak - after.perStage[0].peak);
    QVERIFY2(spared > 0.8 * could && spared <= could, qPrintable(QString::number(spared / could)));
    // What leaves is that tensor alone, of each of the replicas' eight micro-batches: all of it or, where a backward
    // needs it before it has left, less.
    QVERIFY(away->metrics.offload);
    const int microBatches = away->layout.classes.front().microBatches;
    const double all = layer * std::max(expertLayers(plain, 0), expertLayers(plain, 1)) * microBatches;
    QVERIFY(away->metrics.offload->bytesPerGpu <= all * (1 + 1e-9) && away->metrics.offload->bytesPerGpu > 0.9 * all);
    QVERIFY(away->metrics.memory->perStage[0].offloaded > 0.8 * could);
}

void TestMemorySwitches::aNarrowWayToHostMemoryShows()
{
    const auto over = [](double gbytesPerSecond) {
        return evaluated(with(lite(), [&](Plan &p) {
            p.memory.offloadExpertInput = true;
            p.cluster.datacenters[0].pools[0].host.emplace();
            p.cluster.datacenters[0].pools[0].host->gbytesPerSecondPerGpu = gbytesPerSecond;
        }));
    };
    const EvaluationPtr plain = evaluated(lite()), narrow = over(5), wide = over(1000);
    QVERIFY(time(narrow) > 1.02 * time(plain));
    QVERIFY(narrow->metrics.breakdown->offloadStall > 0.01 * time(narrow));
    QVERIFY(says(narrow, "memory.offload_expert_input", "waits"));
    QVERIFY2(near(time(wide), time(plain), 1e-3), qPrintable(QString::number(time(wide) / time(plain))));
    QVERIFY(!says(wide, "memory.offload_expert_input", "waits"));
}

void TestMemorySwitches::hostMemoryHasToHoldIt()
{
    const auto in = [](double gib) {
        return evaluated(with(lite(), [&](Plan &p) {
            p.memory.offloadExpertInput = true;
            p.cluster.datacenters[0].pools[0].host.emplace();
            p.cluster.datacenters[0].pools[0].host->memoryGib = gib;
        }));
    };
    QVERIFY(in(1000)->feasible());
    QVERIFY(in(1000)->metrics.memory->host > 0);
    QVERIFY(!in(1)->feasibility.fitsHosts);
}

void TestMemorySwitches::unevenLoadsHoldMoreOnTheFullestRank()
{
    // Rank 0 of eight has eight of the 64 experts, with three times as much each: 24 of 24 + 56.
    const auto loaded = [](std::vector<double> loads) {
        Plan plan = lite();
        plan.moe.expertLoads = std::move(loads);
        const auto workload = resolve(std::make_shared<const Plan>(std::move(plan)), builtinCatalogue());
        return activationShape(*workload).imbalance;
    };
    std::vector<double> loads(64, 1);
    QCOMPARE(loaded(loads), 1.0);
    std::fill(loads.begin(), loads.begin() + 8, 3);
    QVERIFY(near(loaded(loads), 24.0 / 80 * 8));
    std::swap(loads[0], loads[7]); // of one rank
    QVERIFY(near(loaded(loads), 24.0 / 80 * 8));
    QCOMPARE(loaded({}), 1.0);
}

void TestMemorySwitches::aSwitchWithNothingToDoIsSaid()
{
    const auto all = [](Plan plan) {
        plan.memory.recomputeUpProjection = plan.memory.recomputeSharedExperts = true;
        plan.memory.offloadExpertInput = true;
        plan.moe.permute = MoePermute::MemoryEfficient;
        return plan;
    };
    const EvaluationPtr dense = evaluated(all(oneSite(1, 1)));
    QVERIFY(says(dense, "memory.recompute_up_projection", "no latent attention"));
    QVERIFY(says(dense, "memory.recompute_shared_experts", "no shared experts"));
    QVERIFY(says(dense, "memory.offload_expert_input", "no experts"));
    QVERIFY(says(dense, "moe.permute", "no experts"));
    QCOMPARE(time(dense), time(evaluated(oneSite(1, 1))));
    QVERIFY(!dense->metrics.offload);
    const EvaluationPtr full = evaluated(with(all(lite()), [](Plan &p) { p.memory.recompute = Recompute::Full; })),
                        plain = evaluated(with(lite(), [](Plan &p) { p.memory.recompute = Recompute::Full; }));
    for (const char *where : { "memory.recompute_up_projection", "memory.recompute_shared_experts",
             "memory.offload_expert_input", "moe.permute" })
        QVERIFY2(says(full, where, "recomputed as a whole"), where);
    QCOMPARE(time(full), time(plain));
    const EvaluationPtr inside = evaluated(with(all(lite()), [](Plan &p) { p.stack.overrides.clear(); }));
    QVERIFY(says(inside, "moe.permute", "keeps no results"));
    QVERIFY(!says(inside, "memory.recompute_up_projection", "spares nothing"));
}

void TestMemorySwitches::laddersAndAlternativesOfferWhatTheModelHas()
{
    const std::set<std::string> ids = { "permute-memory-efficient", "recompute-up-projection",
        "recompute-shared-experts", "expert-input-host" };
    const std::set<std::string> groups = { "permute", "recompute_up_projection", "recompute_shared_experts",
        "offload_expert_input" };
    const auto offered = [&](const Plan &plan, StackSpec stack) {
        const ModelSpec &model = *builtinCatalogue().model(plan.workload.model);
        stack.storesExpertOutputs = plan.stack.overrides.contains("stores_expert_outputs");
        int found = 0;
        for (const MemorySaving &saving : memorySavings(plan, model, stack)) {
            if (!ids.contains(saving.id))
                continue;
            Plan next = plan;
            saving.apply(next);
            found += next != plan; // each changes the plan
        }
        int changed = 0;
        for (const Alternative &alternative : strategyAlternatives(plan, builtinCatalogue(), &model))
            changed += groups.contains(alternative.group) && !alternative.isCurrent && alternative.plan;
        return std::pair(found, changed);
    };
    const StackSpec &stack = *builtinCatalogue().stack("megatron-core");
    QCOMPARE(offered(lite(), stack), std::pair(4, 4));
    // A stack that keeps no results offers no cheaper permutation as a step; a model without shared experts and latent
    // attention offers neither; a dense one nothing at all.
    QCOMPARE(offered(with(lite(), [](Plan &p) { p.stack.overrides.clear(); }), stack).first, 3);
    QCOMPARE(offered(with(lite(), [](Plan &p) { p.workload.model = "mixtral-8x7b"; }), stack), std::pair(2, 2));
    QCOMPARE(offered(oneSite(1, 1), stack), std::pair(0, 0));
    QCOMPARE(offered(with(lite(), [](Plan &p) { p.memory.recompute = Recompute::Full; }), stack), std::pair(0, 0));
    // Measured stage times hold for what the plan says of them alone.
    const auto measured = [](Plan &p) {
        p.profile.emplace();
        p.profile->forwardMs = p.profile->backwardMs = { 10 };
    };
    QCOMPARE(offered(with(lite(), measured), stack).second, 0);
}

void TestMemorySwitches::aPredictingLayerStandsOnTheLastStage()
{
    const auto predicting = [](int layers) {
        return evaluated(with(lite(), [&](Plan &p) {
            p.workload.inlineModel = *builtinCatalogue().model("deepseek-v2-lite");
            p.workload.inlineModel->mtpLayers = layers;
            p.workload.model.clear();
        }));
    };
    const EvaluationPtr none = predicting(0), one = predicting(1), two = predicting(2);
    const auto &before = none->metrics.memory->perStage, &after = one->metrics.memory->perStage;
    QCOMPARE(after[0].peak, before[0].peak);
    // Experts: 64 / 8 of 3hf each; the rest of the layer, 2h x h, three norms, and a copy of the token table; 2 bytes.
    const ModelSpec &m = none->model;
    const LayerParameters layer = layerParameters(m, true);
    const double h = m.hidden,
                 more = layer.experts / 8 + layer.total() - layer.experts + 2 * h * h + 3 * h + h * m.vocab;
    QVERIFY(near(double(after[1].weights - before[1].weights), 2 * more, 1e-6));
    // A layer like the others, the inputs of the joining product and of its norms (8h), nothing that stage 1 lacks.
    QVERIFY(kept(one, 1) > kept(none, 1) + 4096 * 8 * h);
    QVERIFY(near(kept(two, 1) - kept(one, 1), kept(one, 1) - kept(none, 1)));
    QVERIFY(time(one) > time(none) && time(two) > time(one));
    QVERIFY(*one->metrics.modelTflopsPerGpu * time(one) > *none->metrics.modelTflopsPerGpu * time(none));
}

void TestMemorySwitches::windowsShortenAttentionAndNothingElse()
{
    const auto windowed = [](int window, int layers) {
        return evaluated(with(oneSite(1, 1), [&](Plan &p) {
            p.workload.sequenceLength = 32768;
            p.workload.globalBatch = 8;
            p.workload.inlineModel = *builtinCatalogue().model("llama-3-8b");
            p.workload.inlineModel->attentionWindow = window;
            p.workload.inlineModel->windowedLayers = layers;
            p.workload.model.clear();
        }));
    };
    const EvaluationPtr full = windowed(0, 0), half = windowed(1024, 16), all = windowed(1024, 32),
                        wide = windowed(32768, 32);
    QCOMPARE(time(wide), time(full));
    QVERIFY(time(half) < time(full) && time(all) < time(half));
    QVERIFY(near(time(full) - time(half), time(half) - time(all), 1e-2)); // half of the layers, half of it
    QCOMPARE(half->metrics.memory->peak, full->metrics.memory->peak);
    // Attention of 32,768 tokens is much of an iteration; windows of 1,024 leave a sixteenth of its pairs.
    QVERIFY(*all->metrics.modelTflopsPerGpu * time(all) < 0.75 * *full->metrics.modelTflopsPerGpu * time(full));
}

TRAINYARD_APPLESS_TEST(TestMemorySwitches)
#include "tst_memory_switches.moc"
