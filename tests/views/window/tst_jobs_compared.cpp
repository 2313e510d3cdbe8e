// SPDX-License-Identifier: GPL-3.0-or-later
// Many models in the whole window: schedulers are compared and one is taken and undone, jobs are dropped on GPUs of
// timeline and map, GPUs are dragged between datacenters while all is planned anew.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "core/facts/plan/plan_io.h"
#include "models/job_spans.h"
#include "views/jobs/job_words.h"
#include "views/jobs/jobs_page.h"
#include "views/jobs/mini_gantt.h"
#include "views/jobs/scheduler_cell.h"
#include "views/parts/text_line.h"
#include "views/plots/curves_panel.h"
#include "views/plots/job_progress_plot.h"
#include "views/timeline/timeline_view.h"

#include <QAction>
#include <QDropEvent>
#include <QMimeData>
#include <QPushButton>

#include <algorithm>

using namespace trainyard;

namespace {

/// The sample's models with few mini-batches, on as many machines of four GPUs.
Plan lab(int datacenters)
{
    Plan plan = *readPlan(TRAINYARD_SOURCE_DIR "/samples/hydra-lab.trainyard.json");
    plan.jobGrid->minibatches = { 2 };
    plan.jobGrid->learningRate = { 0.003, 0.001, 0.0003 };
    Datacenter first = plan.cluster.datacenters.front();
    plan.cluster.datacenters.clear();
    for (int d = 0; d < datacenters; ++d) {
        first.id = "lab" + std::to_string(d);
        first.name = "Lab " + std::to_string(d + 1);
        first.pools.front().id = first.id + "-v100";
        first.pools.front().gpusPerNode = 4;
        plan.cluster.datacenters.push_back(first);
    }
    return plan;
}

struct JobWindow : WindowFixture {
    JobsPage &page = window.jobs();

    explicit JobWindow(const Plan &plan = lab(1))
        : WindowFixture(QStringLiteral("cephalo-lab"))
    {
        page.study().setRest(std::chrono::milliseconds(0));
        document.startNew(std::make_shared<const Plan>(plan));
        settle();
    }
    [[nodiscard]] const JobMetrics &metrics() const { return *bridge.evaluation()->metrics.jobs; }
    void compare()
    {
        QVERIFY(!window.commands().action("jobs.compare")->shortcut().isEmpty());
        QVERIFY(window.commands().trigger("jobs.compare"));
        QVERIFY(page.isVisible());
        waitForComparison();
    }
    void waitForComparison()
    {
        QTRY_VERIFY_WITH_TIMEOUT(
            page.comparison() && page.comparison()->isComplete && page.comparison()->plan == document.plan(), 20000);
    }
    [[nodiscard]] SchedulerCell *cellOf(JobScheduler scheduler) const
    {
        for (SchedulerCell *cell : page.cells())
            if (cell->isVisible() && cell->scheduler() == scheduler)
                return cell;
        return nullptr;
    }
    void drop(QWidget *target, const QString &job, QPoint at)
    {
        QMimeData mime;
        mime.setData(QStringLiteral("application/x-trainyard-job"), job.toUtf8());
        QDragEnterEvent enter(at, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(target, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent event(at, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(target, &event);
        settle();
    }
};

} // namespace

class JobsComparedTest : public QObject {
    Q_OBJECT
private slots:
    void aSchedulerIsTakenFromThePageAndUndone()
    {
        JobWindow w;
        w.compare();
        QVERIFY(w.page.isVisible());
        const JobComparison &found = *w.page.comparison();
        QCOMPARE(*found.schedulers.front().makespan(), *w.metrics().makespan);
        QCOMPARE(w.page.cells().front()->scheduler(), JobScheduler::ShardedLrtf);
        QVERIFY(w.cellOf(JobScheduler::ModelParallel) && w.cellOf(JobScheduler::ZeroOffload));
        QVERIFY(!w.cellOf(JobScheduler::ShardMilp)); // only where it is asked for
        QCOMPARE(found.ablation.size(), std::size_t(3));
        QVERIFY(!found.scaling.empty() && !found.oneMore.empty());
        const Metric expected = std::ranges::find_if(found.schedulers, [](const JobVariant &v) {
            return v.plan->jobScheduler == JobScheduler::Fifo;
        })->makespan();

        QTest::mouseClick(w.cellOf(JobScheduler::Fifo)->use, Qt::LeftButton);
        QCOMPARE(w.document.plan()->jobScheduler, JobScheduler::Fifo);
        QVERIFY(w.document.undoStack().undoText().contains(QStringLiteral("Scheduler")));
        w.settle();
        QCOMPARE(*w.metrics().makespan, *expected);
        w.waitForComparison();
        QCOMPARE(w.page.cells().front()->scheduler(), JobScheduler::Fifo); // the plan's own stands first
        QVERIFY(w.window.commands().trigger("edit.undo"));
        w.settle();
        QCOMPARE(w.document.plan()->jobScheduler, JobScheduler::ShardedLrtf);
        QTest::keyClick(&w.page, Qt::Key_Escape);
        QVERIFY(w.window.isWorkbenchShown());
    }

    void aPlanOfOneModelSaysWhatToDo()
    {
        WindowFixture w(QStringLiteral("cephalo-lab"));
        w.window.jobs().study().setRest(std::chrono::milliseconds(0));
        QVERIFY(w.window.commands().trigger("jobs.compare"));
        const auto lines = w.window.jobs().findChildren<TextLine *>();
        QTRY_VERIFY(std::ranges::any_of(lines, [](const TextLine *line) {
            return line->isVisible() && line->text().contains(QStringLiteral("Add jobs"));
        }));
    }

    void aJobDroppedOnARowOfTheTimelineRunsThereAlone()
    {
        JobWindow w;
        TimelineView &timeline = *w.window.workbench().timeline;
        const QString job = QString::fromStdString(w.metrics().perJob[1].name);
        int y = 0; // of the row of GPU 2
        for (const TrackRow &row : timeline.state().layout.rows)
            if (row.kind == TrackRow::Kind::Stage && row.stage == 2)
                y = kRulerHeight + rowTop(timeline.state().layout, row, timeline.state().scroll) + row.barHeight / 2;
        w.drop(timeline.canvas(), job, { timeline.canvas()->width() / 2, y });
        QVERIFY2(w.document.undoStack().undoText().contains(job), qPrintable(w.document.undoStack().undoText()));
        QCOMPARE(w.metrics().perJob[1].ranOn, (std::vector<int> { 2 }));
        QVERIFY(w.window.commands().trigger("edit.undo"));
        w.settle();
        QVERIFY(w.document.plan()->jobGrid);
    }

    void aJobDroppedOnTheMapRunsThereAlone()
    {
        JobWindow w(lab(2));
        const QString job = QString::fromStdString(w.metrics().perJob[0].name);
        w.drop(w.map(), job, w.titleOf(1));
        QVERIFY(!w.metrics().perJob[0].ranOn.empty());
        for (const int gpu : w.metrics().perJob[0].ranOn)
            QVERIFY(gpu >= 4); // in the second datacenter
        QVERIFY(w.document.undoStack().undoText().contains(job));
    }

    void gpusDraggedToAnotherDatacenterArePlannedAnew()
    {
        JobWindow w(lab(2));
        QVERIFY(w.map()->scene().hasJobs);
        const int gpus = w.document.plan()->cluster.datacenters[1].gpus();
        QTest::mousePress(w.map(), Qt::LeftButton, {}, w.nodeAt(0, 0));
        w.moveHeld(w.nodeAt(0, 0) + QPoint(30, 10));
        w.moveHeld(w.titleOf(1));
        QTRY_VERIFY(w.bridge.evaluation()->plan == w.document.shownPlan()); // while it hovers
        QVERIFY(w.bridge.evaluation()->metrics.jobs);
        QTest::mouseRelease(w.map(), Qt::LeftButton, {}, w.titleOf(1));
        w.settle();
        QVERIFY(w.document.plan()->cluster.datacenters[1].gpus() > gpus);
        QVERIFY(w.map()->scene().hasJobs);
        QCOMPARE(w.window.workbench().timeline->state().layout.groups.size(),
            std::size_t(std::ranges::count_if(
                w.document.plan()->cluster.datacenters, [](const Datacenter &d) { return d.gpus() > 0; })));
    }

    void aSelectedJobStandsOutInCurvesAndMap()
    {
        JobWindow w;
        CurvesPanel &curves = *w.window.workbench().curves;
        curves.setTab(CurvesPanel::Tab::Progress);
        w.window.workbench().timeline->selectJob(2);
        QTRY_COMPARE(curves.plot(CurvesPanel::Tab::Progress)->legend().size(), std::size_t(1));
        QCOMPARE(curves.plot(CurvesPanel::Tab::Progress)->legend().front().name,
            QString::fromStdString(w.metrics().perJob[2].name));
        QVERIFY(w.map()->traffic()); // and the GPUs that it ran on
        QCOMPARE(w.map()->traffic()->ends.size(), w.metrics().perJob[2].ranOn.size());
        w.window.workbench().timeline->selectJob(JobSpans::kNone);
        QVERIFY(!w.map()->traffic());
    }
};

TRAINYARD_TEST(JobsComparedTest)
#include "tst_jobs_compared.moc"
