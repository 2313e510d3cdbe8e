// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/runs/telemetry/read_text.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::tests;

namespace {

constexpr double kMiB = 1024.0 * 1024;

/// " [2026-06-01 12:00:07.5] iteration …", as Megatron-LM of 2026 prints it.
std::string iteration(
    int step, double milliseconds, double loss, const std::string &stamp = "2026-06-01 12:00:07.500000")
{
    char text[600];
    std::snprintf(text, sizeof text,
        " [%s] iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): %.1f | throughput per GPU "
        "(TFLOP/s/GPU): %.1f | learning rate: %.6E | global batch size: %5d | lm loss: %.6E | loss scale: %.1f | grad "
        "norm: %.3f | number of skipped iterations: %3d | number of nan iterations: %3d |\n",
        stamp.c_str(), step, 500, step * 128, milliseconds, 412.5, 3e-4, 128, loss, 1.0, 0.75, 0, 0);
    return text;
}

std::string dump(const std::string &lines)
{
    return "------------------------ arguments ------------------------\n" + lines
        + "-------------------- end of arguments ---------------------\n";
}

} // namespace

class TestMegatronLogs : public QObject {
    Q_OBJECT

private slots:
    void anIterationHasItsTimeSpeedAndLoss()
    {
        const Recording recording = readText(iteration(41, 5444.9, 1.826) + iteration(42, 5500.0, 1.8));
        QCOMPARE(recording.sources.front().kind, SourceKind::MegatronLog);
        QCOMPARE(valueAt(recording, "step_time", 41), 5.4449);
        QCOMPARE(valueAt(recording, "tflops_per_gpu", 42), 412.5);
        QCOMPARE(valueAt(recording, "loss", 42), 1.8);
        QCOMPARE(valueAt(recording, "consumed_samples", 41), 41.0 * 128);
        QCOMPARE(valueAt(recording, "log.number of nan iterations", 41), 0.0);
        QCOMPARE(recording.zero, std::int64_t(1780315207500000000));
    }

    void launchersColoursAndLineEndsDoNotMatter()
    {
        const std::string plain = iteration(41, 5444.9, 1.826) + iteration(42, 5500.0, 1.8);
        const Recording expected = readText(plain);
        for (const char *prefix : { "[rank7]:", "[default3]:", "12: ", "[1,0]<stdout>:", "job-1/0 [default0]:",
                 "[pod/train-0/main] ", "(RayTrainWorker pid=77, ip=10.0.0.3) ", "INFO:megatron.training:", "\x1b[31m",
                 "[rank1]:INFO:megatron.core.timers:" }) {
            std::string text;
            for (std::size_t at = 0, end = 0; at < plain.size(); at = end + 1) {
                end = plain.find('\n', at);
                text += prefix + plain.substr(at, end - at) + "\x1b[0m\r\n";
            }
            const Recording recording = readText(text);
            QCOMPARE(recording.series.size(), expected.series.size());
            QVERIFY2(recording.series == expected.series, prefix);
        }
    }

    void timersOfAllThreeFormsBelongToTheirIteration()
    {
        const Recording recording = readText(iteration(41, 5444.9, 1.8)
            + "INFO:megatron.core.timers:(min, max) time across ranks (ms):\n"
              "    forward-backward ...............................: (5000.00, 5100.50)\n"
              "WARNING:root:another process speaks\n"
              "    optimizer ......................................: (100.00, 101.00)\n"
            + iteration(42, 5400, 1.7) + "max time across ranks (ms):\n"
            + "    forward-backward ...............................: 5200.00\n" + iteration(43, 5400, 1.7)
            + "times across ranks (ms):\n  forward-backward:\n     rank  0: 10.00\n     rank  1: 30.00\n"
              "  optimizer:\n     rank  0: 4.00\n");
        QCOMPARE(valueAt(recording, "timer.forward-backward.min", 41), 5.0);
        QCOMPARE(valueAt(recording, "timer.forward-backward.max", 41), 5.1005);
        QCOMPARE(valueAt(recording, "timer.optimizer.max", 41), 0.101);
        QCOMPARE(valueAt(recording, "timer.forward-backward", 42), 5.2);
        QCOMPARE(valueAt(recording, "timer.forward-backward", 43, 1), 0.03);
        QCOMPARE(valueAt(recording, "timer.forward-backward", 43), 0.02); // (10 + 30) / 2 ms
        QCOMPARE(valueAt(recording, "timer.forward-backward.max", 43), 0.03);
        QCOMPARE(valueAt(recording, "timer.optimizer", 43, 0), 0.004);
    }

    void theFirstIterationIsLeftOutOfTheStepTimesButNotOfTheLosses()
    {
        const Recording recording = readText(iteration(1, 30000, 11) + iteration(2, 500, 10.5) + iteration(3, 510, 10));
        QVERIFY(std::isnan(valueAt(recording, "step_time", 1)));
        QCOMPARE(valueAt(recording, "loss", 1), 11.0);
        QCOMPARE(valueAt(recording, "step_time", 2), 0.5);
        QCOMPARE(droppedOf(recording, "warm-up"), 1);
        QCOMPARE(valueAt(readText(iteration(1, 30000, 11)), "step_time", 1), 30.0); // it has no other
    }

    void aRestartKeepsTheLaterValues()
    {
        const Recording recording = readText(iteration(41, 500, 3, "2026-06-01 12:00:00")
            + iteration(42, 500, 2.9, "2026-06-01 12:00:01") + iteration(43, 500, 2.8, "2026-06-01 12:00:02")
            + iteration(42, 9000, 2.91, "2026-06-01 12:05:00") + iteration(43, 502, 2.81, "2026-06-01 12:05:01"));
        QCOMPARE(valueAt(recording, "loss", 42), 2.91);
        QCOMPARE(valueAt(recording, "loss", 43), 2.81);
        QCOMPARE(valueAt(recording, "step_time", 43), 0.502);
        QCOMPARE(valueAt(recording, "step_time", 42), 0.5); // the second has the restart in it
        QVERIFY(hasNote(recording, "went back from step 43 to 42"));
        QVERIFY(droppedOf(recording, "later line") > 0);
    }

    void memoryOfRanksIsReadFromTornAndJoinedLines()
    {
        const Recording recording = readText(
            "[Rank 9] (after 1 iterations) memory (MB) | allocated: 100.5 | max allocated: 200.25 | reserved: 300.00 | "
            "max reserved: 400.00[Rank 8] (after 1 iterations) memory (MB) | allocated: 1.0 | max allocated: 2.0 | "
            "reserved: 3.0 | max reserved: 4.0\n"
            "[Rank 0] (after 2 iterations) memory (GB) | mem-max-allocated-gigabytes: 1.5 | "
            "mem-max-reserved-gigabytes: 2\n");
        QCOMPARE(valueAt(recording, "memory_allocated", 1, 9), 200.25 * kMiB);
        QCOMPARE(valueAt(recording, "memory_reserved", 1, 9), 400 * kMiB);
        QCOMPARE(valueAt(recording, "memory_allocated", 1, 8), 2 * kMiB);
        QCOMPARE(valueAt(recording, "memory_allocated", 2, 0), 1536 * kMiB);
    }

    void theArgumentsAreTheRecordings()
    {
        const Recording recording =
            readText(dump("  a_name_that_is_longer_than_forty_eight_columns_is_x  7\n"
                          "  params_dtype .................................... torch.bfloat16\n"
                          "  pipeline_model_parallel_size .................... 4\n"
                          "some warning of another process\n"
                          "  recompute_modules ............................... ['core_attn', 'mlp']\n"
                          "  save ............................................ None\n"));
        QCOMPARE(recording.arguments.size(), std::size_t(5));
        QCOMPARE(recording.arguments.at("params_dtype"), std::string("torch.bfloat16"));
        QCOMPARE(recording.arguments.at("pipeline_model_parallel_size"), std::string("4"));
        QCOMPARE(recording.arguments.at("recompute_modules"), std::string("['core_attn', 'mlp']"));
        QCOMPARE(recording.arguments.at("a_name_that_is_longer_than_forty_eight_columns_is_x"), std::string("7"));
    }

    void forksAreRead()
    {
        const Recording neox =
            readText(" samples/sec: 22.600 | iteration       10/  320000 | elapsed time per iteration "
                     "(ms): 45307.8 | learning rate: 1.5E-06 | approx flops per GPU: 14.6TFLOPS | "
                     "lm_loss: 1.07E+01 | number of nan iterations:   0 |\n");
        QCOMPARE(valueAt(neox, "samples_per_second", 10), 22.6);
        QCOMPARE(valueAt(neox, "tflops_per_gpu", 10), 14.6);
        QCOMPARE(valueAt(neox, "loss", 10), 10.7);
        const Recording bridge = readText("Step Time : 5.44s GPU utilization: 812.3MODEL_TFLOP/s/GPU\n"
                                          " [2026-01-01 00:00:00] iteration 41/ 100 | elapsed time per iteration (ms): "
                                          "5444.9 | lm loss: 1.8E+00 |\n");
        QCOMPARE(valueAt(bridge, "tflops_per_gpu", 41), 812.3);
        const Recording progress =
            readText("2025-02-24 17:35:03\tJob ID: 198424\t# GPUs: 8\tSaved checkpoint\tIteration: "
                     "100\tJob throughput: 364.8 TFLOP/s/GPU\tCumulative throughput: 361.2 "
                     "TFLOP/s/GPU\n");
        QCOMPARE(valueAt(progress, "tflops_per_gpu", 100), 364.8);
        QCOMPARE(progress.arguments.at("world_size"), std::string("8"));
        const Recording validation = readText(iteration(41, 500, 3)
            + " validation loss at iteration 41 | lm loss value: 2.1E+00 | lm loss PPL: 8.2E+00 | \n");
        QCOMPARE(valueAt(validation, "log.validation lm loss PPL", 41), 8.2);
    }

    void theLinesOf2019AndTheFieldsOf2026AreRead()
    {
        const Recording old =
            readText(" iteration      100/  320000 | elapsed time per iteration (ms): 812.5 | learning rate "
                     "1.500E-04 | lm loss 9.250E+00 | loss scale 32768.0 |\n");
        QCOMPARE(valueAt(old, "step_time", 100), 0.8125);
        QCOMPARE(valueAt(old, "loss", 100), 9.25);
        QCOMPARE(valueAt(old, "learning_rate", 100), 1.5e-4);
        QCOMPARE(valueAt(old, "log.loss scale", 100), 32768.0);
        const Recording recent =
            readText("[rank7]: [2026-06-01 12:00:00.123456] iteration 41/ 100 | skipped samples: 0 | energy "
                     "per GPU (J/iter/GPU): 3300.5 | power per GPU (W/GPU): 612.4 | lm loss: 1.8E+00 |\n");
        QCOMPARE(valueAt(recent, "power", 41), 612.4);
        QCOMPARE(valueAt(recent, "energy_per_step", 41), 3300.5);
    }

    void aLogIsFoundBehindMegabytesOfNoise()
    {
        std::string noise;
        while (noise.size() < 3'000'000)
            noise += "n01 worker 3: loading shard 5 of the data set, and many words more\n";
        const Recording recording = readText(noise + iteration(41, 5444.9, 1.8) + iteration(42, 5444.9, 1.8));
        QCOMPARE(recording.sources.front().kind, SourceKind::MegatronLog);
        QCOMPARE(valueAt(recording, "step_time", 42), 5.4449);
    }

    void aTruncatedLogIsReadAsFarAsItGoesWithoutHalfNumbers()
    {
        const std::string text = dump("  seed ............................................ 1234\n")
            + iteration(41, 5444.9, 1.8) + iteration(42, 5500.5, 1.7) + iteration(43, 5600.25, 1.6);
        const Recording whole = readText(text);
        for (std::size_t size = 0; size < text.size(); ++size) {
            const Recording part = readText(text.substr(0, size));
            QVERIFY(part.sources.size() == 1);
            for (const SampleSeries &series : part.series)
                for (std::size_t i = 0; i < series.at.size() && series.isByStep; ++i)
                    QVERIFY2(valueAt(whole, series.name, series.at[i]) == series.value[i]
                            || std::isnan(valueAt(whole, series.name, 41)), // of the first iteration, alone
                        series.name.text().c_str());
        }
    }

    void changedBytesHurtNothing()
    {
        std::mt19937_64 random(19);
        const std::string text = dump("  seed ............................................ 1234\n")
            + iteration(1, 5444.9, 1.8)
            + "times across ranks (ms):\n  optimizer:\n     rank  0: 10.00\n     rank  1: 30.00\n"
            + iteration(2, 5444.9, 1.8)
            + "(min, max) time across ranks (ms):\n    optimizer .......: (100.00, 101.00)\n"
              "[Rank 9] (after 1 iterations) memory (MB) | allocated: 100.5 | max allocated: 200.25\n";
        for (int i = 0; i < 5000; ++i) {
            const Recording recording = readText(mutated(text, random));
            QVERIFY(!recording.sources.front().refused.empty() || isSound(recording));
        }
    }
};

TRAINYARD_APPLESS_TEST(TestMegatronLogs)
#include "tst_megatron_logs.moc"
