// SPDX-License-Identifier: GPL-3.0-or-later
// What sources leave open, or tell in a way that no plan has, is never read as the nearest known thing: where the shape
// hangs on it no plan is made, else the plan says it, with how far off it may be. Counts of parameters are those of the
// published weights of the models.
#include "core/facts/workload/model_math.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/core/runs/imports/import_trial.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

const std::string kDegrees = " --tensor-model-parallel-size 2 --seq-length 4096 --max-position-embeddings 4096 "
                             "--micro-batch-size 1 --global-batch-size 64 --bf16 --use-distributed-optimizer "
                             "--overlap-grad-reduce --position-embedding-type rope";
const std::string kRows = " --vocab-size 32000";
const std::string kShape = " --num-layers 32 --hidden-size 4096 --num-attention-heads 32";

Recording script(const std::string &options, const std::string &program = "pretrain_gpt.py")
{
    return read("run.sh", "#!/bin/bash\ntorchrun --nnodes 2 --nproc_per_node 8 " + program + options + "\n");
}

/// GLM-4.5-Air as MindSpeed-LLM spells it: 48 layers, of which the second and the last do nothing.
const std::string kMindSpeed = " --num-layers 48 --hidden-size 4096 --ffn-hidden-size 10944 --num-attention-heads 96 "
                               "--num-query-groups 8 --group-query-attention --kv-channels 128 "
                               "--padded-vocab-size 151552 --swiglu --disable-bias-linear --add-qkv-bias "
                               "--normalization RMSNorm --untie-embeddings-and-output-weights "
                               "--noop-layers 1,47 --first-k-dense-replace 1 --moe-layer-freq 1 --n-shared-experts 1 "
                               "--num-experts 128 --moe-router-topk 8 --moe-ffn-hidden-size 1408 "
                               "--pipeline-model-parallel-size 4 --hidden-dropout 0 --attention-dropout 0 "
                               "--model-type-hf glm45-air";

const std::string kPart = "MODEL_ARGS=(\n  --num-layers 8\n  --hidden-size 1024\n  --num-attention-heads 8\n"
                          "  --vocab-size 32000\n  --moe-token-dispatcher-type alltoall\n)\n";
const std::string kReader = "#!/bin/bash\nsource \"${DIR}/models/small.sh\"\ntorchrun --nnodes 2 --nproc_per_node 8 "
                            "train.py ${MODEL_ARGS[@]} --moe-token-dispatcher-type flex"
    + kDegrees + "\n";

} // namespace

class TestUntoldOptions : public QObject {
    Q_OBJECT

private slots:
    void withoutItsShapeAModelMakesNoPlan()
    {
        for (const char *option : { "--num-query-groups", "--ffn-hidden-size", "--num-experts", "--moe-layer-freq" }) {
            const std::string error = errorOf(script(kShape + kRows + kDegrees + " " + option + " $X"));
            QVERIFY2(error.find(option) != std::string::npos && error.find("$X") != std::string::npos, error.c_str());
        }
        QVERIFY(errorOf(script(kShape + kRows + kDegrees)).empty());
    }

    void aDegreeThatIsUntoldIsADoubtThatWidensTheRange()
    {
        const ImportedPlan made =
            imported(script(kShape + kRows + kDegrees + " --pipeline-model-parallel-size $PP --save $OUT"));
        QCOMPARE(made.plan.notUnderstood.size(), std::size_t(1));
        const NotUnderstood &doubt = made.plan.notUnderstood.front();
        QVERIFY2(doubt.key.find("--pipeline-model-parallel-size") != std::string::npos, doubt.key.c_str());
        QVERIFY(doubt.text.find("$PP") != std::string::npos && doubt.low < 0 && doubt.high > 0 && !doubt.isBlocking);
    }

    void programsThatTrainOtherModelsAreNamed()
    {
        const std::string options = kShape + kRows + kDegrees;
        QVERIFY(errorOf(script(options, "pretrain_mamba.py")).find("Mamba") != std::string::npos);
        QVERIFY(errorOf(script(options, "pretrain_t5.py")).find("T5") != std::string::npos);
        QVERIFY(errorOf(script(options, "pretrain_bert.py")).find("BERT") != std::string::npos);
        QVERIFY(errorOf(script(options, "pretrain_vlm.py")).find("pictures") != std::string::npos);
        for (const char *option : { "--hybrid-attention-ratio 0.08", "--hybrid-mlp-ratio 0.5",
                 "--decoder-num-layers 12", "--spec megatron.core.models.mamba.specs stack" }) {
            const std::string error = errorOf(script(options + " " + option));
            QVERIFY2(error.find(std::string(option).substr(0, 6)) != std::string::npos, error.c_str());
        }
        // as Megatron prints them of a model that has none
        QVERIFY(errorOf(told(with(kLlama, { { "hybrid_attention_ratio", "0.0" }, { "decoder_num_layers", "None" } }),
                            SourceKind::MegatronLog))
                    .empty());
    }

    void mindSpeedsLayersAreCountedAsItDoes()
    {
        const ImportedPlan made = imported(script(kMindSpeed + kDegrees));
        const ModelSpec model = modelOf(made.plan);
        QCOMPARE(model.layers, 46);
        QCOMPARE(model.denseLayers, 1);
        QCOMPARE(model.sharedExpertFfn, 1408);
        QVERIFY(std::abs(totalParameters(model) / 106.85e9 - 1) < 0.005); // zai-org/GLM-4.5-Air without its MTP layer
        QVERIFY((made.plan.placement.layers == std::vector<int> { 11, 12, 12, 11 }));
        QVERIFY2(made.notUnderstood.empty(), made.notUnderstood.empty() ? "" : made.notUnderstood.front().c_str());
        const auto sparse = modelOf(imported(script(kMindSpeed + kDegrees
                                                 + " --first-k-dense-replace -1"
                                                   " --moe-layer-freq -1"))
                                        .plan);
        QCOMPARE(sparse.denseLayers, 0);
        // its tanh GELU has a gate: Gemma's MLP has three products
        const auto parameters = [](const std::string &more) {
            return totalParameters(modelOf(imported(script(kShape + kRows + kDegrees + more)).plan));
        };
        QCOMPARE(parameters(" --ffn-hidden-size 8192 --gelu-tanh --disable-bias-linear")
                - parameters(" --ffn-hidden-size 8192 --disable-bias-linear"),
            32.0 * 4096 * 8192);
        const std::string zero = errorOf(script(kMindSpeed + kDegrees + " --num-zero-experts 256"));
        QVERIFY2(zero.find("MindSpeed-LLM") != std::string::npos, zero.c_str());
    }

    void aVocabularyIsTheTokenizersOrADoubt()
    {
        const auto rows = [](const std::string &options) {
            return modelOf(imported(script(kShape + kDegrees + options)).plan).vocab;
        };
        // padded to a multiple of 128 × 2 tensor ranks
        QCOMPARE(rows(" --vocab-file $X/gpt2-vocab.json --merge-file $X/merges.txt"), 50432);
        QCOMPARE(rows(" --tokenizer-type GPT2BPETokenizer"), 50432);
        QCOMPARE(rows(" --tokenizer-type Llama2Tokenizer --tokenizer-model /x/tokenizer.model"), 32000);
        QCOMPARE(rows(" --tokenizer-type PretrainedFromHF --tokenizer-name-or-path google/mt5-base"), 250112);
        const ImportedPlan guessed = imported(script(kShape + kDegrees + " --tokenizer-model /x/my.model"));
        QCOMPARE(guessed.plan.notUnderstood.size(), std::size_t(1));
        const NotUnderstood &doubt = guessed.plan.notUnderstood.front();
        QCOMPARE(doubt.key, std::string("vocabulary"));
        ModelSpec model = modelOf(guessed.plan);
        const double all = totalParameters(model);
        model.vocab = 256000;
        QVERIFY(std::abs(doubt.high - (totalParameters(model) / all - 1)) < 1e-9 && doubt.low < 0);
        QVERIFY2(doubt.text.find("my.model") != std::string::npos, doubt.text.c_str());
    }

    /// LLaMA 7B's MLP is 11,008 wide, which GPT-NeoX writes as three times that, as it does Llama 13B's 13,824.
    void neoxsGatedWidthIsAThirdRoundedUp()
    {
        const auto width = [](const std::string &own) {
            const std::string text = "{\"pipe_parallel_size\": 1, \"model_parallel_size\": 1, \"num_layers\": 4, "
                                     "\"hidden_size\": 4096, \"num_attention_heads\": 32, \"seq_length\": 2048, "
                                     "\"activation\": \"swiglu\", \"train_micro_batch_size_per_gpu\": 1, "
                                     "\"num_gpus\": 8, \"num_nodes\": 2, \"fp16\": {\"enabled\": true}, "
                + own + "}";
            const ImportedPlan made = imported(read("7B.yml", text));
            return std::pair(modelOf(made.plan).ffn, says(made.notUnderstood, "intermediate_size"));
        };
        QCOMPARE(width("\"intermediate_size\": 32768, \"mlp_multiple_of\": 256"), std::pair(11008, false));
        QCOMPARE(width("\"intermediate_size\": 13824, \"mlp_multiple_of\": 13824"), std::pair(13824, false));
        // Mistral 7B's file is of an earlier release
        QCOMPARE(width("\"intermediate_size\": 14336, \"mlp_multiple_of\": 256"), std::pair(14336, true));
    }

    void aScriptThatAnotherReadsIsAPartOfIt()
    {
        const Recording both = mergeRecordings({ read("run.sh", kReader), read("small.sh", kPart) });
        const ImportedPlan made = imported(both);
        QCOMPARE(modelOf(made.plan).layers, 8);
        QVERIFY(made.plan.moe.dispatch == MoeDispatch::Dedup); // its own option stands behind
        QVERIFY2(made.notUnderstood.empty(), made.notUnderstood.empty() ? "" : made.notUnderstood.front().c_str());
        const ImportedPlan alone = imported(read("run.sh", kReader));
        QVERIFY(says(alone.notUnderstood, "$MODEL_ARGS") && says(alone.notUnderstood, "The shape of the model"));
    }

    void theTitleIsOfTheModelThatWasRead()
    {
        Plan base = basePlan();
        base.name = "Llama 3 8B on 16 H100";
        const Plan made = imported(script(kShape + kRows + kDegrees + " --num-layers 12"), base).plan;
        QVERIFY2(made.name.find("Llama") == std::string::npos && !made.name.empty(), made.name.c_str());
        QCOMPARE(imported(told({ { "micro_batch_size", "2" } }, SourceKind::MegatronLog), base).plan.name, base.name);
    }

    void theWeightiestIsToldFirstAndWidensOnce()
    {
        const ImportedPlan made = imported(
            script(kShape + kRows + kDegrees + " --aardvark 3 --beaver-attention 2 --spec my.own.spec layers"));
        QCOMPARE(made.plan.notUnderstood.size(), std::size_t(3));
        QVERIFY(made.plan.notUnderstood[0].key.starts_with("spec"));
        QVERIFY(made.plan.notUnderstood[1].key.starts_with("beaver_attention"));
        QVERIFY(made.plan.notUnderstood[2].key.starts_with("aardvark"));
        QVERIFY(made.plan.notUnderstood[0].high == 1 && made.plan.notUnderstood[0].low == -0.5);
        QVERIFY(made.plan.notUnderstood[1].high == 0 && made.plan.notUnderstood[2].high == 0);
        QVERIFY(made.notUnderstood.front().starts_with("spec"));
    }

    void aJobWithoutAModelMakesNoPlan()
    {
        Plan empty = basePlan();
        empty.workload.model.clear();
        const std::string error = errorOf(script(kDegrees), empty);
        QVERIFY2(error.find("not of which model") != std::string::npos, error.c_str());
    }
};

TRAINYARD_APPLESS_TEST(TestUntoldOptions)
#include "tst_untold_options.moc"
