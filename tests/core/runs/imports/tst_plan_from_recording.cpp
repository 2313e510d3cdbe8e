// SPDX-License-Identifier: GPL-3.0-or-later
// Plans from what a run left behind: each key is what the arguments, the configuration or the topology say, what nobody
// says is assumed aloud, and every plan that comes out can be evaluated. Figures are worked out by hand, or published.
#include "core/facts/plan/plan_io.h"
#include "core/facts/plan/validate.h"
#include "core/facts/workload/model_math.h"
#include "core/runs/imports/megatron_arguments.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/core/runs/imports/import_trial.h"
#include "tests/support/own_inputs.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <random>

using namespace trainyard;
using namespace trainyard::trial;

class TestPlanFromRecording : public QObject {
    Q_OBJECT

private slots:
    void argumentsOfMegatronBecomeKeysOfThePlan()
    {
        const ImportedPlan made = imported(told(with(kLlama,
            { { "tensor_model_parallel_size", "8" }, { "pipeline_model_parallel_size", "4" },
                { "num_layers_per_virtual_pipeline_stage", "5" }, { "micro_batch_size", "1" },
                { "global_batch_size", "512" }, { "seq_length", "8192" }, { "sequence_parallel", "True" },
                { "use_distributed_optimizer", "True" }, { "bf16", "True" }, { "recompute_activations", "True" },
                { "nnodes", "32" }, { "nproc_per_node", "8" }, { "train_samples", "1000000" } })));
        const Plan &p = made.plan;
        QVERIFY(p.workload.model == "llama-3-70b" || p.workload.model == "llama-3.1-70b");
        QCOMPARE(p.parallelism.tensor, 8);
        QCOMPARE(p.parallelism.pipeline, 4);
        QCOMPARE(p.parallelism.virtualPipeline, 4); // 80 layers / (4 stages · 5 layers)
        QVERIFY(p.schedule == ScheduleKind::Interleaved);
        QCOMPARE(p.parallelism.data.value_or(0), 8); // 256 / (8 · 4)
        QCOMPARE(p.cluster.gpus(), 256);
        QCOMPARE(p.workload.globalBatch, 512);
        QCOMPARE(p.workload.sequenceLength, 8192);
        QCOMPARE(p.parallelism.zeroStage, 1);
        QVERIFY(p.memory.recompute == Recompute::Selective);
        QCOMPARE(p.workload.trainingTokens.value_or(0), 8192e6);
        QVERIFY(says(made.taken, "parallelism.tensor 8 from --tensor-model-parallel-size (run.sh)"));
        QVERIFY(says(made.assumed, "The type of GPU is told by no source: H100"));
        QVERIFY(evaluated(p) > 0);
    }

    /// Scripts of two jobs make no third: the first is taken as a whole, and the other is named with its differences.
    void argumentsOfTwoJobsAreNotMixed()
    {
        const auto part = [](const char *file, std::map<std::string, std::string> arguments) {
            Recording recording = told(std::move(arguments));
            recording.sources.front().file = file;
            return recording;
        };
        const std::map<std::string, std::string> a = with(kLlama,
            { { "tensor_model_parallel_size", "2" }, { "seq_length", "4096" }, { "global_batch_size", "64" },
                { "nproc_per_node", "8" }, { "nnodes", "2" } });
        const std::map<std::string, std::string> b = with(kLlama,
            { { "tensor_model_parallel_size", "4" }, { "seq_length", "8192" }, { "global_batch_size", "64" },
                { "world_size", "512" } });
        const Recording both = mergeRecordings({ part("/x/a.sh", a), part("/x/b.sh", b) });
        QCOMPARE(both.argumentsOf.size(), std::size_t(2));
        QCOMPARE(both.argumentsOf[1].arguments.at("seq_length"), std::string("8192"));
        const ImportedPlan made = imported(both);
        QCOMPARE(made.plan.parallelism.tensor, 2);
        QCOMPARE(made.plan.workload.sequenceLength, 4096);
        QCOMPARE(made.plan.cluster.gpus(), 16); // not the 512 of b.sh
        QVERIFY(says(made.taken, "from --seq-length (a.sh)"));
        QVERIFY(says(made.notUnderstood, "b.sh: tells another job than a.sh"));
        QVERIFY(says(made.notUnderstood, "seq_length 8192 (not 4096 as a.sh)"));
        QVERIFY(says(made.notUnderstood, "tensor_model_parallel_size 4 (not 2 as a.sh)"));
        QCOMPARE(made.plan.notUnderstood.size(), std::size_t(1)); // a problem of the plan itself
        QVERIFY(made.plan.notUnderstood[0].text.find("nothing of b.sh") != std::string::npos);
    }

    /// A script and the log of its run tell the same in other words, and each what the other leaves out.
    void sourcesOfOneJobAddUp()
    {
        const auto part = [](const char *file, std::map<std::string, std::string> arguments) {
            Recording recording = told(std::move(arguments));
            recording.sources.front().file = file;
            return recording;
        };
        const ImportedPlan made = imported(mergeRecordings(
            { part("/x/a.sh", with(kLlama, { { "seq_length", "4096" }, { "bf16", "True" }, { "rank", "0" } })),
                part("/x/b.log",
                    { { "seq_length", "4096.0" }, { "bf16", "true" }, { "rank", "7" }, { "world_size", "32" },
                        { "global_batch_size", "64" } }) }));
        QCOMPARE(made.plan.cluster.gpus(), 32);
        QVERIFY(made.plan.notUnderstood.empty());
        QVERIFY(says(made.taken, "from --global-batch-size (b.log)"));
        QVERIFY(says(made.taken, "from --seq-length (a.sh)"));
    }

    /// The batch of a script and that of DeepSpeed's file have other names, and are the same thing.
    void aScriptAndDeepSpeedsFileThatDisagreeAreNotMixed()
    {
        const auto part = [](const char *file, SourceKind kind, std::map<std::string, std::string> arguments) {
            Recording recording = told(std::move(arguments), kind);
            recording.sources.front().file = file;
            return recording;
        };
        const auto both = [&](const char *batch, const char *micro) {
            return imported(mergeRecordings({ part("/x/run.sh", SourceKind::MegatronArguments,
                                                  with(kLlama,
                                                      { { "micro_batch_size", "1" }, { "bf16", "True" },
                                                          { "global_batch_size", "256" }, { "nnodes", "2" },
                                                          { "nproc_per_node", "8" } })),
                part("/x/ds.json", SourceKind::DeepSpeedConfig,
                    { { "ds_config.train_batch_size", batch }, { "ds_config.train_micro_batch_size_per_gpu", micro },
                        { "ds_config.zero_optimization.stage", "2" } }) }));
        };
        const ImportedPlan agreed = both("256", "1");
        QVERIFY(agreed.plan.notUnderstood.empty());
        QCOMPARE(agreed.plan.parallelism.zeroStage, 2);
        const ImportedPlan made = both("512", "2");
        QCOMPARE(made.plan.workload.globalBatch, 256);
        QCOMPARE(made.plan.workload.microBatch, 1);
        QCOMPARE(made.plan.notUnderstood.size(), std::size_t(1));
        const std::string why = made.plan.notUnderstood[0].text;
        for (const char *said : { "512 (not 256 as run.sh)", "2 (not 1 as run.sh)", "What run.sh tells is taken" })
            QVERIFY2(why.find(said) != std::string::npos, why.c_str());
    }

    /// DeepSpeed refuses a batch that is not micro-batch × accumulation × replicas.
    void aBatchThatIsNoProductOfTheScriptsIsAsked()
    {
        const auto part = [](const char *file, SourceKind kind, std::map<std::string, std::string> arguments) {
            Recording recording = told(std::move(arguments), kind);
            recording.sources.front().file = file;
            return recording;
        };
        const auto of = [&](const char *batch) {
            return imported(mergeRecordings({ part("/x/run.sh", SourceKind::AccelerateConfig,
                                                  { { "hf_trainer.model_name_or_path", "meta-llama/Llama-3.1-8B" },
                                                      { "hf_trainer.per_device_train_batch_size", "1" },
                                                      { "hf_trainer.gradient_accumulation_steps", "8" },
                                                      { "nnodes", "4" }, { "nproc_per_node", "8" } }),
                part("/x/ds.json", SourceKind::DeepSpeedConfig,
                    { { "ds_config.train_batch_size", batch }, { "ds_config.zero_optimization.stage", "2" } }) }));
        };
        QVERIFY(of("256").plan.notUnderstood.empty());
        const ImportedPlan made = of("512");
        QCOMPARE(made.plan.notUnderstood.size(), std::size_t(1));
        const std::string said = made.plan.notUnderstood[0].key + " " + made.plan.notUnderstood[0].text;
        for (const char *one : { "ds.json", "run.sh", "is 512", "make 256", "512 is taken" })
            QVERIFY2(said.find(one) != std::string::npos, said.c_str());
    }

    void sizesOfTheJobThatCannotBeAreErrors()
    {
        const auto fault = [](std::map<std::string, std::string> sizes) {
            return errorOf(told(with(kLlama, std::move(sizes))));
        };
        const auto has = [](const std::string &text, const char *part) { return text.find(part) != std::string::npos; };
        QVERIFY(has(fault({ { "nnodes", "999999999" }, { "nproc_per_node", "8" } }), "--nnodes (run.sh)"));
        QVERIFY(has(fault({ { "nproc_per_node", "4096" }, { "nnodes", "2" } }), "--nproc-per-node (run.sh)"));
        QVERIFY(has(fault({ { "world_size", "0" } }), "--world-size (run.sh)"));
        QVERIFY(has(fault({ { "nnodes", "100000" }, { "nproc_per_node", "1024" } }), "100000 nodes of 1024 GPUs"));
        // torchrun's "gpu" and Lightning's -1 are all that a node has
        for (const char *all : { "gpu", "auto", "-1" }) {
            const ImportedPlan made = imported(told(with(kLlama, { { "nproc_per_node", all }, { "nnodes", "2" } })));
            QVERIFY(says(made.assumed, "which tells no number"));
        }
    }

    void megatronsDefaultsHoldForWhatItsArgumentsLeaveOut()
    {
        Plan base = basePlan();
        base.parallelism.pipeline = 2;
        base.parallelism.zeroStage = 3;
        base.memory.recompute = Recompute::Full;
        const ImportedPlan made =
            imported(told(with(kLlama,
                         { { "tensor_model_parallel_size", "8" }, { "world_size", "16" }, { "global_batch_size", "16" },
                             { "seq_length", "2048" }, { "bf16", "" } })),
                base);
        QCOMPARE(made.plan.parallelism.pipeline, 1);
        QCOMPARE(made.plan.parallelism.zeroStage, 0);
        QCOMPARE(made.plan.parallelism.sequenceParallel, std::optional(false));
        QVERIFY(made.plan.memory.recompute == Recompute::None);
        QVERIFY(says(made.assumed, "--use-distributed-optimizer is not given"));
        // What a job alone can tell stays as it was: it is no default of Megatron's
        QVERIFY(says(made.assumed, "Degrees, micro-batch, schedule, sharding, recomputation and offload"));
        QVERIFY(!says(made.assumed, "Where an argument is not told"));
    }

    void namesOfNemoAndOthersMeanTheSame()
    {
        const ImportedPlan made = imported(told({ { "model.tensor_model_parallel_size", "4" },
            { "model.encoder_seq_length", "4096" }, { "model.micro_batch_size", "2" },
            { "model.global_batch_size", "64" }, { "trainer.num_nodes", "2" }, { "trainer.devices", "8" },
            { "trainer.precision", "bf16-mixed" }, { "model.optim.name", "distributed_fused_adam" },
            { "model.activations_checkpoint_granularity", "full" } }));
        QCOMPARE(made.plan.parallelism.tensor, 4);
        QCOMPARE(made.plan.workload.sequenceLength, 4096);
        QCOMPARE(made.plan.cluster.gpus(), 16);
        QCOMPARE(made.plan.parallelism.data.value_or(0), 4);
        QVERIFY(made.plan.memory.recompute == Recompute::Full);
        QVERIFY(says(made.taken, "workload.sequence_length 4096 from model.encoder_seq_length"));
    }

    void anUnevenDeepSeekIsRecognised()
    {
        const ImportedPlan made = imported(told({ { "num_layers", "61" }, { "hidden_size", "7168" },
            { "ffn_hidden_size", "18432" }, { "num_attention_heads", "128" }, { "kv_channels", "128" },
            { "make_vocab_size_divisible_by", "3232" }, { "normalization", "RMSNorm" }, { "swiglu", "True" },
            { "untie_embeddings_and_output_weights", "True" }, { "multi_latent_attention", "True" },
            { "attention_dropout", "0.0" }, { "hidden_dropout", "0.0" }, { "disable_bias_linear", "True" },
            { "position_embedding_type", "rope" }, { "num_experts", "256" }, { "moe_layer_freq", "([0]*3+[1]*58)" },
            { "moe_ffn_hidden_size", "2048" }, { "moe_shared_expert_intermediate_size", "2048" },
            { "moe_router_topk", "8" }, { "moe_router_group_topk", "4" }, { "moe_router_num_groups", "8" },
            { "q_lora_rank", "1536" }, { "kv_lora_rank", "512" }, { "qk_head_dim", "128" },
            { "qk_pos_emb_head_dim", "64" }, { "v_head_dim", "128" }, { "pipeline_model_parallel_size", "16" },
            { "expert_model_parallel_size", "64" }, { "decoder_last_pipeline_num_layers", "1" },
            { "world_size", "1024" }, { "global_batch_size", "8192" }, { "seq_length", "4096" }, { "bf16", "True" },
            { "fp8_format", "e4m3" }, { "moe_token_dispatcher_type", "flex" }, { "use_distributed_optimizer", "True" },
            { "recompute_granularity", "selective" }, { "recompute_modules", "['mla_up_proj', 'moe_act']" } }));
        QCOMPARE(made.plan.workload.model, std::string("deepseek-v3"));
        QVERIFY(made.plan.workload.precision == Precision::Fp8);
        QVERIFY(made.plan.moe.dispatch == MoeDispatch::Dedup);
        QVERIFY(made.plan.memory.recomputeUpProjection && made.plan.memory.recompute == Recompute::None);
        // 60 layers on 15 stages, one on the last
        QCOMPARE(made.plan.placement.layers.front(), 4);
        QCOMPARE(made.plan.placement.layers.back(), 1);
        QVERIFY(evaluated(made.plan) > 0);
    }

    void aModelThatTheCatalogueLacksIsInline()
    {
        auto own = kLlama;
        own["hidden_size"] = "4096";
        own["ffn_hidden_size"] = "11008";
        own["num_attention_heads"] = "32";
        own["num_layers"] = "30";
        const ImportedPlan made = imported(told(with(own, { { "world_size", "8" }, { "bf16", "True" } })));
        QVERIFY(made.plan.workload.inlineModel.has_value());
        // 2Vh + h + L (2h² + 2h·g·d + 3hf + 2h), g 8, d 128
        const double h = 4096;
        QCOMPARE(totalParameters(*made.plan.workload.inlineModel),
            2 * 128256 * h + h + 30 * (2 * h * h + 2 * h * 1024 + 3 * h * 11008 + 2 * h));
        QVERIFY(evaluated(made.plan) > 0);
    }

    void whatContradictsItselfIsAnErrorThatNamesArgumentAndFile()
    {
        const auto fault = [](std::map<std::string, std::string> more) { return errorOf(told(with(kLlama, more))); };
        QCOMPARE(fault({ { "tensor_model_parallel_size", "-3" } }),
            std::string("--tensor-model-parallel-size (run.sh): is -3; expected a whole number from 1 to 1024"));
        QVERIFY(fault({ { "tensor_model_parallel_size", "6" }, { "world_size", "48" } }).find("64 attention heads")
            != std::string::npos);
        QVERIFY(
            fault({ { "tensor_model_parallel_size", "8" }, { "world_size", "100" } }).find("does not divide the 100")
            != std::string::npos);
        QVERIFY(fault({ { "num_query_groups", "7" } }).find("do not divide 64 heads") != std::string::npos);
        QVERIFY(fault({ { "micro_batch_size", "3" }, { "global_batch_size", "64" },
                          { "tensor_model_parallel_size", "8" }, { "world_size", "8" } })
                    .find("micro-batches of 3")
            != std::string::npos);
        QVERIFY(errorOf(Recording()).find("nothing in it tells of a plan") != std::string::npos);
    }

    void torchtitanShardsOverAllRanks()
    {
        const ImportedPlan made =
            imported(told({ { "model.name", "llama3" }, { "model.flavor", "405B" }, { "training.seq_len", "8192" },
                              { "training.local_batch_size", "8" }, { "parallelism.tensor_parallel_degree", "8" },
                              { "parallelism.pipeline_parallel_degree", "8" },
                              { "parallelism.pipeline_parallel_schedule", "Interleaved1F1B" },
                              { "parallelism.data_parallel_shard_degree", "8" },
                              { "activation_checkpoint.mode", "full" }, { "model.converters", "[\"float8\"]" } },
                SourceKind::TorchtitanToml));
        const Plan &p = made.plan;
        QCOMPARE(p.workload.model, std::string("llama-3.1-405b"));
        QCOMPARE(p.cluster.gpus(), 512); // 8 · 8 · 8
        QCOMPARE(p.parallelism.data.value_or(0), 8);
        QCOMPARE(p.parallelism.zeroStage, 3);
        QCOMPARE(p.workload.globalBatch, 64); // 8 a rank · 8
        QCOMPARE(p.workload.microBatch, 1);
        QVERIFY(p.schedule == ScheduleKind::Interleaved);
        QCOMPARE(p.stack.name, std::string("fsdp"));
        QVERIFY(p.workload.precision == Precision::Fp8);
        QVERIFY(evaluated(p) > 0);
    }

    void realLogsGivePlansThatCanBeEvaluated_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<int>("globalBatch"); // 0: not told
        QTest::addColumn<int>("shards"); // tensor × pipeline
        QTest::addColumn<int>("gpus");
        QTest::addColumn<QString>("parameters"); // of Megatron's estimate of memory
        const auto row = [](const std::string &path, int batch, int shards, int gpus, const char *parameters) {
            QTest::newRow(path.substr(path.rfind('/') + 1).c_str())
                << QString::fromStdString(path) << batch << shards << gpus << parameters;
        };
        const std::string logs = "formats/logs/";
        row(tests::ownInput(logs + "megatron_timed.log"), 8, 1, 16, "");
        row(tests::ownInput(logs + "megatron_experts.log"), 64, 1, 16, "");
        // 12.58 / 1.5729 = 8 shards; 1.704 - 1.5729 = 0.26 / 2; 12.58 + 0.26
        row(tests::ownInput(logs + "megatron_startup.log"), 0, 8, 8, "12.8B parameters");
        if (!tests::isShared(logs))
            return;
        row(tests::sharedInput(logs + "megatron_lm_2022.log"), 4, 1, 16, "");
        row(tests::sharedInput(logs + "megatron_lm_2024.log"), 128, 1, 16, "");
        // 64.43 / 2.0133 = 32 shards; 2.0794 - 2.0133 = 0.26 / 4
        row(tests::sharedInput(logs + "megatron_lm_2026_startup_interleaved.log"), 0, 32, 32, "64.7B parameters");
    }

    void realLogsGivePlansThatCanBeEvaluated()
    {
        QFETCH(QString, path);
        QFETCH(int, globalBatch);
        QFETCH(int, shards);
        QFETCH(int, gpus);
        QFETCH(QString, parameters);
        const auto recording = readSource(path.toStdString(), {});
        QVERIFY(recording && tellsOfAPlan(*recording));
        const ImportedPlan made = imported(*recording);
        QCOMPARE(made.plan.workload.globalBatch, globalBatch > 0 ? globalBatch : 64);
        QCOMPARE(made.plan.parallelism.tensor * made.plan.parallelism.pipeline, shards);
        QCOMPARE(made.plan.cluster.gpus(), gpus);
        QVERIFY(says(made.assumed, "The type of GPU is told by no source"));
        if (!parameters.isEmpty())
            QVERIFY(says(made.assumed, parameters.toUtf8().constData()));
        QVERIFY(evaluated(made.plan) > 0);
    }

    void realConfigurationsGiveModelsOfThePublishedSize()
    {
        struct Known {
            double billions = 0;
            std::string model; // of the catalogue; empty: inline
        };
        // Of ours as tests/data/manifest.json counts them
        const std::map<std::string, Known> own { { "Small-Dense", { 0.200827904, "" } },
            { "Small-Experts", { 0.308954112, "" } }, { "Small-Latent", { 0.214844160, "" } } };
        const std::map<std::string, Known> published { { "Meta-Llama-3.1-8B", { 8.03, "llama-3.1-8b" } },
            { "Meta-Llama-3.1-405B", { 405.85, "llama-3.1-405b" } }, { "Mixtral-8x7B-v0.1", { 46.7, "mixtral-8x7b" } },
            { "Qwen3-235B-A22B", { 235.1, "qwen3-235b-a22b" } }, { "Qwen3-30B-A3B", { 30.53, "qwen3-30b-a3b" } },
            { "Qwen3-32B", { 32.76, "qwen3-32b" } }, { "DeepSeek-V3", { 671.0, "deepseek-v3" } },
            { "DeepSeek-V3.2", { 671.0, "" } }, { "Kimi-K2-Instruct", { 1026.0, "kimi-k2" } },
            { "Llama-4-Maverick-17B-128E-Instruct", { 400.7, "llama-4-maverick" } },
            { "Qwen3.5-397B-A17B", { 397.0, "" } } };
        const auto count = [](const std::string &folder, const std::map<std::string, Known> &known, double within) {
            int found = 0;
            for (QDirIterator at(QString::fromStdString(folder), QDir::Files); at.hasNext(); ++found) {
                const auto recording = readSource(at.next().toStdString(), {});
                if (!recording || recording->models.size() != 1)
                    return -1;
                const std::string name = recording->models[0].name;
                if (name == "Kimi-K3") { // its experts work on half the width, and most layers keep a state
                    if (errorOf(*recording).find("such experts (as of Kimi K3) are not modelled") == std::string::npos)
                        return -1;
                    continue;
                }
                const ImportedPlan made = imported(*recording);
                const double counted = totalParameters(modelOf(made.plan)) / 1e9;
                if (!known.contains(name) || std::abs(counted / known.at(name).billions - 1) >= within
                    || made.plan.workload.model != known.at(name).model || !(evaluated(made.plan) > 0)) {
                    qWarning("%s has %g billion parameters", name.c_str(), counted);
                    return -1;
                }
            }
            return found;
        };
        QCOMPARE(count(tests::ownInput("formats/hf_configs"), own, 1e-9), 3);
        if (const std::string folder = "formats/hf_configs"; tests::isShared(folder))
            QCOMPARE(count(tests::sharedInput(folder), published, 0.01), 12);
    }

    void filesOfARunMakeOnePlan()
    {
        QTemporaryDir folder;
        const std::string path = folder.path().toStdString();
        std::ofstream(path + "/run.sh") << "#!/bin/bash\n#SBATCH --gres=gpu:a100:8\nGPUS=8\ntorchrun --nnodes 4 "
                                           "--nproc_per_node $GPUS pretrain_gpt.py --tensor-model-parallel-size 8 "
                                           "--micro-batch-size 1 --global-batch-size 32 --seq-length 4096 --bf16\n";
        std::ofstream(path + "/config.json")
            << R"({"model_type": "llama", "num_hidden_layers": 8, "hidden_size": 1024, "intermediate_size": 4096,
            "num_attention_heads": 16, "vocab_size": 32000, "tie_word_embeddings": false})";
        const auto recording = readSources({ path }, {}, 2);
        QVERIFY(recording.has_value());
        const ImportedPlan made = imported(*recording);
        QCOMPARE(made.plan.cluster.gpus(), 32);
        QCOMPARE(made.plan.cluster.datacenters[0].pools[0].gpu, std::string("a100-sxm-40gb"));
        QVERIFY2(made.plan.workload.inlineModel, made.plan.workload.model.c_str());
        QCOMPARE(made.plan.workload.inlineModel->layers, 8);
        QCOMPARE(made.plan.parallelism.data.value_or(0), 4);
        QVERIFY(evaluated(made.plan) > 0);
    }

    void anythingToldGivesAPlanThatIsSoundOrErrors()
    {
        std::vector<std::string> names { "world_size", "nnodes", "nproc_per_node", "moe_layer_freq", "num_layers",
            "hidden_size", "num_attention_heads", "training.seq_len", "training.local_batch_size",
            "parallelism.data_parallel_shard_degree", "model.flavor", "model.name", "deepspeed.train_batch_size",
            "parallelism.pipeline_parallel_degree", "activation_checkpoint.mode", "position_embedding_type" };
        for (const MegatronArgument &one : megatronArguments())
            names.emplace_back(one.name);
        for (const MegatronShape &one : megatronShapes())
            names.emplace_back(one.name);
        const std::vector<std::string> values { "1", "2", "8", "64", "-1", "0", "99999999999999999999", "1e300", "nan",
            "True", "False", "None", "", "full", "selective", "([0]*3+[1]*58)", "[1]*999999999", "[[", "llama3", "8B",
            "4096", "128256", "10000000", "rope", "\xff\x01" };
        std::mt19937 random(7);
        int plans = 0;
        for (int i = 0; i < 20000; ++i) {
            std::map<std::string, std::string> arguments;
            const bool isTitan = i % 4 == 0;
            for (unsigned n = random() % 12 + 1; n > 0; --n)
                arguments[names[random() % names.size()]] = values[random() % (i % 2 ? 4 : values.size())];
            if (!isTitan)
                std::erase_if(arguments, [](const auto &pair) { return pair.first.find('.') != std::string::npos; });
            const auto made = planFrom(told(arguments), builtinCatalogue(), basePlan());
            if (made) {
                ++plans;
                QVERIFY(validatePlan(made->plan).empty());
                // a file that is written can be read
                if (i % 20 == 0) {
                    const auto again = parsePlan(formatPlan(made->plan), "a.trainyard.json");
                    QVERIFY2(again, again ? "" : toString(again.error().front()).c_str());
                }
            } else {
                QVERIFY(!made.error().empty() && !made.error().front().what.empty());
            }
        }
        QVERIFY(plans > 1000);
    }
};

TRAINYARD_APPLESS_TEST(TestPlanFromRecording)
#include "tst_plan_from_recording.moc"
