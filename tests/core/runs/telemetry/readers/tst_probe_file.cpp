// SPDX-License-Identifier: GPL-3.0-or-later
// Results of the probe: every point of its schema comes into the recording, what it did not measure is told, and
// damaged files are read as far as they go.
#include "core/runs/telemetry/recording_file.h"
#include "tests/core/runs/telemetry/readers/reader_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

const std::string kHead = R"({"format": "trainyard.probe", "version": 1, "made": "2026-11-23T11:00:00Z",
 "seconds": 60, "ended": "time",
 "machine": {"host": "n1", "torch": "2.5.1", "device": "gpu", "world": 8, "nodes": 2, "ranks_per_node": 4,
  "cpu": {"name": "Some CPU", "cores": 64, "threads": 32, "memory_bytes": 1e12},
  "devices": [{"name": "NVIDIA H100 80GB HBM3", "memory_bytes": 85e9, "multiprocessors": 132}]},
 "notes": ["One thing."], "skipped": [{"what": "gemm", "reason": "no time was left", "count": 7}],
 "samples": [
)";
const std::string kSamples =
    R"({"what": "gemm", "precision": "bf16", "m": 4096, "n": 1024, "k": 512, "least_s": 0.001, "median_s": 0.002, "repeats": 9, "flops": 4294967296, "bytes": 1e7},
{"what": "attention", "precision": "bf16", "batch": 2, "heads": 16, "sequence": 2048, "head_dim": 128, "causal": true, "fused": true, "least_s": 1e-4, "median_s": 1.5e-4},
{"what": "memory", "operation": "copy", "precision": "fp32", "bytes": 5e8, "least_s": 3e-4, "median_s": 4e-4},
{"what": "copy", "direction": "host_to_gpu", "pinned": true, "bytes": 64e6, "least_s": 0.002, "median_s": 0.0025},
{"what": "collective", "operation": "all_reduce", "ranks": 8, "nodes": 2, "bytes": 1e8, "least_s": 0.009, "median_s": 0.01, "mean_s": 0.012},
{"what": "collective", "operation": "all_to_all", "ranks": 8, "nodes": 2, "bytes": 1e8, "least_s": 0.009, "median_s": 0.01},
{"what": "storage", "operation": "write", "bytes": 1e8, "block_bytes": 1048576, "cached": false, "least_s": 0.1, "median_s": 0.1},
{"what": "storage", "operation": "read", "bytes": 1e8, "block_bytes": 1048576, "cached": true, "least_s": 0.01, "median_s": 0.01},
{"what": "launch", "operation": "launch", "least_s": 2e-6, "median_s": 3e-6}
]})";

/// Of a probe that queues ahead, with the kinds that came later.
const std::string kNewer =
    R"({"what": "gemm", "precision": "fp8", "format": "e4m3fnuz", "fast_accum": true, "m": 4096, "n": 1024, "k": 512, "least_s": 0.001, "median_s": 0.001},
{"what": "gemm_dgrad", "precision": "bf16", "m": 4096, "n": 512, "k": 1024, "least_s": 0.001, "median_s": 0.001},
{"what": "gemm_wgrad", "precision": "bf16", "m": 1024, "n": 512, "k": 4096, "least_s": 0.001, "median_s": 0.001},
{"what": "gemm_grouped", "precision": "bf16", "groups": 8, "m": 512, "n": 1024, "k": 4096, "kernel": "bmm", "least_s": 0.001, "median_s": 0.001},
{"what": "attention_backward", "precision": "bf16", "batch": 2, "heads": 16, "sequence": 2048, "head_dim": 128, "causal": true, "fused": true, "least_s": 1e-4, "median_s": 1.5e-4},
{"what": "sustained", "kernel": "gemm", "precision": "bf16", "m": 4096, "n": 1024, "k": 512, "seconds": 6, "burst_s": 0.001, "first_s": 0.001, "least_s": 0.0012, "median_s": 0.0013},
{"what": "sustained", "kernel": "attention", "precision": "bf16", "batch": 2, "heads": 16, "sequence": 2048, "head_dim": 128, "causal": true, "fused": true, "seconds": 6, "least_s": 1e-4, "median_s": 1.5e-4},
{"what": "collective", "operation": "send_recv", "ranks": 2, "nodes": 1, "groups": 4, "bytes": 64e6, "least_s": 0.002, "median_s": 0.0025},
{"what": "collective", "operation": "all_gather", "ranks": 4, "nodes": 1, "groups": 2, "bytes": 64e6, "least_s": 0.002, "median_s": 0.0025}
], "timing": {"least_inside_s": 0.001, "queued_ahead": true}})";

const BenchmarkPoint &pointOf(const Recording &recording, const std::string &what)
{
    static const BenchmarkPoint none;
    const auto found = std::ranges::find(recording.benchmarks, what, &BenchmarkPoint::what);
    return found != recording.benchmarks.end() ? *found : none;
}

} // namespace

class TestProbeFile : public QObject {
    Q_OBJECT

private slots:
    void kernelsKeepShapesAndTimes()
    {
        const Recording recording = read("probe.json", kHead + kSamples);
        QCOMPARE(recording.sources.at(0).kind, SourceKind::Probe);
        QCOMPARE(recording.kernels.size(), std::size_t(3));
        const KernelPoint &product = recording.kernels[0];
        QCOMPARE(product.what, std::string("gemm"));
        QCOMPARE(product.precision, std::string("bf16"));
        QCOMPARE(product.m * product.n * product.k, 4096.0 * 1024 * 512);
        QCOMPARE(product.flops, 2 * product.m * product.n * product.k);
        QCOMPARE(product.leastSeconds, 0.001);
        QCOMPARE(product.seconds, 0.002);
        QCOMPARE(product.gpu, std::string("NVIDIA H100 80GB HBM3"));
        QVERIFY(recording.kernels[1].isFused && recording.kernels[1].isCausal);
        QCOMPARE(recording.kernels[1].headDim, 128.0);
        QCOMPARE(recording.kernels[2].bytes, 5e8);
        QCOMPARE(recording.sources[0].taken, std::int64_t(8)); // all but the read that no drive answered
    }

    void backwardGroupedAndSustainedKernelsAreKeptAsKindsOfTheirOwn()
    {
        const Recording recording = read("probe.json", kHead + kNewer);
        std::vector<std::string> kinds;
        for (const KernelPoint &point : recording.kernels)
            kinds.push_back(point.what);
        QCOMPARE(kinds,
            (std::vector<std::string> { "gemm", "gemm_dgrad", "gemm_wgrad", "gemm_grouped", "attention_backward",
                "gemm_sustained", "attention_sustained" }));
        QCOMPARE(recording.kernels[2].k, 4096.0);
        QCOMPARE(recording.kernels[3].batch, 8.0); // groups
        QCOMPARE(recording.kernels[5].seconds, 0.0013);
        QCOMPARE(pointOf(recording, "send_recv").ranks, 2);
        QVERIFY(isNear(pointOf(recording, "send_recv").busBytesPerSecond, 64e6 / 0.0025)); // nccl-tests: bus = alg
        QCOMPARE(pointOf(recording, "all_gather").ranks, 4); // of a world of 8
        QCOMPARE(pointOf(recording, "all_gather").nodes, 1);
        QVERIFY(!hasNote(recording, "earlier probe"));
        QVERIFY(!hasNote(recording, "accumulate fully"));
    }

    void whatANewerProbeMeasuresIsToldByName()
    {
        const Recording recording = read("probe.json",
            kHead
                + R"({"what": "gemm", "precision": "bf16", "m": 64, "n": 64, "k": 64, "least_s": 1e-3, "median_s": 1e-3},
{"what": "convolution", "least_s": 1, "median_s": 1, "bytes": 5},
{"what": "convolution", "least_s": 1, "median_s": 1, "bytes": 5},
{"what": "sustained", "kernel": "convolution", "least_s": 1, "median_s": 1, "bytes": 5},
{"what": "copy", "direction": "gpu_to_nic", "least_s": 1, "median_s": 1, "bytes": 5}]})");
        const std::string unknown = "samples of a kind that this program does not know: ";
        QCOMPARE(droppedOf(recording, unknown + "convolution"), 2);
        QCOMPARE(droppedOf(recording, unknown + "sustained"), 1);
        QCOMPARE(droppedOf(recording, unknown + "copy gpu_to_nic"), 1);
        const Recording nothing =
            read("probe.json", kHead + R"({"what": "convolution", "least_s": 1, "median_s": 1, "bytes": 5}]})");
        QVERIFY(nothing.sources[0].refused.find("unknown kinds: convolution") != std::string::npos);
    }

    void howAnEarlierProbeTimedIsTold()
    {
        // without "timing", and with products of 8 bits that do not tell how they accumulate
        const Recording recording = read("probe.json",
            kHead
                + R"({"what": "gemm", "precision": "fp8", "m": 64, "n": 64, "k": 64, "least_s": 1e-3, "median_s": 1e-3}]})");
        QVERIFY(hasNote(recording, "earlier probe"));
        QVERIFY(hasNote(recording, "accumulate fully"));
        QCOMPARE(recording.kernels.size(), std::size_t(1));
    }

    void aProbeThatWasKilledAndRanksThatNeverCameAreTold()
    {
        std::string text = kHead + kSamples;
        text.replace(text.find("\"time\""), 6, "\"running\"");
        text.replace(text.find("\"world\": 8"), 10, "\"world\": 8, \"missing\": [3, 5]");
        const Recording recording = read("probe.json", text);
        QVERIFY(hasNote(recording, "ended from outside"));
        QVERIFY(hasNote(recording, "did not come to the probe: 2"));
    }

    void bandwidthsAreThoseOfNcclTests()
    {
        const Recording recording = read("probe.json", kHead + kSamples);
        // bus = bytes / time · 2 (n - 1) / n of an all-reduce, (n - 1) / n of an all-to-all
        QVERIFY(isNear(pointOf(recording, "all_reduce").busBytesPerSecond, 1e8 / 0.01 * 2 * 7 / 8));
        QVERIFY(isNear(pointOf(recording, "all_to_all").busBytesPerSecond, 1e8 / 0.01 * 7 / 8));
        QCOMPARE(pointOf(recording, "all_reduce").nodes, 2);
        QVERIFY(isNear(pointOf(recording, "host_to_gpu").bytesPerSecond, 64e6 / 0.0025));
        QVERIFY(isNear(pointOf(recording, "write").bytesPerSecond, 1e9));
        QCOMPARE(pointOf(recording, "launch").seconds, 3e-6);
        QCOMPARE(pointOf(recording, "read").what, std::string()); // of the page cache
        QCOMPARE(droppedOf(recording, "reads and writes that the host's memory answered, not a drive"), 1);
    }

    void theMachineAndWhatWasNotMeasuredAreTold()
    {
        const Recording recording = read("probe.json", kHead + kSamples);
        const RecordedNodes &nodes = recording.nodes.at(0);
        QCOMPARE(nodes.count, 2);
        QCOMPARE(nodes.gpus, 4);
        QCOMPARE(nodes.gpuMemoryBytes, 85e9);
        QCOMPARE(nodes.gpuProcessors, 132);
        QVERIFY(hasNote(recording, "One thing."));
        QVERIFY(hasNote(recording, "--minutes gives it more"));
        QCOMPARE(droppedOf(recording, "not measured: gemm, no time was left"), 7);
    }

    void aRecordingKeepsThemAndMergingRenumbersTheirSource()
    {
        const Recording recording = read("probe.json", kHead + kSamples);
        const auto bytes = formatRecording(recording);
        QVERIFY(bytes.has_value());
        const auto reader = readerFor("a.trainyard-recording", *bytes);
        QVERIFY(reader != nullptr);
        Recording other;
        other.sources.push_back({ .file = "other" });
        const Recording merged = mergeRecordings({ other, recording });
        QCOMPARE(merged.kernels.size(), recording.kernels.size());
        QCOMPARE(merged.kernels[0].source, 1u);
        const auto written = formatRecording(merged);
        QVERIFY(written.has_value());
    }

    void laterVersionsAndEmptyResultsAreRefused()
    {
        std::string later = kHead + kSamples;
        later.replace(later.find("\"version\": 1"), 12, "\"version\": 2");
        QVERIFY(read("probe.json", later).sources[0].refused.find("version 2") != std::string::npos);
        QVERIFY(read("probe.json", kHead + "]}").sources[0].refused.find("measured nothing") != std::string::npos);
        QVERIFY(read("probe.json", "{\"format\": \"trainyard.other\"}").sources[0].kind != SourceKind::Probe);
    }

    void aFileThatEndsEarlyIsReadAsFarAsItGoes()
    {
        const std::string whole = kHead + kSamples;
        std::size_t most = 0;
        for (std::size_t size = kHead.size() + 200; size < whole.size(); size += 7) {
            const Recording part = read("probe.json", whole.substr(0, size));
            const std::size_t points = part.kernels.size() + part.benchmarks.size();
            QVERIFY(points >= most);
            QVERIFY(part.sources[0].isTruncated || !part.sources[0].refused.empty());
            most = std::max(most, points);
        }
        QVERIFY(most >= 7);
    }

    void damagedFilesGiveFiguresOrAReason()
    {
        std::mt19937 random(20);
        for (int i = 0; i < 3000; ++i) {
            const Recording recording = read("probe.json", mutated(kHead + kSamples, random));
            for (const KernelPoint &point : recording.kernels)
                for (const double value : { point.m, point.n, point.k, point.leastSeconds, point.seconds, point.bytes })
                    QVERIFY(std::isfinite(value) && value >= 0);
            for (const BenchmarkPoint &point : recording.benchmarks)
                QVERIFY(std::isfinite(point.bytesPerSecond) && point.ranks >= 0 && point.nodes >= 0);
        }
    }
};

TRAINYARD_APPLESS_TEST(TestProbeFile)
#include "tst_probe_file.moc"
