// SPDX-License-Identifier: GPL-3.0-or-later
// Each setting of a configuration is used, known to be without effect, or told as not understood: of every trainer that
// is read, with a key, a table and a word that nobody knows. Without them nothing is in doubt.
#include "core/base/ascii_text.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/core/runs/imports/import_trial.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

struct Trainer {
    const char *name, *file;
    std::string text;
    /// added to it: a key, a table with a key, a word of an enumerated key (with what it stands in place of)
    std::string key, table, word, instead;
};

const std::string kShape = " --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
                           "--vocab-size 32000 --max-position-embeddings 4096 --micro-batch-size 1 "
                           "--global-batch-size 256 --bf16 --tensor-model-parallel-size 4 --normalization RMSNorm "
                           "--overlap-grad-reduce --use-distributed-optimizer";

std::vector<Trainer> trainers()
{
    const std::string torchrun = "#!/bin/bash\ntorchrun --nnodes 2 --nproc_per_node 8 ";
    return {
        { "Megatron's script", "run.sh", torchrun + "pretrain_gpt.py" + kShape, " --frobnicate 3", " --frob.x 3",
            " --normalization Frob", "" },
        { "Megatron's YAML", "run.yaml",
            "MODEL_ARGS:\n  --num-layers: 32\n  --hidden-size: 4096\n  --num-attention-heads: 32\n  --seq-length: "
            "4096\n"
            "  --vocab-size: 32000\n  --micro-batch-size: 1\n  --global-batch-size: 256\n  --bf16: true\n"
            "  --tensor-model-parallel-size: 4\n  --optimizer: adam\n  --use-distributed-optimizer: true\n",
            "  --frobnicate: 3\n", "frob:\n  x: 3\n", "  --optimizer: muon\n", "  --optimizer: adam\n" },
        { "NeMo's YAML", "nemo.yaml",
            "trainer:\n  devices: 8\n  num_nodes: 2\n  precision: bf16\nexp_manager:\n  name: x\nmodel:\n"
            "  num_layers: 32\n  hidden_size: 4096\n  num_attention_heads: 32\n  encoder_seq_length: 4096\n"
            "  micro_batch_size: 1\n  global_batch_size: 256\n  tensor_model_parallel_size: 4\n  normalization: "
            "rmsnorm\n"
            "  vocab_size: 32000\n",
            "  frobnicate: 3\n", "frob:\n  x: 3\n", "  normalization: frob\n", "  normalization: rmsnorm\n" },
        { "nanotron", "config.yaml",
            "general:\n  run: x\nmodel:\n  dtype: bfloat16\n  model_config:\n    hidden_act: silu\n"
            "    hidden_size: 1024\n    intermediate_size: 4096\n    num_attention_heads: 16\n"
            "    num_hidden_layers: 12\n    num_key_value_heads: 4\n    tie_word_embeddings: true\n"
            "    vocab_size: 50304\nparallelism:\n  dp: 2\n  pp: 2\n  pp_engine: afab\n  tp: 4\n"
            "optimizer:\n  zero_stage: 1\ntokens:\n"
            "  batch_accumulation_per_replica: 6\n  micro_batch_size: 3\n  sequence_length: 2048\n",
            "  frobnicate: 3\n", "frob:\n  x: 3\n", "  pp_engine: frob\n", "  pp_engine: afab\n" },
        { "DeepSpeed", "ds.json",
            "{\"train_batch_size\": 32, \"train_micro_batch_size_per_gpu\": 1, \"bf16\": {\"enabled\": true}, "
            "\"optimizer\": {\"type\": \"AdamW\"}, \"zero_optimization\": {\"stage\": 2}}",
            ", \"frobnicate\": 3}", ", \"frob\": {\"x\": 3}}", "\"type\": \"Frob\"", "\"type\": \"AdamW\"" },
        { "Accelerate", "default_config.yaml",
            "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: "
            "SHARD_GRAD_OP\nmixed_precision: bf16\nnum_machines: 2\nnum_processes: 16\n",
            "frobnicate: 3\n", "frob:\n  x: 3\n", "mixed_precision: frob\n", "mixed_precision: bf16\n" },
        { "LLaMA-Factory", "full.yaml",
            "model_name_or_path: meta-llama/Llama-3.1-8B-Instruct\nstage: sft\nfinetuning_type: full\n"
            "deepspeed: examples/ds_z3_config.json\ncutoff_len: 4096\nper_device_train_batch_size: 2\n"
            "gradient_accumulation_steps: 4\nbf16: true\noptim: adamw_torch\nlearning_rate: 1e-5\n",
            "frobnicate: 3\n", "frob:\n  x: 3\n", "optim: frob\n", "optim: adamw_torch\n" },
        { "Axolotl", "axolotl.yml",
            "base_model: Qwen/Qwen2.5-7B\nsequence_len: 8192\nsample_packing: true\nmicro_batch_size: 1\n"
            "gradient_accumulation_steps: 2\nbf16: true\noptimizer: adamw_torch\nfsdp:\n  - full_shard\n  - "
            "auto_wrap\n",
            "frobnicate: 3\n", "frob:\n  x: 3\n", "optimizer: frob\n", "optimizer: adamw_torch\n" },
        { "Automodel", "recipe.yaml",
            "step_scheduler:\n  global_batch_size: 64\n  local_batch_size: 2\nmodel:\n"
            "  pretrained_model_name_or_path: meta-llama/Llama-3.2-1B\noptimizer:\n  _target_: torch.optim.AdamW\n"
            "dataset:\n  seq_len: 4096\ndistributed:\n  tp_size: 2\n  cp_size: 1\n",
            "  frobnicate: 3\n", "frob:\n  x: 3\n", "  _target_: frob.Frob\n", "  _target_: torch.optim.AdamW\n" },
        { "MaxText", "llama.yml",
            "model_name: llama3.1-8b\nhardware: gpu\nper_device_batch_size: 2\nmax_target_length: 8192\n"
            "ici_fsdp_parallelism: 8\nremat_policy: full\ndtype: bfloat16\nsteps: 10\n",
            "frobnicate: 3\n", "frob:\n  x: 3\n", "remat_policy: frob\n", "remat_policy: full\n" },
        { "Primus", "primus.yaml",
            "modules:\n  pre_trainer:\n    framework: megatron\n    config: pre_trainer.yaml\n"
            "    model: llama3.1_8B.yaml\n    overrides:\n      micro_batch_size: 2\n      global_batch_size: 128\n"
            "      seq_length: 8192\n      tensor_model_parallel_size: 1\n      bf16: true\n      optimizer: adam\n",
            "      frobnicate: 3\n", "      frob:\n        x: 3\n", "      optimizer: muon\n",
            "      optimizer: adam\n" },
        { "Hugging Face's Trainer", "train.sh",
            torchrun
                + "train.py --model_name_or_path meta-llama/Llama-3.1-8B --per_device_train_batch_size 2 "
                  "--gradient_accumulation_steps 4 --model_max_length 4096 --bf16 True --optim adamw_torch",
            " --frobnicate 3", " --frob.x 3", "--optim frob", "--optim adamw_torch" },
        { "an FSDP script", "fsdp.sh",
            "#!/bin/bash\naccelerate launch --use_fsdp --mixed_precision bf16 --fsdp_sharding_strategy FULL_SHARD "
            "--num_processes 16 train.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 1 "
            "--max_seq_length 2048 --gradient_accumulation_steps 4",
            " --frobnicate 3", " --frob.x 3", "--fsdp_sharding_strategy FROB", "--fsdp_sharding_strategy FULL_SHARD" },
        { "GPT-NeoX", "neox.yml",
            "{\n \"pipe-parallel-size\": 2,\n \"model-parallel-size\": 2,\n \"num-layers\": 24,\n "
            "\"hidden-size\": 2048,\n \"num-attention-heads\": 16,\n \"seq-length\": 2048,\n "
            "\"max-position-embeddings\": 2048,\n \"norm\": \"layernorm\",\n \"pos-emb\": \"rotary\",\n "
            "\"optimizer\": {\"type\": \"Adam\"},\n \"zero_optimization\": {\"stage\": 1},\n "
            "\"train_micro_batch_size_per_gpu\": 4,\n \"fp16\": {\"enabled\": true}}",
            ", \"frobnicate\": 3}", ", \"frob\": {\"x\": 3}}", "\"norm\": \"frob\"", "\"norm\": \"layernorm\"" },
        { "TRL's YAML", "sft.yaml",
            "model_name_or_path: mistralai/Mistral-7B-v0.1\ntorch_dtype: bfloat16\nbf16: true\n"
            "gradient_accumulation_steps: 1\ngradient_checkpointing: true\nmax_seq_length: 2048\n"
            "per_device_train_batch_size: 16\noptim: adamw_torch\nlearning_rate: 2e-5\n",
            "frobnicate: 3\n", "frob:\n  x: 3\n", "optim: frob\n", "optim: adamw_torch\n" },
        { "torchtitan", "job.toml",
            "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[optimizer]\nname = \"AdamW\"\nlr = 3e-4\n[parallelism]\n"
            "tensor_parallel_degree = 2\n[training]\nseq_len = 8192\nlocal_batch_size = 1\n",
            "frobnicate = 3\n", "[frob]\nx = 3\n", "name = \"Muon\"\n", "name = \"AdamW\"\n" },
        { "torchtitan's script", "titan.sh",
            torchrun
                + "train.py --model.name llama3 --model.flavor 8B --training.seq_len 8192 "
                  "--training.local_batch_size 1 --activation_checkpoint.mode full",
            " --training.frobnicate 3", " --parallelism.frob.x 3", "--activation_checkpoint.mode frob",
            "--activation_checkpoint.mode full" },
    };
}

/// What the plan tells of it, or why none is made; each in a line.
std::string toldOf(const std::string &file, const std::string &text)
{
    const Recording recording = read(file, text + (text.ends_with('\n') ? "" : "\n"));
    if (!recording.sources[0].refused.empty())
        return "refused: " + recording.sources[0].refused;
    const auto made = planFrom(recording, builtinCatalogue(), basePlan());
    if (!made)
        return toString(made.error().front());
    std::string all;
    for (const Doubt &doubt : doubtsOfSources(made->plan))
        all += toString(doubt) + "\n";
    return all;
}

std::string with(std::string text, const std::string &addition)
{
    if (addition.starts_with(',')) // an object of JSON
        text.pop_back();
    return text + addition;
}

std::string replaced(std::string text, const std::string &part, const std::string &by)
{
    if (part.empty())
        return text + by;
    return text.replace(text.find(part), part.size(), by);
}

} // namespace

class TestUnknownSettings : public QObject {
    Q_OBJECT

private slots:
    void whatNobodyKnowsIsTold_data()
    {
        QTest::addColumn<int>("index");
        for (int i = 0; i < int(trainers().size()); ++i)
            QTest::newRow(trainers()[std::size_t(i)].name) << i;
    }

    void whatNobodyKnowsIsTold()
    {
        QFETCH(int, index);
        const Trainer trainer = trainers()[std::size_t(index)];
        const std::string plain = toldOf(trainer.file, trainer.text);
        QVERIFY2(plain.empty(), plain.c_str());
        const std::string key = toldOf(trainer.file, with(trainer.text, trainer.key)),
                          table = toldOf(trainer.file, with(trainer.text, trainer.table)),
                          word = toldOf(trainer.file, replaced(trainer.text, trainer.instead, trainer.word));
        QVERIFY2(key.find("frobnicate") != std::string::npos, ("key: " + key).c_str());
        QVERIFY2(table.find("frob.x") != std::string::npos, ("table: " + table).c_str());
        const auto hasWord = [&](const char *name) { return lowered(word).find(name) != std::string::npos; };
        QVERIFY2(hasWord("frob") || hasWord("muon"), ("word: " + word).c_str());
    }

    /// What torchtitan's files may set beside degrees and batches, and what a plan makes of it.
    void torchtitansOffloadIsTaken()
    {
        const std::string job = "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[parallelism]\n"
                                "fsdp_reshard_after_forward = \"never\"\n[training]\nseq_len = 8192\n"
                                "local_batch_size = 1\n";
        const ImportedPlan plain = imported(read("job.toml", job));
        QVERIFY(plain.plan.memory.parameterOffload == ParameterOffload::None);
        QCOMPARE(plain.plan.parallelism.zeroStage, 2);
        const ImportedPlan made = imported(read("job.toml", job + "enable_cpu_offload = true\n"));
        QVERIFY(made.plan.memory.parameterOffload == ParameterOffload::Host);
        QVERIFY(made.plan.memory.optimizerOffload == OptimizerOffload::Host);
        QVERIFY(says(made.taken, "enable_cpu_offload") && made.plan.notUnderstood.empty());
    }
};

TRAINYARD_APPLESS_TEST(TestUnknownSettings)
#include "tst_unknown_settings.moc"
