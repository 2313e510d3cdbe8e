// SPDX-License-Identifier: GPL-3.0-or-later
// How a training was started, as scripts, YAML, TOML and configurations tell it: arguments by Megatron's names. What a
// script leaves to its environment or to commands is unknown and counted, never guessed; nothing is executed.
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

std::string argument(const Recording &recording, const char *name)
{
    const auto found = recording.arguments.find(name);
    return found != recording.arguments.end() ? found->second : "(not told)";
}

const std::string kScript = R"sh(#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=1 # of the cluster
#SBATCH --gres=gpu:h100:8
# --num-layers 7 of a comment is no option
GPUS_PER_NODE=8
NNODES=${SLURM_NNODES:-4}
WORLD_SIZE=$(($GPUS_PER_NODE*$NNODES))
TP=${TP:-4}
PP=2
LAYERS="48"
MBS=2; GBS=$((MBS * 64))
DATA=$(ls /data | head -1)
HOSTED=`hostname`
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE   # one a GPU
    --nnodes $NNODES
)
GPT_MODEL_ARGS=(
    --num-layers $LAYERS
    --hidden-size 8192
    --num-attention-heads '64'
    --seq-length "4096" --swiglu
    --normalization RMSNorm
    --moe-layer-freq "([0]*3+[1]*45)"
)
OPTIONS=" \
    --tensor-model-parallel-size ${TP} \
    --pipeline-model-parallel-size ${PP} \
    --sequence-parallel"
if [ "$USE_FP8" = 1 ]; then
    PP=16
    GPT_MODEL_ARGS+=(--fp8-format hybrid)
fi
cat <<EOF > hostfile
--micro-batch-size 99
EOF
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    "${GPT_MODEL_ARGS[@]}" \
    $OPTIONS --micro-batch-size=$MBS \
    --global-batch-size ${GBS} --data-path $DATA --lr 1e-4 --min-lr -1 --wandb-api-key abc123
)sh";

} // namespace

class TestTrainingScripts : public QObject {
    Q_OBJECT

private slots:
    void aScriptIsReadWithoutBeingRun()
    {
        const Recording r = read("run.sh", kScript);
        QCOMPARE(r.sources[0].refused, std::string());
        QVERIFY(r.sources[0].kind == SourceKind::MegatronArguments);
        QCOMPARE(argument(r, "num_layers"), std::string("48"));
        QCOMPARE(argument(r, "hidden_size"), std::string("8192"));
        QCOMPARE(argument(r, "num_attention_heads"), std::string("64"));
        QCOMPARE(argument(r, "seq_length"), std::string("4096"));
        QCOMPARE(argument(r, "swiglu"), std::string("True"));
        QCOMPARE(argument(r, "moe_layer_freq"), std::string("([0]*3+[1]*45)"));
        QCOMPARE(argument(r, "tensor_model_parallel_size"), std::string("4")); // the default of ${TP:-4}
        QCOMPARE(argument(r, "sequence_parallel"), std::string("True"));
        QCOMPARE(argument(r, "micro_batch_size"), std::string("2"));
        QCOMPARE(argument(r, "global_batch_size"), std::string("128")); // 2 · 64
        QCOMPARE(argument(r, "min_lr"), std::string("-1"));
        QCOMPARE(argument(r, "nnodes"), std::string("4"));
        QCOMPARE(argument(r, "nproc_per_node"), std::string("8"));
        QCOMPARE(argument(r, "gpu"), std::string("h100"));
    }

    void aSchedulerIsToldWhichGpusAScriptWants()
    {
        const auto told = [](const std::string &directive, const char *name) {
            return argument(read("run.slurm",
                                "#!/bin/bash\n#SBATCH " + directive
                                    + "\npython pretrain_gpt.py --num-layers 24 --hidden-size 2048\n"),
                name);
        };
        const std::string none = "(not told)";
        QCOMPARE(told("--constraint=a100", "constraint"), std::string("a100")); // as BLOOM's scripts have it
        QCOMPARE(told("-C v100-32g", "constraint"), std::string("v100-32g"));
        QCOMPARE(told("--constraint=\"a100&nvlink\"", "constraint"), std::string("a100&nvlink"));
        for (const char *const directive :
            { "--gres=gpu:a100:8", "--gpus-per-node=a100:8", "--gpus-per-node a100:8", "--gres=nvme:1,gpu:a100:8" }) {
            QCOMPARE(told(directive, "gpu"), std::string("a100"));
            QCOMPARE(told(directive, "nproc_per_node"), std::string("8"));
        }
        QCOMPARE(told("--gres=gpu:a100", "gpu"), std::string("a100"));
        QCOMPARE(told("--gres=gpu:a100", "nproc_per_node"), none);
        QCOMPARE(told("--gpus=a100:16", "gpu"), std::string("a100")); // of all nodes: how many a node has is not told
        QCOMPARE(told("--gpus=a100:16", "nproc_per_node"), none);
        QCOMPARE(told("--gpus-per-node=8", "nproc_per_node"), std::string("8"));
        QCOMPARE(told("--gpus-per-node=8", "gpu"), none);
        QCOMPARE(told("--gres=nvme:1", "gpu"), none);
    }

    void whatHangsOnConditionsCommandsAndSecretsIsLeftOutAndSaid()
    {
        const Recording r = read("run.sh", kScript);
        QCOMPARE(argument(r, "pipeline_model_parallel_size"), std::string("2"));
        QCOMPARE(argument(r, "fp8_format"), std::string("(not told)"));
        QCOMPARE(argument(r, "in_doubt.fp8_format"),
            std::string("hybrid where line 30 has it ([ \"$USE_FP8\" = 1 ]), else not given"));
        QCOMPARE(
            argument(r, "in_doubt.pipeline_model_parallel_size"), std::string("(not told)")); // OPTIONS is made before
        QCOMPARE(argument(r, "data_path"), std::string("(not told)"));
        QCOMPARE(argument(r, "untold.data_path"), std::string("the output of a command"));
        QCOMPARE(
            droppedOf(r, "options whose values the script does not tell: --data-path (the output of a command)"), 1);
        QCOMPARE(argument(r, "wandb_api_key"), std::string("(not told)"));
    }

    void conditionsOnWhatTheScriptTellsAreFollowed()
    {
        const auto told = [](const std::string &lines, const char *name) {
            const Recording r =
                read("a.sh", "#!/bin/bash\nA=2\nB=x\nE=\n" + lines + "\ntrain.py --num-layers 4 --hidden-size $H\n");
            return argument(r, name);
        };
        // the outcome of each condition, as bash has it
        const std::vector<std::pair<std::string, bool>> conditions { { "[ $A -eq 2 ]", true },
            { "[ $A -lt 2 ]", false }, { "[[ \"$B\" == \"x\" ]]", true }, { "[[ $B != x ]]", false },
            { "[ -z \"$E\" ]", true }, { "[ -n \"$E\" ]", false }, { "! [ $A -eq 2 ]", false },
            { "[ ! $A -eq 2 ]", false }, { "[[ $B == x* ]]", true }, { "[[ $A -gt 1 && $B == y ]]", false },
            { "[ $A -gt 3 ] || [ $B = x ]", true }, { "true", true }, { "false", false },
            { "test \"${U:-off}\" = on", false } };
        for (const auto &[condition, isTrue] : conditions) {
            QCOMPARE(
                told("if " + condition + "; then H=1; else H=2; fi", "hidden_size"), std::string(isTrue ? "1" : "2"));
            QCOMPARE(told("H=2\n" + condition + " && H=1", "hidden_size"), std::string(isTrue ? "1" : "2"));
            QCOMPARE(told("H=2\n" + condition + " || H=1", "hidden_size"), std::string(isTrue ? "2" : "1"));
            QCOMPARE(told("if false\nthen H=0\nelif " + condition + "\nthen\n  H=1\nelse\n  H=2\nfi", "hidden_size"),
                std::string(isTrue ? "1" : "2"));
        }
        QCOMPARE(told("case $B in\n  y|z) H=1 ;;\n  # a comment\n  (\"x\") H=2\n ;;\n  *) H=3 ;;\nesac", "hidden_size"),
            std::string("2"));
        QCOMPARE(told("case $A$B in 3*) H=1 ;; 2*) H=2 ;; esac", "hidden_size"), std::string("2"));
        QCOMPARE(
            told("if [ $A = 3 ]; then if [ $A = 2 ]; then H=1; fi; H=4; fi; mkdir x || exit; H=${H:-5}", "hidden_size"),
            std::string("5"));
    }

    void ofOtherConditionsBothOutcomesAreTold()
    {
        const Recording r = read("a.sh",
            "#!/bin/bash\nif [ \"$SIZE\" = big ]; then H=8; V=5\nelif [ \"$SIZE\" = huge ]; then H=16; V=5\n"
            "else H=4; V=5; fi\ntrain.py --num-layers 4 --hidden-size $H --vocab-size $V\n");
        QCOMPARE(argument(r, "hidden_size"), std::string("4"));
        QCOMPARE(argument(r, "in_doubt.hidden_size"),
            std::string(
                "8 where line 2 has it ([ \"$SIZE\" = big ]), 16 where line 3 has it ([ \"$SIZE\" = huge ]), else "
                "4"));
        QCOMPARE(argument(r, "vocab_size"), std::string("5")); // whatever holds
        QCOMPARE(argument(r, "in_doubt.vocab_size"), std::string("(not told)"));
        const Recording cases = read("a.sh",
            "#!/bin/bash\ncase $1 in 7b) H=8;; 70b) H=16;; esac\n"
            "[ -f x ] && train.py --num-layers 4 --hidden-size $H\n");
        QCOMPARE(argument(cases, "num_layers"), std::string("4"));
    }

    void aCommandInsideOfATextIsLookedInto()
    {
        const Recording r = read("job.sbatch",
            "#!/bin/sh\nopts=\"--num-layers 24 --hidden-size 1024 \\\n --seq-length 2048\"\n"
            "run_cmd=\"python -u /opt/pretrain_gpt.py ${opts} --bf16\"\nsrun -N4 --ntasks-per-node=8 sh -c "
            "\"${run_cmd}\"\n");
        QCOMPARE(argument(r, "num_layers"), std::string("24"));
        QCOMPARE(argument(r, "seq_length"), std::string("2048"));
        QCOMPARE(argument(r, "bf16"), std::string("True"));
        QCOMPARE(argument(r, "nnodes"), std::string("4"));
        QCOMPARE(argument(r, "tasks_per_node"), std::string("8"));
    }

    void aLoneListOfOptionsIsRead()
    {
        const Recording r =
            read("notes.txt", "--num-layers 12 --hidden-size 768\n  --micro-batch-size 4 \\\n --fp16\n");
        QCOMPARE(argument(r, "num_layers"), std::string("12"));
        const Recording arrays = read("args.sh", "MODEL=( --num-layers 3 --hidden-size 64 )\n");
        QCOMPARE(argument(arrays, "num_layers"), std::string("3"));
    }

    void overridesOfNemoAndOptionsOfTorchtitanKeepTheirSections()
    {
        const Recording nemo = read("nemo.sh",
            "#!/bin/bash\npython megatron_gpt_pretraining.py trainer.num_nodes=2 trainer.devices=8 "
            "++model.tensor_model_parallel_size=4 model.micro_batch_size=1\n");
        QCOMPARE(argument(nemo, "model.tensor_model_parallel_size"), std::string("4"));
        QCOMPARE(argument(nemo, "trainer.num_nodes"), std::string("2"));
        const Recording titan = read("titan.sh",
            "#!/bin/bash\ntorchrun --nproc-per-node=8 -m torchtitan.train --training.seq_len 8192 "
            "--parallelism.tensor_parallel_degree=8 --compile.enable\n");
        QCOMPARE(argument(titan, "training.seq_len"), std::string("8192"));
        QCOMPARE(argument(titan, "parallelism.tensor_parallel_degree"), std::string("8"));
        QCOMPARE(argument(titan, "nproc_per_node"), std::string("8"));
    }

    void settingsOfMlperfBecomeMegatronsArguments()
    {
        const Recording r = read("config_DGXH100_64x8x128x4x8.sh",
            "export MINIBS=128\nexport TENSOR_MODEL_PARALLEL=4\nexport PIPELINE_MODEL_PARALLEL=8\n"
            "export INTERLEAVED_PIPELINE=6\nexport MICRO_BATCH_SIZE=2\nexport DGXNNODES=64\nexport DGXNGPU=8\n"
            "export WALLTIME=$((60 * 2))\n");
        QCOMPARE(argument(r, "tensor_model_parallel_size"), std::string("4"));
        QCOMPARE(argument(r, "virtual_pipeline_model_parallel_size"), std::string("6"));
        // 128 sequences a replica × 64·8/(4·8) replicas
        QCOMPARE(argument(r, "global_batch_size"), std::string("2048"));
    }

    void yamlOfTheModelZooIsReadWithItsPlaceholders()
    {
        const Recording r = read("model.yaml",
            "ENV_VARS:\n  TP: 2\n  NCCL_DEBUG: VERSION\n\nMODEL_ARGS:\n  # a comment: of words\n"
            "  --tensor-model-parallel-size: ${TP}\n  --pipeline-model-parallel-size: ${PP}\n"
            "  --expert-model-parallel-size: ${EP:-64}\n  --num-layers: 61\n  --swiglu: true\n  --finetune: false\n"
            "  --moe-layer-freq: ([0]*3+[1]*58)\n  --fusion: native # te is broken\n");
        QCOMPARE(argument(r, "tensor_model_parallel_size"), std::string("2"));
        QCOMPARE(argument(r, "pipeline_model_parallel_size"), std::string("(not told)"));
        QCOMPARE(argument(r, "expert_model_parallel_size"), std::string("64"));
        QCOMPARE(argument(r, "swiglu"), std::string("True"));
        QCOMPARE(argument(r, "finetune"), std::string("False"));
        QCOMPARE(argument(r, "moe_layer_freq"), std::string("([0]*3+[1]*58)"));
        QCOMPARE(argument(r, "fusion"), std::string("native"));
        QCOMPARE(droppedOf(r, "values of variables that another file sets"), 1);
    }

    void yamlOfMegatronAndOfNemoIsRead()
    {
        const Recording megatron = read("gpt_config.yaml",
            "language_model:\n  num_layers: 24\n  hidden_size: 1024\n  activation_func: swiglu\nmodel_parallel:\n"
            "  tensor_model_parallel_size: 1\nmicro_batch_size: 2\nlist:\n  - a\n");
        QCOMPARE(argument(megatron, "num_layers"), std::string("24"));
        QCOMPARE(argument(megatron, "tensor_model_parallel_size"), std::string("1"));
        const Recording nemo = read("nemo.yaml",
            "trainer:\n  devices: 8\n  num_nodes: 2\nmodel:\n  micro_batch_size: 4\n  encoder_seq_length: 2048\n"
            "  num_layers: 12\n  optim:\n    name: 'distributed_fused_adam'\n");
        QCOMPARE(argument(nemo, "model.encoder_seq_length"), std::string("2048"));
        QCOMPARE(argument(nemo, "model.optim.name"), std::string("distributed_fused_adam"));
        QCOMPARE(argument(nemo, "trainer.devices"), std::string("8"));
    }

    void aTomlOfTorchtitanIsReadBySection()
    {
        const Recording r = read("llama3_70b.toml",
            "# a comment\n[model]\nname = \"llama3\" # a name\nflavor = '70B'\nconverters = [\n  \"float8\", # one\n"
            "]\n[training]\nlocal_batch_size = 8\nseq_len = 8_192\n[parallelism]\ndata_parallel_shard_degree = -1\n"
            "tensor_parallel_degree = 8\n[quantize.linear.float8]\nenable_fsdp_float8_all_gather = true\n");
        QVERIFY(r.sources[0].kind == SourceKind::TorchtitanToml);
        QCOMPARE(argument(r, "model.name"), std::string("llama3"));
        QCOMPARE(argument(r, "model.flavor"), std::string("70B"));
        QVERIFY(argument(r, "model.converters").find("float8") != std::string::npos);
        QCOMPARE(argument(r, "training.seq_len"), std::string("8192"));
        QCOMPARE(argument(r, "parallelism.data_parallel_shard_degree"), std::string("-1"));
        QCOMPARE(argument(r, "quantize.linear.float8.enable_fsdp_float8_all_gather"), std::string("True"));
    }

    void aConfigurationOfAModelIsKeptAsItIs()
    {
        const std::string text = R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64})";
        const Recording r = read("Tiny/config.json", text);
        QCOMPARE(r.models.size(), std::size_t(1));
        QCOMPARE(r.models[0].name, std::string("Tiny"));
        QCOMPARE(r.models[0].config, text);
        QCOMPARE(read("a--Big_config.json", text).models.at(0).name, std::string("Big"));
        QCOMPARE(read("config.json", R"({"model_type": "clip", "architectures": ["CLIPModel"]})").sources[0].refused,
            std::string("It is a Hugging Face config.json of clip that tells no layers of a language model"));
        QVERIFY(read("config.json", text.substr(0, text.size() - 3)).sources[0].refused.find("ends in the middle")
            != std::string::npos);
    }

    void allRealConfigurationsAreRecognised()
    {
        for (const auto &[folder, files] : { std::pair(ours("hf_configs"), 3), std::pair(shared("hf_configs"), 12) }) {
            int count = 0;
            for (QDirIterator at(QString::fromStdString(folder), QDir::Files); at.hasNext(); ++count) {
                const std::string path = at.next().toStdString();
                const auto r = readSource(path, {});
                QVERIFY(r && r->models.size() == 1 && r->sources[0].kind == SourceKind::HfConfig);
                // "owner--Name_config.json"
                QVERIFY2(path.ends_with("--" + r->models[0].name + "_config.json"), r->models[0].name.c_str());
                QCOMPARE(r->models[0].config, bytesOf(path));
            }
            if (folder != shared("hf_configs") || isThere("hf_configs"))
                QCOMPARE(count, files);
        }
    }

    void hostileScriptsStayBounded()
    {
        // each variable twice the one before: 2^60 bytes if it were done
        std::string doubling = "#!/bin/sh\nA0=--num-layers\n";
        for (int i = 1; i < 60; ++i)
            doubling +=
                "A" + std::to_string(i) + "=\"$A" + std::to_string(i - 1) + " $A" + std::to_string(i - 1) + "\"\n";
        QVERIFY(read("a.sh", doubling + "train.py --hidden-size 4 $A59\n").arguments.size() < 10);
        const std::string open = "#!/bin/sh\ntrain.py --num-layers 4 --hidden-size ";
        for (const char *part : { "${A:-", "$((", "$(", "\"", "(", "${", "`", "'" }) {
            std::string text = open;
            for (int i = 0; i < 20000; ++i)
                text += part;
            QVERIFY(read("a.sh", text).arguments.size() < 10);
        }
    }

    void changedAndCutFilesAreReadOrRefused()
    {
        std::mt19937 random(20);
        const std::vector<std::pair<std::string, std::string>> files { { "run.sh", kScript },
            { "a.yaml",
                "MODEL_ARGS:\n  --num-layers: 6${X:-1}\n  --hidden-size: '7168' # c\nmodel:\n  a:\n    b: 1\n" },
            { "a.toml", "[training]\nseq_len = 8_192\n[model]\nname = \"llama3\"\nlist = [\n 1,\n 2 ]\n" },
            { "config.json",
                R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "a": [1, null]})" } };
        for (const auto &[name, text] : files) {
            for (int i = 0; i < 3000; ++i) {
                const Recording r = read(name, mutated(text, random));
                QCOMPARE(r.sources.size(), std::size_t(1));
                for (const auto &[key, value] : r.arguments)
                    QVERIFY(!key.empty() && value.size() <= 20000 && value.find('\x01') == std::string::npos);
            }
            for (std::size_t size = 0; size < text.size(); ++size)
                QCOMPARE(read(name, text.substr(0, size)).sources.size(), std::size_t(1));
        }
    }
};

TRAINYARD_APPLESS_TEST(TestTrainingScripts)
#include "tst_training_scripts.moc"
