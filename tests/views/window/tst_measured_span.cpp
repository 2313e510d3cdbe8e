// SPDX-License-Identifier: GPL-3.0-or-later
// A recorded run under the plan in the whole window: its spans are explained where the plan's are, its rows come and go
// with a command.
#include "tests/support/sample_run.h"
#include "tests/support/test_program.h"
#include "tests/views/window/window_fixture.h"
#include "views/commands/command_registry.h"
#include "views/details/details_panel.h"
#include "views/timeline/timeline_view.h"

using namespace trainyard;

class MeasuredSpanTest : public QObject {
    Q_OBJECT

private slots:
    void aClickOnAMeasuredSpanExplainsItInTheDetails()
    {
        WindowFixture f;
        TimelineView *timeline = f.window.workbench().timeline;
        const auto run = test::sampleRun(f.bridge.evaluation(), { .kernels = 1 });
        timeline->setOverlay(run);
        const TimelineState &state = timeline->state();
        const TrackRow &row = state.layout.rows.front();
        QVERIFY(!row.measured.empty());
        const MeasuredRow &measured = run->rows[row.measured.front()];
        std::size_t longest = 0;
        for (std::size_t i = 0; i < measured.size(); ++i)
            if (measured.end[i] - measured.start[i] > measured.end[longest] - measured.start[longest])
                longest = i;
        timeline->setVisibleRange(measured.start[longest], measured.end[longest]);
        const QRect tracks = timeline->trackArea().translated(-timeline->canvas()->mapTo(timeline, QPoint()));
        const QPoint at(
            tracks.center().x(), tracks.top() + rowTop(state.layout, row, state.scroll) + row.measuredTop + 1);
        QTest::mouseClick(timeline->canvas(), Qt::LeftButton, {}, at);
        QVERIFY(state.selectedMeasured != kNoSpan);
        DetailsPanel *details = f.window.workbench().details;
        QVERIFY(details->isVisible());
        QVERIFY2(
            details->title().endsWith(QStringLiteral("rank %1").arg(measured.shown)), qPrintable(details->title()));
        QVERIFY2(details->toTsv().contains(QStringLiteral("Plan here\t")), qPrintable(details->toTsv()));
        timeline->selectSpan(0);
        QVERIFY(!details->title().contains(QStringLiteral("rank ")));
        QCOMPARE(details->span(), 0u);
    }

    void theCommandShowsAndHidesTheRows()
    {
        WindowFixture f;
        QAction *action = f.window.commands().action(QStringLiteral("timeline.measured"));
        QVERIFY(action && !action->isEnabled());
        TimelineView *timeline = f.window.workbench().timeline;
        timeline->setOverlay(test::sampleRun(f.bridge.evaluation()));
        QVERIFY(action->isEnabled() && action->isChecked());
        f.window.activateWindow();
        QTest::keyClick(timeline, Qt::Key_R);
        QVERIFY(!action->isChecked() && !timeline->state().measured);
        QVERIFY(f.window.commands().trigger(QStringLiteral("timeline.measured")));
        QVERIFY(action->isChecked() && timeline->state().measured);
        timeline->setOverlay(nullptr);
        QVERIFY(!action->isEnabled());
    }
};

TRAINYARD_TEST(MeasuredSpanTest)
#include "tst_measured_span.moc"
