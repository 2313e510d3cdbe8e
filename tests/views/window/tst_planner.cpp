// SPDX-License-Identifier: GPL-3.0-or-later
// The planner in the whole window, with real widgets and events: it searches, is stopped, a candidate is tried, left,
// adopted and undone; steps are applied; strategies are pinned; worlds are ticked.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "tests/support/plans.h"
#include "tests/support/small_search.h"
#include "views/panels/evidence_table.h"
#include "views/panels/pin_button.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/parts/text_line.h"
#include "views/planner/candidate_card.h"
#include "views/planner/limit_row.h"
#include "views/planner/planner_form.h"
#include "views/planner/planner_page.h"
#include "views/planner/search_scatter.h"
#include "views/planner/step_list.h"
#include "views/planner/trial_strip.h"
#include "views/window/planner_actions.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QPushButton>
#include <QTabBar>
#include <QToolButton>

#include <algorithm>

using namespace trainyard;

namespace {

struct Engine {
    test::SmallSearch engine; // first: the window's search uses it until it ends
};

struct PlannerWindow : Engine, WindowFixture {
    PlannerActions &actions = window.plannerActions();
    PlanSearch &search = actions.search();
    PlannerPage &page = actions.page();
    TrialStrip &strip = actions.strip();

    explicit PlannerWindow(Plan plan = test::oneSite(1, 1), QSize size = { 1440, 900 })
        : WindowFixture(QStringLiteral("cephalo-lab"))
    {
        window.resize(size);
        search.setEngine(engine.engine());
        plan.name = "One site";
        document.startNew(std::make_shared<const Plan>(std::move(plan)));
        settle();
        window.activateWindow();
        [&] { QVERIFY(QTest::qWaitForWindowActive(&window)); }();
    }
    void open() { QVERIFY(window.commands().trigger("view.planner")); }
    void waitForEnd()
    {
        QTRY_VERIFY_WITH_TIMEOUT(search.state() != PlanSearch::State::Searching, 30000);
        QApplication::processEvents();
    }
    void find()
    {
        open();
        QTest::mouseClick(page.run, Qt::LeftButton);
        waitForEnd();
    }
    [[nodiscard]] int best() const { return int(search.best().front()); }
    [[nodiscard]] QPoint pointOf(int row)
    {
        page.scatter->showAll();
        const auto at = page.scatter->positionOf(row);
        return at ? at->toPoint() : QPoint();
    }
    void tryBest()
    {
        QTest::mouseDClick(page.scatter, Qt::LeftButton, {}, pointOf(best()));
        settle();
    }
};

} // namespace

class PlannerTest : public QObject {
    Q_OBJECT
private slots:
    /// Down the form, then to the right, as the page is read.
    void tabGoesThroughThePageAsItIsRead()
    {
        PlannerWindow w(test::threeSites(1, 3), { 1280, 720 });
        w.find();
        QTRY_VERIFY_WITH_TIMEOUT(w.search.steps() && w.search.steps()->isComplete, 30000);
        w.page.form->objective->setFocus();
        QList<QWidget *> visited;
        QWidget *last = w.page.candidate->adopt;
        for (int i = 0; i < 60 && !visited.contains(last); ++i) {
            visited << QApplication::focusWidget();
            QVERIFY(!visited.back()->visibleRegion().isEmpty() || visited.back() == w.page.scatter); // scrolled to
            QTest::keyClick(visited.back(), Qt::Key_Tab);
        }
        const QList<QWidget *> expected { w.page.form->objective, w.page.form->budget->box, w.page.form->margin->box,
            w.page.form->trainOtherwise, w.page.form->datacenters().front(), w.page.form->robustness,
            w.page.form->scenarios().front(), w.page.form->seconds->box, w.page.form->seed->box, w.page.run,
            w.page.scatter, w.page.best, w.page.candidate->tryIt, last };
        QList<QWidget *> met;
        for (QWidget *widget : visited)
            if (expected.contains(widget))
                met << widget;
        QCOMPARE(met, expected);
        QCOMPARE(w.page.form->objective->accessibleName(), QStringLiteral("Objective"));
    }

    void aFieldThatIsEmptiedHasNoLimit()
    {
        PlannerWindow w;
        w.open();
        QDoubleSpinBox *box = w.page.form->budget->box;
        const auto type = [box](const QString &text) {
            box->setFocus();
            box->selectAll();
            QTest::keyClick(box, Qt::Key_Backspace);
            QTest::keyClicks(box, text);
            QTest::keyClick(box, Qt::Key_Return);
        };
        type(QStringLiteral("500"));
        QCOMPARE(w.search.settings().mostUsdPerHour, std::optional(500.0));
        type(QString());
        QCOMPARE(w.search.settings().mostUsdPerHour, std::nullopt);
        type(QStringLiteral("1,5")); // as many write one and a half
        QCOMPARE(w.search.settings().mostUsdPerHour, std::optional(1.5));
        type(QStringLiteral("1,500"));
        QCOMPARE(w.search.settings().mostUsdPerHour, std::optional(1500.0));
        w.page.form->margin->box->setFocus();
        QTest::keyClicks(w.page.form->margin->box, QStringLiteral("12"));
        QTest::keyClick(w.page.form->margin->box, Qt::Key_Return);
        w.page.form->margin->box->selectAll();
        QTest::keyClick(w.page.form->margin->box, Qt::Key_Backspace);
        QTest::keyClick(w.page.form->margin->box, Qt::Key_Return);
        QCOMPARE(w.search.settings().memoryMargin, std::nullopt);
    }

    void withoutADatacenterThereIsNothingToSearch()
    {
        PlannerWindow w;
        w.open();
        for (QCheckBox *box : w.page.form->datacenters())
            box->click();
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        QCOMPARE(w.search.state(), PlanSearch::State::Refused);
        QVERIFY2(w.page.resultLine().contains(QStringLiteral("no datacenter")), qPrintable(w.page.resultLine()));
        QCOMPARE(w.engine.asked.load(), 0);
        w.page.form->datacenters().front()->click();
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        w.waitForEnd();
        QVERIFY(!w.search.best().empty());
    }

    void whatThePlanIsNowIsNeitherTriedNorAdopted()
    {
        PlannerWindow w;
        w.find();
        w.page.candidate->setRow(w.best());
        QVERIFY(w.page.candidate->adopt->isEnabled());
        QTest::mouseClick(w.page.candidate->adopt, Qt::LeftButton);
        QVERIFY(!w.page.candidate->adopt->isEnabled() && !w.page.candidate->tryIt->isEnabled());
        QVERIFY2(w.page.best->toTsv().contains(QStringLiteral("Nothing: it is your plan")),
            qPrintable(w.page.best->toTsv()));
        w.document.undoStack().undo();
        QVERIFY(w.page.candidate->adopt->isEnabled());
    }

    void beforeTheFirstSearchItSaysWhatItDoes()
    {
        PlannerWindow w;
        QVERIFY(!w.window.commands().action("view.planner")->shortcut().isEmpty());
        w.open();
        QVERIFY(w.page.isVisible() && !w.window.isWorkbenchShown());
        QVERIFY(w.page.invite->isVisible());
        QVERIFY(w.page.resultLine().contains(QStringLiteral("thousands of settings")));
        QVERIFY(!w.page.scatter->isVisible());
        QTest::keyClick(&w.page, Qt::Key_Escape);
        QVERIFY(w.window.isWorkbenchShown());
    }

    void thePaletteLetsItSearch()
    {
        PlannerWindow w;
        QCOMPARE(w.window.commands().action("planner.search")->text().remove(u'&'), QStringLiteral("Let it search"));
        QVERIFY(w.window.commands().trigger("planner.search"));
        QVERIFY(w.page.isVisible());
        w.waitForEnd();
        QCOMPARE(w.engine.asked.load(), 1);
        QVERIFY(!w.search.best().empty());
    }

    void candidatesGrowWhileItSearchesAndTheWindowGoesOn()
    {
        PlannerWindow w;
        w.engine.mayRun = 2;
        w.open();
        QTest::mouseClick(w.page.invite, Qt::LeftButton);
        QTRY_COMPARE(w.page.scatter->points(), 2 * w.engine.round);
        QCOMPARE(w.page.run->text(), QStringLiteral("Stop"));
        QVERIFY(w.page.progressLine().contains(QStringLiteral("combinations scored")));
        QVERIFY(w.page.scatter->isVisible());
        // An edit is evaluated as ever meanwhile.
        Plan edited = *w.document.plan();
        edited.workload.sequenceLength /= 2;
        w.document.apply(std::make_shared<const Plan>(edited));
        w.settle();
        QVERIFY(w.page.noteLine().contains(QStringLiteral("edited")));
        w.engine.mayRun = 1 << 20;
        w.waitForEnd();
        QCOMPARE(std::uint64_t(w.page.scatter->points()), w.search.result()->space->size());
        QVERIFY(w.page.noteLine().contains(QStringLiteral("earlier plan")));
        QCOMPARE(w.page.run->text(), QStringLiteral("Search again"));
    }

    void stoppedItKeepsTheBest()
    {
        PlannerWindow w;
        w.engine.mayRun = 4;
        w.open();
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        QTRY_COMPARE(w.search.rows().size(), 4 * w.engine.round);
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        w.waitForEnd();
        QVERIFY(w.page.resultLine().startsWith(QStringLiteral("Stopped.")));
        QVERIFY(!w.search.best().empty());
        QCOMPARE(w.page.candidate->row(), w.best()); // chosen of itself
        QVERIFY(w.page.best->model()->rowCount() > 0);
    }

    void aCandidateIsTriedAndLeftWithoutAStepToUndo()
    {
        PlannerWindow w;
        w.find();
        const PlanPtr own = w.document.plan();
        const QString numbers = w.numbers();
        w.tryBest();
        QVERIFY(w.window.isWorkbenchShown() && w.strip.isVisible());
        QCOMPARE(*w.document.shownPlan(), *w.search.planOf(std::size_t(w.best())));
        QCOMPARE(w.document.plan(), own);
        QVERIFY(!w.document.undoStack().canUndo());
        QVERIFY(w.numbers() != numbers); // the whole window shows it
        QVERIFY(!w.strip.text().isEmpty());
        // A switch that is only hovered comes back to the tried plan, not to the document's.
        const PlanPtr tried = w.document.shownPlan();
        w.document.preview(own, QStringLiteral("hovered"));
        w.document.endPreview();
        QCOMPARE(w.document.shownPlan(), tried);
        w.settle();
        QTest::keyClick(w.map(), Qt::Key_Escape);
        QVERIFY(!w.strip.isVisible() && !w.document.trial());
        w.settle();
        QCOMPARE(w.document.shownPlan(), own);
        QVERIFY(!w.document.undoStack().canUndo());
        QVERIFY(w.page.isVisible()); // where it was tried from
        QCOMPARE(w.page.candidate->row(), w.best());
    }

    void backIsTheButtonOfEscape()
    {
        PlannerWindow w;
        w.find();
        QTest::mouseClick(w.page.candidate->tryIt, Qt::LeftButton);
        w.settle();
        QVERIFY(w.strip.isVisible());
        QTest::mouseClick(w.strip.back, Qt::LeftButton);
        QVERIFY(!w.document.trial() && w.page.isVisible());
    }

    void adoptedItIsOneStepAndUndoBringsTheOldPlanBack()
    {
        PlannerWindow w;
        w.find();
        const PlanPtr own = w.document.plan();
        w.tryBest();
        const PlanPtr tried = w.document.shownPlan();
        QTest::mouseClick(w.strip.adopt, Qt::LeftButton);
        w.settle();
        QVERIFY(!w.strip.isVisible());
        QCOMPARE(*w.document.plan(), *tried);
        QCOMPARE(w.document.undoStack().count(), 1);
        QVERIFY(w.document.undoStack().undoText().startsWith(QStringLiteral("Planner: ")));
        // What was found is what the engine says of it now.
        QCOMPARE(*w.bridge.evaluation()->metrics.iterationTime, w.search.rows()[std::size_t(w.best())].seconds);
        w.open();
        QVERIFY(w.page.noteLine().contains(QStringLiteral("earlier plan")));
        // what stands at the top is about the plan as it is now, too
        QVERIFY2(w.page.resultLine().startsWith(QStringLiteral("Your plan is the best of this search")),
            qPrintable(w.page.resultLine()));
        QVERIFY(w.window.commands().trigger("edit.undo"));
        w.settle();
        QCOMPARE(w.document.plan(), own);
        QVERIFY(w.page.noteLine().isEmpty() || !w.page.noteLine().contains(QStringLiteral("earlier")));
        QVERIFY(!w.page.resultLine().contains(QStringLiteral("best of this search")));
    }

    void anEditEndsATrial()
    {
        PlannerWindow w;
        w.find();
        w.tryBest();
        Plan edited = *w.document.plan();
        edited.workload.globalBatch *= 2;
        w.document.apply(std::make_shared<const Plan>(edited));
        QVERIFY(!w.document.trial() && !w.strip.isVisible());
        QCOMPARE(*w.document.plan(), edited);
    }

    void theBestIsAdoptedFromItsCard()
    {
        PlannerWindow w;
        w.find();
        const PlanPtr best = w.search.planOf(std::size_t(w.best()));
        QTest::mouseClick(w.page.candidate->adopt, Qt::LeftButton);
        w.settle();
        QCOMPARE(*w.document.plan(), *best);
        QCOMPARE(w.document.undoStack().count(), 1);
    }

    void everyStepSaysWhatItBuysAndIsApplied()
    {
        PlannerWindow w;
        w.find();
        const auto &list = w.search.steps();
        QTRY_VERIFY_WITH_TIMEOUT(list && list->isComplete, 30000);
        const std::vector<SearchStepRow *> rows = w.page.candidate->steps->steps();
        QCOMPARE(rows.size(), list->list.size());
        QVERIFY(!rows.empty());
        for (const SearchStepRow *row : rows)
            QVERIFY(!row->words->text().isEmpty() && !row->gain->text().isEmpty());
        const PlanPtr first = list->list.front().plan;
        QTest::mouseClick(rows.front()->apply, Qt::LeftButton);
        w.settle();
        QCOMPARE(*w.document.plan(), *first);
        QCOMPARE(w.document.undoStack().count(), 1);
        QVERIFY(!rows.front()->apply->isEnabled()); // it is in use
        if (rows.size() > 1) {
            QTest::mouseClick(rows.back()->apply, Qt::LeftButton);
            QCOMPARE(*w.document.plan(), *list->list.back().plan);
            QCOMPARE(w.document.undoStack().count(), 2);
        }
    }

    void aStepThatBreaksALimitSaysSo()
    {
        SearchStepRow row(1);
        SearchStep step;
        step.isFeasible = true;
        step.gain = 0.1;
        row.setStep(step, Objective::Throughput, false);
        const QString gain = row.gain->text();
        step.breaks = "it costs more per hour than allowed: needs $300 an hour, allowed $200";
        row.setStep(step, Objective::Throughput, false);
        QVERIFY(row.gain->text().contains(gain) && row.gain->text().contains(QString::fromStdString(step.breaks)));
    }

    void aPinIsSetBesideAStrategyAndKeptByTheSearch()
    {
        PlannerWindow w;
        StrategyPanel &panel = *w.window.workbench().strategies;
        PinButton *pin = panel.pin("parallelism.tensor");
        QVERIFY(pin && !pin->isChecked());
        QTest::mouseClick(pin, Qt::LeftButton);
        QVERIFY(pin->isChecked() && w.search.isPinned("parallelism.tensor"));
        QVERIFY(!w.document.undoStack().canUndo()); // it is none of the plan
        w.find();
        QCOMPARE(w.engine.last.fixed, std::vector<std::string> { "parallelism.tensor" });
        for (std::size_t i = 0; i < w.search.rows().size(); ++i)
            QCOMPARE(w.search.planOf(i)->parallelism.tensor, w.document.plan()->parallelism.tensor);
        QWidget *row = w.page.form->pinRow("parallelism.tensor");
        QVERIFY(row);
        QTest::mouseClick(row->findChild<QToolButton *>(), Qt::LeftButton);
        QVERIFY(!pin->isChecked() && w.search.settings().pins.empty());
        QVERIFY(w.page.noteLine().contains(QStringLiteral("other settings")));
    }

    void theKeyboardPinsTheStrategyThatHasIt()
    {
        PlannerWindow w;
        StrategyPanel &panel = *w.window.workbench().strategies;
        panel.row("tensor")->findChild<QComboBox *>()->setFocus();
        QVERIFY(w.window.commands().trigger("planner.pin"));
        QVERIFY(panel.pin("parallelism.tensor")->isChecked());
    }

    void worldsAreTickedAndAskedFor()
    {
        PlannerWindow w(test::threeSites(1, 3));
        w.open();
        const auto &boxes = w.page.form->scenarios();
        QCOMPARE(boxes.size(), w.search.scenarios().size());
        QVERIFY(boxes.size() > 3);
        boxes[0]->click();
        boxes[2]->click();
        w.page.form->robustness->setFocus();
        QTest::keyClick(w.page.form->robustness, Qt::Key_Down);
        w.page.form->datacenters()[1]->click(); // may not be used
        w.page.form->budget->box->setValue(300);
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        w.waitForEnd();
        QCOMPARE(w.engine.last.scenarios.size(), std::size_t(2));
        QCOMPARE(w.engine.last.scenarios[0].name, w.search.scenarios()[0].scenario.name);
        QCOMPARE(w.engine.last.robustness, Robustness::Expectation);
        QCOMPARE(w.engine.last.constraints.datacenters, (std::vector<std::string> { "a", "c" }));
        QCOMPARE(*w.engine.last.constraints.mostUsdPerHour, 300.0);
    }

    void nothingFeasibleSaysWhichConstraint()
    {
        PlannerWindow w;
        w.open();
        w.page.form->budget->box->setValue(0.01);
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        w.waitForEnd();
        QVERIFY2(w.page.resultLine().contains(QStringLiteral("costs more than the budget")),
            qPrintable(w.page.resultLine()));
        QVERIFY(w.page.leftOut->model()->rowCount() > 0);
    }

    void aPlanThatIsRefusedIsToldInWords()
    {
        PlannerWindow w;
        Plan plan = *w.document.plan();
        plan.workload.model = "no-such-model";
        w.document.apply(std::make_shared<const Plan>(plan));
        w.open();
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        w.waitForEnd();
        QVERIFY(w.page.resultLine().contains(QStringLiteral("no-such-model")));
    }

    void aPointTellsWhatItChangesAndIsChosen()
    {
        PlannerWindow w;
        w.find();
        const int other = int(w.search.best().back());
        const QPoint at = w.pointOf(other);
        QTest::mouseMove(w.page.scatter, at);
        QTest::mouseClick(w.page.scatter, Qt::LeftButton, {}, at);
        const int chosen = w.page.scatter->current();
        QVERIFY(chosen >= 0);
        QCOMPARE(w.page.candidate->row(), chosen);
        QTest::keyClick(w.page.scatter, Qt::Key_Return);
        QVERIFY(chosen == 0 || w.document.trial()); // the plan itself is not tried
    }

    void aChosenCandidateStaysChosenWhileOthersCome()
    {
        PlannerWindow w;
        w.engine.mayRun = 3;
        w.open();
        QTest::mouseClick(w.page.run, Qt::LeftButton);
        QTRY_COMPARE(w.page.scatter->points(), 3 * w.engine.round);
        QTest::mouseClick(w.page.scatter, Qt::LeftButton, {}, w.pointOf(0));
        const int chosen = w.page.candidate->row();
        w.engine.mayRun = 1 << 20;
        w.waitForEnd();
        QCOMPARE(w.page.candidate->row(), chosen);
    }

    void anotherPlanForgetsTheResults()
    {
        PlannerWindow w;
        w.find();
        w.document.startNew(std::make_shared<const Plan>(test::oneSite(2, 2)));
        w.settle();
        QCOMPARE(w.search.state(), PlanSearch::State::Empty);
        QCOMPARE(w.page.scatter->points(), std::size_t(0));
        QVERIFY(w.page.invite->isVisibleTo(&w.page));
    }

    void noTextIsCutInASmallWindow()
    {
        PlannerWindow w(test::threeSites(1, 3), { 1280, 720 });
        w.find();
        QTRY_VERIFY_WITH_TIMEOUT(w.search.steps() && w.search.steps()->isComplete, 30000);
        QApplication::processEvents();
        for (const TextLine *line : w.page.form->findChildren<TextLine *>())
            if (line->isVisible() && !line->hasHeightForWidth())
                QVERIFY2(line->shown(line->width()) == line->text(), qPrintable(line->text()));
        for (QPushButton *button : w.page.findChildren<QPushButton *>())
            if (button->isVisible())
                QVERIFY2(button->width() >= button->fontMetrics().horizontalAdvance(button->text()),
                    qPrintable(button->text()));
    }
};

TRAINYARD_TEST(PlannerTest)
#include "tst_planner.moc"
