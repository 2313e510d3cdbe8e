// SPDX-License-Identifier: GPL-3.0-or-later
// Calibration gives back what a generator that shares nothing with it has put in: kernels of each kind, links, host and
// overlap, with errors that are honest, and factors that hold for other plans.
#include "core/facts/network/collectives.h"
#include "core/iteration/cost/kernel_seconds.h"
#include "tests/core/runs/calibrate/small_truth.h"
#include "tests/core/runs/overlay/recorded_run.h"
#include "tests/core/runs/overlay/sample_runs.h"
#include "tests/support/test_program.h"
#include "tests/support/workloads.h"

#include <QtTest>

#include <cmath>

using namespace trainyard;
using namespace trainyard::test;

class CalibrateTest : public QObject {
    Q_OBJECT
private slots:
    /// Kernels added up one by one by the equations of docs/model.md are what the coster is found to say.
    void theModelsKernelsAreThoseOfItsEquations()
    {
        const Plan plan = smallPlan();
        const EvaluationPtr evaluation = evaluated(plan);
        const Workload workload = test::workloadOf(*evaluation);
        const KernelSeconds model = kernelSeconds(workload, workload.layout.classes.front(), 0);
        const KernelRun run = recordKernels(*evaluation, plain());
        QVERIFY2(std::abs(run.kernelSeconds / model.total() - 1) < 1e-6,
            qPrintable(QString("%1 against %2").arg(run.kernelSeconds).arg(model.total())));
        QVERIFY(model.products > 0.5 * model.total() && model.attention > 0 && model.memory > 0);
    }

    /// And its steps are the plan's: beside it, only small messages.
    void withoutNoiseAStepTakesWhatThePlanSays()
    {
        KernelRunOptions options = plain();
        options.hasSmallMessages = false;
        const EvaluationPtr truth = evaluated(withTruth(smallPlan()));
        const KernelRun run = recordKernels(*truth, options);
        const double planned = *truth->metrics.iterationTime;
        for (const double seconds : run.stepSeconds)
            QVERIFY2(std::abs(seconds / planned - 1) < 0.005,
                qPrintable(QString("%1 s, planned %2 s").arg(seconds).arg(planned)));
    }

    void withoutNoiseWhatWasPutInComesBack()
    {
        const CalibrationProposal proposal = proposalOf(smallPlan(), recorded(smallPlan(), plain()).recording);
        for (const Truth &truth : truths()) {
            const FittedFactor *fitted = factorOf(proposal, truth.id);
            QVERIFY2(fitted && fitted->refused.empty(),
                qPrintable(QString::fromStdString(truth.id + ": " + (fitted ? fitted->refused : "none") + "\n")
                    + told(proposal)));
            QVERIFY2(std::abs(valueOf(fitted->factor) / truth.value - 1) < 0.003,
                qPrintable(QString::fromStdString(truth.id) + ": " + QString::number(valueOf(fitted->factor))));
            if (truth.latencyUs > 0)
                QVERIFY(std::abs(*fitted->factor.latencyUs / truth.latencyUs - 1) < 0.003);
        }
        QVERIFY(proposal.errorBefore > 0.05);
        // What is exchanged beside the plan's model is left.
        QVERIFY2(proposal.errorAfter < 0.015, qPrintable(QString::number(proposal.errorAfter)));
    }

    /// What one setting taught holds for others: another batch, sequence and other degrees.
    void factorsOfOneSettingPredictOthers()
    {
        const CalibrationProposal proposal = proposalOf(smallPlan(), recorded(smallPlan(), { .seed = 7 }).recording);
        for (Plan other : { smallPlan(4), smallPlan(8, 2, 4, 1024), smallPlan(8, 1, 4), smallPlan(8, 2, 1) }) {
            KernelRunOptions options = plain();
            options.hasSmallMessages = false;
            const double measured = recorded(other, options).stepSeconds.back();
            const double before = *evaluated(other)->metrics.iterationTime;
            const double after = *evaluated(withFactors(other, proposal, idsOf(proposal)))->metrics.iterationTime;
            QVERIFY2(std::abs(before / measured - 1) > 0.05, qPrintable(QString::number(before / measured)));
            QVERIFY2(std::abs(after / measured - 1) < 0.02, qPrintable(QString::number(after / measured)));
        }
    }

    /// Ranks that are slower than their likes are told and left out; without them the factor is that of the others.
    void aSlowRankIsNotWhatTheHardwareDoes()
    {
        const CalibrationProposal proposal =
            proposalOf(smallPlan(), recorded(smallPlan(), { .seed = 3, .straggler = 2 }).recording);
        const FittedFactor *products = factorOf(proposal, "products-h100-sxm-80gb");
        QVERIFY(products && std::abs(*products->factor.factor / 1.17 - 1) < 0.005);
        QVERIFY2(hasNote(proposal.notes, "Matrix products of rank 2 take 1.3"), qPrintable(told(proposal)));
    }

    /// predicted × factor on products = median of the log's steps, with the doubt that belongs to it.
    void stepsOfALogAloneGiveOneFactorWithADoubt()
    {
        const Plan plan = smallPlan();
        const double target = 1.25 * *evaluated(plan)->metrics.iterationTime;
        std::vector<double> steps { 9 * target, target };
        for (int i = 0; i < 38; ++i)
            steps.push_back(target * (1 + 0.02 * std::sin(i * 1.7)) * (i % 13 == 12 ? 3 : 1));
        SmallRecording recording;
        recording.series(samples::kStepTime, 1, steps);
        const CalibrationProposal proposal = proposalOf(plan, recording.m_recording);
        QCOMPARE(proposal.factors.size(), std::size_t(1));
        const FittedFactor &fitted = proposal.factors.front();
        QVERIFY2(fitted.refused.empty() && fitted.factor.what == CalibratedPart::Products, qPrintable(told(proposal)));
        const double after = *evaluated(withFactors(plan, proposal, { fitted.id }))->metrics.iterationTime;
        QVERIFY2(std::abs(after / target - 1) < 0.01, qPrintable(QString::number(after / target)));
        QVERIFY(std::abs(proposal.errorBefore - 0.2) < 0.02 && proposal.errorAfter < 0.02);
        QVERIFY(hasNote(proposal.notes, "Step times alone"));
    }

    /// Nothing of fewer than five samples, nothing whose samples lie apart.
    void fitsThatStandOnLittleAreRefused()
    {
        const Plan plan = smallPlan();
        const double target = 1.25 * *evaluated(plan)->metrics.iterationTime;
        SmallRecording few;
        few.series(samples::kStepTime, 1, { target, target, target, target });
        const CalibrationProposal proposal = proposalOf(plan, few.m_recording);
        QVERIFY2(!proposal.factors.front().refused.empty(), qPrintable(told(proposal)));
        QVERIFY(withFactors(plan, proposal, idsOf(proposal)).calibration.empty());
        Recording nothing;
        const auto answer = calibrate(*evaluated(plan), *makeRun(nothing), builtinCatalogue());
        QVERIFY(!answer && !answer.error().right.empty());
    }

    /// nccl-tests, iperf3 and fio: each gives its link or drive back, and nothing else.
    void benchmarksGiveTheirLinksAndDrives()
    {
        Plan plan = threeSites(2, 3);
        plan.cluster.wanLinks.resize(1);
        plan.cluster.datacenters.resize(2);
        plan.parallelism.pipeline = 2;
        plan.placement = {};
        for (Datacenter &datacenter : plan.cluster.datacenters) {
            datacenter.pools.front().ssd.emplace();
            datacenter.pools.front().ssd->writeGBps = datacenter.pools.front().ssd->readGBps = 4;
        }
        Recording recording;
        recording.sources.push_back({ .file = "iperf3.json" });
        // t = 20 us + 14 steps of the class + 2 (n - 1) / n · bytes / B of a ring over 8 GPUs
        for (int i = 0; i < 40; ++i) {
            const double bytes = std::exp2(12 + i % 20);
            recording.benchmarks.push_back({ .what = "all_gather",
                .ranks = 8,
                .nodes = 1,
                .bytes = bytes,
                .seconds = 25e-6 + 7 / 8.0 * bytes / 200e9 });
        }
        for (int i = 0; i < 3; ++i)
            recording.benchmarks.push_back({ .what = "tcp",
                .ranks = 2,
                .nodes = 2,
                .bytesPerSecond = 5e8 * (1 + 0.01 * i),
                .rttSeconds = 0.03,
                .source = 0 });
        recording.benchmarks.push_back({ .what = "write", .nodes = 1, .bytesPerSecond = 3e9 });
        const CalibrationProposal proposal = proposalOf(plan, recording);
        const FittedFactor *wan = factorOf(proposal, "wan-a-b"), *drive = factorOf(proposal, "drive-h100-sxm-80gb"),
                           *nvlink = factorOf(proposal, "nvlink-h100-sxm-80gb");
        QVERIFY2(wan && drive && nvlink && proposal.factors.size() == 3, qPrintable(told(proposal)));
        QVERIFY(std::abs(*wan->factor.gbytesPerS - 0.505) < 1e-9 && std::abs(*wan->factor.latencyUs - 15000) < 1e-6);
        QCOMPARE(*drive->factor.gbytesPerS, 3.0);
        // The class counts a rank's own share of what it moves: (7 + own) / 8 of the message.
        const LinkClass &kind = *deviceLink(*builtinCatalogue().gpu(kGpu), builtinNetwork()).kind;
        const double expected = 200 * (7 + kind.ownShare) / 7;
        QVERIFY2(std::abs(*nvlink->factor.gbytesPerS / expected - 1) < 1e-3, qPrintable(told(proposal)));
        QVERIFY(std::abs(*nvlink->factor.latencyUs - (25 - 7 * kind.stepUs)) < 0.01);
        QVERIFY(*nvlink->factor.errorAfter < 1e-3 && *nvlink->factor.errorBefore > 0.01);
    }

    /// Kernels that nobody can name are one: factors of 1.17, 0.9 and 1.3 are seen as their mean, and the step comes
    /// out.
    void kernelsWithoutNamesShareOneFactor()
    {
        Recording recording = recorded(smallPlan(), { .seed = 5, .hasSmallMessages = false }).recording;
        for (std::string &name : recording.names)
            if (name.find("kernel") != std::string::npos && !name.starts_with("nccl"))
                name = "operation";
        const CalibrationProposal proposal = proposalOf(smallPlan(), recording);
        const FittedFactor *products = factorOf(proposal, "products-h100-sxm-80gb");
        QVERIFY2(products && products->refused.empty(), qPrintable(told(proposal)));
        QVERIFY(*products->factor.factor > 1.1 && *products->factor.factor < 1.25);
        for (const char *id : { "attention-h100-sxm-80gb", "memory-h100-sxm-80gb" })
            QCOMPARE(*factorOf(proposal, id)->factor.factor, *products->factor.factor);
        QVERIFY(hasNote(proposal.notes, "do not have the names of libraries"));
        const double truth = *evaluated(withTruth(smallPlan()))->metrics.iterationTime;
        const double after = *evaluated(withFactors(smallPlan(), proposal, idsOf(proposal)))->metrics.iterationTime;
        QVERIFY2(std::abs(after / truth - 1) < 0.02, qPrintable(QString::number(after / truth)));
    }

    /// Pipelines, interleaved or of unequal GPUs, run through the plan's own graph with computing a quarter longer.
    void pipelinesGiveTheirComputingBack_data()
    {
        QTest::addColumn<int>("sample");
        for (const int sample : { 0, 1, 4 })
            QTest::newRow(smallSamples()[std::size_t(sample)].name) << sample;
    }
    void pipelinesGiveTheirComputingBack()
    {
        QFETCH(int, sample);
        const EvaluationPtr plan = evaluatedSample(smallSamples()[std::size_t(sample)]);
        RecordedRunOptions options;
        options.seed = 11;
        options.computeFactor = 1.25;
        const auto proposal = calibrate(*plan, *makeRun(recordRun(plan, options).recording), builtinCatalogue());
        QVERIFY2(proposal, proposal ? "" : toString(proposal.error()).c_str());
        int found = 0;
        for (const FittedFactor &fitted : proposal->factors)
            if (fitted.factor.what == CalibratedPart::Products) {
                QVERIFY2(fitted.refused.empty(), qPrintable(told(*proposal)));
                QVERIFY2(std::abs(*fitted.factor.factor / 1.25 - 1) < 0.02, qPrintable(told(*proposal)));
                ++found;
            }
        QVERIFY2(found > 0, qPrintable(told(*proposal)));
    }

    /// Ranks are where the run's arguments put them (--use-tp-pp-dp-mapping), as under the plan on the timeline.
    void ranksAreWhereTheArgumentsPutThem()
    {
        const EvaluationPtr plan = evaluatedSample(smallSamples()[0]);
        Recording recording = recordRun(plan, { .seed = 11 }).recording;
        recording.arguments["use_tp_pp_dp_mapping"] = "True";
        const RunPtr run = makeRun(std::move(recording));
        const auto of = [&](std::optional<RankOrder> order) {
            return calibrate(*plan, *run, builtinCatalogue(), { .order = order });
        };
        const auto told = of({}), same = of(RankOrder::PipelineBeforeData), other = of(RankOrder::DataBeforePipeline);
        QVERIFY(told && same && other);
        QVERIFY(*told == *same);
        QVERIFY(!(*told == *other));
    }

    /// t = 15 ms + bytes / (0.5 GB/s): sends between datacenters give the latency and the rate of the link.
    void sendsBetweenDatacentersGiveTheLink()
    {
        Plan plan = threeSites(1, 2);
        plan.cluster.datacenters.resize(2);
        plan.cluster.wanLinks.resize(1);
        plan.parallelism.data = 1;
        plan.placement = {};
        plan.placement.mode = PlacementMode::PipelineAcross;
        SmallRecording recording;
        auto from = recording.rank(0, 16);
        auto to = recording.rank(8, 16);
        Moment now = 1000;
        const Moment begin = now;
        for (int i = 0; i < 24; ++i) {
            const double bytes = 1e6 * (1 + i % 6);
            const Moment took = 15000 + Moment(bytes / 500), end = now + took;
            from.collective("send", now, end, bytes, 24, -1, { 0, 8 });
            to.collective("recv", now, end, bytes, 24, -1, { 0, 8 });
            from.span(RecordedWork::Compute, end, end + 500);
            to.span(RecordedWork::Compute, end, end + 500);
            now = end + 1000;
        }
        from.step(1, begin, now);
        to.step(1, begin, now);
        const CalibrationProposal proposal = proposalOf(plan, recording.m_recording);
        const FittedFactor *wan = factorOf(proposal, "wan-a-b");
        QVERIFY2(wan && wan->refused.empty(), qPrintable(told(proposal)));
        QVERIFY2(std::abs(*wan->factor.gbytesPerS / 0.5 - 1) < 0.001, qPrintable(told(proposal)));
        QVERIFY(std::abs(*wan->factor.latencyUs / 15000 - 1) < 0.001);
    }

    /// Two groups of four share each node pair: each of their sends takes twice as long as one alone, which the plan
    /// has too. A run that is as the plan says teaches a factor of 1, and latency and rate of the pair where sizes
    /// differ.
    void sendsThatShareANodePairAreComparedWithSuch_data()
    {
        QTest::addColumn<int>("sizes");
        QTest::newRow("one size") << 1;
        QTest::newRow("several sizes") << 6;
    }
    void sendsThatShareANodePairAreComparedWithSuch()
    {
        QFETCH(int, sizes);
        Plan plan = threeSites(1, 2);
        plan.cluster.datacenters.resize(2);
        plan.cluster.wanLinks.resize(1);
        plan.parallelism.tensor = 4;
        plan.parallelism.data = 2;
        plan.placement = {};
        plan.placement.mode = PlacementMode::PipelineAcross;
        plan.wan.tcpConnections = std::nullopt;
        WanLink &link = plan.cluster.wanLinks.front();
        link.nodePairGbps = 4, link.rttMs = 20, link.jitterMs = 0, link.lossRate = 0, link.tcpWindowMb = 100;
        SmallRecording recording;
        auto from = recording.rank(0, 16);
        auto to = recording.rank(8, 16);
        Moment now = 1000;
        const Moment begin = now;
        for (int i = 0; i < 24; ++i) {
            const double bytes = 4e6 * (1 + i % sizes);
            const Moment end = now + 10000 + Moment(2 * bytes / 500); // µs; 4 Gbit/s are 500 bytes/µs, for two
            from.collective("send", now, end, bytes, 24, -1, { 0, 8 });
            to.collective("recv", now, end, bytes, 24, -1, { 0, 8 });
            from.span(RecordedWork::Compute, end, end + 500);
            to.span(RecordedWork::Compute, end, end + 500);
            now = end + 1000;
        }
        from.step(1, begin, now);
        to.step(1, begin, now);
        const CalibrationProposal proposal = proposalOf(plan, recording.m_recording);
        const FittedFactor *wan = factorOf(proposal, "wan-a-b");
        QVERIFY2(wan && wan->refused.empty(), qPrintable(told(proposal)));
        if (sizes == 1)
            QVERIFY2(std::abs(wan->factor.factor.value_or(0) - 1) < 0.001, qPrintable(told(proposal)));
        else
            QVERIFY2(std::abs(wan->factor.gbytesPerS.value_or(0) / 0.5 - 1) < 0.001
                    && std::abs(wan->factor.latencyUs.value_or(0) / 10000 - 1) < 0.001,
                qPrintable(told(proposal)));
    }

    /// Half of the ranks take twice as long: two kinds of ranks, of which neither is left out.
    void ranksOfTwoKindsAreNotLeftOut()
    {
        Plan plan = smallPlan();
        const KernelRun slow = recorded(plan, { .seed = 4 });
        Recording recording = slow.recording;
        for (RankRecording &rank : recording.ranks)
            for (RecordedStream &stream : rank.streams)
                for (std::size_t i = 0; rank.rank % 2 == 1 && i < stream.spans.size(); ++i)
                    if (stream.spans.work[i] == RecordedWork::Compute)
                        stream.spans.duration[i] /= 2;
        const CalibrationProposal proposal = proposalOf(plan, recording);
        QVERIFY2(hasNote(proposal.notes, "no rank is left out"), qPrintable(told(proposal)));
    }

    /// t = RTT / 2 + f bytes / rate: sends of one size give the factor f alone, which the link keeps at another rate.
    void sendsOfOneSizeGiveAFactor()
    {
        Plan plan = threeSites(1, 2);
        plan.cluster.datacenters.resize(2);
        plan.cluster.wanLinks.resize(1);
        plan.parallelism.data = 1;
        plan.placement = {};
        plan.placement.mode = PlacementMode::PipelineAcross;
        plan.wan.tcpConnections = std::nullopt;
        WanLink &link = plan.cluster.wanLinks.front();
        link.nodePairGbps = 4, link.rttMs = 20, link.jitterMs = 0, link.lossRate = 0, link.tcpWindowMb = 100;
        SmallRecording recording;
        auto from = recording.rank(0, 16);
        auto to = recording.rank(8, 16);
        Moment now = 1000;
        const Moment begin = now;
        constexpr double kBytes = 4e6, kFactor = 1.25;
        for (int i = 0; i < 24; ++i) {
            const Moment end = now + 10000 + Moment(kFactor * kBytes / 500); // µs; 4 Gbit/s are 500 bytes/µs
            from.collective("send", now, end, kBytes, 24, -1, { 0, 8 });
            to.collective("recv", now, end, kBytes, 24, -1, { 0, 8 });
            from.span(RecordedWork::Compute, end, end + 500);
            to.span(RecordedWork::Compute, end, end + 500);
            now = end + 1000;
        }
        from.step(1, begin, now);
        to.step(1, begin, now);
        const CalibrationProposal proposal = proposalOf(plan, recording.m_recording);
        const FittedFactor *wan = factorOf(proposal, "wan-a-b");
        QVERIFY2(wan && wan->refused.empty(), qPrintable(told(proposal)));
        QVERIFY(!wan->factor.gbytesPerS && !wan->factor.latencyUs);
        QVERIFY2(std::abs(wan->factor.factor.value_or(0) / kFactor - 1) < 0.001, qPrintable(told(proposal)));
    }
};

TRAINYARD_APPLESS_TEST(CalibrateTest)
#include "tst_calibrate.moc"
