// SPDX-License-Identifier: GPL-3.0-or-later
// The validation page with real widgets and events over rows made by hand.
#include "../../models/validation/rows_by_hand.h"
#include "tests/support/test_program.h"

#include "models/validation/validation_runner.h"
#include "views/panels/evidence_table.h"
#include "views/parts/text_line.h"
#include "views/plots/log_ticker.h"
#include "views/theme/theme.h"
#include "views/validation/rows_panel.h"
#include "views/validation/scatter_card.h"
#include "views/validation/scatter_plot.h"
#include "views/validation/source_legend.h"
#include "views/validation/validation_header.h"
#include "views/validation/validation_page.h"

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabBar>
#include <QTest>

#include <algorithm>
#include <semaphore>

using namespace trainyard;

namespace {

struct Fixture {
    std::binary_semaphore mayRead { 1 }; // taken: the next run waits until it is released
    Errors faults; // what a file has, if it is read
    ValidationRunner runner { builtinCatalogue(), [this](const QString &file) -> ExpectedAll<std::vector<RowSet>> {
                                 mayRead.acquire();
                                 mayRead.release();
                                 if (!file.isEmpty() && !faults.empty())
                                     return std::unexpected(faults);
                                 return byhand::sets();
                             } };
    ValidationPage page { runner };

    explicit Fixture(bool runs = true)
    {
        page.resize(1280, 680);
        page.show();
        if (!runs)
            return;
        page.open();
        settle();
    }
    void settle()
    {
        QTRY_VERIFY_WITH_TIMEOUT(!runner.isRunning(), 30000);
        QApplication::processEvents();
    }
    [[nodiscard]] bool says(const QString &text) const
    {
        const auto lines = page.header->findChildren<TextLine *>();
        return std::ranges::any_of(
            lines, [&](const TextLine *line) { return line->isVisible() && line->text().contains(text); });
    }
    [[nodiscard]] static QString cell(const QTableView &table, int row, int column)
    {
        return table.model()->index(row, column).data().toString();
    }
};

} // namespace

class ValidationPageTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() { applyTheme(*qApp, ThemeKind::Dark); }

    void nothingRunsBeforeThePageIsOpened()
    {
        Fixture f(false);
        QVERIFY(!f.runner.isRunning() && !f.runner.result());
        QCOMPARE(f.page.rows->table->model()->rowCount(), 0);
        QVERIFY(!f.page.header->exportCsv->isEnabled());
    }
    void openingRunsOnceAndShowsWhatWasFound()
    {
        Fixture f;
        QCOMPARE(f.page.rows->table->model()->rowCount(), 5);
        QCOMPARE(f.page.summary->model()->rowCount(), 3);
        QVERIFY(f.says(QStringLiteral("5 figures of 2 sources")));
        QSignalSpy started(&f.runner, &ValidationRunner::started);
        f.page.open();
        QCOMPARE(started.count(), 0);
        QTest::mouseClick(f.page.header->again, Qt::LeftButton);
        QCOMPARE(started.count(), 1);
        f.settle();
    }
    void aRunShowsProgressAndStops()
    {
        Fixture f;
        f.mayRead.acquire();
        QTest::mouseClick(f.page.header->again, Qt::LeftButton);
        QVERIFY(f.page.header->stop->isVisible() && !f.page.header->again->isVisible());
        QTest::mouseClick(f.page.header->stop, Qt::LeftButton);
        QVERIFY(!f.runner.isRunning() && f.page.header->again->isVisible());
        QVERIFY(f.says(QStringLiteral("Stopped")));
        QCOMPARE(f.page.rows->table->model()->rowCount(), 5); // of the run before
        f.mayRead.release();
    }
    void typedWordsFilterTableAndPlot()
    {
        Fixture f;
        QCOMPARE(f.page.scatter->plot->points().size(), std::size_t(3)); // times with a prediction
        QTest::keyClicks(f.page.rows->search, "second");
        QCOMPARE(f.page.rows->table->model()->rowCount(), 1);
        QCOMPARE(f.page.scatter->plot->points(), std::vector<int> { 2 });
        f.page.rows->search->clear();
        QCOMPARE(f.page.scatter->plot->points().size(), std::size_t(3));
    }
    void aSummaryLineShowsItsSourceAndKindOfFigure()
    {
        Fixture f;
        f.page.summary->selectRow(1); // memory of alpha
        QCOMPARE(f.page.rows->sources->currentText(), QStringLiteral("alpha"));
        QCOMPARE(f.page.scatter->kinds->tabText(f.page.scatter->kinds->currentIndex()), QStringLiteral("Memory"));
        QCOMPARE(f.page.scatter->plot->points(), std::vector<int> { 1 });
        f.page.rows->sources->setCurrentIndex(0);
        QCOMPARE(f.page.rows->table->model()->rowCount(), 5);
    }
    void theLegendShowsASourceAloneAndAllAgain()
    {
        Fixture f;
        const auto line = [&](const char *name) -> QAbstractButton * {
            for (QAbstractButton *button : f.page.scatter->legend->findChildren<QAbstractButton *>())
                if (button->text() == QLatin1String(name) && !button->isHidden())
                    return button;
            return nullptr;
        };
        QVERIFY(line("alpha") && line("beta"));
        line("beta")->click();
        QApplication::processEvents();
        QCOMPARE(f.page.rows->filter().source, std::string("beta"));
        QVERIFY(line("alpha") && line("beta")->isChecked());
        line("beta")->click();
        QCOMPARE(f.page.rows->filter().source, std::string());
    }
    void aClickOnAMarkSelectsItsRow()
    {
        Fixture f;
        ScatterPlot *plot = f.page.scatter->plot;
        QTRY_VERIFY(plot->positionOf(2).has_value() && plot->width() > 100);
        QTest::mouseClick(plot->findChild<QWidget *>(), Qt::LeftButton, {}, plot->positionOf(2)->toPoint());
        QCOMPARE(f.page.rows->current(), 2);
        QCOMPARE(plot->current(), 2);
        QVERIFY(f.page.rows->openPlan->isEnabled());
    }
    void aMarkIsDescribedByItsRow()
    {
        const ValidatedRowsPtr rows = byhand::rows();
        const QString text = ScatterPlot::describe(rows->results()[0]);
        for (const char *part : { "first", "alpha", "2.00 s", "2.20 s", "+10.0 %" })
            QVERIFY2(text.contains(QString::fromUtf8(part)), part);
        QVERIFY(ScatterPlot::describe(rows->results()[4]).contains(QStringLiteral("inputs assumed")));
    }
    void arrowKeysWalkThePlotFromTheSmallestFigure()
    {
        Fixture f;
        ScatterPlot *plot = f.page.scatter->plot;
        plot->setFocus();
        // published 1 (second), 2 (first), 4 (guess)
        QTest::keyClick(plot, Qt::Key_Right);
        QCOMPARE(f.page.rows->current(), 2);
        QTest::keyClick(plot, Qt::Key_Right);
        QCOMPARE(f.page.rows->current(), 0);
        QTest::keyClick(plot, Qt::Key_Left);
        QCOMPARE(f.page.rows->current(), 2);
    }
    void aRowOpensAsAPlan()
    {
        Fixture f;
        QSignalSpy chosen(&f.page, &ValidationPage::planChosen);
        f.page.rows->setCurrent(2);
        QTest::keyClick(f.page.rows->table, Qt::Key_Return);
        QCOMPARE(chosen.count(), 1);
        const auto plan = chosen.front().front().value<PlanPtr>();
        QCOMPARE(plan->workload.microBatch, 2);
        QTest::mouseClick(f.page.rows->openPlan, Qt::LeftButton);
        QCOMPARE(chosen.count(), 2);
    }
    void theTableIsExportedAsCsv()
    {
        Fixture f;
        QSignalSpy wanted(&f.page, &ValidationPage::csvWanted);
        QTest::mouseClick(f.page.header->exportCsv, Qt::LeftButton);
        QCOMPARE(wanted.count(), 1);
        QCOMPARE(wanted.front().front().toString().count(u'\n'), 6); // header and five figures
    }
    void faultsOfAFileAreListedAndTheRunBeforeStays()
    {
        Fixture f;
        f.faults = { { ErrorCode::UnknownKey, "mine.json: /rows/0/plan/colour", "no plan has colour", {} },
            { ErrorCode::BadValue, "mine.json: /rows/1", "id is missing", "a name" } };
        QTest::keyClicks(f.page.header->file, "/tmp/mine.json");
        QTest::keyClick(f.page.header->file, Qt::Key_Return);
        f.settle();
        QVERIFY(f.page.header->faults().isVisible());
        QCOMPARE(f.page.header->faults().model()->rowCount(), 2);
        QCOMPARE(f.cell(f.page.header->faults(), 0, 0), QStringLiteral("mine.json: /rows/0/plan/colour"));
        QCOMPARE(f.page.rows->table->model()->rowCount(), 5);
        QTest::mouseClick(f.page.header->builtin, Qt::LeftButton);
        f.settle();
        QVERIFY(!f.page.header->faults().isVisible());
        QVERIFY(f.page.header->file->text().isEmpty());
    }
    void selectedRowsAreCopiedAsTsv()
    {
        Fixture f;
        f.page.rows->setCurrent(0);
        const QStringList lines = f.page.rows->table->toTsv().split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 2);
        QVERIFY(lines[0].startsWith(QStringLiteral("Source\tRow\tMetric"))
            && lines[1].startsWith(QStringLiteral("alpha\tfirst")));
        f.page.rows->table->clearSelection();
        QCOMPARE(f.page.rows->table->toTsv().count(u'\n'), 6);
    }
    void escapeLeavesThePage()
    {
        Fixture f;
        f.page.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&f.page));
        f.page.rows->search->setFocus();
        QSignalSpy closed(&f.page, &ValidationPage::closed);
        QTest::keyClick(f.page.rows->search, Qt::Key_Escape);
        QCOMPARE(closed.count(), 1);
    }
    void theTabKeyReachesEveryPart()
    {
        Fixture f;
        f.page.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&f.page));
        QSet<QWidget *> reached;
        f.page.rows->search->setFocus();
        for (int i = 0; i < 60; ++i) {
            QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
            reached.insert(QApplication::focusWidget());
        }
        for (QWidget *part : { static_cast<QWidget *>(f.page.rows->table), static_cast<QWidget *>(f.page.summary),
                 static_cast<QWidget *>(f.page.scatter->plot), static_cast<QWidget *>(f.page.header->again),
                 static_cast<QWidget *>(f.page.header->file), static_cast<QWidget *>(f.page.rows->openPlan) })
            QVERIFY2(reached.contains(part) || !part->isEnabled(), qPrintable(part->accessibleName()));
    }
    void bothThemesDrawThePlotAnew()
    {
        Fixture f;
        const QImage dark = f.page.scatter->grab().toImage();
        applyTheme(*qApp, ThemeKind::Light);
        QApplication::processEvents();
        QVERIFY(f.page.scatter->grab().toImage() != dark);
        QVERIFY(f.page.scatter->grab().toImage().pixelColor(2, 2).lightness() > 128
            || f.page.palette().color(QPalette::Window).lightness() > 128);
        applyTheme(*qApp, ThemeKind::Dark);
    }
    void ticksOfALogarithmicAxisSuitItsRange()
    {
        QCOMPARE(logTicks(0.9, 11), (QVector<double> { 1, 2, 5, 10 }));
        QCOMPARE(logTicks(0.5, 6e4), (QVector<double> { 1, 10, 100, 1000, 10000 }));
        QVERIFY(logTicks(40, 60).size() >= 3); // a fraction of a decade: even steps
        QVERIFY(logTicks(0, 1).isEmpty());
    }
};

TRAINYARD_TEST(ValidationPageTest)
#include "tst_validation_page.moc"
