// SPDX-License-Identifier: GPL-3.0-or-later
// The window and what pops up in it lie within the screen, however small that is and however large the last one was.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "tests/support/painted.h"
#include "views/commands/command_palette.h"
#include "views/commands/shortcut_overlay.h"

#include "views/timeline/timeline_view.h"
#include "views/window/status_line.h"
#include "views/window/workbench.h"
#include <QScreen>

#include <QAbstractItemView>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>

using namespace trainyard;

class FirstWindowTest : public QObject {
    Q_OBJECT
private slots:
    void theFirstWindowLiesWithinTheScreen()
    {
        Unsized f;
        QVERIFY(f.screen().contains(f.window.geometry()));
        QVERIFY(f.window.minimumWidth() <= f.screen().width() && f.window.minimumHeight() <= f.screen().height());
    }
    void aWindowRememberedFromALargerScreenComesBackWithinThisOne()
    {
        {
            Unsized large;
            large.window.setMinimumSize(0, 0);
            large.window.setGeometry(900, 700, 2560, 1440);
            QSettings().setValue("window/geometry", large.window.saveGeometry());
            Unsized small(large);
            small.window.restorePlaces();
            QVERIFY2(small.screen().contains(small.window.geometry()),
                qPrintable(QStringLiteral("%1 × %2").arg(small.window.width()).arg(small.window.height())));
        }
    }
    /// Rows that were pinned are pinned after the next start.
    void pinnedRowsAreRemembered()
    {
        WindowFixture f;
        TimelineView *timeline = f.window.workbench().timeline;
        timeline->selectSpan(timeline->state().timeline()->tracks.front().first);
        timeline->setFocus();
        QTest::keyClick(timeline, Qt::Key_P);
        QCOMPARE(timeline->state().layout.pinnedCount, 1);
        const QByteArray kept = timeline->rowsState();
        f.document.undoStack().setClean();
        f.window.close();
        MainWindow next({ f.document, f.bridge, f.effects, builtinCatalogue() }, f.recent, f.answers);
        QVERIFY(next.workbench().timeline->rowsState() != kept);
        next.restorePlaces();
        QCOMPARE(next.workbench().timeline->rowsState(), kept);
    }
    void everythingFitsAScreenOf1920By1080AtScaleTwo()
    {
        WindowFixture f;
        f.window.setMinimumSize(0, 0);
        f.window.resize(960, 504); // less the title that the desktop draws
        test::untilPainted(f.window);
        const auto *status = f.window.workbench().status;
        const QRect place(status->mapTo(&f.window, QPoint()), status->size());
        QVERIFY2(f.window.rect().contains(place),
            qPrintable(QStringLiteral("status line to %1 of %2").arg(place.bottom()).arg(f.window.height())));
        QCOMPARE(f.window.size(), QSize(960, 504));
    }
    void paletteAndSheetOfKeysFitASmallWindow()
    {
        WindowFixture f;
        f.window.setMinimumSize(0, 0);
        f.window.resize(960, 504);
        QApplication::processEvents();
        QVERIFY(f.window.commands().trigger("help.palette"));
        QVERIFY(f.window.rect().contains(f.window.palettePopup().geometry()));
        QTest::keyClick(
            QApplication::focusWidget() ? QApplication::focusWidget() : &f.window.palettePopup(), Qt::Key_Escape);
        QVERIFY(f.window.commands().trigger("help.keys"));
        auto *area = f.window.overlay().findChild<QScrollArea *>();
        QVERIFY(f.window.rect().contains(area->geometry()));
        // Every row can be scrolled to.
        QVERIFY(area->widget()->height() <= area->height() || area->verticalScrollBar()->maximum() > 0);
        QTest::keyClick(&f.window.overlay(), Qt::Key_PageDown);
        QVERIFY(f.window.overlay().isVisible());
        QTest::keyClick(&f.window.overlay(), Qt::Key_Escape);
        QVERIFY(!f.window.overlay().isVisible());
    }
    void paletteSaysThatNothingMatches()
    {
        WindowFixture f;
        QVERIFY(f.window.commands().trigger("help.palette"));
        auto *field = f.window.palettePopup().findChild<QLineEdit *>();
        auto *list = f.window.palettePopup().findChild<QAbstractItemView *>();
        QTest::keyClicks(field, "qqzzxx");
        QCOMPARE(list->model()->rowCount(), 1);
        QVERIFY(list->model()->index(0, 0).data().toString().contains("qqzzxx"));
        QTest::keyClick(field, Qt::Key_Return); // runs nothing
        QVERIFY(f.window.palettePopup().isVisible());
    }

private:
    /// A window as it is made, before anyone has given it a size.
    struct Unsized {
        std::shared_ptr<IsolatedSettings> settings = std::make_shared<IsolatedSettings>();
        SetAnswers answers;
        PlanDocument document { std::make_shared<const Plan>(), {} };
        EvaluationBridge bridge { builtinCatalogue() };
        StrategyEffects effects { builtinCatalogue() };
        RecentFiles recent;
        MainWindow window { { document, bridge, effects, builtinCatalogue() }, recent, answers };
        Unsized() = default;
        explicit Unsized(const Unsized &other)
            : settings(other.settings)
        {
        }
        QRect screen() const { return window.screen()->availableGeometry(); }
    };
};

TRAINYARD_TEST(FirstWindowTest)
#include "tst_first_window.moc"
