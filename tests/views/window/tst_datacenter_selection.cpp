// SPDX-License-Identifier: GPL-3.0-or-later
// The datacenter panel in the whole window: it follows a drag, applies with one click, and undo takes it back.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "models/datacenter_ranking.h"
#include "views/panels/datacenter_panel.h"
#include "views/panels/datacenter_row.h"
#include "views/panels/hover_button.h"
#include "views/parts/text_line.h"

#include <algorithm>

using namespace trainyard;

namespace {

std::vector<DatacenterRow *> rowsOf(DatacenterPanel *panel)
{
    std::vector<DatacenterRow *> rows;
    for (DatacenterRow *row : panel->findChildren<DatacenterRow *>())
        if (row->isVisibleTo(panel))
            rows.push_back(row);
    return rows;
}

QStringList namesOf(DatacenterPanel *panel)
{
    QStringList names;
    for (const DatacenterRow *row : rowsOf(panel))
        names << row->nameLine()->text() + row->columns().rate->text();
    return names;
}

DatacenterRow *applicable(DatacenterPanel *panel)
{
    for (DatacenterRow *row : rowsOf(panel))
        if (row->applyButton()->isVisible() && row->applyButton()->isEnabled())
            return row;
    return nullptr;
}

} // namespace

class DatacenterSelectionTest : public QObject {
    Q_OBJECT
private slots:
    void anOptionIsAppliedWithOneClickAndTakenBack()
    {
        WindowFixture f;
        DatacenterPanel *panel = f.window.workbench().datacenters;
        QVERIFY(rowsOf(panel).empty()); // nobody looks
        f.window.workbench().reveal(panel);
        QTRY_VERIFY(applicable(panel));
        const PlanPtr before = f.document.plan();
        DatacenterRow *row = applicable(panel);
        const PlanPtr wanted = row->option().plan;
        const QString sentence = QString::fromStdString(row->option().sentence);
        const double seconds = row->option().seconds;
        QTest::mouseClick(row->applyButton(), Qt::LeftButton);
        QCOMPARE(f.document.plan(), wanted);
        QCOMPARE(f.document.undoStack().undoText(), sentence);
        f.settle();
        QCOMPARE(*f.bridge.evaluation()->metrics.iterationTime, seconds); // what was promised is what comes
        QTRY_VERIFY(std::ranges::any_of(
            rowsOf(panel), [&](DatacenterRow *r) { return r->option().isCurrent && r->option().plan == wanted; }));
        f.document.undoStack().undo();
        QCOMPARE(f.document.plan(), before);
    }

    void theRankingFollowsGpusInTheAir()
    {
        WindowFixture f;
        DatacenterPanel *panel = f.window.workbench().datacenters;
        f.window.workbench().reveal(panel);
        QTRY_VERIFY(applicable(panel));
        const QStringList before = namesOf(panel);
        const QPoint from = f.nodeAt(0, 23), to = f.titleOf(2);
        QTest::mousePress(f.map(), Qt::LeftButton, Qt::NoModifier, from);
        for (int step = 1; step <= 8; ++step)
            f.moveHeld(from + (to - from) * step / 8);
        QTRY_VERIFY(f.document.isPreviewing());
        QTRY_VERIFY(namesOf(panel) != before);
        QVERIFY(!applicable(panel)); // only tried
        QTest::keyClick(f.map(), Qt::Key_Escape);
        QTest::mouseRelease(f.map(), Qt::LeftButton, Qt::NoModifier, to);
        QTRY_COMPARE(namesOf(panel), before);
        QVERIFY(applicable(panel));
    }

    void anOptionUnderThePointerStaysWhereItIs()
    {
        WindowFixture f;
        DatacenterPanel *panel = f.window.workbench().datacenters;
        f.window.workbench().reveal(panel);
        QTRY_VERIFY(applicable(panel));
        const QStringList before = namesOf(panel);
        auto *button = applicable(panel)->applyButton();
        QEnterEvent enter(QPointF(2, 2), QPointF(2, 2), QPointF(2, 2));
        QApplication::sendEvent(button, &enter);
        QVERIFY(f.document.isPreviewing());
        f.settle();
        DatacenterRanking later(builtinCatalogue()); // when it has answered, the window's would have
        QSignalSpy ranked(&later, &DatacenterRanking::rankingChanged);
        later.setWatched(true);
        later.setPlan(f.document.shownPlan(), Urgency::Hover);
        QTRY_VERIFY_WITH_TIMEOUT(!ranked.isEmpty(), 30000);
        QCOMPARE(namesOf(panel), before);
        QEvent leave(QEvent::Leave);
        QApplication::sendEvent(button, &leave);
        QVERIFY(!f.document.isPreviewing());
    }

    void oneDatacenterSaysSo()
    {
        WindowFixture f(QStringLiteral("gpt3-175b-1024-a100"));
        DatacenterPanel *panel = f.window.workbench().datacenters;
        f.window.workbench().reveal(panel);
        QTRY_VERIFY(std::ranges::any_of(panel->findChildren<TextLine *>(),
            [](const TextLine *line) { return line->text().contains("one datacenter"); }));
        QVERIFY(rowsOf(panel).empty());
    }
};

TRAINYARD_TEST(DatacenterSelectionTest)
#include "tst_datacenter_selection.moc"
