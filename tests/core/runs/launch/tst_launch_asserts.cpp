// SPDX-License-Identifier: GPL-3.0-or-later
// What Megatron-LM d98e8a6 asserts of arguments that an export writes: each rule stands with its place in that commit,
// a plan that would break it is refused with the key, and no export of any other plan breaks one.
#include "tests/core/runs/launch/launch_trial.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTest>

#include <functional>
#include <map>
#include <random>

using namespace trainyard;

namespace {

using Flags = std::map<QString, QStringList>;

Flags flagsOf(const std::string &script)
{
    const QString text = QString::fromStdString(script);
    const QString own = text.mid(text.indexOf(QStringLiteral("pretrain_gpt.py")));
    Flags flags;
    QString flag;
    for (const QString &word :
        own.split(QRegularExpression(QStringLiteral("[\\s\\\\\"']+")), Qt::SkipEmptyParts).mid(1)) {
        if (word.startsWith(u"--"))
            flags[flag = word];
        else if (!flag.isEmpty())
            flags[flag] << word;
    }
    return flags;
}

bool has(const Flags &flags, const char *flag)
{
    return flags.contains(QString::fromUtf8(flag));
}
QString of(const Flags &flags, const char *flag)
{
    const auto at = flags.find(QString::fromUtf8(flag));
    return at == flags.end() || at->second.isEmpty() ? QString() : at->second.front();
}
bool names(const Flags &flags, const char *flag, const char *value)
{
    const auto at = flags.find(QString::fromUtf8(flag));
    return at != flags.end() && at->second.contains(QString::fromUtf8(value));
}

Plan plain()
{
    Plan plan;
    plan.cluster.datacenters = { { .id = "here",
        .pools = { { .id = "p", .gpu = "b200-sxm-180gb", .nodes = 2, .host = Host { 4096, 25, {} } } } } };
    plan.workload.model = "llama-3-8b";
    plan.workload.sequenceLength = 2048;
    plan.workload.globalBatch = 64;
    plan.parallelism = { .tensor = 2, .pipeline = 2, .data = 4 };
    return plan;
}

Plan sparse()
{
    Plan plan = plain();
    plan.workload.model = "deepseek-v3";
    plan.parallelism = { .tensor = 1, .pipeline = 1, .data = 16, .expert = 8, .zeroStage = 1 };
    plan.moe.dispatch = MoeDispatch::Flat;
    return plan;
}

struct Rule {
    const char *place; // in megatron/ of the commit
    bool (*holds)(const Flags &);
    Plan plan; // would break it
    const char *key; // that is refused for it
};

std::vector<Rule> rules()
{
    std::vector<Rule> all;
    const auto add = [&](const char *place, auto holds, Plan plan, auto change, const char *key) {
        change(plan);
        all.push_back({ place, holds, std::move(plan), key });
    };
    add(
        "core/optimizer/optimizer_config.py:434: precision-aware with adam alone",
        [](const Flags &f) {
            return !has(f, "--use-precision-aware-optimizer") || of(f, "--optimizer") == QStringLiteral("adam");
        },
        plain(),
        [](Plan &p) {
            p.memory.optimizerOffload = OptimizerOffload::Host;
            p.parallelism.zeroStage = 1;
            p.workload.optimizer = Optimizer::Lion;
        },
        "workload.optimizer");
    add(
        "training/arguments.py:1885: optimizer offload with the precision-aware one",
        [](const Flags &f) { return !has(f, "--optimizer-cpu-offload") || has(f, "--use-precision-aware-optimizer"); },
        plain(),
        [](Plan &p) {
            p.memory.optimizerOffload = OptimizerOffload::Host;
            p.parallelism.zeroStage = 1;
            p.workload.optimizer = Optimizer::Sgd;
        },
        "workload.optimizer");
    add(
        "core/transformer/transformer_config.py:1891: layers are offloaded without a pipeline",
        [](const Flags &f) {
            return !has(f, "--cpu-offloading-num-layers")
                || of(f, "--pipeline-model-parallel-size") == QStringLiteral("1");
        },
        plain(),
        [](Plan &p) {
            p.memory.activationOffload = ActivationOffload::Host;
            p.memory.offloadFraction = 0.5;
        },
        "memory.offload_fraction");
    add(
        "core/transformer/transformer_config.py:1896: layers are offloaded without recomputation",
        [](const Flags &f) { return !has(f, "--cpu-offloading-num-layers") || !has(f, "--recompute-granularity"); },
        plain(),
        [](Plan &p) {
            p.parallelism = { .tensor = 2, .pipeline = 1, .data = 8 };
            p.memory.activationOffload = ActivationOffload::Host;
            p.memory.offloadFraction = 0.5;
            p.memory.recompute = Recompute::Full;
        },
        "memory.offload_fraction");
    add(
        "core/transformer/transformer_config.py:1884: fewer layers are offloaded than there are",
        [](const Flags &f) {
            return !has(f, "--cpu-offloading-num-layers")
                || of(f, "--cpu-offloading-num-layers").toInt() < of(f, "--num-layers").toInt();
        },
        plain(),
        [](Plan &p) {
            p.parallelism = { .tensor = 2, .pipeline = 1, .data = 8 };
            p.memory.activationOffload = ActivationOffload::Host;
            p.memory.offloadFraction = 1;
        },
        "memory.offload_fraction");
    add(
        "core/transformer/transformer_config.py:1913: full recomputation with a method and a number of layers",
        [](const Flags &f) {
            return of(f, "--recompute-granularity") != QStringLiteral("full")
                || (has(f, "--recompute-method") && of(f, "--recompute-num-layers").toInt() > 0);
        },
        plain(),
        [](Plan &p) {
            p.memory.recompute = Recompute::Full;
            p.memory.recomputeLayers = 17; // a stage has 16
        },
        "memory.recompute_layers");
    add(
        "core/transformer/transformer_config.py:1928: selective recomputation without a number of layers",
        [](const Flags &f) {
            return of(f, "--recompute-granularity") != QStringLiteral("selective") || !has(f, "--recompute-num-layers");
        },
        plain(),
        [](Plan &p) {
            p.memory.recompute = Recompute::Selective;
            p.memory.recomputeLayers = 4;
        },
        "memory.recompute_layers");
    add(
        "core/transformer/transformer_config.py:1964: moe_act with grouped products",
        [](const Flags &f) { return !names(f, "--recompute-modules", "moe_act") || has(f, "--moe-grouped-gemm"); },
        plain(), [](Plan &p) { p.memory.recomputeActivationFunction = true; }, "memory.recompute_activation_function");
    add(
        "core/transformer/transformer_config.py:1969: mla_up_proj with latent attention",
        [](const Flags &f) {
            return !names(f, "--recompute-modules", "mla_up_proj") || has(f, "--multi-latent-attention");
        },
        plain(), [](Plan &p) { p.memory.recomputeUpProjection = true; }, "memory.recompute_up_projection");
    add(
        "core/transformer/transformer_config.py:1991: shared experts are not recomputed where they overlap",
        [](const Flags &f) {
            return !names(f, "--recompute-modules", "shared_experts") || !has(f, "--moe-shared-expert-overlap");
        },
        sparse(),
        [](Plan &p) {
            p.memory.recompute = Recompute::Selective;
            p.memory.recomputeSharedExperts = true;
            p.moe.sharedExpertOverlap = true;
        },
        "memory.recompute_shared_experts");
    add(
        "core/transformer/transformer_config.py:1755: DeepEP does not pad to the capacity",
        [](const Flags &f) {
            return of(f, "--moe-token-dispatcher-type") != QStringLiteral("flex")
                || !has(f, "--moe-pad-expert-input-to-capacity");
        },
        sparse(),
        [](Plan &p) {
            p.moe.dispatch = MoeDispatch::TensorSliced;
            p.moe.capacityFactor = 1.25;
        },
        "moe.dispatch");
    add(
        "core/transformer/transformer_config.py:1862: padding to a capacity that is told",
        [](const Flags &f) {
            return !has(f, "--moe-pad-expert-input-to-capacity") || has(f, "--moe-expert-capacity-factor");
        },
        sparse(), [](Plan &p) { p.moe.dispatch = MoeDispatch::TensorSliced; }, "moe.dispatch");
    add(
        "core/transformer/transformer_config.py:3002 on: experts' exchange under computing",
        [](const Flags &f) {
            const QString dispatch = of(f, "--moe-token-dispatcher-type");
            return !has(f, "--overlap-moe-expert-parallel-comm")
                || (of(f, "--expert-model-parallel-size").toInt() > 1
                    && (dispatch == QStringLiteral("alltoall") || dispatch == QStringLiteral("flex"))
                    && of(f, "--recompute-granularity") != QStringLiteral("full")
                    && (has(f, "--bf16") || has(f, "--fp16")) && !has(f, "--moe-shared-expert-overlap"));
        },
        sparse(),
        [](Plan &p) {
            p.moe.expertOverlap = ExpertOverlap::OneFOneB;
            p.memory.recompute = Recompute::Full;
        },
        "moe.expert_overlap");
    // Not an assertion, but as hard: of each chunk so many layers (core/recompute.py:167, transformer_block.py:334)
    add(
        "core/recompute.py:167: block recomputation is of each chunk of a stage",
        [](const Flags &f) {
            const int chunks = std::max(1, of(f, "--num-virtual-stages-per-pipeline-rank").toInt());
            return chunks == 1 || of(f, "--recompute-method") != QStringLiteral("block")
                || of(f, "--recompute-num-layers").toInt() * chunks * of(f, "--pipeline-model-parallel-size").toInt()
                == of(f, "--num-layers").toInt();
        },
        plain(),
        [](Plan &p) {
            p.schedule = ScheduleKind::Interleaved;
            p.parallelism.virtualPipeline = 2;
            p.memory.recompute = Recompute::Full;
            p.memory.recomputeLayers = 5;
        },
        "memory.recompute_layers");
    return all;
}

ExpectedAll<LaunchFile> exported(const Plan &plan)
{
    const auto evaluation = trial::evaluated(plan);
    if (!evaluation)
        return std::unexpected(evaluation.error());
    return launchFile(**evaluation, LaunchTarget::Megatron);
}

} // namespace

class TestLaunchAsserts : public QObject {
    Q_OBJECT
private slots:
    void aPlanThatWouldBreakOneIsRefused()
    {
        for (const Rule &rule : rules()) {
            const auto file = exported(rule.plan);
            QVERIFY2(!file, rule.place);
            const bool isNamed =
                std::ranges::any_of(file.error(), [&](const Error &error) { return error.where.ends_with(rule.key); });
            QVERIFY2(isNamed, (std::string(rule.place) + ": " + toString(file.error().front())).c_str());
        }
    }

    void noExportBreaksOne()
    {
        const std::vector<Rule> all = rules();
        std::mt19937 random(16);
        const auto one = [&](auto... of) {
            const std::array values { of... };
            return values[random() % values.size()];
        };
        int exports = 0, refusals = 0;
        for (int trial = 0; trial < 600; ++trial) {
            Plan plan = random() % 2 ? plain() : sparse();
            if (plan.workload.model == "llama-3-8b") {
                plan.parallelism.pipeline = one(1, 2, 4);
                plan.parallelism.data = 8 / plan.parallelism.pipeline;
                if (plan.parallelism.pipeline > 1 && random() % 2) {
                    plan.schedule = ScheduleKind::Interleaved;
                    plan.parallelism.virtualPipeline = one(2, 4);
                }
            }
            plan.parallelism.zeroStage = one(0, 1, 1, 1, 2, 3);
            plan.workload.optimizer = one(Optimizer::Adam, Optimizer::Adam, Optimizer::Lion, Optimizer::Sgd);
            plan.workload.precision = one(Precision::Bf16, Precision::Fp8, Precision::Fp32);
            plan.memory.recompute = one(Recompute::None, Recompute::Selective, Recompute::Full);
            if (random() % 3 == 0)
                plan.memory.recomputeLayers = one(1, 4, 8, 16);
            plan.memory.recomputeSharedExperts = random() % 4 == 0;
            plan.memory.recomputeUpProjection = random() % 4 == 0;
            plan.memory.recomputeActivationFunction = random() % 4 == 0;
            if (random() % 3 == 0)
                plan.memory.optimizerOffload = OptimizerOffload::Host;
            if (random() % 3 == 0)
                plan.memory.activationOffload = ActivationOffload::Host;
            if (random() % 2)
                plan.memory.offloadFraction = one(0.25, 0.5, 1.0);
            plan.moe.dispatch = one(MoeDispatch::Flat, MoeDispatch::Dedup, MoeDispatch::AllGather);
            plan.moe.sharedExpertOverlap = random() % 4 == 0;
            plan.moe.expertOverlap = random() % 4 == 0 ? ExpertOverlap::OneFOneB : ExpertOverlap::None;
            if (random() % 3 == 0)
                plan.moe.capacityFactor = 1.25;
            const auto file = exported(plan);
            if (!file) {
                ++refusals;
                continue;
            }
            ++exports;
            const Flags flags = flagsOf(file->text);
            QVERIFY(of(flags, "--num-layers").toInt() > 0);
            for (const Rule &rule : all)
                QVERIFY2(rule.holds(flags), (std::string(rule.place) + "\n" + file->text).c_str());
        }
        qInfo("%d exported, %d refused", exports, refusals);
        QVERIFY(exports > 60);
    }
};

TRAINYARD_GUILESS_TEST(TestLaunchAsserts)
#include "tst_launch_asserts.moc"
