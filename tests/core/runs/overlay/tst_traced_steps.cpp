// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of traces and logs, read in place: conserved, and equal to what others compute of them. Of ours, whose times
// are known, and of real ones where they are.
#include "core/runs/overlay/run_steps.h"
#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/summarize.h"
#include "tests/support/test_program.h"

#include "tests/core/runs/telemetry/kineto_job.h"
#include "tests/support/own_inputs.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace trainyard;

namespace {

RunPtr readRun(const std::string &path)
{
    auto recording = readSources({ path }, {}, 2);
    return recording ? makeRun(*std::move(recording)) : nullptr;
}

/// The host of each rank is late in every fourth layer, and the other three wait.
testing::KinetoJob ownJob()
{
    testing::KinetoJob job { .ranks = 4, .layers = 16 };
    job.late = [](int rank, int layer) { return layer % 4 == rank ? 300 + 10 * rank : 0; };
    job.exchanges = { { .microseconds = 500 } };
    return job;
}

void addTraces(const std::vector<const char *> &shared)
{
    QTest::addColumn<QString>("path");
    QTest::newRow("own job") << QString();
    QTest::newRow("own two ranks") << QString::fromStdString(tests::ownInput("traces/two_ranks"));
    for (const char *trace : shared)
        if (const std::string path = std::string("traces/") + trace; tests::isShared(path))
            QTest::newRow(trace) << QString::fromStdString(tests::sharedInput(path));
}

} // namespace

class TestTracedSteps : public QObject {
    Q_OBJECT
private slots:
    void sharesOfEveryTraceAddUp_data()
    {
        addTraces({ "megatron_tp8_a100_8rank", "dlrm_a100_8rank", "hta_sampled_2of128",
            "single/nccl_data_v100_ddp_2rank_r0.json.gz", "single/b200_eager_trace_r0of8.json.gz",
            "single/mi300_resnet_fsdp_r0of8.json.gz", "single/mi300_resnet18_train.json.gz",
            "single/torch_compile_triton.json.gz", "edge/event_sync_trace.json.gz",
            "edge/mi250_minitoy_train_ROCm6_2_kineto.json.gz", "edge/benchmark_result_2869224_1695835535_trace.json.gz",
            "edge/triton_example.json.gz" });
    }
    void sharesOfEveryTraceAddUp()
    {
        QFETCH(QString, path);
        const QTemporaryDir own;
        const RunPtr run = readRun(written(own, path));
        QVERIFY(run && !run->steps.empty());
        int shown = 0;
        for (const RunStep &step : run->steps)
            for (const RankStep &one : sharesOf(*run, step)) {
                const double seconds = double(step.end - step.start) * 1e-9;
                QVERIFY(std::abs(one.shares.total() - seconds) < 1e-12 + 1e-13 * seconds);
                for (const double part : { one.shares.compute, one.shares.communication, one.shares.stragglers,
                         one.shares.bubble, one.shares.host })
                    QVERIFY(part >= 0);
                ++shown;
            }
        QVERIFY(shown > 0);
    }

    void computeIsHolisticTraceAnalysis_data() { addTraces({ "megatron_tp8_a100_8rank", "dlrm_a100_8rank" }); }
    void computeIsHolisticTraceAnalysis()
    {
        // Traces of whole microseconds and one step, whose kernels both class alike: compute = HTA's compute, and
        // communication + stragglers = its non-compute, to the microsecond
        QFETCH(QString, path);
        const QTemporaryDir own;
        auto recording = readSources({ written(own, path) }, {}, 2);
        QVERIFY(recording.has_value());
        const auto summary = summarize(*recording, SummaryRule::Hta);
        const RunPtr run = makeRun(*std::move(recording));
        const auto shares = sharesOf(*run, run->steps.front());
        QCOMPARE(shares.size(), summary.size());
        for (std::size_t i = 0; i < shares.size(); ++i) {
            const TimeShares &part = shares[i].shares;
            const TemporalBreakdown &hta = *summary[i].breakdown;
            // Durations are those of the reference's clock: HTA's are the rank's own
            const double drift = std::abs(run->recording->ranks[shares[i].rank].clockDrift);
            const double tolerance = 0.5 + drift * double(hta.kernelTime);
            QVERIFY(std::abs(part.compute * 1e6 - double(hta.compute)) < tolerance);
            QVERIFY(std::abs((part.communication + part.stragglers) * 1e6 - double(hta.nonCompute)) < tolerance);
            if (path.isEmpty()) {
                const testing::KinetoTruth truth = ownJob().truthOf(summary[i].rank);
                QVERIFY(std::abs(part.compute * 1e6 - double(truth.compute)) < 0.5);
                QVERIFY(std::abs((part.communication + part.stragglers) * 1e6 - double(truth.exchange)) < 0.5);
            }
        }
    }

    void stragglersOfTensorParallelAreWhatIsAboveTheLeast_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<int>("reductions");
        QTest::addColumn<double>("seconds"); // that they take at least
        QTest::newRow("own") << QString() << 16 << 16 * 500e-6;
        if (const std::string path = "traces/megatron_tp8_a100_8rank"; tests::isShared(path))
            QTest::newRow("Megatron-LM") << QString::fromStdString(tests::sharedInput(path)) << 84
                                         << 0.050099; // rank_alignment_example.txt
    }
    void stragglersOfTensorParallelAreWhatIsAboveTheLeast()
    {
        // No all-reduce of this trace is under computation: mean waiting = sum over them of mean - least duration
        QFETCH(QString, path);
        QFETCH(int, reductions);
        QFETCH(double, seconds);
        const QTemporaryDir own;
        const RunPtr run = readRun(written(own, path));
        QVERIFY(run && !run->steps.empty());
        double waiting = 0, moving = 0, expected = 0, least = 0;
        const auto shares = sharesOf(*run, run->steps.front());
        for (const RankStep &one : shares) {
            waiting += one.shares.stragglers / double(shares.size());
            moving += one.shares.communication / double(shares.size());
        }
        for (const MatchedCollective &one : run->collectives) {
            expected += (one.meanDuration - double(one.leastDuration)) * 1e-9;
            least += double(one.leastDuration) * 1e-9;
        }
        QCOMPARE(int(run->collectives.size()), reductions);
        QVERIFY(std::abs(waiting - expected) < 1e-6);
        QVERIFY(std::abs(least - seconds) < 2e-6);
        QVERIFY(std::abs(moving - least) < 5e-4); // and copies that nothing hides
        if (path.isEmpty()) // three of four wait 300, 310, 320 and 330 µs, four times each
            QVERIFY(std::abs(waiting - 4 * (300 + 310 + 320 + 330) * 0.75e-6) < 1e-6);
    }

    void logsGiveSteps_data()
    {
        QTest::addColumn<QString>("path");
        QTest::addColumn<int>("steps");
        const auto row = [](const char *what, const char *own, const char *captured, int steps) {
            const std::string logs = "formats/logs/";
            QTest::addRow("%s, own", what) << QString::fromStdString(tests::ownInput(logs + own)) << steps;
            if (tests::isShared(logs + captured))
                QTest::newRow(what) << QString::fromStdString(tests::sharedInput(logs + captured)) << steps;
        };
        row("Megatron-LM with timers", "megatron_timed.log", "megatron_lm_2022.log", 1);
        row("Megatron-LM", "megatron_experts.log", "megatron_lm_2024.log", 3);
        row("Megatron-DeepSpeed", "megatron_keyvalue.log", "megatron_deepspeed_alcf_keyvalue.log", 1);
        row("NeMo", "nemo.log", "nemo2_lightning.log", 2);
        row("torchtitan", "torchtitan.log", "torchtitan.log", 1); // of two runs, months apart
        row("DeepSpeed", "deepspeed.log", "deepspeed.log", 1);
        row("Hugging Face, which tells no times", "trainer.log", "hf_trainer.log", 0);
    }
    void logsGiveSteps()
    {
        QFETCH(QString, path);
        QFETCH(int, steps);
        const RunPtr run = readRun(path.toStdString());
        QVERIFY(run);
        QCOMPARE(int(run->steps.size()), steps);
        for (const RunStep &step : run->steps)
            QVERIFY(step.seconds > 0 && !step.hasSpans() && sharesOf(*run, step).empty());
    }

private:
    /// The path; without one our own job's, in the folder.
    static std::string written(const QTemporaryDir &folder, const QString &path)
    {
        if (!path.isEmpty())
            return path.toStdString();
        testing::writeKineto(ownJob(), folder.path().toStdString());
        return folder.path().toStdString();
    }
};

TRAINYARD_GUILESS_TEST(TestTracedSteps)
#include "tst_traced_steps.moc"
