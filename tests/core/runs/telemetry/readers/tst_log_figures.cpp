// SPDX-License-Identifier: GPL-3.0-or-later
// Figures of logs that are written with letters behind them, and the line that a run out of memory ends with.
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/sample_names.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

const SampleSeries *seriesOf(const Recording &recording, std::string_view name)
{
    const auto at = std::ranges::find(recording.series, name, &SampleSeries::name);
    return at != recording.series.end() ? &*at : nullptr;
}

std::string nanotronLine(int step)
{
    return "01/02/2026 10:00:" + std::to_string(10 + step)
        + " [INFO|DP=0|PP=0|TP=0]: iteration: " + std::to_string(step)
        + " / 100 | consumed_tokens: 0.262M | elapsed_time_per_iteration_ms: 12.5K | "
          "tokens_per_sec_per_gpu: 10.4K | global_batch_size: 64 | lm_loss: 2.3 | model_tflops_per_gpu: 38.3 |\n";
}

} // namespace

class TestLogFigures : public QObject {
    Q_OBJECT

private slots:
    void aLetterBehindANumberIsThousands()
    {
        const std::vector<std::pair<const char *, double>> figures { { "12.5K", 12500 }, { "0.262M", 262'000 },
            { "3G", 3e9 }, { "7T ", 7e12 }, { "12.5", 12.5 }, { "4 K", 4 }, { "678.86 MB", 678.86 }, { "2Kept", 2 },
            { "-1K", -1000 } };
        for (const auto &[text, value] : figures)
            QVERIFY2(std::abs(readers::leadingCount(text).value_or(0) - value) <= 1e-9 * std::abs(value), text);
        QVERIFY(!readers::leadingCount("K"));
    }

    void aStepOfNanotronTakesSeconds()
    {
        const Recording r = read("run.log", nanotronLine(1) + nanotronLine(2) + nanotronLine(3));
        const SampleSeries *time = seriesOf(r, samples::kStepTime);
        QVERIFY(time && !time->value.empty());
        QCOMPARE(time->value.back(), 12.5);
        const SampleSeries *tokens = seriesOf(r, samples::kTokensPerSecondPerGpu);
        QVERIFY(tokens && tokens->value.back() == 10'400);
    }

    void aRunThatDiesOfMemoryTellsWhatItHeld()
    {
        constexpr double gib = 1024.0 * 1024 * 1024;
        const Recording r = read("run.log",
            nanotronLine(1) + nanotronLine(2)
                + "[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 3 has a total "
                  "capacity of 79.11 GiB of which 1.20 GiB is free. Of the allocated memory 70.25 GiB is allocated by "
                  "PyTorch, and 5.00 GiB is reserved by PyTorch but unallocated.\n"
                + "[rank4]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.00 GiB. GPU 4 …\n");
        const SampleSeries *asked = seriesOf(r, samples::kOutOfMemory), *held = seriesOf(r, samples::kMemoryAllocated),
                           *reserved = seriesOf(r, samples::kMemoryReserved);
        QVERIFY(asked && held && reserved);
        QCOMPARE(asked->value, std::vector<double> { 2.5 * gib });
        QVERIFY(held->value.back() == 70.25 * gib && held->rank == 3 && held->at.back() == 2);
        QCOMPARE(reserved->value.back(), 75.25 * gib);
        const Recording old = read("run.log",
            nanotronLine(1) + nanotronLine(2)
                + "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 1; 79.20 GiB total capacity; "
                  "70.50 GiB "
                  "already allocated; 17.00 MiB free; 76.00 GiB reserved in total by PyTorch)\n");
        QVERIFY(seriesOf(old, samples::kMemoryAllocated));
        QCOMPARE(seriesOf(old, samples::kMemoryAllocated)->value.back(), 70.5 * gib);
        QCOMPARE(seriesOf(old, samples::kMemoryReserved)->value.back(), 76.0 * gib);
        QVERIFY(!seriesOf(read("run.log", nanotronLine(1) + nanotronLine(2)), samples::kOutOfMemory));
    }
};

TRAINYARD_APPLESS_TEST(TestLogFigures)
#include "tst_log_figures.moc"
