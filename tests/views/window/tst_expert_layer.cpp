// SPDX-License-Identifier: GPL-3.0-or-later
// An expert layer within the window: how one gets there and back, and that it is the one the plan was costed with.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "views/layer/layer_canvas.h"
#include "views/layer/layer_page.h"
#include "views/timeline/timeline_view.h"

#include <QContextMenuEvent>
#include <QMenu>

using namespace trainyard;

namespace {

const QString kSample = QStringLiteral("moe-2x70b-16-a800");

std::uint32_t firstSpan(const Evaluation &evaluation, WorkKind kind)
{
    const auto &kinds = evaluation.timeline.kind;
    return std::uint32_t(std::ranges::find(kinds, kind) - kinds.begin());
}

void waitForLayer(WindowFixture &f)
{
    QTRY_VERIFY_WITH_TIMEOUT(f.window.layer().layer(), 20000);
    QApplication::processEvents();
}

} // namespace

class ExpertLayerTest : public QObject {
    Q_OBJECT
private slots:
    void theCommandOpensTheLayerThatThePlanWasCostedWith()
    {
        WindowFixture f(kSample);
        QVERIFY(f.window.commands().trigger("view.layer"));
        QVERIFY(f.window.layer().isVisible() && !f.window.workbench().isVisible());
        waitForLayer(f);
        const auto &metrics = f.bridge.evaluation()->metrics.experts;
        QVERIFY(metrics);
        const double shown = double(f.window.layer().canvas->chart().duration) / 1e6;
        QVERIFY2(std::abs(shown - metrics->layerMs) < 1e-3 * shown, qPrintable(QString::number(shown)));
    }
    void escapeGoesBackToThePlan()
    {
        WindowFixture f(kSample);
        QVERIFY(f.window.commands().trigger("view.layer"));
        waitForLayer(f);
        f.window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&f.window));
        f.window.layer().canvas->setFocus();
        QTest::keyClick(f.window.layer().canvas, Qt::Key_Escape);
        QVERIFY(f.window.workbench().isVisible() && !f.window.layer().isVisible());
    }
    void aBackwardOfTheTimelineOpensItsPass()
    {
        WindowFixture f(kSample);
        TimelineView *timeline = f.window.workbench().timeline;
        timeline->selectSpan(firstSpan(*f.bridge.evaluation(), WorkKind::Backward));
        QTest::keyClick(timeline, Qt::Key_L);
        waitForLayer(f);
        QVERIFY(f.window.layer().pass() == LayerPass::Backward);
        QVERIFY(f.window.layer().isVisible());
    }
    void theContextMenuOfASpanOpensIt()
    {
        WindowFixture f(kSample);
        TimelineView *timeline = f.window.workbench().timeline;
        timeline->selectSpan(firstSpan(*f.bridge.evaluation(), WorkKind::Forward));
        const QPoint at = timeline->canvas()->rect().center();
        QContextMenuEvent event(QContextMenuEvent::Keyboard, at, timeline->canvas()->mapToGlobal(at));
        QApplication::sendEvent(timeline, &event);
        QAction *open = nullptr;
        for (QMenu *menu : timeline->findChildren<QMenu *>())
            for (QAction *action : menu->actions())
                if (action->text() == QStringLiteral("Open an expert layer"))
                    open = action;
        QVERIFY(open && open->isEnabled());
        open->trigger();
        waitForLayer(f);
        QVERIFY(f.window.layer().pass() == LayerPass::Forward);
    }
    void aNewEvaluationRenewsWhatIsShown()
    {
        WindowFixture f(kSample);
        QVERIFY(f.window.commands().trigger("view.layer"));
        waitForLayer(f);
        const OpenedLayerPtr before = f.window.layer().layer();
        Plan next = *f.document.plan();
        next.moe.dispatch = MoeDispatch::Flat;
        f.document.apply(std::make_shared<const Plan>(next));
        f.settle();
        QTRY_VERIFY_WITH_TIMEOUT(f.window.layer().layer() && f.window.layer().layer() != before, 20000);
        QVERIFY(f.window.layer().layer()->layer.choice.dispatch == MoeDispatch::Flat);
    }
    void aPlanWithoutExpertsHasNothingToOpen()
    {
        WindowFixture f(QStringLiteral("gpt3-175b-1024-a100"));
        QVERIFY(!f.window.commands().trigger("view.layer"));
        QVERIFY(f.window.workbench().isVisible());
        TimelineView *timeline = f.window.workbench().timeline;
        QSignalSpy requested(timeline, &TimelineView::layerRequested);
        timeline->selectSpan(firstSpan(*f.bridge.evaluation(), WorkKind::Forward));
        QTest::keyClick(timeline, Qt::Key_L);
        QCOMPARE(requested.size(), 0);
    }
};

TRAINYARD_TEST(ExpertLayerTest)
#include "tst_expert_layer.moc"
