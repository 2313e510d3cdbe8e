// SPDX-License-Identifier: GPL-3.0-or-later
// samples/probe, run as a person would: without PyTorch it says what is missing, with it the file imports and gives a
// plan of this machine its factors, in less than two minutes (skipped where no Python here has PyTorch). How it times,
// what it plans and how it ends is tried on a GPU of ours with a clock of its own (tests/samples/probe).
#include "core/facts/plan/plan_io.h"
#include "core/runs/calibrate/probe_samples.h"
#include "core/runs/telemetry/read_sources.h"
#include "tests/app/cli/program.h"
#include "tests/core/runs/imports/import_trial.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QProcessEnvironment>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <fstream>

#include <nlohmann/json.hpp>

using namespace trainyard;

namespace {

const QString kProbe = QStringLiteral(TRAINYARD_SOURCE_DIR "/samples/probe/trainyard_probe.py");
const QString kTrials = QStringLiteral(TRAINYARD_SOURCE_DIR "/tests/samples/probe/test_probe.py");

test::Answer python(const QString &program, const QStringList &arguments)
{
    QProcess process;
    process.start(program, arguments);
    process.closeWriteChannel();
    return test::answerOf(process);
}

/// A Python that has PyTorch; empty where there is none.
QString pythonWithTorch()
{
    static const QString found = [] {
        for (const QString &program : { QStringLiteral("/usr/bin/python3"), QStringLiteral("python3") })
            if (!QStandardPaths::findExecutable(program).isEmpty()
                && python(program, { "-c", "import torch" }).exitCode == 0)
                return program;
        return QString();
    }();
    return found;
}

/// Half a minute beside what PyTorch takes to load here, which is within --minutes; twice for two ranks at once.
double minutesOf(int ranks)
{
    static const double loading = [] {
        QElapsedTimer timer;
        timer.start();
        (void)python(pythonWithTorch(), { "-c", "import torch" });
        return double(timer.elapsed()) * 1e-3;
    }();
    return std::min(1.6, 0.5 + 1.5 * ranks * loading / 60);
}

nlohmann::json jsonOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? nlohmann::json::parse(file.readAll().toStdString(), nullptr, false)
                                          : nlohmann::json();
}

} // namespace

class TestProbe : public QObject {
    Q_OBJECT

private slots:
    void samplesHoldNoIdleClockAndNoLaunchGap() { tryOn("Timing"); }
    void everyKindOfWorkIsMeasuredAsItIsAndMissingRanksEndNothing() { tryOn("Run"); }
    void itEndsInTimeWhateverHangs() { tryOn("Ending"); }

    void withoutPyTorchItSaysWhatIsMissing()
    {
        if (QStandardPaths::findExecutable(QStringLiteral("python3")).isEmpty())
            QSKIP("There is no python3 here");
        // -I -S: no installed packages
        const test::Answer answer = python(QStringLiteral("python3"), { "-I", "-S", kProbe });
        QCOMPARE(answer.exitCode, 2);
        QVERIFY(answer.err.contains(QStringLiteral("PyTorch")));
        QVERIFY(answer.err.contains(QStringLiteral("pip install torch")));
        QCOMPARE(answer.out, std::string());
    }

    void itsFileCalibratesAPlanOfThisMachine()
    {
        if (pythonWithTorch().isEmpty())
            QSKIP("No Python here has PyTorch (Debian: python3-torch)");
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("probe.json"));
        QElapsedTimer timer;
        timer.start();
        const double minutes = minutesOf(1);
        timer.restart();
        const test::Answer answer = python(pythonWithTorch(),
            { kProbe, "--minutes", QString::number(minutes), "--anonymous", "--out", file, "--path", folder.path() });
        QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        QVERIFY(double(timer.elapsed()) < 60e3 * (minutes + 0.25)); // Python has to start
        QVERIFY(answer.out.find("Matrix products of transformer layers") != std::string::npos);
        QCOMPARE(
            QDir(folder.path()).entryList(QDir::Files | QDir::Hidden), QStringList { QStringLiteral("probe.json") });
        const nlohmann::json written = jsonOf(file);
        QCOMPARE(written.value("format", ""), std::string("trainyard.probe"));
        QCOMPARE(written.at("machine").value("host", "?"), std::string());
        for (const nlohmann::json &sample : written.at("samples")) {
            QVERIFY(sample.at("least_s").get<double>() > 0);
            QVERIFY(sample.at("median_s").get<double>() >= sample.at("least_s").get<double>());
        }

        const QString planFile = folder.filePath(QStringLiteral("machine.trainyard.json"));
        const test::Answer import = test::run({ "import", file, "--out", planFile });
        QVERIFY2(import.exitCode == 0, qPrintable(import.err));
        QVERIFY(import.out.find("result of Trainyard's probe") != std::string::npos);
        const auto plan = readPlan(planFile.toStdString());
        QVERIFY(plan.has_value());
        const auto recording = readSource(file.toStdString(), {});
        QVERIFY(recording.has_value());
        Evaluation evaluation;
        evaluation.plan = std::make_shared<const Plan>(*plan);
        const auto factors = factorsOfProbe(*recording, evaluation, builtinCatalogue());
        const auto products = std::ranges::find_if(
            factors, [](const FittedFactor &one) { return one.factor.what == CalibratedPart::Products; });
        QVERIFY(products != factors.end());
        for (const FittedFactor &fitted : factors)
            qInfo("%s %s", fitted.sentence.c_str(), fitted.refused.c_str());
        QVERIFY(products->factor.factor.value_or(0) > 0);
        // Twice the time of each product is twice the factor, whatever this machine does
        nlohmann::json slower = written;
        for (nlohmann::json &sample : slower.at("samples"))
            if (sample.at("what") == "gemm")
                for (const char *time : { "least_s", "median_s" })
                    sample[time] = 2 * sample.at(time).get<double>();
        const QString slowFile = folder.filePath(QStringLiteral("slower.json"));
        std::ofstream(slowFile.toStdString()) << slower.dump();
        const auto slowRecording = readSource(slowFile.toStdString(), {});
        QVERIFY(slowRecording.has_value());
        const auto slowFactors = factorsOfProbe(*slowRecording, evaluation, builtinCatalogue());
        const auto slowProducts = std::ranges::find_if(
            slowFactors, [](const FittedFactor &one) { return one.factor.what == CalibratedPart::Products; });
        QVERIFY(slowProducts != slowFactors.end());
        const double ratio = slowProducts->factor.factor.value_or(0) / *products->factor.factor;
        QVERIFY2(std::abs(ratio - 2) < 0.1, qPrintable(QString::number(ratio)));
        // The command gives a plan that can be read and evaluated, with what it did not refuse and nothing else
        const QString learnt = folder.filePath(QStringLiteral("learnt.trainyard.json"));
        const test::Answer command =
            test::run({ "telemetry", "calibrate", planFile, file, "--out", learnt, "--format", "json" });
        QVERIFY2(command.exitCode == 0, qPrintable(command.err));
        const auto taught = readPlan(learnt.toStdString());
        QVERIFY(taught.has_value() && trial::evaluated(*taught) > 0);
        // Busy machines may give uneven points, which are refused with a reason.
        Plan calibrated = *plan;
        for (const FittedFactor &fitted : factors)
            if (fitted.refused.empty() && (fitted.factor.factor || fitted.factor.gbytesPerS))
                calibrated.calibration[fitted.id] = formatCalibrationFactor(fitted.factor);
        QVERIFY(trial::evaluated(calibrated) > 0);
    }

    void aFileThatCannotBeWrittenIsToldBeforeAnythingIsMeasured()
    {
        if (pythonWithTorch().isEmpty())
            QSKIP("No Python here has PyTorch (Debian: python3-torch)");
        const QTemporaryDir folder;
        for (const QString &out : { folder.filePath(QStringLiteral("absent/probe.json")), folder.path() }) {
            const test::Answer answer = python(pythonWithTorch(), { kProbe, "--minutes", "0.5", "--out", out });
            QCOMPARE(answer.exitCode, 2);
            QVERIFY2(answer.err.contains(QStringLiteral("--out has to be a file")), qPrintable(answer.err));
            QCOMPARE(answer.out, std::string());
        }
    }

    /// The module with one thing changed, as its file is run.
    void pointsBeforeAFailureAreKept()
    {
        if (pythonWithTorch().isEmpty())
            QSKIP("No Python here has PyTorch (Debian: python3-torch)");
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("probe.json"));
        const test::Answer answer = python(pythonWithTorch(),
            { "-c",
                QStringLiteral("import importlib.util, sys\n"
                               "spec = importlib.util.spec_from_file_location('probe', sys.argv[1])\n"
                               "probe = importlib.util.module_from_spec(spec); spec.loader.exec_module(probe)\n"
                               "def fails(self):\n"
                               "    self.launch()\n"
                               "    raise RuntimeError('CUDA out of memory')\n"
                               "probe.Probe.measure = fails\n"
                               "sys.argv = ['probe', '--out', sys.argv[2]]\n"
                               "sys.exit(probe.main())\n"),
                kProbe, file });
        QCOMPARE(answer.exitCode, 1);
        QVERIFY2(answer.err.contains(QStringLiteral("CUDA out of memory")), qPrintable(answer.err));
        const nlohmann::json written = jsonOf(file);
        QCOMPARE(written.at("ended").get<std::string>(), std::string("failed"));
        QCOMPARE(written.at("samples").size(), std::size_t(1));
    }

    void ranksMeasureCollectivesTogether()
    {
        if (pythonWithTorch().isEmpty())
            QSKIP("No Python here has PyTorch (Debian: python3-torch)");
        const QString port = QString::fromStdString(python(pythonWithTorch(),
            { "-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1], end='')" })
                                                        .out); // a free one
        const QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("probe.json"));
        const double minutes = minutesOf(2);
        QProcess ranks[2];
        for (int rank = 0; rank < 2; ++rank) { // as torchrun starts them
            QProcessEnvironment own = QProcessEnvironment::systemEnvironment();
            own.insert(QStringLiteral("RANK"), QString::number(rank));
            own.insert(QStringLiteral("LOCAL_RANK"), QString::number(rank));
            own.insert(QStringLiteral("WORLD_SIZE"), QStringLiteral("2"));
            own.insert(QStringLiteral("LOCAL_WORLD_SIZE"), QStringLiteral("2"));
            own.insert(QStringLiteral("MASTER_ADDR"), QStringLiteral("127.0.0.1"));
            own.insert(QStringLiteral("MASTER_PORT"), port);
            ranks[rank].setProcessEnvironment(own);
            ranks[rank].start(pythonWithTorch(),
                { kProbe, "--minutes", QString::number(minutes), "--quick", "--out", file, "--path", folder.path() });
        }
        for (QProcess &rank : ranks) {
            const test::Answer answer = test::answerOf(rank);
            QVERIFY2(answer.exitCode == 0, qPrintable(answer.err));
        }
        const auto recording = readSource(file.toStdString(), {});
        QVERIFY(recording.has_value());
        int reductions = 0;
        for (const BenchmarkPoint &point : recording->benchmarks)
            if (point.what == "all_reduce") {
                QCOMPARE(point.ranks, 2);
                QCOMPARE(point.nodes, 1);
                QCOMPARE(point.busBytesPerSecond, point.bytesPerSecond); // 2 · 1 / 2
                ++reductions;
            }
        QVERIFY(reductions >= 3);
        // Two ranks of a machine are two GPUs of a node, whose link the collectives measured.
        const auto made = trial::imported(*recording);
        Evaluation evaluation;
        evaluation.plan = std::make_shared<const Plan>(made.plan);
        QCOMPARE(made.plan.cluster.gpus(), 2);
        const auto factors = factorsOfProbe(*recording, evaluation, builtinCatalogue());
        const auto link = std::ranges::find_if(
            factors, [](const FittedFactor &one) { return one.factor.what == CalibratedPart::Nvlink; });
        QVERIFY(link != factors.end());
        qInfo("%s %s", link->sentence.c_str(), link->refused.c_str());
        QVERIFY(link->factor.gbytesPerS.value_or(0) > 0 || !link->refused.empty());
    }

private:
    /// A class of the trials, in Python; none of them needs PyTorch.
    static void tryOn(const char *trials)
    {
        if (QStandardPaths::findExecutable(QStringLiteral("python3")).isEmpty())
            QSKIP("There is no python3 here");
        QProcess process;
        process.start(QStringLiteral("python3"), { "-B", kTrials, trials });
        QVERIFY(process.waitForFinished(600'000));
        const QString told = QString::fromUtf8(process.readAllStandardError());
        QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, qPrintable(told));
        QVERIFY2(told.contains(QStringLiteral("\nOK")), qPrintable(told));
    }
};

TRAINYARD_GUILESS_TEST(TestProbe)
#include "tst_probe.moc"
