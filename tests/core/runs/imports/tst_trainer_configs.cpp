// SPDX-License-Identifier: GPL-3.0-or-later
// Plans from configurations of trainers other than Megatron: degrees, batches and shapes by hand, and of what is not
// understood that it is told, or that no plan is made where the shape is in doubt.
#include "core/facts/workload/model_math.h"
#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/readers/training_logs.h"
#include "tests/core/runs/imports/import_trial.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

const std::string kNanotron = "general:\n  run: x\nmodel:\n  dtype: bfloat16\n  model_config:\n    hidden_act: silu\n"
                              "    hidden_size: 1024\n    intermediate_size: 4096\n    num_attention_heads: 16\n"
                              "    num_hidden_layers: 12\n    num_key_value_heads: 4\n    tie_word_embeddings: true\n"
                              "    vocab_size: 50304\nparallelism:\n  dp: 2\n  pp: 2\n  pp_engine: afab\n  tp: 4\n"
                              "  tp_mode: REDUCE_SCATTER\noptimizer:\n  zero_stage: 1\ntokens:\n"
                              "  batch_accumulation_per_replica: 6\n  micro_batch_size: 3\n  sequence_length: 2048\n";

const std::string kLlamaFactory =
    "model_name_or_path: meta-llama/Llama-3.1-8B-Instruct\nstage: sft\nfinetuning_type: full\n"
    "deepspeed: examples/ds_z3_config.json\ncutoff_len: 4096\n"
    "per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\nbf16: true\n"
    "output_dir: out\nlearning_rate: 1e-5\n";

/// "setting: why", of what the plan was made of.
std::vector<std::string> doubtsOf(const ImportedPlan &made)
{
    std::vector<std::string> told;
    for (const Doubt &doubt : doubtsOfSources(made.plan))
        told.push_back(toString(doubt));
    return told;
}

} // namespace

class TestTrainerConfigs : public QObject {
    Q_OBJECT

private slots:
    void nanotronsConfigurationIsItsPlan()
    {
        const Recording r = read("config.yaml", kNanotron);
        QVERIFY2(r.sources[0].kind == SourceKind::NanotronConfig, r.sources[0].refused.c_str());
        const ImportedPlan made = imported(r);
        const Plan &p = made.plan;
        QCOMPARE(p.parallelism.tensor, 4);
        QCOMPARE(p.parallelism.pipeline, 2);
        QCOMPARE(p.parallelism.data.value_or(0), 2);
        QCOMPARE(p.parallelism.zeroStage, 1);
        QVERIFY(p.parallelism.usesSequenceParallel() && p.schedule == ScheduleKind::GPipe);
        QCOMPARE(p.workload.microBatch, 3);
        QCOMPARE(p.workload.globalBatch, 3 * 6 * 2);
        QCOMPARE(p.workload.sequenceLength, 2048);
        QVERIFY(p.workload.precision == Precision::Bf16);
        // tied embeddings; of a layer Q and O, K and V of a quarter of the heads, three products of the MLP, two norms
        const double layer = 2.0 * 1024 * 1024 + 2.0 * 1024 * 256 + 3.0 * 1024 * 4096 + 2 * 1024;
        QCOMPARE(totalParameters(modelOf(p)), 12 * layer + 1024.0 * 50304 + 1024);
        QVERIFY(made.plan.notUnderstood.empty());
        QVERIFY(evaluated(p) > 0);
    }

    void settingsThatNobodyKnowsAreTold()
    {
        const ImportedPlan made =
            imported(read("config.yaml", kNanotron + "  limit_val_batches: 4\n  nothing_of_it: false\n"));
        QVERIFY(made.plan.notUnderstood.empty()); // known to change nothing else, and off
        const ImportedPlan doubted = imported(read("config.yaml", kNanotron + "parallel_flux:\n  depth: 3\n"));
        QVERIFY(says(doubtsOf(doubted), "parallel_flux.depth = 3")
            && says(doubted.notUnderstood, "parallel_flux.depth = 3"));
        std::string mixed = kNanotron;
        mixed.insert(mixed.find("    hidden_size"), "    layer_types: [attention, mamba]\n");
        QVERIFY(errorOf(read("config.yaml", mixed)).find("layer_types") != std::string::npos);
        auto script = with(kLlama, { { "micro_batch_size", "1" }, { "global_batch_size", "64" }, { "bf16", "True" } });
        QCOMPARE(doubtsOf(imported(told(script))), std::vector<std::string> {});
        script["warp_factor"] = "9";
        QVERIFY(says(doubtsOf(imported(told(script))), "warp_factor = 9"));
    }

    void layersByKindAreRefused()
    {
        auto script = with(kLlama, { { "micro_batch_size", "1" }, { "hybrid_layer_pattern", "M*M*" } });
        QVERIFY(errorOf(told(script)).find("layers by their kind") != std::string::npos);
        QVERIFY(errorOf(told(script, SourceKind::MegatronLog)).find("layers by their kind") != std::string::npos);
    }

    void aScriptWithoutAPrecisionTrainsInFp32()
    {
        auto script = with(kLlama,
            { { "micro_batch_size", "1" }, { "global_batch_size", "16" }, { "tensor_model_parallel_size", "8" } });
        QVERIFY(imported(told(script)).plan.workload.precision == Precision::Fp32);
        script["bf16"] = "True";
        QVERIFY(imported(told(script)).plan.workload.precision == Precision::Bf16);
    }

    void quickGegluIsGated()
    {
        auto script = with(kLlama, { { "micro_batch_size", "1" }, { "global_batch_size", "16" } });
        script.erase("swiglu");
        const double plain = totalParameters(modelOf(imported(told(script)).plan));
        script["quick_geglu"] = "True";
        const double gated = totalParameters(modelOf(imported(told(script)).plan));
        QCOMPARE(gated - plain, 80.0 * 8192 * 28672); // a third product a layer
    }

    void deepSpeedsJsonIsRead()
    {
        const Recording r = read("ds.json",
            R"({"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": 2, "bf16": {"enabled": true},
                "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "pin_memory": true},
                "overlap_comm": true}, "gradient_clipping": 1.0, "steps_per_print": "auto"})");
        QVERIFY2(r.sources[0].kind == SourceKind::DeepSpeedConfig, r.sources[0].refused.c_str());
        const ImportedPlan made = imported(r);
        QCOMPARE(made.plan.parallelism.zeroStage, 3);
        QCOMPARE(made.plan.workload.globalBatch, 1 * 2 * 16); // on the plan's 16 GPUs
        QVERIFY(made.plan.memory.optimizerOffload == OptimizerOffload::Host);
        QVERIFY(made.plan.memory.parameterOffload == ParameterOffload::None);
        QCOMPARE(made.plan.stack.name, std::string("deepspeed"));
        QVERIFY(made.plan.notUnderstood.empty());
        const ImportedPlan sized = imported(read("ds.json",
            R"({"train_batch_size": 256, "train_micro_batch_size_per_gpu": 2, "gradient_accumulation_steps": 4,
                "zero_optimization": {"stage": 2}})"));
        QCOMPARE(sized.plan.cluster.gpus(), 256 / (2 * 4));
        const ImportedPlan other = imported(read("ds.json",
            R"({"zero_optimization": {"stage": 3, "zero_quantized_weights": true}, "bf16": {"enabled": true}})"));
        QVERIFY(says(doubtsOf(other), "zero_quantized_weights"));
    }

    void llamaFactoryTellsModelStageAndBatch()
    {
        const Recording r = read("full.yaml", kLlamaFactory);
        QVERIFY2(r.sources[0].kind == SourceKind::LlamaFactoryConfig, r.sources[0].refused.c_str());
        const ImportedPlan made = imported(r);
        QCOMPARE(made.plan.workload.model, std::string("llama-3.1-8b"));
        QCOMPARE(made.plan.workload.globalBatch, 2 * 4 * 16);
        QCOMPARE(made.plan.parallelism.zeroStage, 3);
        QCOMPARE(made.plan.stack.name, std::string("deepspeed"));
        QVERIFY(made.plan.memory.recompute == Recompute::Full); // unless it is turned off
        QVERIFY(says(made.assumed, "not packed") && made.plan.notUnderstood.empty());
        std::string adapters = kLlamaFactory;
        adapters.replace(adapters.find("finetuning_type: full"), 21, "finetuning_type: lora");
        QVERIFY(errorOf(read("lora.yaml", adapters)).find("adapters") != std::string::npos);
        std::string unknown = kLlamaFactory;
        unknown.replace(unknown.find("meta-llama/Llama-3.1-8B-Instruct"), 32, "someone/their-own-model");
        QVERIFY(errorOf(read("own.yaml", unknown)).find("config.json beside it") != std::string::npos);
    }

    void axolotlAccelerateAutomodelMaxTextAndPrimusAreRead()
    {
        const Recording axolotl = read("axolotl.yml",
            "base_model: Qwen/Qwen2.5-7B\nsequence_len: 8192\nsample_packing: true\nmicro_batch_size: 1\n"
            "gradient_accumulation_steps: 2\nbf16: true\ngradient_checkpointing: true\nfsdp:\n  - full_shard\n  - "
            "auto_wrap\n");
        QVERIFY(axolotl.sources[0].kind == SourceKind::AxolotlConfig);
        const ImportedPlan a = imported(axolotl);
        QVERIFY(a.plan.workload.model == "qwen2.5-7b" && a.plan.workload.globalBatch == 32);
        QVERIFY(a.plan.parallelism.zeroStage == 3 && a.plan.stack.name == "fsdp" && !says(a.assumed, "not packed"));

        const Recording accelerate = read("default_config.yaml",
            "compute_environment: LOCAL_MACHINE\ndistributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: "
            "SHARD_GRAD_OP\n  fsdp_offload_params: true\nmixed_precision: bf16\nnum_machines: 2\nnum_processes: 16\n");
        QVERIFY(accelerate.sources[0].kind == SourceKind::AccelerateConfig);
        const ImportedPlan c = imported(accelerate);
        QVERIFY(c.plan.parallelism.zeroStage == 2 && c.plan.memory.parameterOffload == ParameterOffload::Host);
        QCOMPARE(c.plan.parallelism.data.value_or(0), 16);

        const Recording automodel = read("recipe.yaml",
            "step_scheduler:\n  global_batch_size: 64\n  local_batch_size: 2\nmodel:\n  _target_: "
            "nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n  pretrained_model_name_or_path: "
            "meta-llama/Llama-3.2-1B\ndistributed:\n  _target_: "
            "nemo_automodel.components.distributed.fsdp2.FSDP2Manager\n  tp_size: 2\n  cp_size: 1\ndataset:\n  "
            "seq_len: 4096\n");
        QVERIFY(automodel.sources[0].kind == SourceKind::AutomodelConfig);
        const ImportedPlan m = imported(automodel);
        QVERIFY(m.plan.workload.model == "llama-3.2-1b" && m.plan.parallelism.tensor == 2);
        QVERIFY(m.plan.workload.globalBatch == 64 && m.plan.workload.sequenceLength == 4096);

        const Recording maxtext = read("llama.yml",
            "base_config: base.yml\nmodel_name: llama3.1-8b\nhardware: gpu\nper_device_batch_size: 2\n"
            "max_target_length: 8192\nici_fsdp_parallelism: 8\nici_tensor_parallelism: 2\nremat_policy: full\n"
            "dtype: bfloat16\nsteps: 10\n");
        QVERIFY(maxtext.sources[0].kind == SourceKind::MaxTextConfig);
        const ImportedPlan x = imported(maxtext);
        QVERIFY(x.plan.workload.model == "llama-3.1-8b" && x.plan.parallelism.tensor == 2);
        QVERIFY(x.plan.parallelism.zeroStage == 3 && x.plan.workload.globalBatch == 2 * 8);

        const Recording primus = read("llama3.1_8B.yaml",
            "work_group: ${PRIMUS_TEAM:amd}\nmodules:\n  pre_trainer:\n    framework: megatron\n    config: "
            "pre_trainer.yaml\n    model: llama3.1_8B.yaml\n    overrides:\n      micro_batch_size: 2\n"
            "      global_batch_size: 128\n      seq_length: ${SEQ:8192}\n      tensor_model_parallel_size: 1\n"
            "      use_distributed_optimizer: true\n      bf16: true\n");
        QVERIFY(primus.sources[0].kind == SourceKind::PrimusConfig);
        const ImportedPlan u = imported(primus);
        QVERIFY(u.plan.workload.model == "llama-3.1-8b" && u.plan.workload.globalBatch == 128);
        QVERIFY(u.plan.workload.sequenceLength == 8192 && u.plan.parallelism.zeroStage == 1);
    }

    void aRecipesNameTellsItsModelAndNothingElse()
    {
        const Recording r = read("run.sh",
            "#!/bin/bash\nuv run python -m torch.distributed.run --nproc_per_node=8 run_recipe.py "
            "--recipe llama31_405b_pretrain_config train.global_batch_size=512 model.tensor_model_parallel_size=4\n");
        const ImportedPlan made = imported(r);
        QCOMPARE(made.plan.workload.model, std::string("llama-3.1-405b"));
        QCOMPARE(made.plan.workload.globalBatch, 512);
        QCOMPARE(made.plan.parallelism.tensor, 4);
        QCOMPARE(doubtsOf(made).size(), std::size_t(1));
        QVERIFY(says(doubtsOf(made), "whose degrees, batches, lengths and precision stand in the recipe"));
        QVERIFY(!says(made.assumed, "--use-distributed-optimizer is not given")); // the recipe may well give it
        const auto error = [](const std::string &recipe) {
            return errorOf(read("run.sh", "#!/bin/bash\npython run_recipe.py --recipe " + recipe + "\n"));
        };
        QVERIFY(error("llama3_8b_peft_config").find("trains adapters") != std::string::npos);
        QVERIFY(error("zebra_9b_pretrain_config").find("whose model's shape no source tells") != std::string::npos);
    }

    void aScriptOfHuggingFacesTrainerIsItsPlan()
    {
        const std::string script =
            "#!/bin/bash\ntorchrun --nnodes 2 --nproc_per_node 8 train.py --model_name_or_path meta-llama/Llama-3.1-8B "
            "--per_device_train_batch_size 2 --gradient_accumulation_steps 4 --model_max_length 4096 "
            "--fsdp \"full_shard auto_wrap\" --gradient_checkpointing True --output_dir out";
        const ImportedPlan made = imported(read("train.sh", script + " --bf16 True\n"));
        QCOMPARE(made.plan.workload.model, std::string("llama-3.1-8b"));
        QCOMPARE(made.plan.workload.sequenceLength, 4096);
        QCOMPARE(made.plan.cluster.gpus(), 16);
        QCOMPARE(made.plan.workload.globalBatch, 2 * 4 * 16);
        QCOMPARE(made.plan.parallelism.zeroStage, 3);
        QCOMPARE(made.plan.stack.name, std::string("fsdp"));
        QVERIFY(made.plan.memory.recompute == Recompute::Full && made.plan.workload.precision == Precision::Bf16);
        QVERIFY(doubtsOf(made).empty());
        QVERIFY(imported(read("train.sh", script + "\n")).plan.workload.precision == Precision::Fp32);
        QVERIFY(says(doubtsOf(imported(read("train.sh", script + " --bf16 True --zebra 4\n"))), "zebra = 4"));
        QVERIFY(errorOf(read("train.sh", script + " --use_peft\n")).find("trains adapters") != std::string::npos);
        // what Accelerate is told counts too, and a file that it is given is asked for
        const ImportedPlan launched = imported(read("train.sh",
            "#!/bin/bash\naccelerate launch --use_fsdp --mixed_precision bf16 --fsdp_sharding_strategy SHARD_GRAD_OP "
            "--num_processes 16 train.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 1 "
            "--max_seq_length 2048\n"));
        QCOMPARE(launched.plan.parallelism.zeroStage, 2);
        QCOMPARE(launched.plan.cluster.gpus(), 16);
        const ImportedPlan filed = imported(read("train.sh",
            "#!/bin/bash\naccelerate launch --config_file fsdp.yaml train.py --model_name_or_path Qwen/Qwen3-8B "
            "--per_device_train_batch_size 1 --max_seq_length 2048\n"));
        QVERIFY(says(doubtsOf(filed), "names Accelerate's configuration"));
    }

    void aNamedModelMayHaveAnotherNumberOfLayers()
    {
        const std::string config = "model_name: \"mixtral-8x7b\"\nper_device_batch_size: 4\nmax_target_length: 4096\n"
                                   "steps: 10\nremat_policy: full\n";
        const ImportedPlan whole = imported(read("job.yml", config));
        QCOMPARE(whole.plan.workload.model, std::string("mixtral-8x7b"));
        const ImportedPlan made = imported(read("job.yml", config + "base_num_decoder_layers: 8\n"));
        const ModelSpec all = modelOf(whole.plan), fewer = modelOf(made.plan);
        QCOMPARE(fewer.layers, 8);
        QCOMPARE(totalParameters(fewer), totalParameters(all) - 24 * layerParameters(all, true).total());
        QVERIFY(errorOf(read("job.yml", config + "base_num_decoder_layers: 8\nbase_mlp_dim: 1024\n"))
                    .find("which may be of another shape")
            != std::string::npos);
    }

    void aJobThatNamesNoModelIsInDoubt()
    {
        const ImportedPlan made =
            imported(read("job.yml", "per_device_batch_size: 4\nmax_target_length: 4096\nsteps: 10\n"));
        QVERIFY(says(doubtsOf(made), "The shape of the model"));
        // also where a script tells no more than its batches
        const ImportedPlan script =
            imported(read("run.sh", "#!/bin/bash\npython train.py --micro-batch-size 4 --global-batch-size 64\n"));
        QVERIFY(says(doubtsOf(script), "The shape of the model"));
        const ImportedPlan titan = imported(read("job.toml",
            "[model]\nname = \"zebra\"\nflavor = \"9B\"\n[training]\nseq_len = 4096\nlocal_batch_size = 1\n"
            "[parallelism]\ntensor_parallel_degree = 2\n"));
        QVERIFY(says(doubtsOf(titan), "names a model that the catalogue has not, zebra 9B"));
    }

    void primusTellsMaxTextsSettings()
    {
        const ImportedPlan made = imported(read("primus.yaml",
            "modules:\n  pre_trainer:\n    framework: maxtext\n    model: llama3_8B.yaml\n    overrides:\n"
            "      per_device_batch_size: 3\n      max_target_length: 8_192\n      ici_fsdp_parallelism: 8\n"
            "      steps: 50\n"));
        QCOMPARE(made.plan.workload.model, std::string("llama-3-8b"));
        QCOMPARE(made.plan.workload.microBatch, 3);
        QCOMPARE(made.plan.workload.sequenceLength, 8192);
        QCOMPARE(made.plan.parallelism.zeroStage, 3);
    }

    /// NeoX's own 20B: 44 layers of 6144, which it divides by 4 stages of 2 ranks.
    void gptNeoxIsNoConfigurationOfDeepSpeed()
    {
        const Recording r = read("20B.yml",
            "# as it was trained on 96 A100\n{\n  \"pipe-parallel-size\": 4,\n  \"model-parallel-size\": 2,\n"
            "  \"num-layers\": 44,\n  \"hidden-size\": 6144,\n  \"num-attention-heads\": 64,\n  \"seq-length\": 2048,\n"
            "  \"max-position-embeddings\": 2048,\n  \"norm\": \"layernorm\",\n  \"pos-emb\": \"rotary\",\n"
            "  \"no-weight-tying\": true,\n  \"gpt_j_residual\": true,\n  \"optimizer\": {\"type\": \"Adam\", "
            "\"params\": "
            "{\"lr\": 0.97e-4,}},\n  \"zero_optimization\": {\"stage\": 1, \"overlap_comm\": True,},\n"
            "  \"train_micro_batch_size_per_gpu\": 4,\n  \"gradient_accumulation_steps\": 32,\n"
            "  \"checkpoint-activations\": true,\n  \"fp16\": {\"fp16\": true, \"enabled\": true},\n}\n");
        QVERIFY2(r.sources[0].refused.empty(), r.sources[0].refused.c_str());
        const ImportedPlan made = imported(r);
        const ModelSpec model = modelOf(made.plan);
        QVERIFY(model.layers == 44 && model.hidden == 6144 && !model.gatedFfn && !model.tiedEmbeddings);
        QCOMPARE(made.plan.parallelism.pipeline, 4);
        QCOMPARE(made.plan.parallelism.tensor, 2);
        QCOMPARE(made.plan.parallelism.zeroStage, 1);
        QCOMPARE(made.plan.workload.globalBatch, 4 * 32 * 2); // replicas on the plan's 16 GPUs
        QVERIFY(made.plan.workload.precision == Precision::Fp16 && made.plan.memory.recompute == Recompute::Full);
        QCOMPARE(made.plan.stack.name, std::string("megatron-deepspeed"));
        QCOMPARE(doubtsOf(made).size(), std::size_t(1)); // attention and MLP beside each other are in no plan
        QVERIFY(says(doubtsOf(made), "gpt_j_residual"));
    }

    /// A file of adapters in the folder of a job is left out by name; alone it makes no plan, and names its file.
    void adaptersBesideAJobAreLeftOutByName()
    {
        const std::string adapters = "model_name_or_path: meta-llama/Llama-3.1-8B-Instruct\nstage: sft\n"
                                     "finetuning_type: lora\ncutoff_len: 4096\nper_device_train_batch_size: 2\n";
        const std::string alone = errorOf(read("lora.yaml", adapters));
        QVERIFY2(alone.find("trains adapters") != std::string::npos, alone.c_str());
        const ImportedPlan made =
            imported(mergeRecordings({ read("config.yaml", kNanotron), read("lora.yaml", adapters) }));
        QCOMPARE(made.plan.parallelism.tensor, 4);
        QCOMPARE(made.plan.notUnderstood.size(), std::size_t(1));
        QVERIFY(says(made.notUnderstood, "lora.yaml: finetuning_type trains adapters"));
    }

    /// Of a file that shards the states the stage is told once, and the software too.
    void aStageAndASoftwareAreToldOnce()
    {
        const ImportedPlan made = imported(read("full.yaml", kLlamaFactory));
        const auto count = [&](const std::vector<std::string> &sentences, const char *start) {
            return std::ranges::count_if(sentences, [&](const std::string &one) { return one.starts_with(start); });
        };
        QCOMPARE(count(made.taken, "parallelism.zero_stage ") + count(made.assumed, "parallelism.zero_stage "), 1);
        QCOMPARE(count(made.taken, "stack "), 1);
        QVERIFY(!says(made.assumed, "the stack is that of the plan"));
        const ImportedPlan both = imported(mergeRecordings({ read("full.yaml", kLlamaFactory),
            read("ds_z3_config.json", R"({"zero_optimization": {"stage": 3}, "bf16": {"enabled": "auto"},
                "train_micro_batch_size_per_gpu": "auto", "train_batch_size": "auto"})") }));
        QCOMPARE(both.plan.parallelism.zeroStage, 3);
        QCOMPARE(count(both.taken, "parallelism.zero_stage ") + count(both.assumed, "parallelism.zero_stage "), 1);
        QCOMPARE(count(both.taken, "stack "), 1);
        QVERIFY(both.plan.notUnderstood.empty());
    }

    void habitsOfMegatronAreToldEitherWay()
    {
        const auto script = with(kLlama,
            { { "micro_batch_size", "1" }, { "global_batch_size", "16" }, { "bf16", "True" },
                { "overlap_grad_reduce", "True" }, { "tp_comm_overlap", "True" } });
        QVERIFY(says(imported(told(script)).taken, "to whose habits belong --overlap-grad-reduce"));
        QVERIFY(says(imported(told(script)).taken, "--tp-comm-overlap"));
        auto older = script;
        older.erase("overlap_grad_reduce");
        older["deepspeed"] = "True"; // whose stack hides none of it
        QVERIFY(!says(imported(told(older)).assumed, "--overlap-grad-reduce is not on"));
        auto without = script;
        without.erase("overlap_grad_reduce");
        QVERIFY(says(imported(told(without)).assumed, "--overlap-grad-reduce is not on"));
    }

    void aVariableAtItsDefaultIsNoted()
    {
        const Recording r = read("run.sh",
            "#!/bin/bash\nN=${SLURM_NNODES:-4}\nSET=8\ntorchrun --nnodes $N --nproc_per_node ${SET:-2} pretrain_gpt.py "
            "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --micro-batch-size 1 --global-batch-size 64 "
            "--seq-length 4096 --bf16 --tensor-model-parallel-size 4\n");
        QVERIFY(says(r.sources[0].notes, "the script's own defaults: SLURM_NNODES 4"));
        QVERIFY(!says(r.sources[0].notes, "SET"));
        QCOMPARE(imported(r).plan.cluster.gpus(), 32);
    }

    void aRefusalSaysWhatTheFileIs()
    {
        const auto refused = [](const char *name, const char *text) { return read(name, text).sources[0].refused; };
        QVERIFY(refused("run.sh", "#!/bin/bash\necho hello\n").starts_with("It is a shell script"));
        QVERIFY(refused("train.py", "import torch\nprint(1)\n").starts_with("It is a Python program"));
        QVERIFY(refused("zebra.yaml", "stripes: 4\ncolour: white\n").starts_with("It is YAML (stripes, colour)"));
        QVERIFY(refused("zebra.log", "stripes 4\n").starts_with("It is a text"));
        // a bracket makes no JSON
        for (const char *log : { "[rank0] stripes 4\n", "[2026-11-29 10:00:01,123] stripes 4\n", "[12:00:01] stripes\n",
                 "[1] stripes\n", "[INFO] stripes 4\n", "{rank 0} stripes 4\n" }) {
            QVERIFY2(refused("zebra.log", log).starts_with("It is a text"), log);
            QVERIFY2(readers::mayTakeLinePattern("zebra.log", log), log);
        }
        for (const char *json :
            { "[1, 2]\n", "[{\"a\": 1}]", "[\"a\"]", "[]", "{\"a\": [1]}", "{'a': True}", "[[1, 2]]" }) {
            QVERIFY2(refused("zebra.json", json).starts_with("It is JSON"), json);
            QVERIFY2(!readers::mayTakeLinePattern("zebra.json", json), json);
        }
        QVERIFY(!readers::mayTakeLinePattern("run.sh", "#!/bin/bash\necho hello\n"));
    }

    void whatAScriptLeavesToAConditionIsAsked()
    {
        const std::string script =
            "#!/bin/bash\nif [ \"$BIG\" = 1 ]; then N=80; T=8; else N=80; T=4; fi\n"
            "torchrun --nproc-per-node 8 --nnodes 2 pretrain_gpt.py --num-layers $N --hidden-size "
            "1024 --num-attention-heads 16 --micro-batch-size 1 --global-batch-size 16 "
            "--seq-length 512 --vocab-size 1024 --bf16 --tensor-model-parallel-size $T\n";
        const ImportedPlan made = imported(read("a.sh", script));
        QCOMPARE(made.plan.parallelism.tensor, 4);
        QCOMPARE(modelOf(made.plan).layers, 80);
        QVERIFY(says(doubtsOf(made), "8 where line 2 has it"));
        std::string shaped = script;
        shaped.replace(shaped.find("else N=80"), 9, "else N=40");
        QVERIFY(errorOf(read("a.sh", shaped)).find("80 where line 2 has it") != std::string::npos);
    }
};

TRAINYARD_APPLESS_TEST(TestTrainerConfigs)
#include "tst_trainer_configs.moc"
