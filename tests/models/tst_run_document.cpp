// SPDX-License-Identifier: GPL-3.0-or-later
// A recorded run beside the window: read in the background, cancelled, read again where its files grow.
#include "../views/run/small_run.h"
#include "tests/support/samples.h"
#include "tests/support/test_program.h"

#include "core/evaluation/advice/evaluate.h"
#include "core/facts/catalogue/catalogue.h"
#include "models/run_document.h"
#include "models/watched_paths.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <semaphore>

using namespace trainyard;
using test::evaluatedSample;
using trainyard::testing::SmallRun;

namespace {

constexpr int kLong = 30000; // ms, for a machine that is busy

} // namespace

class RunDocumentTest : public QObject {
    Q_OBJECT
private slots:
    void aFolderBecomesARunWithItsSteps()
    {
        QTemporaryDir folder;
        RunDocument runs;
        QSignalSpy overlays(&runs, &RunDocument::overlayChanged);
        runs.open({ SmallRun().write(folder.filePath("job7")) });
        QVERIFY(runs.isReading());
        QTRY_VERIFY_WITH_TIMEOUT(runs.overlay(), kLong);
        QVERIFY(!runs.isReading());
        QCOMPARE(runs.run()->recording->name, std::string("job7"));
        QCOMPARE(runs.run()->recording->ranks.size(), std::size_t(4));
        QCOMPARE(runs.run()->recording->sources.size(), std::size_t(5));
        QVERIFY(!runs.overlay()->evaluation && !runs.overlay()->rows.empty());
        QVERIFY(runs.progress().filesDone == 0 || runs.progress().files == 5);
        QVERIFY(overlays.count() >= 1);
    }
    void stepsAreChosenByTheirNumbers()
    {
        QTemporaryDir folder;
        RunDocument runs;
        runs.open({ SmallRun().write(folder.filePath("job")) });
        QTRY_VERIFY_WITH_TIMEOUT(runs.overlay(), kLong);
        QVERIFY(runs.step() != nullptr);
        QCOMPARE(runs.step(), &runs.run()->steps[std::size_t(runs.run()->typicalStep)]);
        QSignalSpy options(&runs, &RunDocument::optionsChanged);
        for (const RunStep &step : runs.run()->steps) // quickly: only the last has to be made
            runs.setStep(step.number);
        QCOMPARE(options.count(), int(runs.run()->steps.size()));
        const int last = int(runs.run()->steps.size()) - 1;
        QTRY_COMPARE_WITH_TIMEOUT(runs.overlay()->step, last, kLong);
        QCOMPARE(runs.step()->number, runs.run()->steps.back().number);
    }
    /// A checkpoint makes a step the longest, which is no candidate for the slowest.
    void theSlowestStepIsNoOutlier()
    {
        QTemporaryDir folder;
        RunDocument runs;
        runs.open({ SmallRun { .longStep = 8 }.write(folder.filePath("job")) });
        QTRY_VERIFY_WITH_TIMEOUT(runs.run(), kLong);
        const int slowest = runs.slowestStep();
        QVERIFY(slowest > 0);
        const RunStep &step = runs.run()->steps[std::size_t(slowest)];
        QVERIFY(!step.isWarmUp && !step.isOutlier);
        QCOMPARE(step.number, std::int64_t(12)); // each logged step takes 0.1 ms more than the one before
        const int longest = stepIndex(*runs.run(), 8);
        QVERIFY(longest >= 0 && runs.run()->steps[std::size_t(longest)].isOutlier);
    }
    void theRunLiesUnderEachNewEvaluation()
    {
        QTemporaryDir folder;
        RunDocument runs;
        runs.setEvaluation(evaluatedSample("mixed-lab"));
        QVERIFY(!runs.overlay());
        runs.open({ SmallRun().write(folder.filePath("job")) });
        QTRY_VERIFY_WITH_TIMEOUT(runs.overlay(), kLong);
        QCOMPARE(runs.overlay()->evaluation, runs.evaluation());
        const EvaluationPtr next = evaluatedSample("mixed-lab");
        runs.setEvaluation(next);
        QTRY_COMPARE_WITH_TIMEOUT(runs.overlay()->evaluation, next, kLong);
        runs.setEvaluation({});
        QTRY_COMPARE_WITH_TIMEOUT(runs.overlay()->evaluation, EvaluationPtr(), kLong);
    }
    void whatIsNothingIsToldByItsReaderAndTheRunStays()
    {
        QTemporaryDir folder;
        RunDocument runs;
        runs.open({ SmallRun().write(folder.filePath("job")) });
        QTRY_VERIFY_WITH_TIMEOUT(runs.run(), kLong);
        const RunPtr before = runs.run();
        QFile notes(folder.filePath("notes.txt"));
        QVERIFY(notes.open(QIODevice::WriteOnly));
        notes.write("buy milk\n");
        notes.close();
        QSignalSpy failed(&runs, &RunDocument::readingFailed);
        runs.open({ notes.fileName() });
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, kLong);
        const Errors errors = failed.front().front().value<Errors>();
        QCOMPARE(errors.size(), std::size_t(1));
        QVERIFY(errors.front().where.ends_with("notes.txt") && !errors.front().what.empty());
        QCOMPARE(runs.run(), before);
        QCOMPARE(runs.paths(), QStringList { folder.filePath("job") });
    }
    void anEmptyFolderIsToldAsSuch()
    {
        QTemporaryDir folder;
        RunDocument runs;
        QSignalSpy failed(&runs, &RunDocument::readingFailed);
        runs.open({ folder.path() });
        QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 1, kLong);
    }
    /// A reader that waits: what is cancelled delivers nothing, and what comes after it is read.
    void cancellingKeepsWhatWasShown()
    {
        std::counting_semaphore<8> mayRead(0);
        RunDocument runs([&](const std::vector<std::string> &, const SourceOptions &, const SourcesProgress &progress) {
            progress.began("rank0.json");
            progress.report(1, 3, 0.5);
            mayRead.acquire();
            Recording recording;
            recording.sources.push_back({ .file = "rank0.json" });
            return Expected<Recording>(recording);
        });
        QSignalSpy progress(&runs, &RunDocument::progressChanged), changed(&runs, &RunDocument::runChanged);
        runs.open({ "a" });
        QTRY_COMPARE_WITH_TIMEOUT(runs.progress().files, std::size_t(3), kLong);
        QCOMPARE(runs.progress().filesDone, std::size_t(1));
        QCOMPARE(runs.progress().file, QStringLiteral("rank0.json"));
        runs.cancel();
        QVERIFY(!runs.isReading() && !runs.run());
        mayRead.release(2);
        runs.open({ "b" });
        QTRY_VERIFY_WITH_TIMEOUT(runs.run(), kLong);
        QCOMPARE(changed.count(), 1);
        QCOMPARE(runs.paths(), QStringList { "b" });
    }
    void anotherRunTakesThePlaceOfThePlan()
    {
        QTemporaryDir folder;
        RunDocument runs;
        runs.setEvaluation(evaluatedSample("mixed-lab"));
        runs.open({ SmallRun { .straggler = 2 }.write(folder.filePath("slow")) });
        QTRY_VERIFY_WITH_TIMEOUT(runs.overlay(), kLong);
        runs.openReference({ SmallRun().write(folder.filePath("good")) });
        QVERIFY(runs.isReadingReference());
        QTRY_VERIFY_WITH_TIMEOUT(runs.overlay()->reference, kLong);
        QVERIFY(runs.overlay()->evaluation); // the rows still lie under the plan's
        QVERIFY(!runs.referenceCurves().empty());
        const DifferenceTable &table = runs.overlay()->differences;
        QVERIFY(table.measuredSeconds > table.referenceSeconds);
        runs.closeReference();
        QTRY_VERIFY_WITH_TIMEOUT(!runs.overlay()->reference, kLong);
        QVERIFY(runs.referenceCurves().empty());
    }
    void aWatchedFileIsReadAgainWhenItGrows()
    {
        QTemporaryDir folder;
        RunDocument runs;
        SmallRun small { .loggedSteps = 6 };
        const QString path = folder.filePath("train.log");
        const auto write = [&] {
            QFile file(path);
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(small.log());
        };
        write();
        runs.setWatching(true);
        runs.open({ path });
        QTRY_VERIFY_WITH_TIMEOUT(runs.run(), kLong);
        QCOMPARE(runs.run()->steps.size(), std::size_t(6 - 1));
        runs.setStep(4);
        small.loggedSteps = 9;
        write();
        QTRY_COMPARE_WITH_TIMEOUT(runs.run()->steps.size(), std::size_t(9 - 1), kLong);
        QCOMPARE(runs.options().step, std::optional<std::int64_t>(4)); // what was chosen stays
    }
    void fingerprintsDifferWhereAFileGrowsOrComes()
    {
        QTemporaryDir folder;
        const QStringList paths { folder.path() };
        const QByteArray empty = fingerprintOf(paths);
        QFile file(folder.filePath("a.log"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("1");
        file.flush();
        const QByteArray one = fingerprintOf(paths);
        file.write("2");
        file.flush();
        QVERIFY(empty != one && one != fingerprintOf(paths));
        QCOMPARE(fingerprintOf(paths), fingerprintOf(paths));
    }
    void aSavedRecordingOpensAsTheSameRun()
    {
        QTemporaryDir folder;
        RunDocument runs;
        runs.open({ SmallRun().write(folder.filePath("job")) });
        QTRY_VERIFY_WITH_TIMEOUT(runs.overlay(), kLong);
        const RunPtr before = runs.run();
        const QString path = folder.filePath("job.trainyard-recording");
        QSignalSpy saved(&runs, &RunDocument::saved);
        runs.save(path);
        QTRY_COMPARE_WITH_TIMEOUT(saved.count(), 1, kLong);
        runs.open({ path });
        QTRY_VERIFY_WITH_TIMEOUT(runs.run() != before, kLong);
        QCOMPARE(runs.run()->steps.size(), before->steps.size());
        QCOMPARE(runs.run()->recording->spanCount(), before->recording->spanCount());
        QCOMPARE(runs.run()->medianSeconds, before->medianSeconds);
    }
    void closingForgetsAll()
    {
        QTemporaryDir folder;
        RunDocument runs;
        runs.open({ SmallRun().write(folder.filePath("job")) });
        QTRY_VERIFY_WITH_TIMEOUT(runs.overlay(), kLong);
        QSignalSpy overlays(&runs, &RunDocument::overlayChanged);
        runs.close();
        QVERIFY(!runs.run() && !runs.overlay() && runs.paths().isEmpty());
        QCOMPARE(overlays.count(), 1);
    }
};

TRAINYARD_GUILESS_TEST(RunDocumentTest)
#include "tst_run_document.moc"
