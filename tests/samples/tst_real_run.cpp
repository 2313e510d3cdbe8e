// SPDX-License-Identifier: GPL-3.0-or-later
// samples/real-run: what docs/real-run.md publishes is what the plan says of the committed recordings today. The run
// itself needs root, PyTorch and network namespaces: where they are there, a short one is made and read.
#include "core/base/median.h"
#include "core/runs/telemetry/sample_names.h"
#include "tests/app/cli/program.h"
#include "tests/support/real_run.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include <unistd.h>

using namespace trainyard;
using namespace trainyard::test;

namespace {

QString percent(double share)
{
    const QString text = QString::number(std::abs(share) * 100, 'f', 1);
    return (text == QStringLiteral("0.0") ? QString()
                   : share < 0            ? QStringLiteral("−")
                                          : QStringLiteral("+"))
        + text + QStringLiteral(" %");
}

/// Steps that count.
std::vector<double> stepsOf(const Run &run)
{
    std::vector<double> seconds;
    for (const RunStep &step : run.steps)
        if (!step.isWarmUp && !step.isOutlier)
            seconds.push_back(step.seconds);
    return seconds;
}

/// Why the run cannot be made here; empty: it can.
QString missing()
{
    if (geteuid() != 0)
        return QStringLiteral("Network namespaces are made by root alone: the real run is not made here");
    QProcess torch;
    torch.start(QStringLiteral("/usr/bin/python3"), { "-c", "import torch.distributed" });
    if (test::answerOf(torch).exitCode != 0)
        return QStringLiteral("/usr/bin/python3 has no PyTorch here (Debian: python3-torch)");
    for (const char *program : { "ip", "tc", "chrt", "c++" })
        if (QStandardPaths::findExecutable(QLatin1String(program)).isEmpty()
            && QStandardPaths::findExecutable(QLatin1String(program), { "/usr/sbin", "/sbin" }).isEmpty())
            return QLatin1String(program) + QStringLiteral(" is not installed here");
    if (test::shell(QStringLiteral("ip netns add trainyard-try-$$ && ip netns del trainyard-try-$$")).exitCode != 0
        || !QFile::exists(QStringLiteral("/dev/net/tun")))
        return QStringLiteral("Network namespaces and TUN devices may not be made here");
    return {};
}

} // namespace

class TestRealRun : public QObject {
    Q_OBJECT

private slots:
    /// Fitted at one setting, judged at others whose rates and round trips lie on both sides of it.
    void settingsLieOnBothSidesOfTheFittedOne()
    {
        const auto count = [](auto &&isMeant) {
            return std::ranges::count_if(
                settings(), [&](const Setting &one) { return one.isOfTheJob() && isMeant(one); });
        };
        QCOMPARE(count([](const Setting &one) { return one.isFitted(); }), 1);
        QVERIFY(count([](const Setting &one) { return !one.isFitted(); }) >= 4);
        for (const bool isMore : { false, true }) {
            QVERIFY(count([&](const Setting &one) { return isMore ? one.mbit > 100 : one.mbit < 100; }) >= 1);
            QVERIFY(count([&](const Setting &one) { return isMore ? one.rtt > 20 : one.rtt < 20; }) >= 1);
        }
        for (const QString &file : kFolder.entryList({ QStringLiteral("*.trainyard-recording") }, QDir::Files))
            QVERIFY2(QFileInfo(kFolder.filePath(file)).size() <= 300'000, qPrintable(file));
    }

    /// A message takes RTT / 2 + 8 bytes / rate, whatever a plan says: the link is what its setting says. What tbf lets
    /// through at once (20,000 bytes) makes it shorter, headers of jumbo frames (66 of 9,014 bytes) longer.
    void theLinkIsWhatItWasSetTo()
    {
        for (const Setting &setting : settings()) {
            if (setting.job == QStringLiteral("GPipe")) // its messages wait for those before them
                continue;
            const Recording &recording = *setting.run->recording;
            std::vector<double> took;
            for (const MatchedCollective &one : setting.run->collectives)
                if (recording.names[one.operation] == "send") {
                    QCOMPARE(one.bytes, kMessage);
                    took.push_back(double(one.leastDuration) * 1e-9);
                }
            QVERIFY(took.size() >= 100);
            const double least = setting.rtt / 2e3 + 8 * (kMessage - 20'000) / (setting.mbit * 1e6),
                         most = setting.rtt / 2e3 + 8 * kMessage * 9014 / 8948 / (setting.mbit * 1e6);
            const double middle = medianOf(took);
            QVERIFY2(middle > 0.99 * least && middle < 1.02 * most,
                qPrintable(QStringLiteral("%1 Mbit/s, %2 ms: %3 s, not %4 to %5")
                               .arg(setting.mbit)
                               .arg(setting.rtt)
                               .arg(middle)
                               .arg(least)
                               .arg(most)));
        }
    }

    /// The plan's GPU is what the probe measured of a process's share of a core, and no figure of a run.
    void theGpuIsWhatTheProbeMeasured()
    {
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("machine.trainyard.json"));
        const test::Answer answer =
            test::run({ "import", kFolder.filePath(QStringLiteral("cpu-share-probe.json")), "--out", file });
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        const auto gpuOf = [](const QString &path) {
            QFile plan(path);
            return plan.open(QIODevice::ReadOnly)
                ? nlohmann::json::parse(plan.readAll().toStdString())["cluster"]["datacenters"][0]["pools"][0]["gpu"]
                : nlohmann::json();
        };
        const nlohmann::json measured = gpuOf(file),
                             own = gpuOf(kFolder.filePath(QStringLiteral("two-datacenters.trainyard.json")));
        for (const char *key : { "peak_tflops", "memory_gbytes_per_s", "memory_gib" })
            QCOMPARE(own.at(key).dump(), measured.at(key).dump());
        QCOMPARE(own.at("kernels").at("gemm").at("bf16").dump(), measured.at("kernels").at("gemm").at("bf16").dump());
        QCOMPARE(own.at("kernels").at("attention").at("bf16").dump(),
            measured.at("kernels").at("attention").at("bf16").dump());
    }

    /// Half of the steps lie within 3 % of their median, and the model learns.
    void stepsAgreeAmongThemselves()
    {
        for (const Setting &setting : settings()) {
            const std::vector<double> steps = stepsOf(*setting.run);
            QVERIFY(steps.size() >= 12);
            const double middle = medianOf(steps);
            QVERIFY(std::abs(middle / setting.run->medianSeconds - 1) < 1e-9);
            std::vector<double> off;
            for (const double step : steps)
                off.push_back(std::abs(step / middle - 1));
            QVERIFY2(medianOf(off) < 0.03, qPrintable(percent(medianOf(off))));
            const auto loss = std::ranges::find(setting.run->recording->series, samples::kLoss, &SampleSeries::name);
            QVERIFY(loss != setting.run->recording->series.end());
            QVERIFY(loss->value.back() < loss->value.front());
        }
    }

    /// The table of the page, from the recordings. Every error is judged before the page is.
    void theTableIsWhatThePlanSays()
    {
        QStringList rows;
        for (const Setting &setting : settings()) {
            const Plan plan = planOf(setting);
            const double measured = setting.run->medianSeconds, before = secondsOf(plan),
                         after = secondsOf(calibrated(plan));
            QVERIFY(measured > 0 && before > 0 && after > 0);
            const QString row = QStringLiteral("| %1 | %2 Mbit/s | %3 ms | %4 | %5 | %6 | %7 | %8 |")
                                    .arg(setting.job)
                                    .arg(setting.mbit)
                                    .arg(setting.rtt)
                                    .arg(seconds(measured), seconds(before), percent(before / measured - 1),
                                        seconds(after), percent(after / measured - 1));
            qInfo("%s", qPrintable(row));
            rows.append(row);
            QVERIFY2(setting.isFitted() || std::abs(after / measured - 1) <= kMostError, qPrintable(row));
        }
        for (const QString &row : rows)
            QVERIFY2(page().contains(row), qPrintable(QStringLiteral("docs/real-run.md should have ") + row));
    }

    /// "| `products` | 0.93 |": what calibration learnt, as the page has it.
    void theFactorsAreWhatCalibrationLearns()
    {
        QVERIFY(!learnt().factors.empty());
        QStringList rows;
        for (const FittedFactor &fitted : learnt().factors) {
            const QString value = !fitted.refused.empty() ? QStringLiteral("refused")
                : fitted.factor.factor ? QString::number(*fitted.factor.factor, 'f', 2) + QStringLiteral(" ×")
                                       : QString::number(*fitted.factor.gbytesPerS, 'f', 3) + QStringLiteral(" GB/s");
            const QString row = QStringLiteral("| `%1` | %2 |").arg(QString::fromStdString(fitted.id), value);
            qInfo("%s %s %s", qPrintable(row), fitted.sentence.c_str(), fitted.refused.c_str());
            rows.append(row);
        }
        for (const QString &row : rows)
            QVERIFY2(page().contains(row), qPrintable(QStringLiteral("docs/real-run.md should have ") + row));
    }

    void withoutPyTorchItSaysWhatIsMissing()
    {
        QProcess process; // -I -S: no installed packages
        process.start(QStringLiteral("python3"),
            { "-I", "-S", kFolder.filePath(QStringLiteral("real-run")), "--out", "/nonexistent/run" });
        const test::Answer answer = test::answerOf(process);
        if (answer.exitCode < 0)
            QSKIP("There is no python3 here");
        QCOMPARE(answer.exitCode, 2);
        QVERIFY2(answer.err.contains(QStringLiteral("python3-torch")), qPrintable(answer.err));
    }

    /// Two steps over a fast link: what the processes leave is read as one run of four ranks, and the live stream too.
    void aShortRunIsRead()
    {
        const QString why = missing();
        if (!why.isEmpty())
            QSKIP(qPrintable(why));
        const QTemporaryDir folder, other;
        const QString told = other.filePath(QStringLiteral("told.trainyard-recording"));
        QProcess listener; // a live source on a port that the kernel chose
        listener.setProcessChannelMode(QProcess::MergedChannels);
        listener.start(
            QStringLiteral(TRAINYARD_CLI), { "telemetry", "record", "listen:0", "--steps", "4", "--out", told });
        QByteArray heard;
        const QRegularExpression place(QStringLiteral("listening at (127\\.0\\.0\\.1:\\d+)"));
        QRegularExpressionMatch at;
        while (!at.hasMatch() && listener.waitForReadyRead(30'000))
            at = place.match(QString::fromUtf8(heard += listener.readAll()));
        QVERIFY2(at.hasMatch(), heard.constData());
        QProcess process;
        process.start(kFolder.filePath(QStringLiteral("real-run")),
            { "--stream", at.captured(1), "--wan-mbit", "500", "--rtt-ms", "4", "--warm-up", "1", "--settle", "0",
                "--steps", "3", "--micro-batches", "2", "--most-seconds", "90", "--out", folder.path() });
        const std::string own = "trainyard" + std::to_string(process.processId()) + "-";
        const test::Answer answer = test::answerOf(process);
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QVERIFY(answer.out.find("s a step (median of 3") != std::string::npos);
        QVERIFY(test::shell(QStringLiteral("ip netns list")).out.find(own) == std::string::npos); // it removed them

        const auto traces = readSources({ folder.path().toStdString() }, {}, 1);
        QVERIFY(traces.has_value());
        QCOMPARE(traces->ranks.size(), std::size_t(4));
        QCOMPARE(traces->arguments.at("pipeline_model_parallel_size"), std::string("2"));
        const RunPtr run = makeRun(*traces);
        QCOMPARE(run->steps.size(), std::size_t(3));
        QCOMPARE(run->stages, 2);
        QVERIFY(run->medianSeconds > 0);

        QVERIFY2(listener.waitForFinished(30'000), (heard += listener.readAll()).constData());
        const auto live = readSource(told.toStdString(), {});
        QVERIFY(live.has_value());
        QCOMPARE(live->ranks.size(), std::size_t(4));
        QCOMPARE(live->arguments, traces->arguments);
        for (const RankRecording &rank : live->ranks) {
            std::size_t spans = 0;
            for (const RecordedStream &stream : rank.streams)
                spans += stream.spans.size();
            QVERIFY(rank.steps.size() >= 3); // it was cut when the first rank had told of the last step
            // of each a forward and a backward of two micro-batches, batch, gradients and optimizer; messages,
            // reduction
            QVERIFY(spans >= rank.steps.size() * (7 + 3));
            QVERIFY(rank.collectives.size() >= rank.steps.size() * 3);
        }
        for (const RecordedSource &source : live->sources)
            QVERIFY(source.dropped.empty());
    }
};

TRAINYARD_GUILESS_TEST(TestRealRun)
#include "tst_real_run.moc"
