// SPDX-License-Identifier: GPL-3.0-or-later
// The plan as opened is the baseline, so that differences stay; every edit is listed with what it cost and gained, and
// a click goes back to it.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "core/facts/plan/plan_io.h"
#include "models/edit_history.h"
#include "views/cluster/editors/form_popover.h"
#include "views/panels/edits_panel.h"
#include "views/panels/evidence_table.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/theme/switch_button.h"
#include "views/timeline/timeline_view.h"

using namespace trainyard;

namespace {

struct EditsFixture : WindowFixture {
    void change(const std::function<void(Plan &)> &how, const QString &text)
    {
        Plan next = *document.plan();
        how(next);
        document.apply(std::make_shared<const Plan>(std::move(next)), text);
        settle();
    }
    QAbstractItemView *table() { return window.workbench().edits->table(); }
    QString cell(int row, int column) { return table()->model()->index(row, column).data().toString(); }
};

} // namespace

class EditsTest : public QObject {
    Q_OBJECT
private slots:
    void thePlanAsOpenedIsTheBaseline()
    {
        EditsFixture f;
        QVERIFY(f.bridge.baseline() && f.bridge.isBaselineOpening());
        QCOMPARE(f.bridge.baseline()->plan, f.document.plan());
        QVERIFY(!f.numbers().contains(u'+')); // nothing differs from itself
        f.change([](Plan &p) { p.cluster.wanLinks[0].rttMs *= 3; }, "Slower");
        QVERIFY(f.numbers().section(u'\n', 0, 0).contains(u'+'));
        const QString after = f.numbers();
        f.change([](Plan &p) { p.name = "Another name"; }, "Name");
        QCOMPARE(f.numbers(), after); // the differences stay
    }
    void whileAValueIsTriedTheDifferencesAreToThePlanBefore()
    {
        EditsFixture f;
        f.change([](Plan &p) { p.cluster.wanLinks[0].rttMs *= 3; }, "Slower");
        f.document.preview(std::make_shared<const Plan>(*f.document.plan()), "The same");
        f.settle();
        QVERIFY(!f.numbers().section(u'\n', 0, 0).contains(u'+'));
        f.document.endPreview();
        f.settle();
        QVERIFY(f.numbers().section(u'\n', 0, 0).contains(u'+'));
    }
    void aPinnedBaselineStaysUntilAnotherPlanIsOpened()
    {
        EditsFixture f;
        f.change([](Plan &p) { p.cluster.wanLinks[0].rttMs *= 3; }, "Slower");
        QVERIFY(f.window.commands().trigger("plan.pinBaseline"));
        QVERIFY(!f.bridge.isBaselineOpening());
        const EvaluationPtr pinned = f.bridge.baseline();
        f.change([](Plan &p) { p.cluster.wanLinks[0].rttMs /= 3; }, "Faster");
        QCOMPARE(f.bridge.baseline(), pinned);
        f.document.openAsNew(WindowFixture::samplePath("gpt3-175b-1024-a100"));
        QTRY_VERIFY(f.bridge.isBaselineOpening());
        QCOMPARE(f.bridge.baseline()->plan, f.document.plan());
    }
    void everyEditIsListedWithWhatItCostAndGained()
    {
        EditsFixture f;
        QVERIFY(f.window.commands().trigger("view.edits"));
        QCOMPARE(f.table()->model()->rowCount(), 1);
        const double opened = *f.bridge.settled()->metrics.iterationTime;
        f.change([](Plan &p) { p.cluster.wanLinks[0].rttMs *= 3; }, "Slower");
        const double slower = *f.bridge.settled()->metrics.iterationTime;
        QCOMPARE(f.table()->model()->rowCount(), 2);
        QCOMPARE(f.cell(0, 0), QStringLiteral("Opened"));
        QCOMPARE(f.cell(1, 0), QStringLiteral("Slower"));
        // change = iteration after ÷ iteration before − 1
        const QString change = f.window.workbench().edits->toTsv().split(u'\n')[2].section(u'\t', 2, 2);
        QVERIFY(std::abs(change.toDouble() - (slower / opened - 1)) < 1e-6);
        QVERIFY(f.cell(1, 2).startsWith(u'+'));
    }
    void aClickGoesBackAndAnotherForthAgain()
    {
        EditsFixture f;
        const PlanPtr opened = f.document.plan();
        QVERIFY(f.window.commands().trigger("view.edits"));
        f.change([](Plan &p) { p.cluster.wanLinks[0].rttMs *= 3; }, "Slower");
        f.change([](Plan &p) { p.workload.globalBatch *= 2; }, "Larger");
        const PlanPtr last = f.document.plan();
        const auto click = [&](int row) {
            QTest::mouseClick(f.table()->viewport(), Qt::LeftButton, {},
                f.table()->visualRect(f.table()->model()->index(row, 0)).center());
            f.settle();
        };
        click(0);
        QCOMPARE(f.document.plan(), opened);
        QCOMPARE(f.table()->model()->rowCount(), 3);
        click(2);
        QCOMPARE(f.document.plan(), last);
    }
    void anEditThatWasTriedBeforeItWasMadeHasItsFiguresAtOnce()
    {
        EditsFixture f;
        QVERIFY(f.window.commands().trigger("view.edits"));
        Plan next = *f.document.plan();
        next.cluster.wanLinks[0].rttMs *= 3;
        const PlanPtr tried = std::make_shared<const Plan>(std::move(next));
        f.document.preview(tried, "Slower");
        f.settle();
        f.document.apply(tried, "Slower"); // evaluated already: the answer comes within this call
        QVERIFY2(f.cell(0, 1).endsWith(QStringLiteral(" s")), qPrintable(f.cell(0, 1)));
        QVERIFY2(f.cell(1, 1).endsWith(QStringLiteral(" s")), qPrintable(f.cell(1, 1)));
        QVERIFY(f.cell(1, 2).startsWith(u'+'));
    }
    void aStrategyChosenBesideAnOpenFormKeepsWhatStandsInIt()
    {
        EditsFixture f;
        QApplication::setActiveWindow(&f.window);
        f.map()->edit({ MapItem::Kind::Link, -1, -1, 0, 0, 0 });
        QTest::keyClicks(QApplication::focusWidget(), "61");
        QVERIFY(f.document.plan()->cluster.wanLinks[0].rttMs != 61);
        QTest::mouseClick(f.window.workbench().strategies->row("bubble_fill")->toggle(), Qt::LeftButton);
        QVERIFY(!f.map()->editor());
        QVERIFY(f.document.plan()->bubbleFill.enabled);
        QCOMPARE(f.document.plan()->cluster.wanLinks[0].rttMs, 61.0);
        QCOMPARE(f.document.undoStack().count(), 2);
    }
    void savingKeepsWhatStandsInAnOpenForm()
    {
        EditsFixture f;
        QApplication::setActiveWindow(&f.window);
        f.answers.save = f.folder.filePath("saved.trainyard.json");
        f.map()->edit({ MapItem::Kind::Link, -1, -1, 0, 0, 0 });
        QTest::keyClicks(QApplication::focusWidget(), "61");
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_S, Qt::ControlModifier);
        QTRY_VERIFY(QFile::exists(f.answers.save));
        const auto read = readPlan(f.answers.save.toStdString());
        QVERIFY(read);
        QCOMPARE(read->cluster.wanLinks[0].rttMs, 61.0);
    }
    void aFormNeverFloatsOverAnotherPage()
    {
        EditsFixture f;
        QApplication::setActiveWindow(&f.window);
        const PlanPtr before = f.document.plan();
        f.map()->edit({ MapItem::Kind::Link, -1, -1, 0, 0, 0 });
        QTest::keyClicks(QApplication::focusWidget(), "0"); // cannot be taken: it would wait to be mended
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_N, Qt::ControlModifier);
        QVERIFY(!f.window.isWorkbenchShown());
        QVERIFY(!f.map()->editor());
        QCOMPARE(f.document.plan(), before);
    }
    void stepsThatPassedTooFastAreCaughtUpOn()
    {
        EditsFixture f;
        QVERIFY(f.window.commands().trigger("view.edits"));
        for (const double factor : { 2., 3., 4. }) { // without waiting for any evaluation
            Plan next = *f.document.plan();
            next.cluster.wanLinks[0].rttMs *= factor;
            f.document.apply(std::make_shared<const Plan>(std::move(next)), QString::number(factor));
        }
        QTRY_VERIFY_WITH_TIMEOUT(f.cell(1, 1).endsWith(QStringLiteral(" s"))
                && f.cell(2, 1).endsWith(QStringLiteral(" s")) && f.cell(3, 1).endsWith(QStringLiteral(" s")),
            20000);
    }
};

TRAINYARD_TEST(EditsTest)
#include "tst_edits.moc"
