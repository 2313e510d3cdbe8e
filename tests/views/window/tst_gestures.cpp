// SPDX-License-Identifier: GPL-3.0-or-later
// The main job in the whole window: GPUs dragged between datacenters, by mouse and by keyboard.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "views/plots/curve_plot.h"
#include "views/plots/curves_panel.h"
#include "views/timeline/timeline_view.h"
#include "views/window/status_line.h"

#include <algorithm>
#include <numeric>

using namespace trainyard;

namespace {

int gpusIn(const PlanPtr &plan, int datacenter)
{
    return plan->cluster.datacenters[std::size_t(datacenter)].gpus();
}

/// Name and value of every number, without differences.
QStringList values(const QString &tsv)
{
    QStringList all;
    for (const QString &line : tsv.split('\n', Qt::SkipEmptyParts))
        all << line.section('\t', 0, 1);
    return all;
}

/// What the timeline and the curves below it show.
struct Drawn {
    PlanPtr plan;
    Nanoseconds duration;
    QString utilization;
};

Drawn drawn(WindowFixture &f)
{
    const EvaluationPtr shown = f.window.workbench().timeline->evaluation();
    CurvePlot *utilization = f.window.workbench().curves->plot(CurvesPanel::Tab::Utilization);
    (void)utilization->chart(); // draws what waits to be drawn
    return { shown->plan, shown->timeline.duration, utilization->toTsv() };
}

} // namespace

class GesturesTest : public QObject {
    Q_OBJECT
private slots:
    void aNodeDraggedToAnotherIslandChangesTheNumbersInTheAirAndOnTheGround()
    {
        WindowFixture f;
        const PlanPtr before = f.document.plan();
        const QString numbersBefore = f.numbers();
        const Drawn drawnBefore = drawn(f);
        const QPoint from = f.nodeAt(0, 23), to = f.titleOf(2);
        QTest::mousePress(f.map(), Qt::LeftButton, Qt::NoModifier, from);
        for (int step = 1; step <= 8; ++step)
            f.moveHeld(from + (to - from) * step / 8);
        QVERIFY(f.document.isPreviewing());
        f.settle();
        const QString numbersInTheAir = f.numbers();
        QVERIFY(values(numbersInTheAir) != values(numbersBefore));
        const Drawn drawnInTheAir = drawn(f);
        QCOMPARE(drawnInTheAir.plan, f.document.shownPlan());
        QVERIFY(drawnInTheAir.duration != drawnBefore.duration);
        QVERIFY(drawnInTheAir.utilization != drawnBefore.utilization);
        QCOMPARE(f.document.plan(), before);
        QVERIFY2(
            f.window.workbench().status->text().contains("8 GPUs"), qPrintable(f.window.workbench().status->text()));

        QTest::mouseRelease(f.map(), Qt::LeftButton, Qt::NoModifier, to);
        f.settle();
        QVERIFY(!f.document.isPreviewing());
        QCOMPARE(gpusIn(f.document.plan(), 0), gpusIn(before, 0) - 8);
        QCOMPARE(gpusIn(f.document.plan(), 2), gpusIn(before, 2) + 8);
        QCOMPARE(values(f.numbers()), values(numbersInTheAir));
        QCOMPARE(drawn(f).plan, f.document.plan());
        QCOMPARE(drawn(f).duration, drawnInTheAir.duration);
        QCOMPARE(drawn(f).utilization, drawnInTheAir.utilization);
        QCOMPARE(f.document.undoStack().undoText(), QStringLiteral("Move 8 GPUs Virginia → Oregon"));

        const PlanPtr moved = f.document.plan();
        const QString numbersMoved = f.numbers();
        QVERIFY(f.window.commands().trigger("edit.undo"));
        f.settle();
        QCOMPARE(f.document.plan(), before);
        QCOMPARE(f.numbers(), numbersBefore);
        QVERIFY(f.window.commands().trigger("edit.redo"));
        f.settle();
        QCOMPARE(f.document.plan(), moved);
        QCOMPARE(f.numbers(), numbersMoved);
        QCOMPARE(drawn(f).utilization, drawnInTheAir.utilization);
    }
    void escapePutsADragBack()
    {
        WindowFixture f;
        const PlanPtr before = f.document.plan();
        const QString numbersBefore = f.numbers();
        const QPoint from = f.nodeAt(0, 23), to = f.titleOf(2);
        QTest::mousePress(f.map(), Qt::LeftButton, Qt::NoModifier, from);
        f.moveHeld(from + (to - from) / 2);
        f.moveHeld(to);
        f.settle();
        QTest::keyClick(f.map(), Qt::Key_Escape);
        f.settle();
        QTest::mouseRelease(f.map(), Qt::LeftButton, Qt::NoModifier, to);
        QCOMPARE(f.document.plan(), before);
        QCOMPARE(f.document.undoStack().count(), 0);
        QCOMPARE(f.numbers(), numbersBefore);
    }
    void theSameByKeyboard()
    {
        WindowFixture f;
        const PlanPtr before = f.document.plan();
        const QString numbersBefore = f.numbers();
        QVERIFY(f.window.commands().trigger("view.map"));
        QTest::keyClick(f.map(), Qt::Key_Tab);
        QTest::keyClick(f.map(), Qt::Key_Space);
        for (const Qt::Key key : { Qt::Key_Left, Qt::Key_Up, Qt::Key_Right, Qt::Key_Down }) {
            if (!f.document.isPreviewing())
                QTest::keyClick(f.map(), key);
        }
        QVERIFY(f.document.isPreviewing());
        QTest::keyClicks(f.map(), "8");
        f.settle();
        QVERIFY(values(f.numbers()) != values(numbersBefore));
        QCOMPARE(drawn(f).plan, f.document.shownPlan());
        QTest::keyClick(f.map(), Qt::Key_Return);
        f.settle();
        QCOMPARE(f.document.undoStack().count(), 1);
        std::vector<int> changes;
        for (int i = 0; i < int(before->cluster.datacenters.size()); ++i)
            changes.push_back(gpusIn(f.document.plan(), i) - gpusIn(before, i));
        std::ranges::sort(changes);
        QCOMPARE(changes.front(), -8);
        QCOMPARE(changes.back(), 8);
        QCOMPARE(std::accumulate(changes.begin(), changes.end(), 0), 0);
        QVERIFY(f.window.commands().trigger("edit.undo"));
        f.settle();
        QCOMPARE(f.document.plan(), before);
        QCOMPARE(f.numbers(), numbersBefore);
    }
    void aPinnedBaselineGivesEveryNumberItsDifference()
    {
        WindowFixture f;
        QVERIFY(f.window.commands().trigger("plan.pinBaseline"));
        Plan next = *f.document.plan();
        next.workload.globalBatch *= 2;
        f.document.apply(std::make_shared<const Plan>(next));
        f.settle();
        QVERIFY(f.numbers().section('\n', 0, 0).section('\t', 2).contains("%"));
        QVERIFY(f.window.commands().trigger("plan.restoreBaseline"));
        f.settle();
        QVERIFY(f.numbers().section('\n', 0, 0).section('\t', 2).isEmpty());
        QVERIFY(f.window.commands().trigger("plan.clearBaseline"));
        QVERIFY(!f.window.commands().trigger("plan.clearBaseline"));
    }
    void aBaselineIsOfThePlanThatIsOpen()
    {
        WindowFixture f;
        QVERIFY(f.window.commands().trigger("plan.pinBaseline"));
        f.document.openAsNew(WindowFixture::samplePath("mixed-lab"));
        f.settle();
        QTRY_VERIFY(f.bridge.baseline() && f.bridge.baseline()->plan == f.document.plan());
        QVERIFY(f.numbers().section('\n', 0, 0).section('\t', 2).isEmpty());
    }
};

TRAINYARD_TEST(GesturesTest)
#include "tst_gestures.moc"
