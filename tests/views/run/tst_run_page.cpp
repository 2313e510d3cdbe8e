// SPDX-License-Identifier: GPL-3.0-or-later
// The page of a run with real widgets and events: four ranks whose seconds can be added up by hand.
#include "core/base/ranges_text.h"
#include "small_run.h"
#include "tests/support/test_program.h"

#include "core/facts/catalogue/catalogue.h"
#include "views/panels/evidence_table.h"
#include "views/parts/invitation.h"
#include "views/plots/vector_plot.h"
#include "views/run/difference_bars.h"
#include "views/run/rank_strip.h"
#include "views/run/reading_strip.h"
#include "views/run/run_badge.h"
#include "views/run/run_page.h"
#include "views/run/run_plot.h"
#include "views/run/run_words.h"
#include "views/run/sentence_list.h"
#include "views/run/step_scrubber.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include <cmath>
#include <semaphore>

using namespace trainyard;
using trainyard::testing::SmallRun;

namespace {

constexpr int kLong = 30000; // ms, for a machine that is busy

struct Fixture {
    QTemporaryDir folder;
    RunDocument runs;
    RunPage page { runs };

    explicit Fixture(const SmallRun &small = {}, bool opens = true)
    {
        page.resize(1280, 680);
        page.show();
        if (opens)
            open(small.write(folder.filePath("job")));
    }
    void open(const QString &path)
    {
        QSignalSpy overlays(&runs, &RunDocument::overlayChanged);
        runs.open({ path });
        QTRY_VERIFY_WITH_TIMEOUT(overlays.count() > 0, kLong);
        QApplication::processEvents();
    }
    /// Until the overlay is that of the step.
    void awaitStep(std::int64_t number)
    {
        QTRY_VERIFY_WITH_TIMEOUT(runs.overlay() && runs.overlay()->step >= 0
                && runs.run()->steps[std::size_t(runs.overlay()->step)].number == number,
            kLong);
        QApplication::processEvents();
    }
    [[nodiscard]] const DifferenceBars::Line *line(const QString &name) const
    {
        for (const DifferenceBars::Line &one : page.bars->lines())
            if (one.name == name)
                return &one;
        return nullptr;
    }
};

} // namespace

class RunPageTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void withoutARunThePageSaysWhatCanBeDropped()
    {
        Fixture f({}, false);
        QVERIFY(f.page.invitation->isVisible() && !f.page.bars->isVisible());
        QVERIFY(!f.page.exportCsv->isEnabled());
        QVERIFY(f.page.toTsv().isEmpty());
    }
    void aRunTakesThePlaceOfTheInvitation()
    {
        Fixture f;
        QVERIFY(!f.page.invitation->isVisible() && f.page.bars->isVisible());
        QVERIFY(f.page.result().startsWith(QStringLiteral("Step ")));
        QVERIFY(f.page.exportCsv->isEnabled());
        for (const QWidget *widget : QApplication::topLevelWidgets())
            QVERIFY2(widget == &f.page || !widget->isVisible(), widget->metaObject()->className());
    }
    /// Kinds of work add up to the step: 4 × (compute + transfer), and what waits for the straggler.
    void theTableAddsUpToTheStep()
    {
        Fixture f(SmallRun { .straggler = 2 });
        f.runs.setStep(4);
        f.awaitStep(4);
        const DifferenceTable &table = f.runs.overlay()->differences;
        double sum = 0;
        for (const DifferenceRow &row : table.rows)
            sum += row.measured;
        QVERIFY(std::abs(sum - table.measuredSeconds) < 1e-9 * sum + 1e-9);
        // The last line of what is painted is that sum.
        const auto &lines = f.page.bars->lines();
        QVERIFY(lines.size() >= 6);
        QCOMPARE(lines.back().name, QStringLiteral("Step"));
        // Mean compute of 4 ranks of which one takes 1.5 times as long: 4 layers × 10 ms × 4.5 / 4 = 45 ms.
        // The log has the step half a millisecond longer than the trace's 68 ms, and all parts are of its time.
        const double longer = 68.5 / 68;
        QVERIFY(std::abs(table.rows[std::size_t(DifferenceKind::Compute)].measured - 0.045 * longer) < 1e-4);
        // The others wait 5 ms a layer: 4 × 5 ms × 3 / 4 = 15 ms.
        QVERIFY(std::abs(table.rows[std::size_t(DifferenceKind::Stragglers)].measured - 0.015 * longer) < 1e-4);
        QVERIFY(f.line(QStringLiteral("Compute")) != nullptr);
    }
    void theTableIsCopiedWithItsSums()
    {
        Fixture f;
        const QStringList lines = f.page.toTsv().split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 1 + kDifferenceKindCount + 1);
        QCOMPARE(lines.front().count(u'\t'), 3);
        QVERIFY(lines.back().startsWith(QStringLiteral("step\t")));
    }
    void theSliderGoesThroughTheSteps()
    {
        Fixture f;
        QSlider *slider = f.page.scrubber->slider;
        QCOMPARE(slider->maximum(), int(f.runs.run()->steps.size()) - 1);
        slider->setFocus();
        QTest::keyClick(slider, Qt::Key_Home);
        QCOMPARE(f.runs.step(), &f.runs.run()->steps.front());
        QTest::keyClick(slider, Qt::Key_Right);
        QCOMPARE(f.runs.step(), &f.runs.run()->steps[1]);
        f.awaitStep(f.runs.run()->steps[1].number);
        QVERIFY(f.page.result().startsWith(QStringLiteral("Step %1 ").arg(f.runs.run()->steps[1].number)));
        QTest::keyClick(slider, Qt::Key_End);
        QVERIFY(!f.page.scrubber->next->isEnabled());
        QTest::mouseClick(f.page.scrubber->previous, Qt::LeftButton);
        QCOMPARE(f.runs.step(), &*(f.runs.run()->steps.end() - 2));
    }
    void aTypedNumberBecomesTheNearestStep()
    {
        Fixture f;
        StepField *field = f.page.scrubber->field;
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, "7");
        QTest::keyClick(field, Qt::Key_Return);
        QCOMPARE(f.runs.options().step, std::optional<std::int64_t>(7));
        QTest::keyClick(field, Qt::Key_Up);
        QCOMPARE(f.runs.options().step, std::optional<std::int64_t>(8));
    }
    void typicalAndSlowestAreOneClickAway()
    {
        Fixture f;
        QTest::mouseClick(f.page.scrubber->slowest, Qt::LeftButton);
        QCOMPARE(f.runs.step(), &f.runs.run()->steps[std::size_t(f.runs.slowestStep())]);
        QTest::mouseClick(f.page.scrubber->typical, Qt::LeftButton);
        QVERIFY(!f.runs.options().step);
        QCOMPARE(f.runs.step(), &f.runs.run()->steps[std::size_t(f.runs.run()->typicalStep)]);
    }
    void aClickInTheCurveShowsItsStep()
    {
        Fixture f;
        RunPlot *plot = f.page.stepPlot;
        QCOMPARE(plot->name(), std::string("step_time"));
        const auto at = plot->positionOf(9);
        QVERIFY(at);
        QTest::mouseClick(plot->findChild<QWidget *>(), Qt::LeftButton, {}, at->toPoint());
        QCOMPARE(f.runs.options().step, std::optional<std::int64_t>(9));
        QTest::keyClick(plot, Qt::Key_Left);
        QCOMPARE(f.runs.options().step, std::optional<std::int64_t>(8));
        QVERIFY(plot->describe(9).contains(QStringLiteral("step 9")));
    }
    void anotherQuantityIsChosenFromTheList()
    {
        Fixture f;
        const int at = f.page.quantity->findData(QStringLiteral("tflops_per_gpu"));
        QVERIFY(at >= 0);
        f.page.quantity->setFocus();
        f.page.quantity->setCurrentIndex(at);
        emit f.page.quantity->activated(at);
        QCOMPARE(f.page.otherPlot->name(), std::string("tflops_per_gpu"));
        QVERIFY(f.page.otherPlot->positionOf(5));
    }
    void aClickOnARankShowsItsSpans()
    {
        Fixture f;
        RankStrip *strip = f.page.strip;
        QVERIFY(strip->isVisible());
        QTest::mouseClick(strip, Qt::LeftButton, {}, strip->cellOf(3).center());
        QCOMPARE(f.runs.options().rank, std::optional<int>(3));
        QCOMPARE(f.page.ranks->currentData().toInt(), 3);
        QTest::mouseClick(strip, Qt::LeftButton, {}, strip->cellOf(3).center());
        QVERIFY(!f.runs.options().rank);
        QCOMPARE(f.page.ranks->currentIndex(), 0);
    }
    void clocksAreToldInWords()
    {
        Fixture f;
        const QString clocks = f.page.clocks->sentences().join(u' ');
        QVERIFY2(clocks.contains(QStringLiteral("4 ranks")), qPrintable(clocks));
        QVERIFY2(clocks.contains(QStringLiteral("matched collectives")), qPrintable(clocks));
    }
    void theListOfSourcesUnfolds()
    {
        Fixture f;
        QFile notes(f.folder.filePath("job/notes.txt"));
        QVERIFY(notes.open(QIODevice::WriteOnly));
        notes.write("buy milk\n");
        notes.close();
        f.open(f.folder.filePath("job"));
        QVERIFY(!f.page.sources->isVisible());
        QTest::mouseClick(f.page.fold, Qt::LeftButton);
        QVERIFY(f.page.sources->isVisible());
        QCOMPARE(f.page.sources->model()->rowCount(), 6);
        QVERIFY(f.page.fold->text().contains(QStringLiteral("1 of them not read")));
        const QString tsv = f.page.sources->toTsv();
        QVERIFY(tsv.contains(QStringLiteral("PyTorch profiler trace")) && tsv.contains(QStringLiteral("notes.txt")));
        QTest::mouseClick(f.page.fold, Qt::LeftButton);
        QVERIFY(!f.page.sources->isVisible());
    }
    void anotherRunIsComparedWithInTheSamePlaces()
    {
        Fixture f(SmallRun { .straggler = 1 });
        f.runs.openReference({ SmallRun().write(f.folder.filePath("good")) });
        QTRY_VERIFY_WITH_TIMEOUT(f.runs.overlay()->reference, kLong);
        QVERIFY2(f.page.result().contains(QStringLiteral("good")), qPrintable(f.page.result()));
        QVERIFY(f.page.stepPlot->describe(5).contains(QStringLiteral("compared")));
        f.runs.closeReference();
        QTRY_VERIFY_WITH_TIMEOUT(!f.runs.overlay()->reference, kLong);
        QVERIFY(!f.page.stepPlot->describe(5).contains(QStringLiteral("compared")));
    }
    void aClosedRunBringsTheInvitationBack()
    {
        Fixture f;
        RunBadge badge(f.runs);
        QVERIFY(badge.isVisibleTo(nullptr) || !badge.isHidden());
        QVERIFY(badge.text().contains(QStringLiteral("job")));
        f.runs.close();
        QVERIFY(f.page.invitation->isVisible() && badge.isHidden());
    }
    void theStripOfReadingShowsHowFarItIsAndCancels()
    {
        std::binary_semaphore mayRead(0);
        RunDocument runs([&](const std::vector<std::string> &, const SourceOptions &, const SourcesProgress &progress) {
            progress.began("a/rank2.json");
            progress.report(2, 8, 0.25);
            mayRead.acquire();
            return Expected<Recording>(Recording());
        });
        ReadingStrip strip(runs);
        strip.setDelay(0);
        QVERIFY(strip.isHidden());
        runs.open({ "a" });
        QVERIFY(!strip.isHidden());
        QTRY_COMPARE_WITH_TIMEOUT(strip.bar->value(), 250, kLong);
        QVERIFY2(strip.text().contains(QStringLiteral("2 of 8 files")), qPrintable(strip.text()));
        QVERIFY(strip.text().contains(QStringLiteral("rank2.json")));
        strip.show();
        QTest::mouseClick(strip.cancel, Qt::LeftButton);
        QVERIFY(strip.isHidden() && !runs.isReading());
        mayRead.release();
    }
    /// A log alone tells no kinds: their fields are empty, not 0. Quotes in names are doubled.
    void whatIsNotToldIsEmptyInTables()
    {
        RunOverlay overlay;
        overlay.differences.referenceName = "plan";
        overlay.differences.measuredName = "step 2 of \"a, b\".log";
        overlay.differences.referenceSeconds = 5;
        overlay.differences.measuredSeconds = 6;
        for (DifferenceRow &row : overlay.differences.rows)
            row.isMeasuredTold = row.kind == DifferenceKind::Untold;
        overlay.differences.rows.front().reference = 5;
        overlay.differences.rows.back().measured = 6;
        overlay.differences.rows.back().isReferenceTold = false;
        const QStringList lines = differenceText(overlay, u',').split(u'\n');
        QCOMPARE(lines[0], QStringLiteral("kind of work,plan (s),\"step 2 of \"\"a, b\"\".log (s)\",difference (s)"));
        QCOMPARE(lines[1], QStringLiteral("Compute,5,,"));
        QCOMPARE(lines[2], QStringLiteral("Exposed communication,0,,"));
        QCOMPARE(lines[6].section(u',', 1), QStringLiteral(",6,"));
        QCOMPARE(lines[7], QStringLiteral("step,5,6,1"));
    }
    /// What a run does not tell apart is neither a gain nor a loss: dashes stand there, and nothing is green.
    void whatIsNotToldIsNoGain()
    {
        auto overlay = std::make_shared<RunOverlay>();
        DifferenceTable &table = overlay->differences;
        table.referenceSeconds = 5;
        table.measuredSeconds = 6;
        for (DifferenceRow &row : table.rows)
            row.isMeasuredTold = row.kind == DifferenceKind::Untold || row.kind == DifferenceKind::Host;
        const auto rowOf = [&](DifferenceKind kind) -> DifferenceRow & { return table.rows[std::size_t(kind)]; };
        rowOf(DifferenceKind::Compute).reference = 4;
        rowOf(DifferenceKind::Host).reference = 1;
        rowOf(DifferenceKind::Host).measured = 0.5; // the rest may be in what is untold
        rowOf(DifferenceKind::Untold).measured = 5.5;
        DifferenceBars bars;
        bars.setOverlay(overlay);
        const auto line = [&](DifferenceKind kind) {
            return *std::ranges::find(bars.lines(), QString::fromLatin1(nameOf(kind)), &DifferenceBars::Line::name);
        };
        for (const DifferenceKind kind : { DifferenceKind::Compute, DifferenceKind::Host, DifferenceKind::Untold }) {
            QCOMPARE(line(kind).difference, QStringLiteral("–"));
            QCOMPARE(line(kind).seconds, 0.0);
        }
        QCOMPARE(line(DifferenceKind::Compute).measured, QStringLiteral("–"));
        QCOMPARE(bars.lines().back().difference, QStringLiteral("+1.00 s"));
        rowOf(DifferenceKind::Host).measured = 1.5; // that is more, whatever else there is
        bars.setOverlay(std::make_shared<RunOverlay>(*overlay));
        QCOMPARE(line(DifferenceKind::Host).difference, QStringLiteral("+500 ms"));
        table.otherJob = "sequences per step 64, plan 128"; // nothing of the plan stands beside it
        bars.setOverlay(std::make_shared<RunOverlay>(*overlay));
        for (const DifferenceBars::Line &one : bars.lines()) {
            QCOMPARE(one.reference, QStringLiteral("–"));
            QCOMPARE(one.difference, QStringLiteral("–"));
        }
    }
    /// 4 ranks of one run against 3 of another: that they are of different size comes before what they differ by.
    void runsOfDifferentSizeAreToldFirst()
    {
        Fixture f;
        f.runs.openReference({ SmallRun { .ranks = 3 }.write(f.folder.filePath("less")) });
        QTRY_VERIFY_WITH_TIMEOUT(f.runs.overlay()->reference, kLong);
        QVERIFY2(f.page.result().startsWith(QStringLiteral("The run has 4 ranks, less 3. Step ")),
            qPrintable(f.page.result()));
        QVERIFY(f.page.stepPlot->describe(5).contains(QStringLiteral("less: ")));
        QVERIFY(!f.page.stepPlot->describe(5).contains(QStringLiteral("plan")));
    }
    /// Only what makes the step longer explains a longer step: 10 ms × 4 layers less compute do not.
    void theSentenceNamesOnlyWhatGoesTheWayOfTheDifference()
    {
        Fixture f(SmallRun { .computeMs = 10, .transferMs = 20 }); // 4 × 30 ms = 120 ms
        f.runs.openReference({ SmallRun { .computeMs = 15, .transferMs = 2 }.write(f.folder.filePath("other")) }); // 68
        QTRY_VERIFY_WITH_TIMEOUT(f.runs.overlay()->reference, kLong);
        QVERIFY2(f.page.result().contains(QStringLiteral("exposed communication +")), qPrintable(f.page.result()));
        QVERIFY2(!f.page.result().contains(QStringLiteral("compute ")), qPrintable(f.page.result()));
    }
    /// 4 of 1,024 ranks: their cells alone, and the others in words.
    void manyMissingRanksAreWordsNotCells()
    {
        auto recording = std::make_shared<Recording>();
        for (int rank = 0; rank < 4; ++rank) {
            RankRecording &one = recording->ranks.emplace_back();
            one.rank = rank;
            one.worldSize = 1024;
        }
        auto run = std::make_shared<Run>();
        run->recording = recording;
        auto overlay = std::make_shared<RunOverlay>();
        overlay->run = run;
        RankStrip strip;
        strip.resize(400, 100);
        strip.setOverlay(overlay, {});
        QCOMPARE(strip.cells(), std::size_t(4));
        QVERIFY(!strip.isMissing(3) && strip.isMissing(4));
        QVERIFY(strip.heightForWidth(400) <= 2 * 22);
        QCOMPARE(missingSentence(*overlay), QStringLiteral("1,020 ranks were not recorded: 4 to 1,023."));
        for (RankRecording &one : recording->ranks)
            one.worldSize = 16; // few: each has its place
        strip.setOverlay(overlay, {});
        QCOMPARE(strip.cells(), std::size_t(16));
        QVERIFY(missingSentence(*overlay).endsWith(QStringLiteral("Their places are hatched.")));
    }
    /// Figures as long as "500k TFLOP/s" have their room, and the chart above keeps its axis over that below.
    void longFiguresOfAnAxisFit()
    {
        Fixture f;
        auto overlay = std::make_shared<RunOverlay>(*f.runs.overlay());
        overlay->curves.push_back(
            { .name = "x", .title = "X", .unit = "very long units/s", .step = { 3, 4 }, .value = { 5e5, 6e5 } });
        f.page.otherPlot->setCurves(overlay, "x", {});
        const QFontMetrics metrics(f.page.otherPlot->chart().yAxis->tickLabelFont());
        const int left = f.page.otherPlot->chart().axisRect()->margins().left();
        QVERIFY(left > metrics.horizontalAdvance(QStringLiteral("600k very long units/s")));
        QCOMPARE(f.page.stepPlot->chart().axisRect()->margins().left(), left);
    }
    void rangesOfRanksAreShort()
    {
        QCOMPARE(rangesText({ 0, 1, 2, 3, 5, 8, 9 }), std::string("0 to 3, 5, 8, 9"));
        QCOMPARE(rangesText({}), std::string());
    }
};

TRAINYARD_TEST(RunPageTest)
#include "tst_run_page.moc"
