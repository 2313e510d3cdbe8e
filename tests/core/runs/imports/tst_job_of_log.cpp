// SPDX-License-Identifier: GPL-3.0-or-later
// What a log itself says of its job becomes the plan, as the script or the configuration beside it would have it.
#include "tests/core/runs/imports/import_trial.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

Plan planOf(const std::string &log)
{
    return imported(read("run.log", log)).plan;
}

const std::string kIterations =
    " [2025-10-02 22:52:07] iteration       10/     100 | consumed samples:         5120 | elapsed time per iteration "
    "(ms): 13212.7 | global batch size:   512 |\n"
    " [2025-10-02 22:52:21] iteration       20/     100 | consumed samples:        10240 | elapsed time per iteration "
    "(ms): 13212.7 | global batch size:   512 |\n";

} // namespace

class TestJobOfLog : public QObject {
    Q_OBJECT

private slots:
    void theCommandThatItEchoesIsItsScript()
    {
        const Plan plan =
            planOf("torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py --num-layers 24 --hidden-size 2048 "
                   "--ffn-hidden-size 8192 --num-attention-heads 32 --seq-length 4096 --micro-batch-size 4 "
                   "--global-batch-size 512 --tensor-model-parallel-size 2 --bf16 --swiglu\n"
                + kIterations);
        QCOMPARE(modelOf(plan).layers, 24);
        QCOMPARE(plan.workload.sequenceLength, 4096);
        QCOMPARE(plan.workload.microBatch, 4);
        QCOMPARE(plan.parallelism.tensor, 2);
        QCOMPARE(plan.cluster.gpus(), 32);
    }

    void whatItsScriptPrintsOfItsSizeCounts()
    {
        const Plan plan = planOf("SLURM_GPUS_PER_NODE:  4\nSLURM_JOB_NUM_NODES:  63\nNUM_GPUS:  252\n" + kIterations);
        QCOMPARE(plan.cluster.gpus(), 252);
        QCOMPARE(plan.cluster.datacenters[0].pools[0].gpusPerNode, 4);
    }

    void theConfigurationOfMegatronBridgeIsItsYaml()
    {
        const Plan plan = planOf("------- Task Configuration -------\nmodel:\n  num_layers: 16\n  hidden_size: 2048\n"
                                 "  ffn_hidden_size: 8192\n  num_attention_heads: 32\n  num_query_groups: 8\n"
                                 "  gated_linear_unit: true\n  vocab_size: 128256\n  seq_length: 1024\n"
                                 "  tensor_model_parallel_size: 2\n  pipeline_model_parallel_size: 1\n"
                                 "mixed_precision:\n  bf16: true\ntrain:\n  global_batch_size: 512\n"
                                 "  micro_batch_size: 1\n\n----------------------------------\nTraining ...\n"
            + kIterations);
        QCOMPARE(modelOf(plan).layers, 16);
        QCOMPARE(modelOf(plan).vocab, 128256);
        QCOMPARE(plan.workload.sequenceLength, 1024);
        QCOMPARE(plan.parallelism.tensor, 2);
        QCOMPARE(plan.workload.globalBatch, 512);
    }

    /// pp 2 x dp 8 x tp 4 = 64 GPUs; 524,288 tokens of sequences of 8,192 are 64.
    void torchtitanTellsMeshModelGpuAndBatch()
    {
        std::string log =
            "[rank0]:[titan] 2026-08-22 10:00:00,101 - root - INFO - Building device mesh with parallelism: pp=2, "
            "dp_replicate=1, dp_shard=8, cp=1, tp=4, ep=1\n"
            "[rank0]:[titan] 2026-08-22 10:00:01,101 - root - INFO - Building llama3 70B\n"
            "[rank0]:[titan] 2026-08-22 10:00:02,101 - root - INFO - CUDA capacity: NVIDIA B200 with 178.35GiB memory\n"
            "[rank0]:[titan] 2026-08-22 10:00:05,101 - root - INFO - Trainer is initialized with 32768 tokens per DP "
            "rank, "
            "524288 tokens per train step, gradient accumulation steps 2, maximum context length 8192, total steps "
            "1000\n";
        for (int step = 1; step < 5; ++step)
            log += "[rank0]:[titan] 2026-08-22 10:01:4" + std::to_string(step)
                + ",000 - root - INFO - step:  " + std::to_string(step)
                + "  loss: 10.80000  grad_norm:  2.3000  memory: 96.91GiB(54.34%)  tps: 205  tflops: 414.70  mfu: "
                  "18.43%\n";
        const Plan plan = planOf(log);
        QCOMPARE(plan.parallelism.pipeline, 2);
        QCOMPARE(plan.parallelism.tensor, 4);
        QCOMPARE(plan.workload.sequenceLength, 8192);
        QCOMPARE(plan.workload.globalBatch, 64);
        QCOMPARE(modelOf(plan).layers, 80);
        QCOMPARE(plan.cluster.gpus(), 64);
        QCOMPARE(plan.cluster.datacenters[0].pools[0].gpu, std::string("b200-sxm-180gb"));
    }

    /// 128 = 4 a device, 4 accumulated, on 8 GPUs.
    void theTrainersBatchTellsItsGpus()
    {
        const Recording recording = read("run.log",
            "***** Running training *****\n  Instantaneous batch size per device = 4\n"
            "  Total train batch size (w. parallel, distributed & accumulation) = 128\n"
            "  Gradient Accumulation steps = 4\n"
            "{'loss': 1.45, 'learning_rate': 1e-06, 'epoch': 0.03}\n  1%|#         | 10/1170 [00:41<1:18:00,  "
            "4.13s/it]\n"
            "{'loss': 1.40, 'learning_rate': 1e-06, 'epoch': 0.05}\n  2%|#         | 20/1170 [01:22<1:18:00,  "
            "4.13s/it]\n");
        QVERIFY(recording.sources[0].kind == SourceKind::HfTrainerLog);
        const auto &told = recording.arguments;
        QCOMPARE(told.at("global_batch_size"), std::string("128"));
        QCOMPARE(told.at("micro_batch_size"), std::string("4"));
        QCOMPARE(told.at("data_parallel_size"), std::string("8"));
        QCOMPARE(imported(recording).plan.cluster.gpus(), 8);
    }

    void primusTellsItsRanks()
    {
        std::string log;
        for (int i = 0; i < 3; ++i)
            log += "[20251202 09:1" + std::to_string(i)
                + ":08][rank-7/8][INFO ] [--------trainer.py:2560] : iteration 12" + std::to_string(i)
                + "/ 5000 | consumed samples: 15872 | elapsed time per iteration (ms): 13372.8/13364.7 | hip mem "
                  "usage/free/total/usage_ratio: 153.81GB/102.17GB/255.98GB/60.09% | tokens per GPU (tokens/s/GPU): "
                  "9801.4/9807.3 | global batch size: 128 |\n";
        const Recording recording = read("run.log", log);
        QCOMPARE(recording.arguments.at("world_size"), std::string("8"));
        const auto value = [&](const char *name) {
            const auto series = std::ranges::find(recording.series, name, &SampleSeries::name);
            return series == recording.series.end() ? -1 : series->value.front();
        };
        QCOMPARE(value("memory_reserved"), 153.81 * double(1 << 30));
        QCOMPARE(value("tokens_per_second_per_gpu"), 9801.4);
    }
};

TRAINYARD_GUILESS_TEST(TestJobOfLog)
#include "tst_job_of_log.moc"
