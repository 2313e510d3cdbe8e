// SPDX-License-Identifier: GPL-3.0-or-later
// When memory is the limit, in the whole window: the curves of recomputation, offload and neither follow the plan, and a
// click on one of their points is one step to undo.
#include "window_fixture.h"

#include "views/plots/curves_panel.h"
#include "views/plots/qcustomplot_gateway.h"
#include "views/plots/rok_plot.h"
#include "views/timeline/timeline_view.h"

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

} // namespace

class MemoryLimitTest : public QObject {
    Q_OBJECT
private slots:
    void aPointIsAdoptedWithOneClickAndTakenBack()
    {
        WindowFixture f;
        RokPlot *plot = f.window.workbench().curves->rok();
        QVERIFY(!plot->curves());          // nobody looks
        f.window.commands().trigger("plan.offloadOrNot");
        const PlanPtr before = f.document.plan();
        QTRY_VERIFY_WITH_TIMEOUT(isReady(*plot, before), 60000);
        QVERIFY(currentOf(*plot));
        const auto &points = plot->curves()->points;
        const auto other = std::ranges::find_if(points, [](const RokPoint &p) { return p.way == ActivationWay::Recompute && !p.isCurrent; });
        QVERIFY(other != points.end());
        const PlanPtr wanted = other->plan;
        const QString sentence = QString::fromStdString(other->sentence);
        const double seconds = other->iterationTime;
        QTest::mouseClick(&plot->chart(), Qt::LeftButton, {}, plot->positionOf(*other));
        QCOMPARE(f.document.plan(), wanted);
        QCOMPARE(f.document.undoStack().undoText(), sentence);
        f.settle();
        QCOMPARE(*f.bridge.evaluation()->metrics.iterationTime, seconds);   // what the point promised is what comes
        QTRY_VERIFY_WITH_TIMEOUT(isReady(*plot, wanted), 60000);
        QCOMPARE(currentOf(*plot)->way, ActivationWay::Recompute);          // the ring is where the click was
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
            return std::ranges::count_if(state.layout.rows, [&](const TrackRow &row) { return state.timeline()->tracks[row.tracks.front()].stream == stream; });
        };
        QCOMPARE(rows(Stream::StepDrive), 0);
        Plan plan = *f.document.plan();
        plan.memory.optimizerOffload = OptimizerOffload::Ssd;
        f.document.apply(std::make_shared<const Plan>(plan));
        f.settle();
        for (const Stream stream : {Stream::StepToHost, Stream::StepDrive, Stream::StepCpu, Stream::StepToGpu})
            QCOMPARE(rows(stream), plan.parallelism.pipeline);
        f.document.undoStack().undo();
        f.settle();
        for (const Stream stream : {Stream::StepToHost, Stream::StepDrive, Stream::StepCpu, Stream::StepToGpu})
            QCOMPARE(rows(stream), 0);
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

QTEST_MAIN(MemoryLimitTest)
#include "tst_memory_limit.moc"
