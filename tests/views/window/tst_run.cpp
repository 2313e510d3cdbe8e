// SPDX-License-Identifier: GPL-3.0-or-later
// A run dropped on the window: read, cancelled, dropped again, aligned, gone through, compared and closed.
#include "../run/small_run.h"
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "views/run/difference_bars.h"
#include "views/run/plan_of_run_card.h"
#include "views/run/reading_strip.h"
#include "views/run/run_badge.h"
#include "views/run/run_page.h"
#include "views/run/run_plot.h"
#include "views/run/sentence_list.h"
#include "views/run/step_scrubber.h"
#include "views/timeline/timeline_view.h"
#include "views/window/page_switcher.h"
#include "views/window/run_actions.h"

#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QProgressBar>
#include <QPushButton>
#include <QSlider>
#include <QToolButton>

#include <cmath>

using namespace trainyard;
using trainyard::testing::SmallRun;

namespace {

constexpr int kLong = 30000; // ms, for a machine that is busy

struct RunFixture : WindowFixture {
    RunFixture()
        : WindowFixture(QStringLiteral("mixed-lab"))
    {
    }
    void drop(const QStringList &paths)
    {
        QMimeData data;
        QList<QUrl> urls;
        for (const QString &path : paths)
            urls << QUrl::fromLocalFile(path);
        data.setUrls(urls);
        const QPoint at = window.rect().center();
        QDragEnterEvent enter(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent dropped(at, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&window, &dropped);
    }
    void awaitRun()
    {
        QTRY_VERIFY_WITH_TIMEOUT(window.runs().overlay() && window.runs().overlay()->run == window.runs().run(), kLong);
        QApplication::processEvents();
    }
    [[nodiscard]] RunPage &page() { return window.run(); }
    [[nodiscard]] QString message() { return window.messages().text("open"); }
};

} // namespace

class RunWindowTest : public QObject {
    Q_OBJECT
private slots:
    void aDroppedFolderIsReadWithProgressAndLiesUnderThePlan()
    {
        RunFixture f;
        const PlanPtr plan = f.document.plan();
        f.window.reading().setDelay(0);
        bool wasVisible = false;
        connect(&f.window.runs(), &RunDocument::readingChanged, this,
            [&](bool isReading) { wasVisible = wasVisible || (isReading && f.window.reading().isVisible()); });
        QSignalSpy progress(&f.window.runs(), &RunDocument::progressChanged);
        f.drop({ SmallRun { .straggler = 1 }.write(f.folder.filePath("job")) });
        f.awaitRun();
        QVERIFY(wasVisible && progress.count() > 0 && !f.window.reading().isVisible());
        QVERIFY(f.page().isVisible());
        QCOMPARE(f.document.plan(), plan);
        QCOMPARE(f.window.runs().overlay()->evaluation, f.bridge.evaluation());
        // Aligned: four clocks, 40 ms apart, by what their collectives have in common.
        QVERIFY(f.window.runs().run()->alignment.isWhole());
        QVERIFY2(f.page().clocks->sentences().join(u' ').contains("4 ranks"),
            qPrintable(f.page().clocks->sentences().join(u' ')));
        // 4 layers × (15 ms + 2 ms) on every rank, = 68 ms by the trace; its log tells half a millisecond more, which
        // is the time of the step everywhere: the kinds add up to that.
        const DifferenceTable &table = f.window.runs().overlay()->differences;
        double measured = 0, planned = 0;
        for (const DifferenceRow &row : table.rows) {
            measured += row.measured;
            planned += row.reference;
        }
        QVERIFY2(std::abs(measured - 0.0685) < 1e-4, qPrintable(QString::number(measured)));
        const RunStep *step = f.window.runs().step();
        QVERIFY(step && step->hasSpans());
        QVERIFY(std::abs(double(step->end - step->start) * 1e-9 - 0.068) < 1e-4);
        // Those of the plan add up to the time of its iteration, which its evaluation tells by itself.
        const double iteration = f.bridge.evaluation()->metrics.iterationTime.value();
        QVERIFY2(std::abs(planned - iteration) < 1e-6 * iteration, qPrintable(QString::number(planned)));
        QCOMPARE(f.page().bars->lines().back().name, QStringLiteral("Step"));
    }
    void readingIsCancelledInAFileAndTheSameFilesAreDroppedAgain()
    {
        RunFixture f;
        f.window.reading().setDelay(0);
        const QString folder = SmallRun { .steps = 2500 }.write(f.folder.filePath("job")); // longer than a tick to read
        QString file;
        const auto cancelled =
            connect(&f.window.runs(), &RunDocument::progressChanged, this, [&](const ReadingProgress &progress) {
                if (progress.file.isEmpty() || !file.isEmpty())
                    return;
                file = progress.file; // it has begun
                QTest::mouseClick(f.window.reading().cancel, Qt::LeftButton);
            });
        QSignalSpy reading(&f.window.runs(), &RunDocument::readingChanged);
        f.drop({ folder });
        QTRY_COMPARE_WITH_TIMEOUT(reading.count(), 2, kLong);
        QVERIFY2(file.contains("rank") || file.contains("train"), qPrintable(file));
        QVERIFY(!f.window.runs().isReading() && !f.window.runs().run());
        QVERIFY(f.window.isWorkbenchShown() && f.message().isEmpty());
        disconnect(cancelled);
        f.drop({ folder });
        f.awaitRun();
        QCOMPARE(f.window.runs().run()->recording->ranks.size(), std::size_t(4));
    }
    void stepsAreGoneThroughBySliderCurveAndKeys()
    {
        RunFixture f;
        f.drop({ SmallRun().write(f.folder.filePath("job")) });
        f.awaitRun();
        RunDocument &runs = f.window.runs();
        QSlider *slider = f.page().scrubber->slider;
        slider->setFocus();
        QTest::keyClick(slider, Qt::Key_Home);
        QTest::keyClick(slider, Qt::Key_Right);
        QCOMPARE(runs.step(), &runs.run()->steps[1]);
        const auto at = f.page().stepPlot->positionOf(6);
        QVERIFY(at);
        QTest::mouseClick(f.page().stepPlot->findChild<QWidget *>(), Qt::LeftButton, {}, at->toPoint());
        QCOMPARE(runs.step()->number, std::int64_t(6));
        QVERIFY(f.window.commands().trigger("run.nextStep"));
        QCOMPARE(runs.step()->number, std::int64_t(7));
        QVERIFY(f.window.commands().trigger("run.previousStep"));
        QVERIFY(f.window.commands().trigger("run.typicalStep"));
        QVERIFY(!runs.options().step);
    }
    void theWorkbenchSaysThatARunLiesUnderIt()
    {
        RunFixture f;
        auto *badge = f.window.workbench().findChild<RunBadge *>();
        QVERIFY(badge && !badge->isVisible());
        f.drop({ SmallRun().write(f.folder.filePath("job")) });
        f.awaitRun();
        QTest::keyClick(&f.page(), Qt::Key_Escape);
        QVERIFY(f.window.isWorkbenchShown() && badge->isVisible());
        QVERIFY2(badge->text().contains("job"), qPrintable(badge->text()));
        const std::int64_t before = f.window.runs().step()->number;
        QTest::mouseClick(badge->scrubber->previous, Qt::LeftButton);
        QVERIFY(f.window.runs().step()->number < before);
        QTest::mouseClick(badge->compare, Qt::LeftButton);
        QVERIFY(f.page().isVisible());
    }
    /// Also while a bar around the page has the focus.
    void escapeLeavesThePageWhereverTheFocusIs()
    {
        RunFixture f;
        f.drop({ SmallRun().write(f.folder.filePath("job")) });
        f.awaitRun();
        QVERIFY(f.page().isVisible());
        QWidget &around = f.window.switcher();
        around.setFocusPolicy(Qt::StrongFocus);
        around.setFocus();
        QTest::keyClick(&around, Qt::Key_Escape);
        QVERIFY(f.window.isWorkbenchShown());
    }

    /// A configuration has no steps to be seen: its plan is.
    void aConfigurationAloneShowsThePlanThatItTells()
    {
        RunFixture f;
        QFile file(f.folder.filePath("job.toml"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(
            "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[parallelism]\ntensor_parallel_degree = 2\n"
            "data_parallel_shard_degree = 8\n[training]\nseq_len = 8192\nlocal_batch_size = 1\nfrobnicate = 3\n");
        file.close();
        f.drop({ file.fileName() });
        auto *card = f.page().findChild<PlanOfRunCard *>();
        QVERIFY(card);
        QTRY_VERIFY_WITH_TIMEOUT(card->isVisible() && !card->taken->sentences().isEmpty(), kLong);
        QVERIFY(card->notUnderstood->sentences().join(u' ').contains(QStringLiteral("frobnicate")));
        QVERIFY(f.window.messages().text("plan of run").isEmpty());
    }
    void anEditOfThePlanLaysTheRunUnderTheNewOne()
    {
        RunFixture f;
        f.drop({ SmallRun().write(f.folder.filePath("job")) });
        f.awaitRun();
        Plan next = *f.document.plan();
        next.workload.globalBatch *= 2;
        f.document.apply(std::make_shared<const Plan>(next));
        f.settle();
        QTRY_COMPARE_WITH_TIMEOUT(f.window.runs().overlay()->evaluation, f.bridge.evaluation(), kLong);
    }
    void whatIsNothingIsDeclinedByItsReader()
    {
        RunFixture f;
        QFile notes(f.folder.filePath("notes.txt"));
        QVERIFY(notes.open(QIODevice::WriteOnly));
        notes.write("buy milk\n");
        notes.close();
        f.drop({ notes.fileName() });
        QTRY_VERIFY_WITH_TIMEOUT(!f.message().isEmpty(), kLong);
        QVERIFY2(f.message().contains("notes.txt"), qPrintable(f.message()));
        QVERIFY(f.window.isWorkbenchShown() && !f.window.runs().run());
        f.drop({ notes.fileName(), f.folder.path() }); // the folder holds nothing else
        QTRY_VERIFY_WITH_TIMEOUT(f.message().contains("None of"), kLong);
    }
    void aLogOfAnotherToolIsReadByALinePattern()
    {
        RunFixture f;
        const QString path = f.folder.filePath("own.log");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("it 1: 250 ms\nit 2: 240 ms\nit 3: 245 ms\n");
        file.close();
        f.drop({ path });
        QTRY_VERIFY_WITH_TIMEOUT(!f.message().isEmpty(), kLong);
        f.answers.pattern = QStringLiteral("it (?<zebra>.)"); // no group of that name
        QVERIFY(f.window.messages().answer("open", 0));
        QCOMPARE(f.message(), QStringLiteral("This is no line pattern."));
        f.answers.pattern = QStringLiteral("it (?<step>.): (?<time>[0-9]+) ms");
        QVERIFY(f.window.messages().answer("open", 0));
        f.awaitRun();
        QVERIFY(f.message().isEmpty());
        const Recording &recording = *f.window.runs().run()->recording;
        QCOMPARE(QString::fromStdString(recording.arguments.at("line_pattern")), f.answers.pattern);
        QCOMPARE(f.window.runs().run()->steps.size(), std::size_t(3));
        QCOMPARE(f.window.runs().linePattern(), f.answers.pattern);
    }

    void aPlanAmongTheFilesStillOpensAsAPlan()
    {
        RunFixture f;
        const QString plan = f.folder.filePath("other.trainyard.json");
        QVERIFY(QFile::copy(RunFixture::samplePath("llama-7b-64-aws"), plan));
        const QString folder = SmallRun().write(f.folder.filePath("job"));
        f.drop({ folder, plan });
        QTRY_COMPARE_WITH_TIMEOUT(f.document.path(), plan, kLong);
        f.awaitRun();
        f.settle();
        QTRY_COMPARE_WITH_TIMEOUT(f.window.runs().overlay()->evaluation, f.bridge.evaluation(), kLong);
    }
    void aRunAloneAtTheStartThatTellsOfNoPlanIsSaidToLieUnderASample()
    {
        RunFixture f;
        f.window.files().openAtStart({ SmallRun().write(f.folder.filePath("job")) });
        QTRY_VERIFY_WITH_TIMEOUT(!f.window.messages().text("plan of run").isEmpty(), kLong);
        QVERIFY(f.page().isVisible() && f.document.path().isEmpty());
        const QString plan = f.folder.filePath("other.trainyard.json");
        QVERIFY(QFile::copy(RunFixture::samplePath("llama-7b-64-aws"), plan));
        f.answers.open = plan;
        QVERIFY(f.window.messages().answer("plan of run", 0));
        QTRY_COMPARE_WITH_TIMEOUT(f.document.path(), plan, kLong);
        QTRY_VERIFY_WITH_TIMEOUT(f.window.messages().text("plan of run").isEmpty(), kLong);
        QCOMPARE(f.answers.asked, 0);
    }
    void aSecondRunIsComparedWithAndClosedAgain()
    {
        RunFixture f;
        f.answers.runFolder = SmallRun { .straggler = 3 }.write(f.folder.filePath("slow"));
        QVERIFY(!f.window.commands().trigger("run.compareFolder")); // nothing to compare yet
        QVERIFY(f.window.commands().trigger("run.openFolder"));
        f.awaitRun();
        f.answers.runFolder = SmallRun().write(f.folder.filePath("good"));
        QVERIFY(f.window.commands().trigger("run.compareFolder"));
        QTRY_VERIFY_WITH_TIMEOUT(f.window.runs().overlay()->reference, kLong);
        QVERIFY2(f.page().result().contains("good"), qPrintable(f.page().result()));
        QVERIFY(f.window.commands().trigger("run.endComparison"));
        QTRY_VERIFY_WITH_TIMEOUT(!f.window.runs().overlay()->reference, kLong);
        QVERIFY(f.window.commands().trigger("run.close"));
        QVERIFY(!f.window.runs().run() && !f.window.runs().overlay());
        QVERIFY(!f.window.commands().trigger("run.save"));
    }
    void aRecordingIsSavedAndDroppedAgain()
    {
        RunFixture f;
        f.answers.run = { SmallRun().write(f.folder.filePath("job")) };
        QVERIFY(f.window.commands().trigger("run.open"));
        f.awaitRun();
        f.answers.file = f.folder.filePath("saved");
        QVERIFY(f.window.commands().trigger("run.save"));
        const QString path = f.answers.file + ".trainyard-recording";
        QTRY_VERIFY_WITH_TIMEOUT(f.window.messages().text("save").contains("saved"), kLong);
        QVERIFY(QFile::exists(path));
        f.window.runs().close();
        f.drop({ path });
        f.awaitRun();
        QCOMPARE(f.window.runs().run()->recording->ranks.size(), std::size_t(4));
    }
    void watchingIsSwitchedInTheMenu()
    {
        RunFixture f;
        f.answers.runFolder = SmallRun().write(f.folder.filePath("job"));
        QVERIFY(f.window.commands().trigger("run.watch")); // asks for a folder where nothing is open
        f.awaitRun();
        QVERIFY(f.window.runs().isWatching());
        QVERIFY(f.window.commands().action("run.watch")->isChecked());
        QVERIFY(f.window.commands().trigger("run.watch"));
        QVERIFY(!f.window.runs().isWatching());
    }
};

TRAINYARD_TEST(RunWindowTest)
#include "tst_run.moc"
