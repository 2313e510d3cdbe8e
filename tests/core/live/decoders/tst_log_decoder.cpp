// SPDX-License-Identifier: GPL-3.0-or-later
// Logs that grow: however their bytes are cut, what comes out adds up to what the reader of files reads of the whole.
#include "core/live/decoder.h"
#include "core/live/store.h"
#include "core/runs/telemetry/readers/training_logs.h"
#include "tests/support/own_inputs.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

using namespace trainyard;
using namespace trainyard::live;

namespace {

/// What batches add up to: of several values of one step the last, of several arguments of one name too.
struct Sum {
    std::map<std::tuple<std::string, std::string, int, std::string, bool>, std::multimap<Moment, double>> series;
    std::map<std::string, std::string> arguments;
    std::map<std::string, std::int64_t> dropped;
    std::set<std::string> notes;
    std::vector<BenchmarkPoint> benchmarks;
    std::int64_t taken = 0, bytes = 0;
    SourceKind kind = SourceKind::Unknown;
    bool isTruncated = false;
    int batches = 0;

    void add(const Recording &part)
    {
        ++batches;
        for (const SampleSeries &one : part.series) {
            auto &samples = series[{ one.name, one.unit, one.rank, one.where, one.isByStep }];
            for (std::size_t i = 0; i < one.at.size(); ++i) {
                const Moment at = one.isByStep ? one.at[i] : one.at[i] + part.zero;
                if (one.isByStep)
                    samples.erase(at);
                samples.emplace(at, std::isnan(one.value[i]) ? -12345.0 : one.value[i]);
            }
        }
        for (const auto &[name, value] : part.arguments)
            arguments.insert_or_assign(name, value);
        benchmarks.insert(benchmarks.end(), part.benchmarks.begin(), part.benchmarks.end());
        const RecordedSource &source = part.sources.at(0);
        for (const Dropped &one : source.dropped)
            if (one.reason.find("tells again") == std::string::npos) // the store counts those
                dropped[one.reason] += one.count;
        notes.insert(source.notes.begin(), source.notes.end());
        taken += source.taken;
        bytes += source.bytes;
        kind = source.kind;
        isTruncated = source.isTruncated;
    }
};

Sum wholeOf(const std::string &text)
{
    const SourceText source { "a.log", text, std::ssize(text), false };
    const auto recording = readers::readTrainingLog(source, {});
    Sum sum;
    if (recording)
        sum.add(*recording);
    return sum;
}

Sum inPieces(const std::string &text, const std::function<std::size_t()> &length, const DecoderLimits &limits = {})
{
    Sum sum;
    const DecoderPtr decoder = makeLogDecoder("a.log", limits);
    const BatchOut out = [&](Batch &&batch) { sum.add(batch.part); };
    for (std::size_t at = 0; at < text.size();) {
        const std::string piece = text.substr(at, std::max<std::size_t>(1, length())); // of its own: nothing behind it
        at += piece.size();
        if (!decoder->take(piece, 1, out).has_value())
            return {};
    }
    decoder->end(1, out);
    return sum;
}

/// Empty where they are equal.
std::string differenceOf(const Sum &a, const Sum &b)
{
    std::ostringstream text;
    for (const auto &[key, samples] : a.series)
        if (const auto known = b.series.find(key); known == b.series.end())
            text << "only the first has " << std::get<0>(key) << "; ";
        else if (known->second != samples)
            text << std::get<0>(key) << " differs (" << samples.size() << ", " << known->second.size() << "); ";
    for (const auto &[key, samples] : b.series)
        if (!a.series.contains(key))
            text << "only the second has " << std::get<0>(key) << "; ";
    if (a.arguments != b.arguments)
        text << "arguments differ; ";
    if (a.dropped != b.dropped) {
        text << "what was dropped differs:";
        for (const auto *of : { &a, &b })
            for (const auto &[reason, count] : of->dropped)
                text << (of == &a ? " first " : " second ") << reason << " " << count;
    }
    if (a.notes != b.notes)
        text << "notes differ; ";
    if (a.benchmarks.size() != b.benchmarks.size())
        text << "benchmarks differ; ";
    if (a.taken != b.taken || a.kind != b.kind || a.isTruncated != b.isTruncated)
        text << "taken, kind or end differ: " << a.taken << ", " << b.taken;
    return text.str();
}

/// Ours, and the captured ones where they are.
std::vector<std::pair<std::string, std::string>> logsOfFiles()
{
    std::vector<std::pair<std::string, std::string>> logs;
    for (const std::string &folder : tests::inputs("formats/logs"))
        for (const auto &entry : std::filesystem::directory_iterator(folder)) {
            std::ifstream file(entry.path(), std::ios::binary);
            std::ostringstream text;
            text << file.rdbuf();
            logs.emplace_back(entry.path().string(), text.str());
        }
    std::ranges::sort(logs);
    return logs;
}

std::string megatron(int from, int to, int minute = 0)
{
    std::string text;
    for (int step = from; step <= to; ++step) {
        char line[400];
        std::snprintf(line, sizeof line,
            " [2026-06-01 12:%02d:%02d] iteration %8d/%8d | consumed samples: %12d | elapsed time per iteration (ms): "
            "%.1f | throughput per GPU (TFLOP/s/GPU): %.1f | lm loss: %.6E | grad norm: %.3f |\n",
            minute, step % 60, step, 500, step * 128, step == from ? 9000.0 : 500.0 + step, 400.0 + step, 3.0 / step,
            0.5);
        text += line;
    }
    return text;
}

std::string titan(const std::vector<std::pair<int, int>> &stepsAndSeconds)
{
    std::string text;
    for (const auto &[step, seconds] : stepsAndSeconds) {
        char line[300];
        std::snprintf(line, sizeof line,
            "[rank0]:[titan] 2025-01-01 %02d:%02d:%02d,000 - root - INFO - \x1b[31mstep: %2d  \x1b[32mloss:  7.5  "
            "\x1b[33mmemory: 33.00GiB(41.61%%)  \x1b[34mtps: 1,234\x1b[0m\r\n",
            seconds / 3600, seconds / 60 % 60, seconds % 60, step);
        text += line;
    }
    return text;
}

std::string mlperf(int steps, int batch, bool countsSamples)
{
    std::string text = ":::MLLOG {\"time_ms\": 1000, \"key\": \"global_batch_size\", \"value\": "
        + std::to_string(batch) + ", \"metadata\": {}}\n";
    for (int step = 1; step <= steps; ++step)
        text += "0: :::MLLOG {\"time_ms\": " + std::to_string(1'000'000 + step * 2000)
            + ", \"key\": \"tracked_stats\", \"value\": {\"reduced_train_loss\": " + std::to_string(8.0 / step)
            + ", \"throughput\": " + std::to_string(batch / 2.0)
            + "}, \"metadata\": {\"step\": " + std::to_string(countsSamples ? step * batch : step) + "}}\n";
    return text;
}

/// Logs in which the end decided in earlier versions: what is usual, what counts, who tells what.
std::vector<std::pair<std::string, std::string>> madeLogs()
{
    const std::string deepspeed =
        "[2023-06-21 07:39:10,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=1, lr=[0.0003], mom=[]\n"
        "[2023-06-21 07:39:10,001] [INFO] [timer.py:199:stop] epoch=0/micro_step=20/global_step=10, "
        "RunningAvgSamplesPerSec=30.5, CurrSamplesPerSec=31.25, MemAllocated=1.5GB, MaxMemAllocated=2.0GB\n"
        "[2023-06-21 07:39:10,002] [INFO] [logging.py:96:log_dist] [Rank 0] time (ms) | forward: 10.00 | step: 5.00\n";
    return { { "a restart", megatron(1, 20) + megatron(12, 40, 5) }, { "one iteration", megatron(1, 1) },
        { "a gap", titan({ { 1, 10 }, { 2, 12 }, { 3, 14 }, { 4, 50'000 }, { 5, 50'002 }, { 6, 50'004 } }) },
        { "two steps", titan({ { 1, 10 }, { 2, 12 } }) }, { "samples", mlperf(30, 128, true) },
        { "steps", mlperf(30, 128, false) }, { "few records", mlperf(3, 128, true) },
        { "two frameworks", deepspeed + megatron(10, 10) + deepspeed + megatron(11, 14) + deepspeed },
        { "records in between", mlperf(5, 8, true) + megatron(1, 5) + mlperf(12, 8, true) },
        { "a trainer",
            "\r  0%|          | 0/300 [00:00<?, ?it/s]\r  3%|3         | 10/300 [00:20<09:40,  2.00s/it]"
            "{'loss': 1.5, 'grad_norm': nan, 'learning_rate': '1e-05', 'epoch': 0.1}\n"
            "{'train_runtime': 600.0, 'train_steps_per_second': 0.5, 'train_loss': 1.4, 'epoch': 3.0}\n" },
        { "a trainer without times",
            "{'loss': 1.5, 'epoch': 0.1}\n{'loss': 1.4, 'epoch': 0.2}\n{'loss': 1.3, 'epoch': 0.3}\n"
            "{'train_runtime': 600.0, 'train_steps_per_second': 0.5, 'train_loss': 1.4, 'epoch': 3.0}" },
        { "arguments twice",
            "------------------------ arguments ------------------------\n"
            "  world_size ...................................... 16\n"
            "  seed ............................................ 1234\n"
            "-------------------- end of arguments ---------------------\n"
                + megatron(1, 5)
                + "using world size: 8\n"
                  "------------------------ arguments ------------------------\n"
                  "  seed ............................................ 4321\n"
                  "-------------------- end of arguments ---------------------\n"
                + megatron(3, 6) } };
}

} // namespace

class TestLogDecoder : public QObject {
    Q_OBJECT

private slots:
    void anyCutsAddUpToTheWholeFile()
    {
        auto logs = logsOfFiles();
        QVERIFY(logs.size() >= 9);
        const auto made = madeLogs();
        logs.insert(logs.end(), made.begin(), made.end());
        std::string all;
        for (const auto &[name, text] : std::vector(logs))
            all += text;
        logs.emplace_back("all of them", all);
        std::mt19937_64 random(21);
        for (const auto &[name, text] : logs) {
            const Sum whole = wholeOf(text);
            QVERIFY2(whole.taken > 0, name.c_str());
            for (const int longest : { 1, 2, 7, 64, 1'000, 1'000'000 })
                for (int i = 0; i < (text.size() < 10'000 ? 10 : 3); ++i) {
                    std::uniform_int_distribution<std::size_t> length(1, std::size_t(longest));
                    const Sum cut = inPieces(text, [&] { return length(random); });
                    const std::string difference = differenceOf(whole, cut);
                    QVERIFY2(difference.empty(),
                        (name + ", pieces up to " + std::to_string(longest) + ": " + difference).c_str());
                    QCOMPARE(cut.bytes, std::ssize(text));
                }
        }
    }

    void aStoreHoldsWhatTheReaderOfTheFileTells()
    {
        // restarts too: of several values of one step the last stands
        auto logs = logsOfFiles();
        const auto made = madeLogs();
        logs.insert(logs.end(), made.begin(), made.end());
        std::mt19937_64 random(24);
        for (const auto &[name, text] : logs) {
            Store store;
            const DecoderPtr decoder = makeLogDecoder("a.log");
            Moment received = unixNow();
            const BatchOut out = [&](Batch &&batch) { store.take(std::move(batch)); };
            for (std::size_t at = 0; at < text.size();) {
                const std::string piece = text.substr(at, 1 + random() % 300);
                at += piece.size();
                QVERIFY(decoder->take(piece, received++, out).has_value());
            }
            decoder->end(received, out);
            Sum held;
            Recording whole = store.whole();
            if (whole.sources.empty())
                whole.sources.emplace_back();
            held.add(whole);
            const Sum file = wholeOf(text);
            for (const auto &[key, samples] : file.series) {
                const auto known = held.series.find(key);
                QVERIFY2(known != held.series.end(), (name + " " + std::get<0>(key)).c_str());
                QVERIFY2(known->second == samples, (name + " " + std::get<0>(key)).c_str());
            }
            QVERIFY2(held.arguments == file.arguments, name.c_str());
        }
    }

    void filesThatEndAnywhereAreReadAsTheirReaderDoes()
    {
        std::mt19937_64 random(22);
        for (const auto &[name, text] : madeLogs())
            for (int i = 0; i < 40; ++i) {
                const std::string part = text.substr(0, random() % (text.size() + 1));
                const Sum whole = wholeOf(part);
                if (whole.taken == 0)
                    continue; // the file's reader refuses it; lines are lines here
                const std::string difference = differenceOf(whole, inPieces(part, [&] { return 1 + random() % 50; }));
                QVERIFY2(difference.empty(), (name + ": " + difference).c_str());
            }
    }

    void aStepIsToldWhenItsLineIsWhole()
    {
        // Two steps name the log; from then on each line gives its values at once
        const DecoderPtr decoder = makeLogDecoder("a.log");
        Sum sum;
        const BatchOut out = [&](Batch &&batch) { sum.add(batch.part); };
        const auto losses = [&] { return sum.series[{ "loss", "1", -1, "", true }].size(); };
        for (int step = 1; step <= 10; ++step) {
            const std::string line = megatron(step, step);
            QVERIFY(decoder->take(line.substr(0, line.size() - 1), 1, out).has_value());
            QVERIFY(losses() <= std::size_t(step) - 1);
            QVERIFY(decoder->take("\n", 1, out).has_value());
            QCOMPARE(losses(), std::size_t(step < 2 ? 0 : step));
        }
    }

    void overlongLinesAreDroppedUpToTheirEnd()
    {
        DecoderLimits limits;
        limits.lineBytes = 1'000;
        const std::string text =
            megatron(1, 3) + std::string(100'000, 'x') + " iteration 7/ 9 | lm loss: 1 |\n" + megatron(4, 6);
        for (const std::size_t length : { std::size_t(1), std::size_t(333), std::size_t(1'000'000) }) {
            const Sum sum = inPieces(
                text, [&] { return length; }, limits);
            QCOMPARE(sum.taken, 6);
            QCOMPARE(sum.dropped.at("lines that are too long"), 1);
            QVERIFY(!(sum.series.at({ "loss", "1", -1, "", true }).contains(7)));
        }
    }

    void afterBytesThatAreMissingItGoesOnAtTheNextLine()
    {
        const DecoderPtr decoder = makeLogDecoder("a.log");
        Sum sum;
        const BatchOut out = [&](Batch &&batch) { sum.add(batch.part); };
        const std::string text = megatron(1, 3), later = megatron(7, 9);
        QVERIFY(decoder->take(text + " [2026-06-01 12:00:04] iteration 4/ 500 | lm loss: 1.", 1, out).has_value());
        decoder->skip(1'000);
        QVERIFY(decoder->take("9 | lm loss: 99 |\n" + later, 1, out).has_value());
        decoder->end(1, out);
        const auto losses = sum.series.at({ "loss", "1", -1, "", true });
        QCOMPARE(losses.size(), std::size_t(6));
        QVERIFY(!losses.contains(4) && losses.contains(7));
        QCOMPARE(sum.dropped.at("lines that were torn by bytes that are missing"), 1);
    }

    void whatIsCompressedIsRefusedWithWhatWouldBeRight()
    {
        const DecoderPtr decoder = makeLogDecoder("a.log.gz");
        const auto taken = decoder->take("\x1f\x8b\x08\x08 and so on", 1, [](Batch &&) {});
        QVERIFY(!taken.has_value());
        QVERIFY(toString(taken.error()).find("zcat a.log.gz") != std::string::npos);
    }

    void textsAreToldApartByTheirFirstLine()
    {
        const auto kindOf = [](const std::string &text) {
            const DecoderPtr decoder = makeTextDecoder("a");
            Sum sum;
            const BatchOut out = [&](Batch &&batch) { sum.add(batch.part); };
            for (const char c : text)
                if (!decoder->take(std::string(1, c), 1, out).has_value())
                    return std::string("refused");
            decoder->end(1, out);
            return sum.kind == SourceKind::MegatronLog ? std::string("log") : std::string("other");
        };
        QCOMPARE(kindOf(megatron(1, 3)), std::string("log"));
        QCOMPARE(kindOf("\n\n" + megatron(1, 3)), std::string("log"));
        QVERIFY(kindOf("{\"event\":\"hello\",\"format\":\"trainyard.stream\",\"version\":1}\n"
                       "{\"event\":\"sample\",\"name\":\"loss\",\"value\":2.5,\"step\":1}\n")
            != "log");
    }

    void changedBytesHurtNothing()
    {
        std::mt19937_64 random(23);
        std::string all;
        for (const auto &[name, text] : madeLogs())
            all += text;
        for (int i = 0; i < 60; ++i) {
            std::string text = all;
            for (int n = 0; n < 200; ++n)
                text[random() % text.size()] = static_cast<char>(random());
            const Sum whole = wholeOf(text);
            const std::string difference = differenceOf(whole, inPieces(text, [&] { return 1 + random() % 3'000; }));
            QVERIFY2(difference.empty(), difference.c_str());
        }
    }
};

TRAINYARD_APPLESS_TEST(TestLogDecoder)
#include "tst_log_decoder.moc"
