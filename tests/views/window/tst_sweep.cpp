// SPDX-License-Identifier: GPL-3.0-or-later
// A file of a sweep in the whole window, with real widgets and events: opened, pointed at, filtered by a drag, axes
// moved, a row's plan tried, left, adopted and undone.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "tests/support/painted.h"
#include "tests/support/swept_file.h"
#include "views/planner/trial_strip.h"
#include "views/sweep/parallel_axes.h"
#include "views/sweep/sweep_page.h"
#include "views/sweep/sweep_scatter.h"
#include "views/window/planner_actions.h"
#include "views/window/sweep_actions.h"

#include <QComboBox>
#include <QMimeData>
#include <QPushButton>

#include <algorithm>

using namespace trainyard;

namespace {

struct SweepWindow : WindowFixture {
    SweepActions &actions = window.sweepActions();
    SweepPage &page = actions.page();
    SweepResults &results = actions.results();
    QString path = folder.filePath(QStringLiteral("rows.csv"));

    explicit SweepWindow(QSize size = { 1280, 720 })
        : WindowFixture(QStringLiteral("cephalo-lab"))
    {
        window.resize(size);
        [&] { QVERIFY(test::writeSweep(path.toStdString())); }();
        window.activateWindow();
        [&] { QVERIFY(QTest::qWaitForWindowActive(&window)); }();
    }
    void open()
    {
        answers.open = path;
        QSignalSpy opened(&results, &SweepResults::opened);
        QVERIFY(window.commands().trigger("file.open"));
        QTRY_VERIFY_WITH_TIMEOUT(!opened.isEmpty(), 30000);
        test::untilPainted(page); // the plots have laid themselves out
    }
    void drag(QWidget *widget, QPointF from, QPointF to)
    {
        QTest::mousePress(widget, Qt::LeftButton, {}, from.toPoint());
        for (const double part : { 0.3, 0.7, 1.0 }) {
            const QPointF at = from + (to - from) * part;
            QMouseEvent move(
                QEvent::MouseMove, at, widget->mapToGlobal(at), Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
            QApplication::sendEvent(widget, &move);
        }
        QTest::mouseRelease(widget, Qt::LeftButton, {}, to.toPoint());
    }
    [[nodiscard]] int feasibleRow() const { return int(page.scatter->front().front()); }
};

} // namespace

class SweepTest : public QObject {
    Q_OBJECT
private slots:
    void aFileOpensOnAPageOfItsOwn()
    {
        SweepWindow w;
        w.open();
        QVERIFY(w.page.isVisible() && !w.window.isWorkbenchShown());
        QVERIFY2(w.page.resultLine().startsWith(QStringLiteral("72 rows: ")), qPrintable(w.page.resultLine()));
        QVERIFY(w.page.scatter->points() > 0);
        QCOMPARE(w.page.axes->axes().size(), 7u); // four keys, time, memory, cost
        QTest::keyClick(&w.page, Qt::Key_Escape);
        QVERIFY(w.window.isWorkbenchShown());
        QVERIFY(w.window.commands().trigger("view.sweep"));
        QVERIFY(w.page.isVisible());
    }

    void aFileIsDropped()
    {
        SweepWindow w;
        QMimeData data;
        data.setUrls({ QUrl::fromLocalFile(w.path) });
        QDragEnterEvent enter(QPoint(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&w.window, &enter); // without it a drop goes nowhere
        QVERIFY(enter.isAccepted());
        QDropEvent drop(QPointF(300, 300), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&w.window, &drop);
        QTRY_VERIFY_WITH_TIMEOUT(w.page.isVisible(), 30000);
        QCOMPARE(w.results.rows(), 72u);
    }

    void aClickTellsARowAndADoubleClickTriesItsPlan()
    {
        SweepWindow w;
        w.open();
        const PlanPtr own = w.document.plan();
        const int row = w.feasibleRow();
        const QPoint at = w.page.scatter->positionOf(row)->toPoint();
        QTest::mouseClick(w.page.scatter->childAt(at), Qt::LeftButton, {}, at);
        const int chosen = w.page.current();
        QVERIFY(chosen >= 0);
        QVERIFY2(w.page.rowLine().contains(QStringLiteral("Tensor parallel")), qPrintable(w.page.rowLine()));
        QTest::mouseDClick(w.page.scatter->childAt(at), Qt::LeftButton, {}, at);
        QVERIFY(w.window.isWorkbenchShown());
        QVERIFY(*w.document.trial() == **w.results.table()->plan(std::size_t(chosen)));
        w.settle();
        // Its iteration is that of the row.
        const auto &time = *w.results.table()->metric("iteration_time_s");
        QCOMPARE(*w.bridge.evaluation()->metrics.iterationTime, time[std::size_t(chosen)]);
        QTest::mouseClick(w.window.plannerActions().strip().back, Qt::LeftButton);
        QVERIFY(w.page.isVisible()); // back to the page that it came from
        QVERIFY(w.document.plan() == own && !w.document.trial());
        QTest::mouseClick(w.page.tryIt, Qt::LeftButton);
        QTest::mouseClick(w.window.plannerActions().strip().adopt, Qt::LeftButton);
        QVERIFY(*w.document.plan() == **w.results.table()->plan(std::size_t(chosen)));
        w.document.undoStack().undo();
        QVERIFY(*w.document.plan() == *own);
    }

    void aDragAlongAnAxisFiltersBothCharts()
    {
        SweepWindow w;
        w.open();
        ParallelAxes &axes = *w.page.axes;
        const int tensor = w.results.column("parallelism.tensor");
        QCOMPARE(axes.axes().front(), tensor);
        const std::size_t all = w.page.scatter->points();
        // Tensor 4 and 8 of 1, 2, 4, 8: shares 3/7 and 1 of the axis
        w.drag(&axes, axes.placeOf(0, 0.35), axes.placeOf(0, 1));
        QVERIFY(axes.brush(tensor).has_value());
        const std::vector<char> shown = axes.within();
        for (std::size_t row = 0; row < shown.size(); ++row)
            QCOMPARE(bool(shown[row]), w.results.columns()[std::size_t(tensor)].values[row] >= 4);
        QVERIFY(w.page.scatter->points() < all);
        QVERIFY2(w.page.shownLine().startsWith(QStringLiteral("36 rows")), qPrintable(w.page.shownLine()));
        for (const std::size_t row : w.page.scatter->front())
            QVERIFY(shown[row]);
        QTest::mouseClick(&axes, Qt::LeftButton, {}, axes.placeOf(0, 0.1).toPoint()); // beside the brush
        QVERIFY(!axes.brush(tensor));
        QCOMPARE(w.page.scatter->points(), all);
        w.drag(&axes, axes.placeOf(0, 0.35), axes.placeOf(0, 1));
        QTest::mouseClick(w.page.clear, Qt::LeftButton);
        QVERIFY(axes.within().empty());
    }

    void anAxisIsMovedByItsName()
    {
        SweepWindow w;
        w.open();
        ParallelAxes &axes = *w.page.axes;
        std::vector<int> expected = axes.axes();
        w.drag(&axes, axes.nameOf(0), axes.nameOf(2));
        std::rotate(expected.begin(), expected.begin() + 1, expected.begin() + 3);
        QCOMPARE(axes.axes(), expected);
        // By keys: the axis that was moved has the keyboard.
        axes.setFocus();
        QTest::keyClick(&axes, Qt::Key_Left, Qt::ControlModifier);
        std::swap(expected[1], expected[2]);
        QCOMPARE(axes.axes(), expected);
        QTest::keyClick(&axes, Qt::Key_Up);
        QVERIFY(axes.brush(expected[1]).has_value());
        QTest::keyClick(&axes, Qt::Key_Delete);
        QVERIFY(!axes.brush(expected[1]));
    }

    void columnsAreChosen()
    {
        SweepWindow w;
        w.open();
        w.page.x->setCurrentIndex(w.results.column("parallelism.tensor"));
        w.page.y->setCurrentIndex(w.results.column("mfu"));
        QVERIFY(w.page.scatter->front().empty()); // of a key no way is better
        QVERIFY(w.page.scatter->points() > 0);
        w.page.color->setCurrentIndex(1 + w.results.column("mfu"));
        w.page.axes->repaint();
        QVERIFY(w.page.axes->linesDrawn() > 0);
    }

    /// What was refused has no figures, but has its keys: it lies along their edge and tells why.
    void refusedRowsAreInSightToo()
    {
        SweepWindow w;
        w.open();
        const auto refused = std::ranges::find(w.results.table()->states, SweepState::Refused);
        QVERIFY(refused != w.results.table()->states.end());
        const int row = int(refused - w.results.table()->states.begin());
        QVERIFY(!w.page.scatter->positionOf(row)); // time over price: it has neither
        QVERIFY2(w.page.scatter->note().contains(QStringLiteral("neither")), qPrintable(w.page.scatter->note()));
        w.page.x->setCurrentIndex(w.results.column("parallelism.tensor"));
        test::untilPainted(w.page);
        const auto at = w.page.scatter->positionOf(row);
        QVERIFY(at && w.page.scatter->rect().contains(at->toPoint()));
        QVERIFY2(w.page.scatter->note().contains(QStringLiteral("along the edge")), qPrintable(w.page.scatter->note()));
        const int near = w.page.scatter->nearest(*at);
        QVERIFY(near >= 0);
        QCOMPARE(w.results.state(std::size_t(near)), SweepState::Refused);
        QTest::mouseClick(w.page.scatter->childAt(at->toPoint()), Qt::LeftButton, {}, at->toPoint());
        QCOMPARE(w.page.current(), near);
        QVERIFY(!w.page.tryIt->isEnabled());
        QVERIFY2(w.page.rowLine().contains(QString::fromStdString(w.results.table()->reason(std::size_t(near)))),
            qPrintable(w.page.rowLine()));
        w.page.axes->repaint();
        QCOMPARE(w.page.axes->linesDrawn(), w.results.rows()); // lines too, across what they have
    }

    void whatIsNoSweepIsTold()
    {
        SweepWindow w;
        QFile file(w.path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QByteArray bytes = file.readAll();
        file.close();
        bytes.replace(",infeasible,", ",perhaps,");
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(bytes);
        file.close();
        w.answers.open = w.path;
        QSignalSpy failed(&w.results, &SweepResults::failed);
        QVERIFY(w.window.commands().trigger("file.open"));
        QTRY_VERIFY_WITH_TIMEOUT(!failed.isEmpty(), 30000);
        QVERIFY(w.window.messages().isVisible());
        QVERIFY(w.window.isWorkbenchShown());
    }

    /// The plan that is open is the user's: a file that could not be shown must not let a later one take its place.
    void aFileThatFailsAtTheStartLeavesASampleAndNoClaim()
    {
        SweepWindow w;
        QFile file(w.folder.filePath(QStringLiteral("torn.csv")));
        QFile whole(w.path);
        QVERIFY(file.open(QIODevice::WriteOnly) && whole.open(QIODevice::ReadOnly));
        file.write(whole.read(100)); // not even a whole first line
        file.close();
        QSignalSpy failed(&w.results, &SweepResults::failed), replaced(&w.document, &PlanDocument::replaced);
        w.window.files().openAtStart({ file.fileName() });
        QTRY_VERIFY_WITH_TIMEOUT(!failed.isEmpty() && !replaced.isEmpty(), 30000);
        QVERIFY(!w.document.plan()->cluster.datacenters.empty());
        QVERIFY(w.window.messages().isVisible());
        Plan next = *w.document.plan();
        next.name = "Mine";
        w.document.apply(std::make_shared<const Plan>(std::move(next)), QStringLiteral("Rename"));
        w.open();
        QCOMPARE(QString::fromStdString(w.document.plan()->name), QStringLiteral("Mine"));
        QVERIFY(w.document.undoStack().canUndo());
    }

    void aFileWithoutRowsYetSaysSo()
    {
        SweepWindow w;
        QFile file(w.folder.filePath(QStringLiteral("begun.csv")));
        QFile whole(w.path);
        QVERIFY(file.open(QIODevice::WriteOnly) && whole.open(QIODevice::ReadOnly));
        file.write(whole.readLine());
        file.close();
        w.path = file.fileName();
        w.open();
        QVERIFY(w.page.isVisible());
        QVERIFY2(w.page.emptyLine().contains(QStringLiteral("72 to come")), qPrintable(w.page.emptyLine()));
    }

    /// The pictures are looked at by people; here they only have to be there, and differ.
    void itIsLegibleInEveryTheme()
    {
        SweepWindow w;
        w.open();
        for (const ThemeKind kind : { ThemeKind::Dark, ThemeKind::Light }) {
            w.window.setThemeKind(kind);
            test::untilPainted(w.page);
            const QImage picture = w.window.grab().toImage();
            QVERIFY(picture.width() >= 1280);
            const QString folder = qEnvironmentVariable("TRAINYARD_PICTURES");
            if (!folder.isEmpty())
                picture.save(folder + (kind == ThemeKind::Dark ? "/sweep-dark.png" : "/sweep-light.png"));
        }
    }
};

TRAINYARD_TEST(SweepTest)
#include "tst_sweep.moc"
