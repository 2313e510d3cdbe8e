// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of real traces and logs, read in place: conserved, and equal to what others compute of them.
#include "core/overlay/run_steps.h"
#include "core/telemetry/read_sources.h"
#include "core/telemetry/summarize.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTest>

#include <cmath>

using namespace trainyard;

namespace {

const std::string kTraces = TRAINYARD_SHARED_DIR "/traces/";

RunPtr readRun(const std::string &path)
{
    auto recording = readSources({ path }, {}, 2);
    return recording ? makeRun(*std::move(recording)) : nullptr;
}

} // namespace

class TestTracedSteps : public QObject {
    Q_OBJECT
private slots:
    void sharesOfEveryTraceAddUp_data()
    {
        QTest::addColumn<QString>("trace");
        for (const char *trace : { "megatron_tp8_a100_8rank", "dlrm_a100_8rank", "hta_sampled_2of128",
                 "single/nccl_data_v100_ddp_2rank_r0.json.gz", "single/b200_eager_trace_r0of8.json.gz",
                 "single/mi300_resnet_fsdp_r0of8.json.gz", "single/mi300_resnet18_train.json.gz",
                 "single/torch_compile_triton.json.gz", "edge/event_sync_trace.json.gz",
                 "edge/mi250_minitoy_train_ROCm6_2_kineto.json.gz",
                 "edge/benchmark_result_2869224_1695835535_trace.json.gz", "edge/triton_example.json.gz" })
            QTest::newRow(trace) << trace;
    }
    void sharesOfEveryTraceAddUp()
    {
        QFETCH(QString, trace);
        const std::string path = kTraces + trace.toStdString();
        if (!QFile::exists(QString::fromStdString(path)))
            QSKIP("no shared traces here");
        const RunPtr run = readRun(path);
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

    void computeIsHolisticTraceAnalysis_data()
    {
        QTest::addColumn<QString>("trace");
        for (const char *trace : { "megatron_tp8_a100_8rank", "dlrm_a100_8rank" })
            QTest::newRow(trace) << trace;
    }
    void computeIsHolisticTraceAnalysis()
    {
        // Traces of whole microseconds and one step, whose kernels both class alike: compute = HTA's compute, and
        // communication + stragglers = its non-compute, to the microsecond
        QFETCH(QString, trace);
        const std::string path = kTraces + trace.toStdString();
        if (!QFile::exists(QString::fromStdString(path)))
            QSKIP("no shared traces here");
        auto recording = readSources({ path }, {}, 2);
        QVERIFY(recording.has_value());
        const auto summary = summarize(*recording);
        const RunPtr run = makeRun(*std::move(recording));
        const auto shares = sharesOf(*run, run->steps.front());
        QCOMPARE(shares.size(), summary.size());
        for (std::size_t i = 0; i < shares.size(); ++i) {
            const TimeShares &own = shares[i].shares;
            const TemporalBreakdown &hta = *summary[i].breakdown;
            // Durations are those of the reference's clock: HTA's are the rank's own
            const double drift = std::abs(run->recording->ranks[shares[i].rank].clockDrift);
            const double tolerance = 0.5 + drift * double(hta.kernelTime);
            QVERIFY(std::abs(own.compute * 1e6 - double(hta.compute)) < tolerance);
            QVERIFY(std::abs((own.communication + own.stragglers) * 1e6 - double(hta.nonCompute)) < tolerance);
        }
    }

    void stragglersOfTensorParallelAreWhatIsAboveTheLeast()
    {
        // No all-reduce of this trace is under computation: mean waiting = sum over them of mean - least duration
        const std::string path = kTraces + "megatron_tp8_a100_8rank";
        if (!QFile::exists(QString::fromStdString(path)))
            QSKIP("no shared traces here");
        const RunPtr run = readRun(path);
        double waiting = 0, moving = 0, expected = 0, least = 0;
        for (const RankStep &one : sharesOf(*run, run->steps.front())) {
            waiting += one.shares.stragglers / 8;
            moving += one.shares.communication / 8;
        }
        for (const MatchedCollective &one : run->collectives) {
            expected += (one.meanDuration - double(one.leastDuration)) * 1e-9;
            least += double(one.leastDuration) * 1e-9;
        }
        QCOMPARE(run->collectives.size(), std::size_t(84));
        QVERIFY(std::abs(waiting - expected) < 1e-6);
        QVERIFY(std::abs(least - 0.050099) < 2e-6); // rank_alignment_example.txt
        QVERIFY(std::abs(moving - least) < 5e-4); // and copies that nothing hides
    }

    void logsGiveSteps_data()
    {
        QTest::addColumn<QString>("log");
        QTest::addColumn<int>("steps");
        QTest::newRow("Megatron-LM 2022") << "megatron_lm_2022.log" << 1;
        QTest::newRow("Megatron-LM 2024") << "megatron_lm_2024.log" << 3;
        QTest::newRow("Megatron-DeepSpeed") << "megatron_deepspeed_alcf_keyvalue.log" << 1;
        QTest::newRow("NeMo") << "nemo2_lightning.log" << 2;
        QTest::newRow("torchtitan") << "torchtitan.log" << 1; // of two runs, months apart
        QTest::newRow("DeepSpeed") << "deepspeed.log" << 1;
        QTest::newRow("Hugging Face, which tells no times") << "hf_trainer.log" << 0;
    }
    void logsGiveSteps()
    {
        QFETCH(QString, log);
        QFETCH(int, steps);
        const std::string path = TRAINYARD_SHARED_DIR "/formats/logs/" + log.toStdString();
        if (!QFile::exists(QString::fromStdString(path)))
            QSKIP("no shared logs here");
        const RunPtr run = readRun(path);
        QVERIFY(run);
        QCOMPARE(int(run->steps.size()), steps);
        for (const RunStep &step : run->steps)
            QVERIFY(step.seconds > 0 && !step.hasSpans() && sharesOf(*run, step).empty());
    }
};

TRAINYARD_GUILESS_TEST(TestTracedSteps)
#include "tst_traced_steps.moc"
