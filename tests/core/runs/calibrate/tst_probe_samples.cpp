// SPDX-License-Identifier: GPL-3.0-or-later
// What a probe teaches a plan: factors that were put into its times come out, links come out as latency and bandwidth
// that give the plan the measured times back, and what says nothing of the plan is refused with the reason.
#include "core/iteration/cost/kernels/attention.h"
#include "core/iteration/cost/kernels/gemm.h"
#include "core/iteration/cost/kernels/grouped_gemm.h"
#include "core/iteration/placement/calibrated.h"
#include "core/runs/calibrate/link_fit.h"
#include "core/runs/calibrate/probe_samples.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/core/runs/imports/import_trial.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <random>

using namespace trainyard;
using namespace trainyard::trial;

namespace {

const GpuSpec &h100()
{
    return *builtinCatalogue().gpu("h100-sxm-80gb");
}

Recording probed(const std::string &gpu = "NVIDIA H100 80GB HBM3")
{
    Recording recording { .name = "probe" };
    recording.sources.push_back({ .file = "probe.json", .kind = SourceKind::Probe });
    recording.nodes.push_back({ .count = 1, .gpu = gpu, .gpus = 8, .source = 0 });
    return recording;
}

/// Times with 3 % log-normal noise.
struct Noise {
    std::mt19937 random { 7 };
    std::normal_distribution<double> normal { 0, 0.03 };
    double operator()(double seconds) { return seconds * std::exp(normal(random)); }
};

void addKernel(Recording &recording, KernelPoint point, double seconds)
{
    point.gpu = recording.nodes[0].gpu;
    point.source = 0;
    point.leastSeconds = seconds;
    point.seconds = seconds * 1.02;
    recording.kernels.push_back(point);
}

void addKernels(Recording &recording, double products, double attention, double memory)
{
    Noise noise;
    for (const double tokens : { 4096.0, 8192.0, 16384.0 })
        for (const double hidden : { 4096.0, 8192.0 })
            for (const double wide : { 1.0, 3.0, 4.0 }) {
                KernelPoint point { .what = "gemm", .precision = "bf16", .m = tokens, .n = wide * hidden, .k = hidden };
                addKernel(recording, point,
                    noise(products * gemmTime(h100(), Precision::Bf16, { point.m, point.n, point.k }).value));
            }
    for (const double length : { 4096.0, 8192.0 })
        for (const double batch : { 2.0, 4.0, 8.0 }) {
            KernelPoint point { .what = "attention",
                .precision = "bf16",
                .batch = batch,
                .heads = 32,
                .headDim = 128,
                .sequence = length,
                .isCausal = true,
                .isFused = true };
            const AttentionShape shape {
                .batch = batch, .heads = 32, .kvHeads = 32, .queries = length, .keys = length
            };
            addKernel(recording, point, noise(attention * attentionForward(h100(), Precision::Bf16, shape).value));
        }
    for (const double bytes : { 300e6, 400e6, 600e6, 800e6, 1e9, 2e9 })
        addKernel(recording, { .what = "memory", .precision = "fp32", .bytes = bytes },
            noise(memory * memoryTime(h100(), Bytes { bytes }).value));
}

Evaluation planned(const Plan &plan = basePlan())
{
    Evaluation evaluation;
    evaluation.plan = std::make_shared<const Plan>(plan);
    return evaluation;
}

FittedFactor factorOf(const std::vector<FittedFactor> &factors, CalibratedPart what)
{
    const auto found = std::ranges::find_if(factors, [&](const FittedFactor &one) { return one.factor.what == what; });
    return found != factors.end() ? *found : FittedFactor { .refused = "there is none" };
}

bool isWithin(double value, double right, double share)
{
    return std::abs(value / right - 1) <= share;
}

} // namespace

class TestProbeSamples : public QObject {
    Q_OBJECT

private slots:
    void factorsThatWerePutIntoTheTimesComeOut()
    {
        Recording recording = probed();
        addKernels(recording, 1.2, 0.9, 1.1);
        const auto factors = factorsOfProbe(recording, planned(), builtinCatalogue());
        using enum CalibratedPart;
        for (const auto &[what, right] :
            { std::pair(Products, 1.2), std::pair(Attention, 0.9), std::pair(Memory, 1.1) }) {
            const FittedFactor fitted = factorOf(factors, what);
            QCOMPARE(fitted.refused, std::string());
            // 18 or 6 samples of 3 % noise: the mean is off by less than three standard errors
            QVERIFY2(isWithin(fitted.factor.factor.value_or(0), right, 0.035), fitted.sentence.c_str());
            QVERIFY(fitted.factor.standardError.value_or(0) > 0);
            QCOMPARE(fitted.factor.gpu, std::string("h100-sxm-80gb"));
        }
    }

    void backwardPassesCountByWhatAStepSpendsInThem()
    {
        // forward 1.2, both backwards 1.5: a step has one of each, so (1.2 + 1.5 + 1.5) / 3
        Recording recording = probed();
        addKernels(recording, 1.2, 0.9, 1);
        Noise noise;
        for (const char *what : { "gemm_dgrad", "gemm_wgrad" })
            for (const double tokens : { 4096.0, 8192.0, 16384.0 })
                for (const double wide : { 1.0, 3.0, 4.0 })
                    addKernel(recording,
                        { .what = what, .precision = "bf16", .m = tokens, .n = 4096, .k = wide * 4096 },
                        noise(1.5 * gemmTime(h100(), Precision::Bf16, { tokens, 4096, wide * 4096 }).value));
        double forward = 0, backward = 0; // seconds of the model, of equal shapes
        for (const double length : { 4096.0, 8192.0 })
            for (const double batch : { 2.0, 4.0, 8.0 }) {
                const AttentionShape shape {
                    .batch = batch, .heads = 32, .kvHeads = 32, .queries = length, .keys = length
                };
                const double seconds = attentionBackward(h100(), Precision::Bf16, shape).value;
                forward += attentionForward(h100(), Precision::Bf16, shape).value;
                backward += seconds;
                addKernel(recording,
                    { .what = "attention_backward",
                        .precision = "bf16",
                        .batch = batch,
                        .heads = 32,
                        .headDim = 128,
                        .sequence = length,
                        .isCausal = true,
                        .isFused = true },
                    noise(1.3 * seconds));
            }
        const auto factors = factorsOfProbe(recording, planned(), builtinCatalogue());
        const FittedFactor products = factorOf(factors, CalibratedPart::Products);
        QCOMPARE(products.refused, std::string());
        QVERIFY2(isWithin(*products.factor.factor, 1.4, 0.035), products.sentence.c_str());
        QVERIFY(products.sentence.find("forward and backward") != std::string::npos);
        const FittedFactor attention = factorOf(factors, CalibratedPart::Attention);
        const double right = (0.9 * forward + 1.3 * backward) / (forward + backward);
        QVERIFY2(isWithin(attention.factor.factor.value_or(0), right, 0.035), attention.sentence.c_str());
    }

    void whatNoFactorTakesIsToldWithTheReason()
    {
        Recording recording = probed();
        addKernels(recording, 1, 1, 1);
        for (const double tokens : { 512.0, 1024.0, 2048.0 })
            addKernel(recording,
                { .what = "gemm_grouped", .precision = "bf16", .m = tokens, .n = 4096, .k = 4096, .batch = 8 },
                1.25 * groupedGemmTime(h100(), Precision::Bf16, 8, { tokens, 4096, 4096 }).value);
        KernelPoint loaded = recording.kernels.front();
        loaded.what = "gemm_sustained";
        loaded.seconds = recording.kernels.front().leastSeconds / 0.8;
        recording.kernels.push_back(loaded);
        const auto notes = notesOfProbe(recording, planned(), builtinCatalogue());
        QCOMPARE(notes.size(), std::size_t(2));
        QVERIFY2(notes[0].find("1.25 × as long as modelled (3 shapes in bf16)") != std::string::npos, notes[0].c_str());
        QVERIFY2(notes[1].find("keep 80.0 % of their rate under load") != std::string::npos, notes[1].c_str());
        QVERIFY(notes[1].find("not calibrated") != std::string::npos);
        // They change no factor.
        Recording without = probed();
        addKernels(without, 1, 1, 1);
        QCOMPARE(factorsOfProbe(recording, planned(), builtinCatalogue()),
            factorsOfProbe(without, planned(), builtinCatalogue()));
    }

    void sendsAndSmallerGroupsTellTheSameLink()
    {
        const LinkClass &kind = *deviceLink(h100(), builtinNetwork()).kind;
        LinkClass own = kind;
        own.startUs = 35, own.rampUs = 0;
        const double bandwidth = 180e9;
        const Link link { BytesPerSecond { bandwidth / kind.fraction }, &own };
        Recording recording = probed();
        Noise noise;
        const auto add = [&](const char *what, int ranks, double bytes) {
            const CollectiveSample sample { .operation = what, .bytes = bytes, .ranks = ranks, .ranksPerNode = 8 };
            const double seconds = noise(*modelledSeconds(sample, link, link));
            recording.benchmarks.push_back({ .what = what,
                .ranks = ranks,
                .nodes = 1,
                .bytes = bytes,
                .seconds = seconds,
                .busBytesPerSecond = bytes / seconds,
                .source = 0 });
        };
        for (double bytes = 1e6; bytes <= 1e9; bytes *= 2) {
            add("send_recv", 2, bytes);
            add("all_gather", 4, bytes);
            add("all_gather", 8, bytes);
        }
        const FittedFactor fitted =
            factorOf(factorsOfProbe(recording, planned(), builtinCatalogue()), CalibratedPart::Nvlink);
        QCOMPARE(fitted.refused, std::string());
        QCOMPARE(fitted.factor.samples, 30);
        QVERIFY2(isWithin(*fitted.factor.gbytesPerS, bandwidth * 1e-9, 0.03), fitted.sentence.c_str());
        QVERIFY2(isWithin(*fitted.factor.latencyUs, 35, 0.1), fitted.sentence.c_str());
    }

    void acceptedFactorsAreNotCountedTwice()
    {
        Recording recording = probed();
        addKernels(recording, 1.2, 1, 1);
        Plan plan = basePlan();
        plan.calibration["products-h100-sxm-80gb"] = R"({"what": "products", "factor": 1.2})";
        const auto factors = factorsOfProbe(recording, planned(plan), builtinCatalogue());
        QVERIFY(isWithin(*factorOf(factors, CalibratedPart::Products).factor.factor, 1.2, 0.035));
    }

    void kernelsOfAnInstantDoNotCount()
    {
        Recording recording = probed();
        addKernels(recording, 1.2, 1, 1);
        for (int i = 0; i < 100; ++i) // launches, ten times what is modelled
            addKernel(recording, { .what = "gemm", .precision = "bf16", .m = 64, .n = 64, .k = 64 }, 50e-6);
        const FittedFactor fitted =
            factorOf(factorsOfProbe(recording, planned(), builtinCatalogue()), CalibratedPart::Products);
        QVERIFY(isWithin(*fitted.factor.factor, 1.2, 0.035));
    }

    void whatSaysNothingOfThePlanIsRefused()
    {
        Recording other = probed("NVIDIA A100-SXM4-80GB");
        addKernels(other, 1, 1, 1);
        const auto factors = factorsOfProbe(other, planned(), builtinCatalogue());
        QCOMPARE(factors.size(), std::size_t(1));
        QVERIFY(factors[0].refused.find("no such GPU") != std::string::npos);

        Recording few = probed();
        addKernel(few, { .what = "gemm", .precision = "bf16", .m = 8192, .n = 8192, .k = 8192 }, 2e-3);
        QVERIFY(factorOf(factorsOfProbe(few, planned(), builtinCatalogue()), CalibratedPart::Products)
                    .refused.find("Too few")
            != std::string::npos);

        Plan plan = basePlan();
        plan.workload.precision = Precision::Fp8;
        Recording wide = probed();
        addKernels(wide, 1, 1, 1);
        QVERIFY(factorOf(factorsOfProbe(wide, planned(plan), builtinCatalogue()), CalibratedPart::Products)
                    .refused.find("fp8")
            != std::string::npos);

        Recording uneven = probed();
        for (int i = 0; i < 12; ++i)
            addKernel(uneven, { .what = "gemm", .precision = "bf16", .m = 8192, .n = 8192, .k = 8192 },
                1e-3 * (i % 2 == 0 ? 1 : 3));
        QVERIFY(factorOf(factorsOfProbe(uneven, planned(), builtinCatalogue()), CalibratedPart::Products)
                    .refused.find("off the fit")
            != std::string::npos);
        QVERIFY(factorsOfProbe(told({}), planned(), builtinCatalogue()).empty());
    }

    void latencyAndBandwidthOfALinkComeOut()
    {
        // Gathers of n ranks over a link that the class describes: start + (n - 1) steps + size · (n - 1 + own) / n / B
        const LinkClass &kind = *deviceLink(h100(), builtinNetwork()).kind;
        const double latency = 35e-6, bandwidth = 180e9;
        Recording recording = probed();
        Noise noise;
        for (int repeat = 0; repeat < 6; ++repeat)
            for (double bytes = 1e6; bytes <= 4e9; bytes *= 2) {
                const double seconds = latency + 7 * kind.stepUs * 1e-6 + bytes * (7 + kind.ownShare) / 8 / bandwidth;
                recording.benchmarks.push_back({ .what = repeat % 2 ? "all_gather" : "reduce_scatter",
                    .ranks = 8,
                    .nodes = 1,
                    .bytes = bytes,
                    .seconds = noise(seconds),
                    .source = 0 });
                BenchmarkPoint &point = recording.benchmarks.back();
                point.bytesPerSecond = point.bytes / point.seconds;
                point.busBytesPerSecond = point.bytesPerSecond * 7 / 8;
            }
        // The plan that accepts it takes the measured times.
        const FittedFactor fitted =
            factorOf(factorsOfProbe(recording, planned(), builtinCatalogue()), CalibratedPart::Nvlink);
        QCOMPARE(fitted.refused, std::string());
        QVERIFY(isWithin(*fitted.factor.gbytesPerS, bandwidth * 1e-9, 0.02));
        QVERIFY(isWithin(*fitted.factor.latencyUs, latency * 1e6, 0.05));
        Plan plan = basePlan();
        plan.calibration[fitted.id] = formatCalibrationFactor(fitted.factor);
        const auto workload = resolve(std::make_shared<const Plan>(plan), builtinCatalogue());
        QVERIFY(workload.has_value() && workload->calibrated);
        const Link way = workload->calibrated->device[0][0];
        for (const BenchmarkPoint &point : recording.benchmarks)
            QVERIFY(isWithin(
                *modelledSeconds(
                    { .operation = point.what, .bytes = point.bytes, .ranks = 8, .ranksPerNode = 8 }, way, way),
                point.seconds, 0.12));
    }

    void theFabricIsWhatLinksInsideNodesLeave()
    {
        Plan plan = basePlan();
        plan.cluster.datacenters[0].pools[0].nodes = 4;
        const Link inside = deviceLink(h100(), builtinNetwork());
        LinkClass kind = builtinNetwork().fabric;
        const double latency = 80e-6, bandwidth = 31e9, fraction = kind.fraction;
        kind.startUs = latency * 1e6;
        kind.rampUs = 0;
        const RankGroup group { .ranks = 32,
            .ranksPerNode = 8,
            .inside = inside,
            .between = { BytesPerSecond { bandwidth / fraction }, &kind } };
        Recording recording = probed();
        Noise noise;
        for (int repeat = 0; repeat < 4; ++repeat)
            for (double bytes = 4e6; bytes <= 4e9; bytes *= 2) {
                const double seconds = noise(allGatherTime(Bytes { bytes }, group).value);
                recording.benchmarks.push_back({ .what = "all_gather",
                    .ranks = 32,
                    .nodes = 4,
                    .bytes = bytes,
                    .seconds = seconds,
                    .busBytesPerSecond = bytes / seconds * 31 / 32,
                    .source = 0 });
            }
        const FittedFactor fitted =
            factorOf(factorsOfProbe(recording, planned(plan), builtinCatalogue()), CalibratedPart::Fabric);
        QCOMPARE(fitted.refused, std::string());
        QCOMPARE(fitted.id, std::string("fabric-here"));
        QVERIFY2(isWithin(*fitted.factor.gbytesPerS, bandwidth * 1e-9, 0.03), fitted.sentence.c_str());
        QVERIFY2(isWithin(*fitted.factor.latencyUs, latency * 1e6, 0.2), fitted.sentence.c_str());
    }

    void copiesAndDrivesBecomeRates()
    {
        Recording recording = probed();
        for (const double bytes : { 1e6, 4e6, 16e6, 64e6, 256e6 })
            for (const char *what : { "host_to_gpu", "gpu_to_host" })
                recording.benchmarks.push_back({ .what = what,
                    .bytes = bytes,
                    .seconds = 10e-6 + bytes / 25e9,
                    .bytesPerSecond = bytes / (10e-6 + bytes / 25e9),
                    .source = 0 });
        for (const double rate : { 2.9e9, 3e9, 3.1e9, 3e9, 1e9 }) // the last was disturbed
            recording.benchmarks.push_back({ .what = "write", .bytes = 1e6, .bytesPerSecond = rate, .source = 0 });
        for (BenchmarkPoint &point : recording.benchmarks)
            point.seconds = point.seconds > 0 ? point.seconds : 1e8 / point.bytesPerSecond;
        Plan plan = basePlan();
        const auto without = factorsOfProbe(recording, planned(plan), builtinCatalogue());
        QVERIFY(isWithin(*factorOf(without, CalibratedPart::Pcie).factor.gbytesPerS, 25, 1e-3));
        QVERIFY(factorOf(without, CalibratedPart::Drive).refused.find("no drives") != std::string::npos);
        plan.cluster.datacenters[0].pools[0].ssd = Ssd { .writeGBps = 5, .readGBps = 6 };
        const FittedFactor drives =
            factorOf(factorsOfProbe(recording, planned(plan), builtinCatalogue()), CalibratedPart::Drive);
        QCOMPARE(drives.refused, std::string());
        QCOMPARE(drives.factor.gbytesPerS.value_or(0), 3.0);
    }

    void aProcessorStandsForAGpuInThePlanOfItsProbe()
    {
        const auto recording = readSource(TRAINYARD_SOURCE_DIR "/samples/probe/two-core-cpu.json", {});
        QVERIFY(recording.has_value());
        QCOMPARE(recording->sources[0].kind, SourceKind::Probe);
        const ImportedPlan made = imported(*recording);
        const Pool &pool = made.plan.cluster.datacenters.at(0).pools.at(0);
        QVERIFY(pool.inlineGpu.has_value());
        QCOMPARE(pool.nodes * pool.gpusPerNode, 1);
        QVERIFY(pool.inlineGpu->peakFlops(Precision::Bf16) > 1e9);
        QVERIFY(evaluated(made.plan) > 0);
        const auto factors = factorsOfProbe(*recording, planned(made.plan), builtinCatalogue());
        const FittedFactor products = factorOf(factors, CalibratedPart::Products);
        // Its peak is the median rate of the same long products, so that the model is near them.
        QVERIFY2(isWithin(products.factor.factor.value_or(0), 1, 0.25), products.sentence.c_str());
        QVERIFY(products.factor.samples >= 5);
        QCOMPARE(products.factor.gpu, pool.inlineGpu->id);
        Plan calibrated = made.plan;
        calibrated.calibration[products.id] = formatCalibrationFactor(products.factor);
        // The model's time of products goes with the factor, the rest stays.
        const double ratio = evaluated(calibrated) / evaluated(made.plan), factor = *products.factor.factor;
        QVERIFY(ratio >= std::min(1.0, factor) && ratio <= std::max(1.0, factor));
    }
};

TRAINYARD_APPLESS_TEST(TestProbeSamples)
#include "tst_probe_samples.moc"
