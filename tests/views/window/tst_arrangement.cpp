// SPDX-License-Identifier: GPL-3.0-or-later
// Named arrangements of panels, by key and by hand: what they show, what they hide, and that nothing is ever lost.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "views/details/details_panel.h"
#include "views/panels/datacenter_panel.h"
#include "views/panels/edits_panel.h"
#include "views/panels/gpu_shares_panel.h"
#include "views/panels/jobs_panel.h"
#include "views/panels/memory_details.h"
#include "views/panels/problems_panel.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/why_panel.h"
#include "views/panels/workload_editor.h"
#include "views/plots/curves_panel.h"
#include "views/timeline/timeline_view.h"
#include "views/window/arrangement_actions.h"
#include "views/window/arrangement_list.h"

#include <QLineEdit>
#include <QListWidget>
#include <QSplitter>

using namespace trainyard;

namespace {

struct Arranging : WindowFixture {
    Workbench &bench = window.workbench();
    ArrangementActions &actions = window.arrangements();

    void key(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::ControlModifier)
    {
        QApplication::setActiveWindow(&window);
        QTest::keyClick(QApplication::focusWidget() ? QApplication::focusWidget() : &window, key, modifiers);
        QApplication::processEvents();
    }
    std::vector<QWidget *> panels()
    {
        return { bench.map, bench.timeline, bench.curves, bench.strategies, bench.workload, bench.jobs,
            bench.datacenters, bench.shares, bench.why, bench.problems, bench.memory, bench.details, bench.edits };
    }
    [[nodiscard]] bool areBothSidesShown()
    {
        const Arrangement now = bench.arrangement();
        return now.sides[0] > 0 && now.sides[1] > 0 && now.left < 1;
    }
};

double difference(const Arrangement &a, const Arrangement &b)
{
    double most = std::abs(a.left - b.left);
    for (std::size_t i = 0; i < a.rows.size(); ++i)
        most = std::max(most, std::abs(a.rows[i] - b.rows[i]));
    for (std::size_t i = 0; i < a.sides.size(); ++i)
        most = std::max(most, std::abs(a.sides[i] - b.sides[i]));
    return most;
}

} // namespace

class ArrangementTest : public QObject {
    Q_OBJECT
private slots:
    void keysShowTheArrangementsOfTheProduct()
    {
        Arranging f;
        f.key(Qt::Key_1);
        QCOMPARE(f.actions.shown(), QStringLiteral("Design"));
        QVERIFY(f.bench.map->isVisible() && !f.bench.curves->isVisible() && f.bench.strategies->isVisible());
        f.key(Qt::Key_2);
        QVERIFY(!f.bench.map->isVisible() && f.bench.curves->isVisible() && f.bench.why->isVisible());
        f.key(Qt::Key_3);
        QVERIFY(f.bench.map->isVisible() && f.bench.details->isVisible() && !f.bench.strategies->isVisible());
        f.key(Qt::Key_4);
        QVERIFY(f.bench.map->isVisible() && f.bench.timeline->isVisible() && !f.bench.curves->isVisible());
        QVERIFY(!f.bench.strategies->isVisible() && !f.bench.why->isVisible() && !f.bench.details->isVisible());
        QVERIFY(f.window.commands().action("arrangement.present")->isChecked());
        QVERIFY(!f.window.commands().action("arrangement.design")->isChecked());
        f.key(Qt::Key_1);
        QVERIFY(f.bench.strategies->width() > 250 && !f.bench.strategies->visibleRegion().isEmpty());
    }
    /// In whatever arrangement, every panel is brought out by its command, with room to be seen.
    void noArrangementLosesAPanel()
    {
        Arranging f;
        for (const NamedArrangement &one : builtInArrangements())
            for (QWidget *panel : f.panels()) {
                QVERIFY(f.actions.show(one.name));
                f.bench.reveal(panel);
                QApplication::processEvents();
                QVERIFY2(panel->isVisible() && !panel->visibleRegion().isEmpty(),
                    qPrintable(one.name + QStringLiteral(": ") + panel->accessibleName()));
            }
        QVERIFY(f.actions.show(QStringLiteral("Present")));
        QVERIFY(f.window.commands().trigger("view.resetLayout"));
        QVERIFY(f.bench.map->isVisible() && f.bench.timeline->isVisible() && f.bench.curves->isVisible());
        QVERIFY(f.areBothSidesShown());
        QVERIFY(f.actions.shown().isEmpty());
    }
    void chartsThatWereEnlargedBringBackOnlyWhatWasThere()
    {
        Arranging f;
        f.key(Qt::Key_2); // no map
        f.bench.curves->setEnlarged(true);
        QVERIFY(!f.bench.timeline->isVisible());
        f.bench.curves->setEnlarged(false);
        QVERIFY(f.bench.timeline->isVisible());
        QVERIFY(!f.bench.map->isVisible());
    }
    void ownArrangementsAreSavedShownRenamedAndRemovedByKeyboardAlone()
    {
        Arranging f;
        f.key(Qt::Key_4);
        f.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
        ArrangementList &list = f.actions.list();
        QVERIFY(list.isVisible() && list.name->hasFocus());
        QTest::keyClicks(list.name, "Projector");
        QTest::keyClick(list.name, Qt::Key_Return);
        QVERIFY(!list.isVisible());
        QCOMPARE(f.actions.shown(), QStringLiteral("Projector"));
        f.key(Qt::Key_1);
        QVERIFY(f.bench.strategies->isVisible());
        f.key(Qt::Key_5); // the first of one's own
        QVERIFY(!f.bench.strategies->isVisible());
        QCOMPARE(f.actions.shown(), QStringLiteral("Projector"));

        f.key(Qt::Key_A, Qt::ControlModifier | Qt::ShiftModifier);
        QTest::keyClick(list.name, Qt::Key_Down);
        QVERIFY(list.entries->hasFocus());
        QTest::keyClick(list.entries, Qt::Key_End);
        QTest::keyClick(list.entries, Qt::Key_F2);
        auto *editor = list.entries->findChild<QLineEdit *>();
        QVERIFY(editor);
        editor->selectAll();
        QTest::keyClicks(editor, "Big screen");
        QTest::keyClick(editor, Qt::Key_Return);
        QApplication::processEvents();
        QCOMPARE(f.actions.store().own().front().name, QStringLiteral("Big screen"));
        QCOMPARE(f.actions.shown(), QStringLiteral("Big screen"));
        QVERIFY(list.isVisible());

        QTest::keyClick(list.entries, Qt::Key_End);
        QTest::keyClick(list.entries, Qt::Key_Delete);
        QApplication::processEvents();
        QVERIFY(f.actions.store().own().empty());
        QVERIFY(f.window.messages().answer(QStringLiteral("arrangement"), 0));
        QApplication::processEvents();
        QCOMPARE(f.actions.store().own().front().name, QStringLiteral("Big screen"));
        QCOMPARE(list.entries->count(), 5);
        QTest::keyClick(list.entries, Qt::Key_Home);
        QTest::keyClick(list.entries, Qt::Key_Delete); // those of the product stay
        QCOMPARE(list.entries->count(), 5);
        QTest::keyClick(list.entries, Qt::Key_Escape);
        QVERIFY(!list.isVisible());
    }
    void anArrangementIsTheSameInASmallerWindow()
    {
        Arranging f;
        f.key(Qt::Key_1);
        const Arrangement large = f.bench.arrangement();
        QVERIFY(difference(large, builtInArrangements().front().value) < 0.05);
        f.window.resize(1280, 720);
        QApplication::processEvents();
        QVERIFY(f.actions.show(QStringLiteral("Design")));
        QApplication::processEvents();
        const Arrangement small = f.bench.arrangement();
        QCOMPARE(small.upper, large.upper);
        QVERIFY2(difference(large, small) < 0.12, qPrintable(QString::number(difference(large, small))));
    }
    void theNextStartHasThePanelsAndTheNameOfTheLast()
    {
        Arranging f;
        f.key(Qt::Key_3);
        f.bench.reveal(f.bench.edits);
        const Arrangement left = f.bench.arrangement();
        f.document.undoStack().setClean();
        f.window.close();
        MainWindow next({ f.document, f.bridge, f.effects, builtinCatalogue() }, f.recent, f.answers);
        next.restorePlaces();
        next.show();
        QApplication::processEvents();
        QCOMPARE(next.arrangements().shown(), QStringLiteral("Run"));
        const Arrangement again = next.workbench().arrangement();
        QCOMPARE(again.upper, left.upper);
        QCOMPARE(again.lower, QStringLiteral("edits"));
        for (std::size_t i = 0; i < again.rows.size(); ++i) // the screen may be narrower than the window was
            QVERIFY2(std::abs(again.rows[i] - left.rows[i]) < 0.03, qPrintable(QString::number(again.rows[i])));
        QCOMPARE(again.sides, left.sides);
    }
    /// Layouts that earlier versions saved had no names of tabs and hid nothing.
    void aLayoutOfAnEarlierVersionIsRestored()
    {
        Arranging f;
        QByteArray state = f.bench.layoutState();
        QByteArray columns, left, right;
        QSize size;
        {
            QDataStream in(state);
            in >> columns >> left >> right >> size;
        }
        QByteArray old;
        {
            QDataStream out(&old, QIODevice::WriteOnly);
            out << columns << left << right << size;
        }
        f.key(Qt::Key_4);
        f.bench.restoreLayout(old);
        QApplication::processEvents();
        QVERIFY(f.bench.curves->isVisible() && f.areBothSidesShown());
    }
    void aGarbledLayoutChangesNothing()
    {
        Arranging f;
        const QByteArray state = f.bench.layoutState();
        for (const int length : { 0, 1, 7, 40 })
            f.bench.restoreLayout(state.left(length));
        QCOMPARE(f.bench.layoutState(), state);
    }
};

TRAINYARD_TEST(ArrangementTest)
#include "tst_arrangement.moc"
