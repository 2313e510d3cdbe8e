// SPDX-License-Identifier: GPL-3.0-or-later
// One edit is one evaluation, one layout of the map and of the timeline, one drawing of a chart, and one painting of
// each panel once the answer is there: counted, because twice is not seen but felt.
#include "tests/support/test_program.h"
#include "window_fixture.h"

#include "tests/support/painted.h"
#include "views/panels/number_strip.h"
#include "views/panels/strategy_panel.h"
#include "views/panels/why_panel.h"
#include "views/plots/curves_panel.h"
#include "views/timeline/timeline_view.h"

#include <map>

using namespace trainyard;

namespace {

/// Paint events of widgets, from when it was made.
class PaintCount : public QObject {
public:
    PaintCount() { qApp->installEventFilter(this); }
    int of(const QObject *widget) const
    {
        const auto found = m_paints.find(widget);
        return found == m_paints.end() ? 0 : found->second;
    }
    void reset() { m_paints.clear(); }

protected:
    bool eventFilter(QObject *watched, QEvent *event) override
    {
        if (event->type() == QEvent::Paint)
            ++m_paints[watched];
        return false;
    }

private:
    std::map<const QObject *, int> m_paints;
};

} // namespace

class OnceTest : public QObject {
    Q_OBJECT
private slots:
    void anEditIsEvaluatedOnceAndPaintedOnce()
    {
        WindowFixture f;
        Workbench &bench = f.window.workbench();
        QSignalSpy judged(&f.effects, &StrategyEffects::effectsChanged);
        Plan first = *f.document.plan();
        first.cluster.wanLinks[0].rttMs += 5;
        f.document.apply(std::make_shared<const Plan>(first), "Slower");
        f.settle();
        const auto isJudged = [&] { // effects of the plan come last, and those of the plan as opened no more
            const EffectTablePtr last = judged.isEmpty() ? nullptr : judged.last().at(0).value<EffectTablePtr>();
            return last && last->complete && last->plan == f.document.plan();
        };
        QTRY_VERIFY_WITH_TIMEOUT(isJudged(), 60000);
        test::untilPainted(f.window);
        QSignalSpy finished(&f.bridge, &EvaluationBridge::evaluationFinished);
        QSignalSpy shown(&f.document, &PlanDocument::shownPlanChanged);
        PaintCount paints;
        for (int edit = 1; edit <= 5; ++edit) {
            Plan next = *f.document.plan();
            next.cluster.wanLinks[0].rttMs += 5;
            paints.reset();
            f.document.apply(std::make_shared<const Plan>(next), "Slower");
            while (f.bridge.isStale())
                QApplication::processEvents(QEventLoop::WaitForMoreEvents);
            QApplication::processEvents();
            QCOMPARE(int(finished.count()), edit);
            QCOMPARE(int(shown.count()), edit);
            // Before the answer nothing but what was edited is painted, and after it each panel once.
            for (const QWidget *panel :
                { static_cast<const QWidget *>(bench.map), static_cast<const QWidget *>(bench.timeline->canvas()) })
                QVERIFY2(paints.of(panel) == 1,
                    qPrintable(QStringLiteral("%1: %2 times")
                                   .arg(QString::fromLatin1(panel->metaObject()->className()))
                                   .arg(paints.of(panel))));
        }
    }
    void theTimelineTakesAnEvaluationOnce()
    {
        WindowFixture f;
        TimelineView &timeline = *f.window.workbench().timeline;
        timeline.selectSpan(5);
        QSignalSpy told(&timeline, &TimelineView::spanSelected); // once for each evaluation that it lays out
        for (int edit = 1; edit <= 3; ++edit) {
            Plan next = *f.document.plan();
            next.cluster.wanLinks[0].rttMs += 5;
            f.document.apply(std::make_shared<const Plan>(next), "Slower");
            f.settle();
            QCOMPARE(int(told.count()), edit);
        }
    }
    void dropOfWhatWasTriedIsNotEvaluatedAgain()
    {
        WindowFixture f;
        Plan next = *f.document.plan();
        next.cluster.wanLinks[0].rttMs += 5;
        const PlanPtr tried = std::make_shared<const Plan>(next);
        f.document.preview(tried, "Slower");
        f.settle();
        const EvaluationPtr known = f.bridge.evaluation();
        f.document.apply(tried, "Slower");
        QVERIFY(!f.bridge.isStale());
        QCOMPARE(f.bridge.evaluation(), known);
    }
};

TRAINYARD_TEST(OnceTest)
#include "tst_once.moc"
