// SPDX-License-Identifier: GPL-3.0-or-later
// When memory is the limit, in the whole window: the curves of recomputation, offload and neither follow the plan, and
// a click on one of their points is one step to undo.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "views/panels/fit_steps.h"
#include "views/panels/hover_button.h"
#include "views/panels/memory_details.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/strategy_row.h"
#include "views/plots/curves_panel.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/plots/rok_plot.h"
#include "views/timeline/timeline_view.h"

#include <QMenu>
#include <QMenuBar>
#include <QScrollArea>
#include <QScrollBar>

#include <algorithm>

using namespace trainyard;

namespace {

bool isReady(const RokPlot &plot, const PlanPtr &plan)
{
    return plot.curves() && plot.curves()->isComplete && plot.curves()->plan == plan;
}

const RokPoint *currentOf(const RokPlot &plot)
{
    const auto &points = plot.curves()->points;
    const auto it = std::ranges::find(points, true, &RokPoint::isCurrent);
    return it == points.end() ? nullptr : &*it;
}

PlanPtr withoutOffload(Plan plan)
{
    plan.memory.activationOffload = ActivationOffload::None;
    return std::make_shared<const Plan>(std::move(plan));
}

/// All of a widget lies within every one around it.
bool isInSight(const QWidget &widget)
{
    for (const QWidget *around = widget.parentWidget(); around; around = around->parentWidget())
        if (!around->rect().contains(QRect(widget.mapTo(around, QPoint()), widget.size())))
            return false;
    return widget.isVisible();
}

void clickInMenu(WindowFixture &f, const QString &title, const QString &command)
{
    auto *bar = f.window.findChild<QMenuBar *>();
    const QAction *wanted = f.window.commands().action(command);
    for (const QAction *entry : bar->actions()) {
        if (QString(entry->text()).remove(u'&') != title)
            continue;
        QTest::mouseClick(bar, Qt::LeftButton, {}, bar->actionGeometry(const_cast<QAction *>(entry)).center());
        QTRY_VERIFY(entry->menu()->isVisible());
        QTest::mouseClick(
            entry->menu(), Qt::LeftButton, {}, entry->menu()->actionGeometry(const_cast<QAction *>(wanted)).center());
        return;
    }
    QFAIL("no such menu");
}

} // namespace

class MemoryLimitTest : public QObject {
    Q_OBJECT
private slots:
    void aPointIsAdoptedWithOneClickAndTakenBack()
    {
        WindowFixture f;
        RokPlot *plot = f.window.workbench().curves->rok();
        QVERIFY(!plot->curves()); // nobody looks
        f.window.commands().trigger("plan.offloadOrNot");
        const PlanPtr before = f.document.plan();
        QTRY_VERIFY_WITH_TIMEOUT(isReady(*plot, before), 60000);
        QVERIFY(currentOf(*plot));
        const auto &points = plot->curves()->points;
        const auto other = std::ranges::find_if(
            points, [](const RokPoint &p) { return p.way == ActivationWay::Recompute && !p.isCurrent; });
        QVERIFY(other != points.end());
        const PlanPtr wanted = other->plan;
        const QString sentence = QString::fromStdString(other->sentence);
        const double seconds = other->iterationTime;
        QTest::mouseClick(&plot->chart(), Qt::LeftButton, {}, plot->positionOf(*other));
        QCOMPARE(f.document.plan(), wanted);
        QCOMPARE(f.document.undoStack().undoText(), sentence);
        f.settle();
        QCOMPARE(*f.bridge.evaluation()->metrics.iterationTime, seconds); // what the point promised is what comes
        QTRY_VERIFY_WITH_TIMEOUT(isReady(*plot, wanted), 60000);
        QCOMPARE(currentOf(*plot)->way, ActivationWay::Recompute); // the ring is where the click was
        f.document.undoStack().undo();
        QCOMPARE(f.document.plan(), before);
        QTRY_VERIFY_WITH_TIMEOUT(isReady(*plot, before), 60000);
    }

    /// States on drives give their rows to every stage; back on the GPU they are gone, with one undo each.
    void rowsOfStatesComeAndGoWithTheSwitch()
    {
        WindowFixture f(QStringLiteral("gpt3-offload-a100-40gb"));
        const auto rows = [&f](Stream stream) {
            const TimelineState &state = f.window.workbench().timeline->state();
            return std::ranges::count_if(state.layout.rows,
                [&](const TrackRow &row) { return state.timeline()->tracks[row.tracks.front()].stream == stream; });
        };
        QCOMPARE(rows(Stream::StepDrive), 0);
        Plan plan = *f.document.plan();
        plan.memory.optimizerOffload = OptimizerOffload::Ssd;
        f.document.apply(std::make_shared<const Plan>(plan));
        f.settle();
        for (const Stream stream : { Stream::StepToHost, Stream::StepDrive, Stream::StepCpu, Stream::StepToGpu })
            QCOMPARE(rows(stream), plan.parallelism.pipeline);
        f.document.undoStack().undo();
        f.settle();
        for (const Stream stream : { Stream::StepToHost, Stream::StepDrive, Stream::StepCpu, Stream::StepToGpu })
            QCOMPARE(rows(stream), 0);
    }

    /// From the menu with the mouse, in a small window: what was asked for is what comes to be seen.
    void fittingIsInTheMenuAndShowsItsStepsAtOnce()
    {
        WindowFixture f(QStringLiteral("gpt3-offload-a100-40gb"));
        f.window.resize(1280, 720);
        f.document.apply(withoutOffload(*f.document.plan()));
        f.settle();
        QVERIFY(!f.bridge.evaluation()->metrics.memory->fits);
        MemoryDetails *memory = f.window.workbench().memory;
        clickInMenu(f, QStringLiteral("Design"), QStringLiteral("plan.fit"));
        QTRY_VERIFY(memory->isVisible());
        FitSteps *steps = memory->fitSteps();
        QTRY_VERIFY_WITH_TIMEOUT(steps->adoptButton()->isVisible(), 60000);
        QTRY_VERIFY(isInSight(*steps->adoptButton()));
        QTest::mouseClick(steps->adoptButton(), Qt::LeftButton);
        f.settle();
        QVERIFY(f.bridge.evaluation()->metrics.memory->fits);
        QCOMPARE(f.document.undoStack().undoText(), QStringLiteral("Fit this model"));
        QTRY_VERIFY_WITH_TIMEOUT(!steps->isVisible(), 60000);
    }

    void whereThePlanFitsFittingShowsWhatTheFreeMemoryBuys()
    {
        WindowFixture f(QStringLiteral("gpt3-offload-a100-40gb"));
        f.window.resize(1280, 720);
        QVERIFY(f.bridge.evaluation()->metrics.memory->fits);
        clickInMenu(f, QStringLiteral("Design"), QStringLiteral("plan.fit"));
        QTRY_VERIFY(isInSight(*f.window.workbench().memory->advice()));
        QVERIFY(f.window.workbench().memory->advice() != f.window.workbench().memory->fitSteps());
    }

    void theMemorySwitchesStayInSightUntilSomeoneScrolls()
    {
        WindowFixture f(QStringLiteral("gpt3-offload-a100-40gb"));
        f.window.resize(1280, 720);
        f.window.workbench().showMemory();
        StrategyPanel *panel = f.window.workbench().strategies;
        StrategyRow *recompute = panel->row("recompute");
        QTRY_VERIFY(isInSight(*recompute));
        auto *area = panel->findChild<QScrollArea *>();
        const int before = recompute->mapTo(area, QPoint()).y();
        Plan served = *f.document.plan();
        served.bubbleFill.enabled = true; // brings rows above the section
        f.document.apply(std::make_shared<const Plan>(served));
        QTRY_VERIFY(panel->row("fill_arrivals")->isVisibleTo(panel));
        QTRY_COMPARE(recompute->mapTo(area, QPoint()).y(), before);
        area->verticalScrollBar()->triggerAction(QAbstractSlider::SliderToMinimum);
        f.document.undoStack().undo();
        QTRY_VERIFY(!panel->row("fill_arrivals")->isVisibleTo(panel));
        QCOMPARE(area->verticalScrollBar()->value(), 0);
    }

    void aPlanThatCannotBeEvaluatedSaysWhyWhereItsTimelineWouldBe()
    {
        WindowFixture f;
        Plan odd = *f.document.plan();
        odd.workload.model = "no-such-model";
        odd.workload.inlineModel.reset();
        f.document.apply(std::make_shared<const Plan>(odd));
        TimelineView *timeline = f.window.workbench().timeline;
        QTRY_VERIFY_WITH_TIMEOUT(timeline->accessibleDescription().contains("cannot be evaluated"), 30000);
        QVERIFY2(
            timeline->accessibleDescription().contains("no-such-model"), qPrintable(timeline->accessibleDescription()));
        f.document.undoStack().undo();
        f.settle();
        QVERIFY(!timeline->accessibleDescription().contains("cannot"));
    }

    void aPlanOfMeasuredTimesSaysWhyThereAreNoCurves()
    {
        WindowFixture f(QStringLiteral("atlas-headline"));
        f.window.commands().trigger("plan.offloadOrNot");
        RokPlot *plot = f.window.workbench().curves->rok();
        QTRY_VERIFY_WITH_TIMEOUT(isReady(*plot, f.document.plan()), 60000);
        QVERIFY(plot->curves()->points.empty());
        QTRY_VERIFY(plot->accessibleDescription().contains("profile"));
    }
};

TRAINYARD_TEST(MemoryLimitTest)
#include "tst_memory_limit.moc"
