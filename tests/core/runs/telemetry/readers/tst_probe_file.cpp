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
