// SPDX-License-Identifier: GPL-3.0-or-later
// Many models in the whole window: a grid of twelve jobs from nothing, schedulers switched, GPUs dragged in, a job
// pinned and stopped, and all of it undone in words.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "models/job_list_model.h"
#include "views/commands/command_registry.h"
#include "views/panels/effect_combo.h"
#include "views/panels/job_grid_sheet.h"
#include "views/panels/job_list.h"
#include "views/panels/job_pin_sheet.h"
#include "views/panels/jobs_panel.h"
#include "views/panels/number_card.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/panels/workload_editor.h"
#include "views/parts/text_line.h"
#include "views/timeline/timeline_view.h"

#include <QAbstractItemView>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>

#include <algorithm>

using namespace trainyard;

namespace {

/// Two datacenters of one node each; only a site's own GPUs serve the jobs of its hosts.
Plan twoLabs()
{
    Plan plan;
    plan.name = "Two labs";
    for (const char *id : { "north", "south" }) {
        Datacenter d;
        d.id = id;
        d.name = id[0] == 'n' ? "North" : "South";
        d.latitude = id[0] == 'n' ? 48 : 30;
        d.longitude = id[0] == 'n' ? -100 : -80;
        Pool pool;
        pool.id = std::string(id) + "-gpus";
        pool.gpu = "a6000-48gb";
        pool.nodes = 1;
        pool.gpusPerNode = 4;
        pool.host = Host { 768, 20, {} };
        d.pools = { pool };
        plan.cluster.datacenters.push_back(d);
    }
    WanLink link;
    link.between = { "north", "south" };
    link.rttMs = 30;
    plan.cluster.wanLinks = { link };
    plan.workload.model = "gpt-3-1.3b";
    plan.workload.sequenceLength = 1024;
    plan.workload.globalBatch = 32;
    return plan;
}

struct JobsWindow : WindowFixture {
    JobsPanel *panel = window.workbench().jobs;
    JobList *list = panel->list();

    JobsWindow()
        : WindowFixture(QStringLiteral("cephalo-lab"))
    {
        document.startNew(std::make_shared<const Plan>(twoLabs()));
        settle();
    }
    [[nodiscard]] QString undoText() { return document.undoStack().undoText(); }
    [[nodiscard]] const JobMetrics &jobs() const { return *bridge.evaluation()->metrics.jobs; }
    [[nodiscard]] QString number(const char *name)
    {
        for (const NumberCard *card : window.workbench().strip->cards())
            if (card->name() == QString::fromUtf8(name) && card->isVisible())
                return card->value();
        return {};
    }
    /// Models × batches × learning rates, typed into the sheet that a command opens.
    void addTwelve()
    {
        QVERIFY(window.commands().trigger(QStringLiteral("jobs.grid")));
        auto *sheet = qobject_cast<JobGridSheet *>(panel->sheet());
        QVERIFY(sheet && sheet->isVisible());
        for (int i = 0; i < sheet->models()->count(); ++i) {
            QListWidgetItem *item = sheet->models()->item(i);
            if (item->data(Qt::UserRole).toString() == QStringLiteral("gpt-3-2.7b")) {
                sheet->models()->setFocus();
                sheet->models()->setCurrentItem(item);
                QTest::keyClick(sheet->models(), Qt::Key_Space);
            }
        }
        const auto type = [](QLineEdit *field, const char *text) {
            field->setFocus();
            field->selectAll();
            QTest::keyClicks(field, QString::fromUtf8(text));
        };
        type(sheet->batches(), "8, 16, 32");
        type(sheet->rates(), "1e-4, 3e-4");
        type(sheet->minibatches(), "10");
        QTest::keyClick(sheet->minibatches(), Qt::Key_Return);
        settle();
        QCOMPARE(undoText(), QStringLiteral("Add a grid of 12 jobs"));
    }
};

} // namespace

class JobsTest : public QObject {
    Q_OBJECT
private slots:
    void twelveJobsFromNothingHaveNumbersAtOnceAndUndoReturns()
    {
        JobsWindow w;
        const PlanPtr before = w.document.plan();
        QVERIFY(w.window.commands().trigger(QStringLiteral("view.jobs")));
        QVERIFY(w.panel->beginButton()->isVisible());
        QVERIFY(!w.number("Iteration").isEmpty());
        w.addTwelve();
        QCOMPARE(w.panel->model()->rowCount(), 12);
        QVERIFY(w.number("Iteration").isEmpty()); // instead of dashes
        for (const char *name : { "All jobs", "Bound", "GPUs at work", "Fullest host", "Price" })
            QVERIFY2(!w.number(name).isEmpty() && w.number(name) != QStringLiteral("—"), name);
        // no schedule is shorter than all work over all GPUs, or than the longest job
        QVERIFY(*w.jobs().makespan >= *w.jobs().bound * (1 - 1e-9));
        double last = 0;
        for (const JobResult &job : w.jobs().perJob)
            last = std::max(last, job.end.value_or(0));
        QCOMPARE(*w.jobs().makespan, last);
        w.document.undoStack().undo();
        w.settle();
        QCOMPARE(w.document.plan(), before);
        QVERIFY(w.panel->beginButton()->isVisible() && !w.number("Iteration").isEmpty());
    }

    void theOwnWorkloadIsSetAsideAndItsSwitchesAreGone()
    {
        JobsWindow w;
        StrategyPanel *strategies = w.window.workbench().strategies;
        WorkloadEditor *workload = w.window.workbench().workload;
        w.window.workbench().reveal(strategies);
        QVERIFY(strategies->row("tensor")->isVisible() && !strategies->row("job_scheduler")->isVisible());
        w.addTwelve();
        w.window.workbench().reveal(strategies);
        QVERIFY(!strategies->row("tensor")->isVisible() && strategies->row("job_scheduler")->isVisible());
        QVERIFY(strategies->row("spill")->isVisible() && strategies->row("stack")->isVisible());
        w.window.workbench().reveal(workload);
        auto *aside = workload->findChild<TextLine *>(QStringLiteral("aside"));
        QVERIFY(aside->isVisible());
        QCOMPARE(aside->text(),
            QStringLiteral("The plan trains 12 jobs; its own workload is set aside until they are removed."));
        for (QPushButton *button : workload->findChildren<QPushButton *>())
            if (button->text() == QStringLiteral("Jobs"))
                QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(w.panel->isVisible());
    }

    void schedulersAreSwitchedAndEachTellsItsEffectBefore()
    {
        JobsWindow w;
        w.addTwelve();
        const double before = *w.jobs().makespan;
        EffectCombo *list = w.panel->row("job_scheduler")->list();
        const int fifo = list->findText(QStringLiteral("First in, first out"));
        QVERIFY(fifo >= 0);
        QTRY_VERIFY_WITH_TIMEOUT(!list->effect(fifo).text.isEmpty(), 60000);
        const QString told = list->effect(fifo).text, tip = list->tip(fifo);
        QVERIFY2(tip.startsWith(QStringLiteral("All jobs ")), qPrintable(tip));
        list->setFocus();
        list->showPopup();
        list->view()->setCurrentIndex(list->model()->index(fifo, 0));
        QTest::keyClick(list->view(), Qt::Key_Return);
        w.settle();
        QCOMPARE(w.undoText(), QStringLiteral("Scheduler Longest remaining first → First in, first out"));
        const double change = *w.jobs().makespan / before - 1;
        if (std::abs(change) >= 0.001)
            QCOMPARE(told.startsWith(u'+'), change > 0);
        else
            QVERIFY2(told == QStringLiteral("no effect") || told.contains(u'0'), qPrintable(told));
        w.document.undoStack().undo();
        w.settle();
        QCOMPARE(*w.jobs().makespan, before);
    }

    void aJobIsPinnedAndAnotherIsStopped()
    {
        JobsWindow w;
        w.addTwelve();
        w.list->setFocus();
        w.list->choose(3);
        w.panel->pinChosen();
        auto *sheet = qobject_cast<JobPinSheet *>(w.panel->sheet());
        QVERIFY(sheet);
        QTest::keyClicks(sheet->field(), QStringLiteral("1"));
        QTest::keyClick(sheet->field(), Qt::Key_Return);
        w.settle();
        const QString pinned = w.panel->model()->row(3).name;
        QCOMPARE(w.undoText(), QStringLiteral("Pin %1 to GPU 1").arg(pinned));
        QCOMPARE(w.jobs().perJob[3].ranOn, std::vector<int> { 1 });
        const double before = *w.jobs().boundShared;
        w.list->setFocus();
        w.list->choose(5);
        QTest::keyClick(w.list, Qt::Key_Space);
        w.settle();
        const QString stopped = w.panel->model()->row(5).name;
        QCOMPARE(w.undoText(), QStringLiteral("Pause %1").arg(stopped));
        QCOMPARE(w.jobs().perJob[5].state, JobState::Paused);
        QVERIFY(*w.jobs().boundShared < before); // its work is gone
        for (const char *said : { "Pause ", "Pin ", "Add a grid of 12 jobs" }) {
            QVERIFY2(w.undoText().startsWith(QString::fromUtf8(said)), qPrintable(w.undoText()));
            QVERIFY(w.window.commands().trigger(QStringLiteral("edit.undo")));
        }
        w.settle();
        QVERIFY(!hasJobs(*w.document.plan()));
    }

    void aJobPickedInTheListStandsOutInTheTimelineAndBack()
    {
        JobsWindow w;
        w.addTwelve();
        TimelineView *timeline = w.window.workbench().timeline;
        QCOMPARE(timeline->selectedJob(), -1); // the first new one is selected in the list, by nobody's hand
        const auto click = [&w](int row) {
            QTest::mouseClick(w.list->viewport(), Qt::LeftButton, {},
                w.list->visualRect(w.panel->model()->index(row, JobListModel::Name)).center());
        };
        click(2);
        QCOMPARE(timeline->selectedJob(), 2);
        QTest::keyClick(w.list, Qt::Key_Down);
        QCOMPARE(timeline->selectedJob(), 3);
        QTest::keyClick(w.list, Qt::Key_Escape);
        QCOMPARE(timeline->selectedJob(), -1);
        timeline->selectJob(5);
        QCOMPARE(w.list->chosen(), std::vector<int> { 5 });
        QCOMPARE(timeline->selectedJob(), 5);
    }

    void aPlanWithJobsOpensWithItsJobsInFront()
    {
        JobsWindow w;
        QVERIFY(!w.panel->isVisible());
        Plan plan = twoLabs();
        Job job;
        job.name = "one";
        job.model = "gpt-3-1.3b";
        plan.jobs = { job };
        w.document.startNew(std::make_shared<const Plan>(plan));
        w.settle();
        QVERIFY(w.panel->isVisible());
        QCOMPARE(w.panel->model()->rowCount(), 1);
    }

    void gpusDraggedOverAreInTheNumbersWhileTheyHover()
    {
        JobsWindow w;
        w.addTwelve();
        const QString before = w.number("All jobs");
        const double makespan = *w.jobs().makespan;
        const QPoint from = w.nodeAt(1, 0), to = w.titleOf(0);
        QTest::mousePress(w.map(), Qt::LeftButton, Qt::ControlModifier, from);
        for (int step = 1; step <= 6; ++step)
            w.moveHeld(from + (to - from) * step / 6);
        QVERIFY(w.document.isPreviewing());
        w.settle();
        QCOMPARE(w.panel->model()->rowCount(), 12);
        QVERIFY(std::ranges::all_of(w.panel->model()->rows(), [](const JobRow &row) { return row.isKnown; }));
        QTest::mouseRelease(w.map(), Qt::LeftButton, {}, to);
        w.settle();
        QCOMPARE(w.undoText(), QStringLiteral("Move 4 GPUs South → North"));
        // one site with all hosts and GPUs can do whatever two could
        QVERIFY(*w.jobs().makespan <= makespan * 1.1);
        w.document.undoStack().undo();
        w.settle();
        QCOMPARE(w.number("All jobs"), before);
    }
};

TRAINYARD_TEST(JobsTest)
#include "tst_jobs.moc"
