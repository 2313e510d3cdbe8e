// SPDX-License-Identifier: GPL-3.0-or-later
// Which control a key and the wheel belong to, over the whole window and with real events: letters steer the timeline
// wherever no text is typed, a choice gives the focus back, and a wheel over a control that has no focus scrolls.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "views/panels/datacenter_panel.h"
#include "views/panels/effect_combo.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/panels/workload_editor.h"
#include "views/timeline/timeline_view.h"

#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QLineEdit>
#include <QWheelEvent>
#include <QWindow>

using namespace trainyard;

namespace {

struct KeysFixture : WindowFixture {
    KeysFixture()
    {
        window.activateWindow();
        [&] { QVERIFY(QTest::qWaitForWindowActive(&window)); }();
    }
    TimelineView &timeline() { return *window.workbench().timeline; }
    void press(Qt::Key key) { QTest::keyClick(window.windowHandle(), key); }
    EffectCombo *list(const char *group) { return window.workbench().strategies->row(group)->list(); }
    /// Chooses as a person does: a click on the list, the arrow keys, Enter.
    void choose(QComboBox *list, const QString &label)
    {
        QTest::mouseClick(list, Qt::LeftButton, {}, { list->width() - 10, list->height() / 2 });
        QTRY_VERIFY(list->view()->isVisible());
        QTest::keyClick(list->view(), Qt::Key_Home);
        for (int i = 0; i < list->count() && list->view()->currentIndex().data().toString() != label; ++i)
            QTest::keyClick(list->view(), Qt::Key_Down);
        QCOMPARE(list->view()->currentIndex().data().toString(), label);
        QTest::keyClick(list->view(), Qt::Key_Return);
        QTRY_VERIFY(!list->view()->isVisible());
        window.activateWindow(); // as the desktop does when the popup goes
        QVERIFY(QTest::qWaitForWindowActive(&window));
        settle();
    }
};

} // namespace

class KeysTest : public QObject {
    Q_OBJECT
private slots:
    void afterAChoiceTheLettersSteerTheTimeline()
    {
        KeysFixture f;
        f.choose(f.list("schedule"), QStringLiteral("GPipe"));
        const PlanPtr chosen = f.document.plan();
        f.press(Qt::Key_W);
        f.press(Qt::Key_W);
        const TimeInterval zoomed = f.timeline().visibleRange();
        f.press(Qt::Key_D);
        const TimeInterval moved = f.timeline().visibleRange();
        QVERIFY(moved.begin > zoomed.begin);
        f.press(Qt::Key_A);
        QVERIFY(f.timeline().visibleRange().begin < moved.begin);
        for (const Qt::Key key : { Qt::Key_S, Qt::Key_F, Qt::Key_C, Qt::Key_U, Qt::Key_I, Qt::Key_M, Qt::Key_P,
                 Qt::Key_Period, Qt::Key_Comma, Qt::Key_BracketLeft, Qt::Key_BracketRight })
            f.press(key);
        f.settle();
        QCOMPARE(f.document.plan(), chosen);
    }
    void aListReachedByTabIsNotChangedByLettersEither()
    {
        KeysFixture f;
        const PlanPtr before = f.document.plan();
        const TimeInterval whole = f.timeline().visibleRange();
        f.list("schedule")->setFocus(Qt::TabFocusReason);
        QVERIFY(f.list("schedule")->hasFocus());
        f.press(Qt::Key_W);
        f.press(Qt::Key_D);
        f.press(Qt::Key_A);
        QCOMPARE(f.document.plan(), before);
        QVERIFY(f.timeline().visibleRange() != whole);
    }
    void aChoiceWithTheMouseLeavesTheFocusWhereItWas()
    {
        KeysFixture f;
        f.timeline().setFocus();
        const QWidget *before = QApplication::focusWidget();
        f.choose(f.list("schedule"), QStringLiteral("GPipe"));
        QTRY_COMPARE(QApplication::focusWidget(), before);
        f.choose(f.list("tcp_connections"), QStringLiteral("64")); // a list that can be typed into
        QTRY_COMPARE(QApplication::focusWidget(), before);
    }
    void whatIsTypedIntoAFieldStaysThere()
    {
        KeysFixture f;
        const TimeInterval range = f.timeline().visibleRange();
        auto *field = f.list("tcp_connections")->lineEdit();
        QVERIFY(field);
        field->setFocus(Qt::TabFocusReason);
        field->selectAll();
        f.press(Qt::Key_W);
        f.press(Qt::Key_A);
        QCOMPARE(field->text(), QStringLiteral("wa"));
        QVERIFY(f.timeline().visibleRange() == range);
    }
    void theWheelChangesNoControlThatHasNoFocus()
    {
        KeysFixture f;
        Workbench &bench = f.window.workbench();
        int asked = 0;
        for (QWidget *panel : { static_cast<QWidget *>(bench.strategies), static_cast<QWidget *>(bench.workload),
                 static_cast<QWidget *>(bench.datacenters) }) {
            bench.reveal(panel);
            bench.map->setFocus();
            const PlanPtr before = f.document.plan();
            for (QWidget *control : panel->findChildren<QWidget *>()) {
                if (!control->isVisible()
                    || (!qobject_cast<QComboBox *>(control) && !qobject_cast<QAbstractSpinBox *>(control)))
                    continue;
                const QPoint at = control->rect().center();
                QWheelEvent event(at, control->mapToGlobal(at), {}, { 0, -120 }, Qt::NoButton, Qt::NoModifier,
                    Qt::NoScrollPhase, false);
                QApplication::sendEvent(control, &event);
                ++asked;
            }
            QApplication::processEvents();
            QCOMPARE(f.document.plan(), before);
        }
        QVERIFY(asked > 20);
    }
    void aDoubleClickTakesTheWholeNumber()
    {
        KeysFixture f;
        f.window.workbench().reveal(f.window.workbench().workload);
        QAbstractSpinBox *box = nullptr;
        for (auto *found : f.window.workbench().workload->findChildren<QAbstractSpinBox *>())
            if (found->isVisible() && found->text().contains(u','))
                box = found; // "8,192": two words to the toolkit
        QVERIFY(box);
        auto *field = box->findChild<QLineEdit *>();
        QTest::mouseDClick(field, Qt::LeftButton, {}, { 8, field->height() / 2 });
        QCOMPARE(field->selectedText(), field->text());
    }
    void thePageBehindIsNotSteered()
    {
        KeysFixture f;
        f.press(Qt::Key_W);
        const TimeInterval range = f.timeline().visibleRange();
        f.window.showValidation();
        f.press(Qt::Key_W);
        f.press(Qt::Key_D);
        QVERIFY(f.timeline().visibleRange() == range);
    }
};

TRAINYARD_TEST(KeysTest)
#include "tst_keys.moc"
