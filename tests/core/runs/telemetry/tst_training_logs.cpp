// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/runs/telemetry/read_text.h"
#include "tests/support/own_inputs.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::tests;

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024, kMiB = 1024.0 * 1024;

std::string mllog(const std::string &key, const std::string &value, const std::string &metadata, long ms)
{
    return ":::MLLOG {\"namespace\": \"\", \"time_ms\": " + std::to_string(ms)
        + ", \"event_type\": \"POINT_IN_TIME\", \"key\": \"" + key + "\", \"value\": " + value + ", \"metadata\": {"
        + metadata + "}}\n";
}

} // namespace

class TestTrainingLogs : public QObject {
    Q_OBJECT

private slots:
    void everyCapturedLogIsReadWithItsFigures_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<int>("kind");
        QTest::addColumn<QString>("series");
        QTest::addColumn<int>("rank");
        QTest::addColumn<int>("step");
        QTest::addColumn<double>("value");
        const auto add = [](const std::string &path, const char *file, SourceKind kind, const char *series, int rank,
                             int step, double value) {
            QTest::addRow("%s %s %d %d", file, series, rank, step)
                << QString::fromStdString(path) << int(kind) << series << rank << step << value;
        };
        const auto megatron = SourceKind::MegatronLog;
        const auto own = [&](const char *file, SourceKind kind, const char *series, int rank, int step, double value) {
            add(ownInput(std::string("formats/logs/") + file + ".log"), ("own " + std::string(file)).c_str(), kind,
                series, rank, step, value);
        };
        own("megatron_timed", megatron, "step_time", -1, 30, 0.256);
        own("megatron_timed", megatron, "loss", -1, 30, 9.75);
        own("megatron_timed", megatron, "timer.optimizer", -1, 20, 0.04025);
        own("megatron_timed", megatron, "memory_reserved", 0, 20, 6144 * kMiB);
        own("megatron_experts", megatron, "step_time", -1, 44, 2.125);
        own("megatron_experts", megatron, "tflops_per_gpu", -1, 45, 248.4);
        own("megatron_experts", megatron, "log.load_balancing_loss", -1, 43, 1.03125);
        own("megatron_startup", megatron, "memory_allocated", 6, 1, 31744 * kMiB);
        own("megatron_startup", megatron, "memory_allocated", 1, 1, 36864 * kMiB);
        own("megatron_startup", megatron, "log.theoretical activation", -1, 0, 9282 * kMiB);
        own("megatron_startup", megatron, "timer.model-and-optimizer-setup.max", -1, 0, 0.5125);
        own("megatron_startup", megatron, "log.Number of parameters in most loaded shard", -1, 0, 1.704e9);
        own("megatron_keyvalue", megatron, "step_time", -1, 1, 12.5);
        own("megatron_keyvalue", megatron, "tokens_per_second_per_gpu", -1, 1, 1310.72);
        own("megatron_keyvalue", megatron, "timer.optimizer.min", -1, 1, 2.00025);
        own("megatron_keyvalue", megatron, "memory_allocated", 0, 1, 8192.75 * kMiB);
        own("torchtitan", SourceKind::TorchtitanLog, "tokens_per_second_per_gpu", -1, 4, 8192);
        own("torchtitan", SourceKind::TorchtitanLog, "mfu", -1, 4, 0.2565);
        own("torchtitan", SourceKind::TorchtitanLog, "memory_reserved", -1, 15, 12.5 * kGiB);
        own("torchtitan", SourceKind::TorchtitanLog, "step_time", -1, 15, 1.25); // 10:20:31,750 − 10:20:30,500
        own("torchtitan_colours", SourceKind::TorchtitanLog, "tokens_per_second_per_gpu", -1, 14, 6144);
        own("torchtitan_colours", SourceKind::TorchtitanLog, "tflops_per_gpu", -1, 14, 0.75);
        own("deepspeed", SourceKind::DeepSpeedLog, "timer.forward", -1, 1, 0.0325);
        own("deepspeed", SourceKind::DeepSpeedLog, "timer.optimizer_step", -1, 1, 0.05575);
        own("nemo", SourceKind::NemoLog, "step_time", -1, 1, 4.125);
        own("nemo", SourceKind::NemoLog, "learning_rate", -1, 0, 2.5e-07);
        own("trainer", SourceKind::HfTrainerLog, "loss", -1, 3, 0.875);
        own("trainer", SourceKind::HfTrainerLog, "grad_norm", -1, 1, 12.25);
        const auto row = [&](const char *file, SourceKind kind, const char *series, int rank, int step, double value) {
            if (const std::string path = std::string("formats/logs/") + file + ".log"; isShared(path))
                add(sharedInput(path), file, kind, series, rank, step, value);
        };
        row("megatron_lm_2022", megatron, "step_time", -1, 30, 0.1234);
        row("megatron_lm_2022", megatron, "loss", -1, 30, 10.12573);
        row("megatron_lm_2022", megatron, "timer.optimizer", -1, 20, 0.0575);
        row("megatron_lm_2022", megatron, "memory_reserved", 0, 20, 6554 * kMiB);
        row("megatron_lm_2024", megatron, "step_time", -1, 44, 5.5338);
        row("megatron_lm_2024", megatron, "tflops_per_gpu", -1, 45, 228.4);
        row("megatron_lm_2024", megatron, "log.load_balancing_loss", -1, 43, 1.019746);
        row("megatron_lm_2026_startup_interleaved", megatron, "memory_allocated", 8, 1, 44566.31 * kMiB);
        row("megatron_lm_2026_startup_interleaved", megatron, "memory_allocated", 2, 1, 47104.31 * kMiB);
        row("megatron_lm_2026_startup_interleaved", megatron, "log.theoretical activation", -1, 0, 86554.12 * kMiB);
        row("megatron_lm_2026_startup_interleaved", megatron, "timer.model-and-optimizer-setup.max", -1, 0, 1.02297);
        row("megatron_lm_2026_startup_interleaved", megatron, "log.Number of parameters in most loaded shard", -1, 0,
            2.0794e9);
        row("megatron_deepspeed_alcf_keyvalue", megatron, "step_time", -1, 1, 29.57);
        row("megatron_deepspeed_alcf_keyvalue", megatron, "tokens_per_second_per_gpu", -1, 1, 4432.597);
        row("megatron_deepspeed_alcf_keyvalue", megatron, "timer.optimizer.min", -1, 1, 3.40756);
        row("megatron_deepspeed_alcf_keyvalue", megatron, "memory_allocated", 0, 1, 9752.35498046875 * kMiB);
        row("torchtitan", SourceKind::TorchtitanLog, "tokens_per_second_per_gpu", -1, 4, 10050);
        row("torchtitan", SourceKind::TorchtitanLog, "mfu", -1, 4, 0.1399);
        row("torchtitan", SourceKind::TorchtitanLog, "memory_reserved", -1, 15, 9.46 * kGiB);
        row("torchtitan", SourceKind::TorchtitanLog, "step_time", -1, 15, 1.118); // 16:04:47,456 − 16:04:46,338
        row("torchtitan_ansi", SourceKind::TorchtitanLog, "tokens_per_second_per_gpu", -1, 14, 7282);
        row("torchtitan_ansi", SourceKind::TorchtitanLog, "tflops_per_gpu", -1, 14, 0.52);
        row("deepspeed", SourceKind::DeepSpeedLog, "timer.forward", -1, 1, 0.02741);
        row("deepspeed", SourceKind::DeepSpeedLog, "timer.optimizer_step", -1, 1, 0.06064);
        row("nemo2_lightning", SourceKind::NemoLog, "step_time", -1, 1, 7.549);
        row("nemo2_lightning", SourceKind::NemoLog, "learning_rate", -1, 0, 1.499e-07);
        row("hf_trainer", SourceKind::HfTrainerLog, "loss", -1, 3, 0.6321);
        row("hf_trainer", SourceKind::HfTrainerLog, "grad_norm", -1, 1, 82.93941089686794);
    }
    void everyCapturedLogIsReadWithItsFigures()
    {
        QFETCH(QString, file);
        QFETCH(int, kind);
        QFETCH(QString, series);
        QFETCH(int, rank);
        QFETCH(int, step);
        QFETCH(double, value);
        const auto recording = readSource(file.toStdString(), {});
        QVERIFY(recording);
        QCOMPARE(int(recording->sources.front().kind), kind);
        QVERIFY(isSound(*recording));
        const double own = valueAt(*recording, series.toStdString(), step, rank);
        QVERIFY2(std::abs(own - value) <= 1e-9 * std::abs(value), std::to_string(own).c_str());
    }

    void communicationThatDeepSpeedTellsOfIsABenchmark()
    {
        const Recording recording =
            readText("[2022-06-26 01:39:55,722] [INFO] [logging.py:69:log_dist] [Rank 0] rank=0 | comm op: "
                     "all_gather_into_tensor | "
                     "time (ms): 2.00 | msg size: 1.0 GB | algbw (Gbps): 800.00  | busbw (Gbps): 700.00\n"
                     "Comm. Op            Message Size        Count               Total Latency(ms)   Avg Latency(ms)  "
                     "   tput_avg "
                     "(Gbps)     busbw_avg (Gbps)\n"
                     "all_reduce\n"
                     "                    98.25 MB            2                   16.50               8.25             "
                     "   0.20        "
                     "        0.19\n"
                     "Comm. Op            Message Size        Count               Total comm lat(ms)  Total "
                     "straggler(ms) Avg comm "
                     "lat(ms)    Avg straggler(ms)\n"
                     "all_reduce\n"
                     "                    98.25 MB            2                   10.00               6.50             "
                     "   5.00        "
                     "        3.25\n");
        QCOMPARE(recording.benchmarks.size(), std::size_t(3));
        QCOMPARE(recording.benchmarks[0].what, std::string("all_gather"));
        QCOMPARE(recording.benchmarks[0].busBytesPerSecond, 87.5e9); // 700 Gbit/s
        QCOMPARE(recording.benchmarks[0].bytes, kGiB);
        QCOMPARE(recording.benchmarks[1].seconds, 8.25e-3);
        QCOMPARE(recording.benchmarks[2].seconds, 5e-3);
    }

    void deepSpeedsOtherLinesAreRead()
    {
        const Recording recording = readText(
            "[2023-06-21 07:39:09,443] [INFO] [config.py:1004:print]   train_batch_size ............. 64\n"
            "[2023-06-21 07:39:10,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=1, lr=[0.0003], "
            "mom=[(0.9, "
            "0.95)]\n"
            "[2023-06-21 07:39:10,001] [INFO] [timer.py:199:stop] epoch=0/micro_step=20/global_step=10, "
            "RunningAvgSamplesPerSec=30.5, CurrSamplesPerSec=31.25, MemAllocated=1.5GB, MaxMemAllocated=2.0GB\n"
            "[2023-06-21 07:39:10,002] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | forward: 10.00 | step: "
            "5.00\n"
            "  3%|###   | 12/345 [00:07<06:50,  1.23s/it][2023-06-21 07:39:12,002] [INFO] [logging.py:96:log_dist] "
            "[Rank 0] "
            "time (ms) | forward: 11.00 | step: 5.00\n"
            "[2023-06-21 07:39:30,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=20, skipped=1, lr=[0.0002], "
            "mom=[]\n");
        QCOMPARE(recording.sources.front().kind, SourceKind::DeepSpeedLog);
        QCOMPARE(valueAt(recording, "samples_per_second", 10), 31.25);
        QCOMPARE(valueAt(recording, "memory_allocated", 10), 2 * kGiB);
        QCOMPARE(valueAt(recording, "learning_rate", 20), 0.0002);
        QCOMPARE(valueAt(recording, "timer.forward", 2), 0.011);
        QCOMPARE(valueAt(recording, "step_time", 20), 2.0); // 20 s for ten steps
        QVERIFY(hasNote(recording, "differences of its time stamps"));
        QCOMPARE(recording.arguments.at("deepspeed.train_batch_size"), std::string("64"));
        const Recording pipeline = readText("steps: 10 loss: 10.6234 iter time (s): 0.612 samples/sec: 26.144\n");
        QCOMPARE(valueAt(pipeline, "step_time", 10), 0.612);
    }

    void oneOfTheRanksThatTorchtitanPrintsIsKept()
    {
        std::string text;
        for (int step = 1; step <= 3; ++step)
            for (int rank = 0; rank < 2; ++rank)
                text += "[rank" + std::to_string(rank) + "]:[titan] 2025-01-01 00:00:0" + std::to_string(2 * step)
                    + ",000 - root - INFO - \x1b[31mstep:  " + std::to_string(step)
                    + "  \x1b[32mloss:  7.5  \x1b[33mmemory: 33.00GiB(41.61%)  \x1b[34mwps: 1,234,5"
                    + std::to_string(60 + rank) + "  \x1b[35mmfu: N/A\x1b[39m\n";
        const Recording recording = readText(text
            + "[titan] 2025-01-01 00:00:07,000 - root - INFO - validate step:  3  loss:  6.25  "
              "memory: 33.00GiB(41.61%)  tps: 9,000\n");
        QCOMPARE(valueAt(recording, "tokens_per_second_per_gpu", 2), 1234560.0);
        QCOMPARE(valueAt(recording, "step_time", 3), 2.0);
        QCOMPARE(droppedOf(recording, "several ranks"), 3);
        QCOMPARE(valueAt(recording, "loss", 3), 7.5);
        QCOMPARE(valueAt(recording, "log.validate loss", 3), 6.25);
        QVERIFY(!seriesOf(recording, "mfu"));
    }

    void nemosFieldsComeInAnyOrderAndItsBarsToo()
    {
        const Recording two =
            readText("Training epoch 1, iteration 0/9 | train_step_timing in s: 3.5 | global_step: 10 | "
                     "reduced_train_loss: 9.75 | lr: 1e-4 | consumed_samples: 5632\n");
        QCOMPARE(valueAt(two, "step_time", 10), 3.5);
        QCOMPARE(valueAt(two, "consumed_samples", 10), 5632.0);
        const Recording one =
            readText("Epoch 0: :   2%|▏         | 2/100 [00:20<16:00, v_num=0, reduced_train_loss=10.90, "
                     "global_step=1.000, consumed_samples=512.0, train_step_timing in s=10.20, 0.1it/s]\r"
                     "Epoch 0: :   3%|▏         | 3/100 [00:30<16:00, 0.1it/s, v_num=0, "
                     "reduced_train_loss=10.50, global_step=2.000, train_step_timing in s=10.10]\r");
        QCOMPARE(one.sources.front().kind, SourceKind::NemoLog);
        QCOMPARE(valueAt(one, "step_time", 2), 10.1);
        QCOMPARE(valueAt(one, "loss", 1), 10.9);
    }

    void theTrainersStepsAreThoseOfItsProgressBar()
    {
        const Recording recording =
            readText("Loading checkpoint shards: 100%|####| 4/4 [00:03<00:00,  1.20it/s]\n"
                     "\r  0%|          | 0/300 [00:00<?, ?it/s]\r  3%|3         | 10/300 [00:20<09:40,  2.00s/it]"
                     "{'loss': 1.5, 'grad_norm': nan, 'learning_rate': '1e-05', 'epoch': 0.1}\n"
                     "\r  7%|6         | 20/300 [00:40<09:20,  2.10s/it]{'loss': np.float64(1.25), 'epoch': 0.2}\n"
                     "{'train_runtime': 600.0, 'train_samples_per_second': 4.0, 'train_steps_per_second': 0.5, "
                     "'train_loss': 1.4, "
                     "'epoch': 3.0}\n");
        QCOMPARE(recording.sources.front().kind, SourceKind::HfTrainerLog);
        QCOMPARE(valueAt(recording, "loss", 10), 1.5);
        QCOMPARE(valueAt(recording, "loss", 20), 1.25);
        QCOMPARE(valueAt(recording, "learning_rate", 10), 1e-5);
        QVERIFY(std::isnan(valueAt(recording, "grad_norm", 10)) && seriesOf(recording, "grad_norm"));
        QCOMPARE(valueAt(recording, "step_time", 20), 2.1);
        QCOMPARE(valueAt(recording, "log.train_loss", 20), 1.4);
    }

    /// ms-swift, and LLaMA-Factory's trainer_log.jsonl: the step, and the time since the beginning.
    void entriesThatSayWhereTheyAreHaveTheDifferencesOfTheirTimes()
    {
        std::string swift, factory;
        for (int step = 5; step <= 8; ++step) {
            const int seconds = 96 * step;
            swift += "{'loss': 0.48, 'memory(GiB)': 69.19, 'train_speed(iter/s)': 0.0104, 'epoch': 0.2, "
                     "'global_step/max_steps': '"
                + std::to_string(step) + "/94', 'elapsed_time': '" + std::to_string(seconds / 60) + "m "
                + std::to_string(seconds % 60) + "s', 'remaining_time': '2h 7m 13s'}\n";
            factory += "{\"current_steps\": " + std::to_string(10 * step)
                + ", \"total_steps\": 100, \"loss\": 1.5, \"lr\": 1e-05, \"epoch\": 0.5, \"elapsed_time\": \"1:0"
                + std::to_string(step) + ":00\", \"remaining_time\": \"0:05:00\"}\n";
        }
        const Recording one = readText(swift);
        QCOMPARE(one.sources.front().kind, SourceKind::HfTrainerLog);
        QCOMPARE(valueAt(one, "step_time", 7), 96.0);
        QCOMPARE(valueAt(one, "memory_reserved", 6), 69.19 * double(1 << 30));
        const Recording two = readText(factory);
        QCOMPARE(valueAt(two, "step_time", 70), 6.0); // ten steps a minute
        QCOMPARE(valueAt(two, "learning_rate", 60), 1e-5);
    }

    /// By hand, of the form that each trainer prints: the step, its time and what a GPU computes of it.
    void trainersThatPrintALineAStep()
    {
        const auto check = [](const std::string &text, const char *trainer, const char *series, double step,
                               double value) {
            const Recording recording = readText(text);
            QCOMPARE(recording.sources.front().kind, SourceKind::StepLog);
            QVERIFY2(hasNote(recording, trainer), trainer);
            QCOMPARE(valueAt(recording, series, std::int64_t(step)), value);
        };
        std::string automodel;
        for (int step = 0; step < 6; ++step)
            automodel += "2026-08-10 15:55:2" + std::to_string(step) + " | INFO | root | step "
                + std::to_string(9 + step)
                + " | epoch 0 | loss 0.6974 | grad_norm 1.936 | lr 1.00e-05 | mem 24.90 GiB | tps "
                  "11278.56(1409.82/gpu) | num_label_tokens 21541\n";
        check(automodel, "Automodel", "tokens_per_second_per_gpu", 10, 1409.82);
        check(automodel, "Automodel", "memory_allocated", 11, 24.9 * double(1 << 30));
        check(automodel, "Automodel", "step_time", 12, 1);
        const std::string maxText = "completed step: 1, seconds: 5.670, TFLOP/s/device: 134.862, Tokens/s/device: "
                                    "8668.783, total_weights: 196608, loss: 10.824\ncompleted step: 2, seconds: 5.5, "
                                    "TFLOP/s/device: 134, Tokens/s/device: 8668, loss: 10\n";
        check(maxText, "MaxText", "step_time", 1, 5.67);
        check(maxText, "MaxText", "tflops_per_gpu", 1, 134.862);
        check(maxText, "MaxText", "loss", 2, 10);
        const std::string nano =
            "iter 0: loss 10.9, time 3000.00ms, mfu -100.00%\niter 10: loss 9.5, time 250.31ms, mfu "
            "35.20%\n";
        check(nano, "nanoGPT", "step_time", 10, 0.25031);
        check(nano, "nanoGPT", "mfu", 10, 0.352);
        const std::string llmC =
            "step    2/18865 | train loss 7.10 | norm 3.1 | lr 3.6e-06 | 210.50 ms | 48.2% bf16 MFU | "
            "2490000 tok/s\n";
        check(llmC, "llm.c", "step_time", 2, 0.2105);
        check(llmC, "llm.c", "mfu", 2, 0.482);
        check(llmC, "llm.c", "loss", 2, 7.1);
        check("12:00:01 [trainer] Step 5 | Time: 3.21s | Loss: 0.12 | Throughput: 12345 tokens/s | MFU: 30.5% | Peak "
              "Mem.: 40.5 GiB\n",
            "prime-rl", "step_time", 5, 3.21);
        check("step:5 - global_seqlen/mean:1234 - timing_s/step:23.4 - perf/throughput:812.5 - actor/lr:1e-6\n", "verl",
            "tokens_per_second_per_gpu", 5, 812.5);
        check("perf 7: {'perf/step_time': 12.5, 'perf/actor_train_tflops': 120.25}\n", "slime", "step_time", 7, 12.5);
        check("[step=5/100,epoch=1]\n    train/CE loss=2.345\n    throughput/device/TPS=12,345\nelse\n", "OLMo-core",
            "tokens_per_second_per_gpu", 5, 12345);
        check("[batch=5/100]:\n\t Train time/batch: 4\n\t Train loss/train/total: 11.25\n\t Train "
              "throughput/device/tokens_per_sec: 900.5\n",
            "llm-foundry", "tokens_per_second_per_gpu", 5, 900.5);
    }

    void mlperfCountsSamplesAndItsThroughputMayBeOfTokens()
    {
        std::string text = "0: noise " + mllog("global_batch_size", "128", "", 1000)
            + mllog("max_sequence_length", "8192", "", 1000) + mllog("submission_platform", "\"DGXH100\"", "", 1000)
            + mllog("run_start", "null", "", 1000);
        for (int step = 3; step >= 1; --step) // out of order
            text += mllog("tracked_stats",
                "{\"train_step_time\": 2.0, \"reduced_train_loss\": " + std::to_string(8 - step)
                    + ", \"throughput\": 524288.0}",
                "\"step\": " + std::to_string(step * 128) + ".0", 1000 + step * 2000);
        text += mllog("eval_accuracy", "5.6", "\"samples_count\": 256", 5500) + mllog("run_stop", "null", "", 61000)
            + ":::MLLOG {\"key\": \"a";
        const Recording recording = readText(text);
        QCOMPARE(recording.sources.front().kind, SourceKind::MlperfLog);
        QCOMPARE(valueAt(recording, "step_time", 2), 2.0);
        QCOMPARE(valueAt(recording, "loss", 3), 5.0);
        QCOMPARE(valueAt(recording, "samples_per_second", 1), 64.0); // 524288 tokens in sequences of 8192
        QCOMPARE(valueAt(recording, "log.eval_accuracy", 2), 5.6);
        QCOMPARE(valueAt(recording, "log.run time", 0), 60.0);
        QCOMPARE(recording.arguments.at("submission_platform"), std::string("DGXH100"));
    }

    void theSurestLinesNameAMixedLog()
    {
        const std::string timer =
            "[2023-06-21 07:39:09,443] [INFO] [logging.py:96:log_dist] [Rank 0] rank=0 time (ms) | forward: 27.41 |\n";
        const Recording recording = readText("some words\n" + timer
            + " iteration 41/ 100 | elapsed time per iteration (ms): 5444.9 | lm loss: 1.8E+00 |\n" + timer);
        QCOMPARE(recording.sources.front().kind, SourceKind::MegatronLog);
        QCOMPARE(valueAt(recording, "timer.forward", 2), 0.02741);
        QCOMPARE(valueAt(recording, "step_time", 41), 5.4449);
        QCOMPARE(droppedOf(recording, "without figures"), 1);
    }

    void whatIsNoLogIsRefused()
    {
        for (const char *text :
            { "", "\n\n", "nothing\n", "step: one\n", "iteration 3/ |\n", "{'a': 1}\n", ":::MLLOG\n", "\xff\xfe" })
            QVERIFY2(!readText(text).sources.front().refused.empty(), text);
        QVERIFY(readText("{\"rows\": [1, 2]}").sources.front().refused.starts_with("It is JSON"));
        QVERIFY(readText("<config></config>\n").sources.front().refused.starts_with("It is XML"));
    }

    /// A clock that is a century ahead is no moment that a recording can hold.
    void stampsBeyondWhatARecordingHoldsAreNotTaken()
    {
        for (const char *year : { "2025", "2115", "2126", "2199" }) {
            std::string text;
            for (int step = 1; step < 4; ++step)
                text += "[titan] " + std::string(year) + "-05-18 16:04:4" + std::to_string(step)
                    + ",000 - root - INFO - step:  " + std::to_string(step) + "  loss:  7.5  tps: 1,234  mfu: 3%\n";
            const Recording recording = readText(text);
            QVERIFY2(recording.sources.front().refused.empty(), year);
            QVERIFY2(isSound(recording), year);
        }
    }

    void changedBytesAndCutsHurtNothing()
    {
        std::mt19937_64 random(19);
        const std::string text =
            "[titan] 2025-01-01 00:00:02,000 - root - INFO - step:  1  loss:  7.5  tps: 1,234  mfu: 3%\n"
            "Training epoch 1, iteration 0/9 | train_step_timing in s: 3.5 | global_step: 10 | lr: 1e-4\n"
            "comm op: all_gather | time (ms): 2.00 | msg size: 1.0 GB | algbw (Gbps): 800.00\n"
            "Comm. Op            Message Size        Count\nall_reduce\n      98.25 MB   2  16.5  8.2 0.2 0.1\n"
            "  3%|3    | 10/300 [00:20<09:40,  2.00s/it]{'loss': 1.5, 'grad_norm': nan, 'epoch': 0.1}\n"
            + mllog("tracked_stats", "{\"train_step_time\": 2.0, \"throughput\": 3}", "\"step\": 128", 5000);
        for (std::size_t size = 0; size <= text.size(); ++size)
            QVERIFY(readText(text.substr(0, size)).sources.size() == 1);
        for (int i = 0; i < 5000; ++i) {
            const Recording recording = readText(mutated(text, random));
            QVERIFY(!recording.sources.front().refused.empty() || isSound(recording));
        }
    }
};

TRAINYARD_APPLESS_TEST(TestTrainingLogs)
#include "tst_training_logs.moc"
