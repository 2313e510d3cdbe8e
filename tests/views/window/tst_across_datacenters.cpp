// SPDX-License-Identifier: GPL-3.0-or-later
// The three-region sample in a whole window: a datacenter is dragged, switches are flipped, and every number follows.
#include "tests/support/test_program.h"
#include "views/panels/effect_combo.h"
#include "views/panels/number_card.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/theme/switch_button.h"
#include "window_fixture.h"

#include <QAbstractItemView>
#include <QLineEdit>
#include <QMouseEvent>

using namespace trainyard;

class AcrossDatacentersTest : public QObject {
    Q_OBJECT

    static double rttOf(const Plan &plan, int link) { return plan.cluster.wanLinks[std::size_t(link)].rttMs; }

private slots:
    void draggingADatacenterMovesItsRoundTripsAndTheNumbersFollow()
    {
        WindowFixture w;
        const PlanPtr before = w.document.plan();
        const double iteration = *w.bridge.evaluation()->metrics.iterationTime;
        const int ohio = before->cluster.indexOf("ohio");
        const QRectF frame = w.map()->mapLayout().islands[std::size_t(ohio)].frame;
        const QPoint title = frame.topLeft().toPoint() + QPoint(30, 8);
        QTest::mousePress(w.map(), Qt::LeftButton, {}, title);
        for (int step = 1; step <= 4; ++step)
            w.moveHeld(title + QPoint(0, 14 * step));
        QVERIFY(w.document.isPreviewing());
        w.settle();
        const Plan &shown = *w.document.shownPlan();
        bool moved = false;
        for (int l = 0; l < int(shown.cluster.wanLinks.size()); ++l)
            moved = moved || rttOf(shown, l) != rttOf(*before, l);
        QVERIFY(moved);
        QVERIFY(*w.bridge.evaluation()->metrics.iterationTime != iteration);
        QTest::mouseRelease(w.map(), Qt::LeftButton, {}, title + QPoint(0, 56));
        w.settle();
        QCOMPARE(w.document.undoStack().count(), 1);
        QVERIFY2(
            w.document.undoStack().undoText().startsWith("Move Ohio "), qPrintable(w.document.undoStack().undoText()));
        w.document.undoStack().undo();
        w.settle();
        QCOMPARE(*w.document.plan(), *before);
        QCOMPARE(*w.bridge.evaluation()->metrics.iterationTime, iteration);
    }

    void typingConnectionsAnswersInTheNumbers()
    {
        WindowFixture w;
        const QString before = w.numbers();
        QLineEdit *line = w.window.workbench().strategies->row("tcp_connections")->list()->lineEdit();
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, QStringLiteral("1"));
        QTest::keyClick(line, Qt::Key_Return);
        w.settle();
        QCOMPARE(w.document.plan()->wan.tcpConnections, std::optional<int>(1));
        QVERIFY(w.numbers() != before);
    }

    void fillingBubblesLeavesTrainingAlone()
    {
        WindowFixture w;
        const double iteration = *w.bridge.evaluation()->metrics.iterationTime;
        QTest::mouseClick(w.window.workbench().strategies->row("bubble_fill")->toggle(), Qt::LeftButton);
        w.settle();
        QVERIFY(w.document.plan()->bubbleFill.enabled);
        QCOMPARE(*w.bridge.evaluation()->metrics.iterationTime, iteration);
    }
};

TRAINYARD_TEST(AcrossDatacentersTest)
#include "tst_across_datacenters.moc"
