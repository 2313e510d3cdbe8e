// SPDX-License-Identifier: GPL-3.0-or-later
// A job from what Megatron-LM prints of memory before its first step. The estimate is written here from a shape, with
// its sums forward and its digits; what is derived from the text has to be the shape again, or nothing.
#include "core/facts/workload/model_math.h"
#include "core/runs/imports/megatron_theory.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/core/runs/imports/import_trial.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <random>

using namespace trainyard;
using namespace trainyard::trial;
using imports::derivedJob;
using imports::DerivedJob;

namespace {

struct Shape {
    int layers = 80, hidden = 8192, vocab = 32256, tensor = 4, pipeline = 8, chunks = 1, replicas = 1;
    double tokens = 8192; // of a micro-batch
    bool isTied = true, isSharded = false, isWithSequenceParallel = false;
    bool dividesNorms = true; // as Megatron printed it until 2026
};

std::string printed(double value, int digits)
{
    return QString::number(value, 'f', digits).toStdString();
}

/// Of a block of 4 h² of attention, 8 h² of MLP and two LayerNorms a layer.
std::string estimateOf(const Shape &of)
{
    const double h = of.hidden, L = of.layers, t = of.tensor, p = of.pipeline, table = h * of.vocab;
    const double norms = 4 * h * L + 2 * h, matrices = 12 * h * h * L, block = matrices + norms;
    const double embedding = of.isTied ? table : 2 * table;
    const double others = of.dividesNorms ? block / t / p : matrices / t / p + norms / p;
    const double fullest = others + (p == 1 ? embedding : table) / t;
    const double each = of.isSharded ? 6 + 12.0 / of.replicas : 18;
    const double width = of.tokens * h, factor = of.chunks > 1 ? 1 + (p - 1) / (p * of.chunks) : 1;
    double layer = width * (10 + 24 / t), all = 0;
    if (of.isWithSequenceParallel) {
        layer = width * (18 + 4 * 4) / t;
        all = (layer * L * t + 8 * of.tokens * p + width * p) * factor / t;
    } else {
        all = (layer * L + 8 * of.tokens * p + width * p) * factor * 1.05;
    }
    const double mib = 1 << 20;
    std::string text = "Number of parameters in transformer block in billions:  " + printed(block / 1e9, 2)
        + "\nNumber of parameters in embedding layers in billions: " + printed(embedding / 1e9, 2)
        + "\nTotal number of parameters in billions: " + printed((block + embedding) / 1e9, 2)
        + "\nNumber of parameters in most loaded shard in billions: " + printed(fullest / 1e9, 4) + "\n";
    if (p > 1)
        text += "Number of parameters in other shards in billions: " + printed(others / 1e9, 4) + "\n";
    text += "Activation memory footprint per transformer layer"
        + std::string(of.isWithSequenceParallel ? "" : " (precise, without SP)") + ": " + printed(layer / mib, 1)
        + " MB\n";
    if (of.chunks > 1)
        text += "Memory penalty from interleaved schedule: " + printed(factor, 2) + "\n";
    if (p > 1)
        text += "Number of in-flight microbatches: " + std::to_string(int(std::ceil(factor * p))) + "\n";
    return text + "Theoretical memory footprints: weight and optimizer=" + printed(fullest * each / mib, 2)
        + " MB, activation=" + printed(all / mib, 2) + " MB, total=" + printed((fullest * each + all) / mib, 2)
        + " MB\n";
}

std::string argumentOf(const DerivedJob &job, std::string_view name)
{
    const auto at = std::ranges::find(job.arguments, name, &imports::DerivedArgument::name);
    return at == job.arguments.end() ? "" : at->value;
}

} // namespace

class TestMegatronTheory : public QObject {
    Q_OBJECT

    [[nodiscard]] Recording read(const std::string &text) const
    {
        const std::string file = m_folder.filePath("run.log").toStdString();
        std::ofstream(file) << text;
        const auto recording = readSource(file, {});
        if (!recording)
            qFatal("%s", toString(recording.error()).c_str());
        return *recording;
    }

private slots:
    /// The sums turned around give the degrees that were put in, over shapes that people train.
    void whatWasPutInIsDerivedOrNothingIs()
    {
        std::mt19937 random(20260328);
        const auto one = [&](auto... of) {
            const std::array all { of... };
            return all[random() % all.size()];
        };
        int derived = 0, withLayers = 0;
        constexpr int kTrials = 300;
        for (int trial = 0; trial < kTrials; ++trial) {
            Shape of;
            of.tensor = one(1, 2, 4, 8);
            of.pipeline = one(2, 4, 8, 16);
            of.layers = of.pipeline * one(2, 3, 4, 6, 10);
            of.hidden = 1024 * one(4, 5, 6, 8, 12);
            of.vocab = 128 * of.tensor * one(64, 100, 251);
            of.isTied = random() % 2;
            of.isWithSequenceParallel = random() % 2 && of.tensor > 1;
            of.isSharded = random() % 2;
            of.replicas = one(1, 2, 8);
            of.chunks = random() % 3 == 0 && of.layers / of.pipeline % 2 == 0 ? 2 : 1;
            of.dividesNorms = random() % 2;
            of.tokens = one(2048, 4096, 8192);
            const auto job = derivedJob(read(estimateOf(of)));
            QVERIFY(job);
            if (job->tensor == 0)
                continue;
            ++derived;
            QCOMPARE(job->tensor, of.tensor);
            QCOMPARE(job->pipeline, of.pipeline);
            QCOMPARE(job->isTied, of.isTied);
            withLayers += job->layers > 0;
            if (job->layers > 0)
                QCOMPARE(job->layers, of.layers);
            QCOMPARE(argumentOf(*job, "sequence_parallel"), of.isWithSequenceParallel ? "True" : "False");
            const bool isLess = of.isSharded && of.replicas > 1;
            QCOMPARE(argumentOf(*job, "use_distributed_optimizer"), isLess ? "True" : "False");
            if (const std::string chunks = argumentOf(*job, "virtual_pipeline_model_parallel_size"); of.chunks == 1)
                QVERIFY(chunks.empty());
            else
                QVERIFY(chunks.empty() || chunks == "2");
        }
        qInfo("%d of %d jobs derived, %d with their layers", derived, kTrials, withLayers);
        QVERIFY(derived > 0.75 * kTrials && withLayers > 0.6 * kTrials);
    }

    void oneStageTellsItsTensorDegree()
    {
        const auto job =
            derivedJob(read(estimateOf({ .layers = 32, .hidden = 4096, .tensor = 2, .pipeline = 1, .tokens = 4096 })));
        QVERIFY(job);
        QCOMPARE(job->tensor, 2);
        QCOMPARE(job->pipeline, 1);
        QCOMPARE(job->layers, 0); // the logits' vocabulary is in the sum, too
    }

    /// N = 64.43e9, 12 h² L + norms with h = 8192 and L = 80: the shape of the sample of 2026.
    void thePlanHasThatSizeAndShape()
    {
        const ImportedPlan made = imported(read(estimateOf({})));
        const Plan &plan = made.plan;
        QCOMPARE(plan.parallelism.tensor, 4);
        QCOMPARE(plan.parallelism.pipeline, 8);
        QCOMPARE(plan.cluster.gpus(), 32);
        QVERIFY(!plan.parallelism.usesSequenceParallel());
        QCOMPARE(plan.parallelism.zeroStage, 0);
        const ModelSpec model = modelOf(plan);
        QCOMPARE(model.layers, 80);
        QCOMPARE(model.hidden, 8192);
        QCOMPARE(model.vocab, 32256);
        QVERIFY(std::abs(totalParameters(model) / 64.69e9 - 1) < 2e-3);
        QCOMPARE(plan.workload.sequenceLength, 8192);
        QVERIFY(!made.isModelAssumed && says(made.taken, "= 32 = tensor × pipeline (run.log)"));
        QVERIFY(says(made.assumed, "heads of 128, LayerNorm and rotary positions are assumed"));
        QVERIFY(evaluated(plan) > 0);
    }

    /// GPT-3 175B has 96 layers of 12288 and 51200 rows: the catalogue knows it.
    void aModelOfTheCatalogueIsTakenWhereItAgrees()
    {
        const ImportedPlan made = imported(read(estimateOf(
            { .layers = 96, .hidden = 12288, .vocab = 51200, .tensor = 8, .pipeline = 16, .tokens = 2048 })));
        QCOMPARE(made.plan.workload.model, "gpt-3-175b");
        QCOMPARE(made.plan.parallelism.tensor, 8);
        QCOMPARE(made.plan.parallelism.pipeline, 16);
        QCOMPARE(made.plan.workload.sequenceLength, 2048);
    }

    void whatIsToldGoesBeforeWhatIsDerived()
    {
        Recording recording = read(estimateOf({}));
        recording.arguments = with(kLlama, { { "tensor_model_parallel_size", "8" }, { "world_size", "64" } });
        recording.argumentsOf.clear();
        const ImportedPlan made = imported(recording);
        QCOMPARE(made.plan.parallelism.tensor, 8);
        QCOMPARE(made.plan.parallelism.pipeline, 1);
        QCOMPARE(made.plan.cluster.gpus(), 64);
    }

    /// Ranks 0 and 40 of a job of 32 shards: at least two replicas.
    void ranksBeyondOneReplicaMakeMore()
    {
        const ImportedPlan made = imported(read(estimateOf({})
            + "[Rank 0] (after 1 iterations) memory (MB) | allocated: 38921.15 | max allocated: 47104.31 |\n"
              "[Rank 40] (after 1 iterations) memory (MB) | allocated: 36891.15 | max allocated: 44566.31 |\n"));
        QCOMPARE(made.plan.cluster.gpus(), 64);
        QCOMPARE(made.plan.parallelism.data.value_or(0), 2);
        QVERIFY(made.plan.memory.recompute == Recompute::Full);
        QVERIFY(says(made.taken, "a GPU never held more than"));
    }

    /// tokens / sequences = 4096; sequences a second × 4096 / tokens a second of a GPU = 25.972 × 4096 / 4432.597 = 24.
    void ratesOfALogTellSequencesAndGpus()
    {
        const auto logOf = [](const char *rate) {
            return "[2024-09-16 22:59:19.287338][INFO] -  iteration=       1/  635782 | consumed_samples=         768 "
                   "| "
                   "consumed_tokens=     3145728 | elapsed_time_per_iteration_ms=29570.0 | global_batch_size=768 | "
                   "samples_per_second=25.972 | tokens_per_gpu_per_second_tgs="
                + std::string(rate) + " |\n";
        };
        const ImportedPlan made = imported(read(logOf("4432.597")));
        QCOMPARE(made.plan.workload.sequenceLength, 4096);
        QCOMPARE(made.plan.cluster.gpus(), 24);
        QVERIFY(says(made.taken, "workload.sequence_length 4096 from the tokens that the log counts"));
        QVERIFY(says(made.assumed, "24 GPUs: the log's rates"));
        // 25.972 × 4096 / 4300 = 24.7 are no GPUs: the base's stay
        QCOMPARE(imported(read(logOf("4300"))).plan.cluster.gpus(), basePlan().cluster.gpus());
    }

private:
    QTemporaryDir m_folder;
};

TRAINYARD_GUILESS_TEST(TestMegatronTheory)
#include "tst_megatron_theory.moc"
