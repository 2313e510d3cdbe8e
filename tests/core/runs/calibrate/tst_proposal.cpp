// SPDX-License-Identifier: GPL-3.0-or-later
// What is proposed is what the plan will have: judged beside what it has accepted, one factor for one thing, no figure
// that a plan cannot take, each with the files that it is of.
#include "core/facts/network/collectives.h"
#include "core/iteration/cost/kernels/gemm.h"
#include "core/runs/telemetry/sample_names.h"
#include "tests/core/runs/calibrate/small_truth.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

namespace {

/// Steps of a log that all take so long.
Recording logOf(double seconds)
{
    SmallRecording recording;
    recording.series(samples::kStepTime, 1, std::vector<double>(40, seconds));
    return recording.m_recording;
}

/// Adds the products of a probe, so many times as long as modelled.
void addProbe(Recording &recording, double times)
{
    const auto source = static_cast<std::uint32_t>(recording.sources.size());
    recording.sources.push_back({ .file = "probes/node7.json", .kind = SourceKind::Probe });
    recording.nodes.push_back({ .gpu = "NVIDIA H100 80GB HBM3", .source = source });
    const GpuSpec &gpu = *builtinCatalogue().gpu(kGpu);
    for (const double size : { 4096.0, 5120.0, 6144.0, 7168.0, 8192.0, 10240.0 }) {
        const double seconds = times * gemmTime(gpu, Precision::Bf16, { size, size, size }).value;
        recording.kernels.push_back({ .what = "gemm",
            .precision = "bf16",
            .m = size,
            .n = size,
            .k = size,
            .leastSeconds = seconds,
            .seconds = seconds,
            .gpu = "NVIDIA H100 80GB HBM3",
            .source = source });
    }
}

double secondsOf(const Plan &plan)
{
    return *evaluated(plan)->metrics.iterationTime;
}

} // namespace

class ProposalTest : public QObject {
    Q_OBJECT
private slots:
    /// A plan that has accepted a factor of its host keeps it: with what a log teaches it predicts the log's steps.
    void whatThePlanHasAcceptedIsFittedAndJudgedWith()
    {
        Plan plan = smallPlan();
        plan.calibration["host"] = R"({ "what": "host", "factor": 8, "samples": 9 })";
        const double target = 1.3 * secondsOf(plan);
        const CalibrationProposal proposal = proposalOf(plan, logOf(target));
        const Plan learnt = withFactors(plan, proposal, idsOf(proposal));
        QVERIFY(learnt.calibration.contains("host"));
        QVERIFY2(std::abs(secondsOf(learnt) / target - 1) < 1e-3, qPrintable(told(proposal)));
        QVERIFY(std::abs(proposal.errorBefore - (1 - 1 / 1.3)) < 1e-3 && proposal.errorAfter < 1e-3);
        QVERIFY(std::abs(*proposal.factors.front().factor.errorBefore - proposal.errorBefore) < 1e-9);
    }

    /// A probe and a log both tell of products: the log, which is of the run, has the last word, under its own name.
    void oneThingHasOneFactor()
    {
        const Plan plan = smallPlan();
        const double target = 1.25 * secondsOf(plan);
        Recording recording = logOf(target);
        recording.name = "probe of NVIDIA H100 80GB HBM3";
        if (recording.sources.empty())
            recording.sources.push_back({ .file = "logs/run.log", .kind = SourceKind::MegatronLog });
        for (SampleSeries &series : recording.series)
            series.source = 0;
        addProbe(recording, 1.5);
        const CalibrationProposal proposal = proposalOf(plan, recording);
        int products = 0;
        for (const FittedFactor &fitted : proposal.factors)
            products += fitted.factor.what == CalibratedPart::Products;
        QVERIFY2(products == 1, qPrintable(told(proposal)));
        const Plan learnt = withFactors(plan, proposal, idsOf(proposal));
        QVERIFY(std::abs(std::abs(secondsOf(learnt) / target - 1) - proposal.errorAfter) < 1e-9);
        QVERIFY(proposal.errorAfter < 1e-3);
        const std::string from = proposal.factors.front().factor.recording;
        QVERIFY2(from.find("probe") == std::string::npos && from.find("node7") == std::string::npos, from.c_str());
    }

    /// 20 × is no calibration and 150 × no plan takes: from a probe as from a run.
    void noProbeGoesAroundTheBounds()
    {
        for (const double times : { 20.0, 150.0 }) {
            Recording recording;
            addProbe(recording, times);
            const CalibrationProposal proposal = proposalOf(smallPlan(), recording);
            QCOMPARE(proposal.factors.size(), std::size_t(1));
            QVERIFY2(!proposal.factors.front().refused.empty(), qPrintable(told(proposal)));
            QVERIFY(withFactors(smallPlan(), proposal, idsOf(proposal)).calibration.empty());
        }
    }

    /// 1 bit/s: rates of a plan begin at 0.000001 GB/s.
    void figuresThatNoPlanTakesAreRefused()
    {
        Plan plan = threeSites(2, 3);
        plan.cluster.wanLinks.resize(1);
        Recording recording;
        recording.sources.push_back({ .file = "iperf3-a-b.json", .kind = SourceKind::Iperf3 });
        recording.benchmarks.push_back({ .what = "tcp", .ranks = 2, .nodes = 2, .bytesPerSecond = 0.125, .source = 0 });
        const auto proposal = calibrate(*evaluated(plan), *makeRun(recording), builtinCatalogue());
        QVERIFY(proposal && proposal->factors.size() == 1);
        QVERIFY2(
            proposal->factors.front().refused.starts_with("No plan takes"), proposal->factors.front().refused.c_str());
        QVERIFY(evaluated(withFactors(plan, *proposal, idsOf(*proposal))));
    }
};

TRAINYARD_APPLESS_TEST(ProposalTest)
#include "tst_proposal.moc"
