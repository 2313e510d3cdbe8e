// SPDX-License-Identifier: GPL-3.0-or-later
// Settings that change nothing are named with why, and nothing else is. What changes nothing is told by the metrics as
// they are printed: every number of the two is the same.
#include "core/evaluation/report/idle_changes.h"
#include "core/evaluation/report/metrics_json.h"
#include "core/evaluation/report/outcome.h"
#include "core/facts/plan/plan_io.h"
#include "tests/support/plans.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include <QTest>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace trainyard;
using namespace trainyard::test;

namespace {

using Settings = std::vector<KeySetting>;

EvaluationPtr scored(const PlanPtr &plan)
{
    static EvaluationWorkspace workspace;
    const auto score = evaluate(plan, builtinCatalogue(), workspace, {}, Depth::Score);
    return score ? *score : nullptr;
}

PlanPtr with(const Plan &plan, const Settings &settings)
{
    return std::make_shared<const Plan>(withKeysSet(plan, settings).value());
}

std::vector<IdleChange> idleOf(const Plan &plan, const Settings &settings)
{
    const PlanPtr set = with(plan, settings);
    return idleChanges(std::make_shared<const Plan>(plan), *scored(set), builtinCatalogue(), scored);
}

std::string sentences(const std::vector<IdleChange> &idle)
{
    std::string text;
    for (const IdleChange &change : idle)
        text += (text.empty() ? "" : "\n") + change.sentence();
    return text;
}

/// The metrics as they are printed, without sentences, the range, and how they came about.
nlohmann::json numbers(const Evaluation &evaluation)
{
    nlohmann::json json = nlohmann::json::parse(metricsJson(evaluation));
    for (const char *how : { "name", "problems", "confidence", "engine" })
        json.erase(how);
    return json;
}

} // namespace

class IdleChangesTest : public QObject {
    Q_OBJECT
private slots:
    void aSettingThatMovesNothingSaysWhy_data()
    {
        QTest::addColumn<std::string>("sample");
        QTest::addColumn<std::string>("key");
        QTest::addColumn<std::string>("value");
        QTest::addColumn<std::string>("why");
        const auto row = [](const char *sample, const char *key, const char *value, const char *why) {
            QTest::newRow((std::string(sample) + " " + key).c_str())
                << std::string(sample) << std::string(key) << std::string(value) << std::string(why);
        };
        row("gpt3-offload-a100-40gb", "workload.precision", "bf16",
            "Precision fp16 → bf16 has no effect: fp16 and bf16 have elements of 2 bytes, and the GPUs at work "
            "multiply "
            "them at the same rate");
        row("atlas-headline", "memory.optimizer_offload", "host",
            "Optimizer offload none → host has no effect: stage times were measured and count no memory");
        row("ssdtrain-bert-2xa100", "wan.sharing", "temporal",
            "Temporal WAN sharing on has no effect: the cluster has one datacenter");
        row("cephalo-lab", "parallelism.virtual_pipeline", "1",
            ""); // as it is: nothing was changed, so that nothing is said
        row("cephalo-lab", "schedule", "gpipe",
            "Schedule 1f1b → gpipe has no effect: work goes layer by layer (heterogeneity.accumulation), not by a "
            "schedule of micro-batches");
        row("hydra-lab", "memory.recompute", "full",
            "Recompute none → full has no effect: it is about one model's iteration, and the plan trains jobs");
    }

    void aSettingThatMovesNothingSaysWhy()
    {
        QFETCH(std::string, sample);
        QFETCH(std::string, key);
        QFETCH(std::string, value);
        QFETCH(std::string, why);
        QCOMPARE(sentences(idleOf(samplePlan(sample), { { key, value } })), why);
    }

    /// 64 GPUs in pipelines of 4 stages of 8: auto makes 2 replicas.
    void autoNamesTheNumberThatItComesTo()
    {
        QCOMPARE(sentences(idleOf(oneSite(8), { { "parallelism.data", "2" } })),
            std::string("Data parallel auto → 2 has no effect: auto comes to 2 replicas as well"));
        QVERIFY(idleOf(oneSite(8), { { "parallelism.data", "1" } }).empty());
    }

    /// Of two that are set together each is looked at beside the other.
    void ofSeveralSettingsThoseThatMoveNothingAreNamed()
    {
        const std::vector<IdleChange> idle = idleOf(oneSite(8),
            { { "memory.recompute", "full" }, { "memory.recompute_norms", "true" }, { "workload.precision", "fp16" } });
        QCOMPARE(idle.size(), std::size_t(2));
        QCOMPARE(idle[0].key, std::string("workload.precision"));
        QCOMPARE(idle[1].key, std::string("memory.recompute_norms"));
        QCOMPARE(idle[1].why, std::string("every layer is recomputed as a whole"));
        // Without full recomputation it is not for nothing.
        QVERIFY(idleOf(oneSite(8), { { "memory.recompute_norms", "true" } }).empty());
    }

    /// What is found idle has the numbers of the plan without it, as they are printed; what is not has others.
    void whatIsIdleHasTheNumbersOfThePlanWithoutIt()
    {
        int idle = 0, moved = 0;
        const Plan plan = samplePlan("llama-3-70b-three-regions");
        const EvaluationPtr now = scored(std::make_shared<const Plan>(plan));
        for (const KeySetting &setting : Settings { { "workload.precision", "fp16" }, { "parallelism.zero_stage", "0" },
                 { "wan.turns", "drain-first" }, { "memory.recompute", "full" }, { "memory.offload_ahead", "3" },
                 { "workload.optimizer", "lion" }, { "cluster.datacenters[0].usd_per_kwh", "9" },
                 { "cluster.wan_links[0].usd_per_gb", "9" }, { "moe.imbalance", "3" },
                 { "cluster.datacenters[0].latitude", "1" } }) {
            const bool isIdle = !idleOf(plan, { setting }).empty();
            const EvaluationPtr other = scored(with(plan, { setting }));
            QVERIFY2((numbers(*now) == numbers(*other)) == isIdle, setting.first.c_str());
            QCOMPARE(sameOutcome(*now, *other), isIdle);
            ++(isIdle ? idle : moved);
        }
        QVERIFY(idle >= 4 && moved >= 4);
    }

    /// A byte of one GPU, a microsecond of the iteration or a link's bytes are an outcome; sentences are none.
    void anyNumberThatMovesIsAnOutcome()
    {
        const EvaluationPtr now = scored(sharedSample("llama-3-70b-three-regions"));
        QVERIFY(sameOutcome(*now, *now));
        const auto differs = [&](auto change) {
            Evaluation other = *now;
            change(other);
            return !sameOutcome(*now, other) && !sameOutcome(other, *now);
        };
        QVERIFY(differs([](Evaluation &e) { e.metrics.memory->perStage.back().device += 4096; }));
        QVERIFY(differs([](Evaluation &e) { e.metrics.memory->host += 1 << 20; }));
        QVERIFY(differs([](Evaluation &e) { *e.metrics.iterationTime += 1e-6; }));
        QVERIFY(differs([](Evaluation &e) { e.metrics.devices.front().wait += 1; }));
        QVERIFY(differs([](Evaluation &e) { e.metrics.wanLinks.front().bytes[0] += 1e6; }));
        QVERIFY(differs([](Evaluation &e) { *e.metrics.cost.usdPerIteration *= 1.001; }));
        QVERIFY(differs([](Evaluation &e) { e.feasibility.fitsHosts = false; }));
        QVERIFY(differs([](Evaluation &e) { e.layout.classes.front().locations.front().datacenter ^= 1; }));
        QVERIFY(!differs([](Evaluation &e) { e.problems.clear(); }));
        QVERIFY(!differs([](Evaluation &e) { e.metrics.evaluateMs = 1e6; }));
    }

    /// Scores and whole evaluations of one plan come to the same, so that a row may compare the two.
    void howDeepOneLooksIsNoOutcome()
    {
        for (const char *sample : { "ssdtrain-bert-2xa100", "hydra-lab", "mixed-lab", "atlas-headline" })
            QVERIFY2(sameOutcome(*evaluatedSample(sample), *scored(sharedSample(sample))), sample);
    }

    /// By made-up rules: communication buffers take time, but for uneven experts. Nobody knows that but the scores.
    void whereNoRuleKnowsWhyTheSettingInItsWayIsLookedFor()
    {
        const ScorePlan rules = [](const PlanPtr &plan) {
            auto evaluation = std::make_shared<Evaluation>();
            evaluation->plan = plan;
            const bool counts = plan->moe.imbalance == 1 && plan->heterogeneity.commBufferGib;
            evaluation->metrics.iterationTime = counts ? 11 : 10;
            return evaluation;
        };
        Plan plan = oneSite(8);
        plan.heterogeneity.compute = ComputeSharing::Balanced;
        plan.moe.imbalance = 2;
        const PlanPtr base = std::make_shared<const Plan>(plan);
        const PlanPtr set = with(plan, { { "heterogeneity.comm_buffer_gib", "3" } });
        const auto idle = idleChanges(base, *rules(set), builtinCatalogue(), rules);
        QCOMPARE(sentences(idle),
            std::string("Communication buffers default → 3 GiB has no effect: it would do something without "
                        "moe.imbalance (Expert imbalance 1 → 2)"));
    }

    /// Never silent: without a reason the setting is named all the same.
    void aSettingWithoutAReasonIsStillNamed()
    {
        const IdleChange change { "memory.recompute", "Recompute none → full", {}, false };
        QCOMPARE(change.sentence(), std::string("Recompute none → full has no effect on this plan"));
        QCOMPARE(idleNotes({ change }).size(), std::size_t(1));
        QCOMPARE(idleNotes({ change }).front().where, std::string("memory.recompute"));
    }

    /// A note that is there already is not repeated.
    void whatAProblemSaysIsNotSaidAgain()
    {
        const PlanPtr set = with(samplePlan("atlas-headline"), { { "memory.optimizer_offload", "host" } });
        const EvaluationPtr after = scored(set);
        const auto idle = idleChanges(sharedSample("atlas-headline"), *after, builtinCatalogue(), scored);
        QCOMPARE(idle.size(), std::size_t(1));
        QVERIFY(idle.front().isSaid);
        QVERIFY(idleNotes(idle).empty());
        QVERIFY(std::ranges::any_of(after->problems,
            [&](const Problem &problem) { return problem.text.find(idle.front().change) != std::string::npos; }));
    }

    /// Hardware, model, batch and degrees stay: what is asked is which switches a plan could do without.
    void switchesAtTheirDefaultsKeepWhatIsTrainedWhere()
    {
        for (const char *sample : { "llama-3-70b-three-regions", "cephalo-lab", "moe-2x70b-16-a800" }) {
            const Plan plan = samplePlan(sample), standard = withSwitchesAtDefault(plan);
            QVERIFY(standard.cluster == plan.cluster && standard.placement == plan.placement);
            QVERIFY(standard.workload.model == plan.workload.model && standard.schedule == plan.schedule);
            QCOMPARE(standard.workload.globalBatch, plan.workload.globalBatch);
            QCOMPARE(standard.parallelism.pipeline, plan.parallelism.pipeline);
            QVERIFY(standard.memory == MemoryStrategy {} && standard.wan == WanStrategy {});
        }
    }
};

TRAINYARD_APPLESS_TEST(IdleChangesTest)
#include "tst_idle_changes.moc"
