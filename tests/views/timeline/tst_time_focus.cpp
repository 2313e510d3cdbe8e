// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline points at where the seconds of a part of Why are, and goes back, under real events.
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/theme/part_colors.h"
#include "views/theme/theme.h"
#include "views/timeline/legend.h"
#include "views/timeline/minimap.h"
#include "views/timeline/span_card.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include <memory>

using namespace trainyard;

class TimeFocusTest : public QObject {
    Q_OBJECT
    std::unique_ptr<TimelineView> m_view;

    [[nodiscard]] const TimelineState &state() const { return m_view->state(); }
    [[nodiscard]] const Timeline &timeline() const { return *state().timeline(); }
    /// Middle of an interval of a track, in the canvas.
    [[nodiscard]] QPoint middleOf(std::uint32_t track, Nanoseconds begin, Nanoseconds end) const
    {
        const QRect tracks = m_view->trackArea().translated(-m_view->canvas()->mapTo(m_view.get(), QPoint()));
        const TrackRow &row = state().layout.rows[std::size_t(state().layout.rowOfTrack[track])];
        return { int(timeToX((begin + end) / 2, state().range, tracks.left(), tracks.width())),
            tracks.top() + rowTop(state().layout, row, state().scroll) + row.barTop + row.barHeight / 2 };
    }
    [[nodiscard]] QPoint largest() const
    {
        return middleOf(state().focus->largest.track, state().focus->largest.begin, state().focus->largest.end);
    }
    /// Colours within a few pixels: patterns and numbers lie over them.
    [[nodiscard]] bool hasColor(QPoint at, const QColor &color) const
    {
        const QImage image = m_view->canvas()->grab().toImage();
        for (int dx = -4; dx <= 4; ++dx)
            for (int dy = -1; dy <= 3; ++dy)
                if (image.pixelColor(at + QPoint(dx, dy)) == color)
                    return true;
        return false;
    }
    void hoverOver(QPoint at)
    {
        QMouseEvent event(
            QEvent::MouseMove, at, m_view->canvas()->mapToGlobal(at), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(m_view->canvas(), &event);
    }

private slots:
    void init()
    {
        applyTheme(*qApp, ThemeKind::Light);
        m_view = std::make_unique<TimelineView>();
        m_view->resize(1280, 500);
        m_view->setEvaluation(test::sampleEvaluation({ .datacenters = 2, .stages = 4, .microBatches = 4 }));
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
    }
    void cleanup() { m_view.reset(); }

    /// Σ marks on compute rows / stages = the seconds told; every wait ends where the span that it names begins, or
    /// before.
    void theMarksAreThePiecesOfTheBreakdown()
    {
        for (const BreakdownPart part : kBreakdownParts) {
            const TimeFocus focus = TimeFocus::on(timeline(), { part });
            double sum = 0;
            for (std::uint32_t t = 0; t < focus.timeline.tracks.size(); ++t)
                for (std::uint32_t mark = focus.timeline.tracks[t].first; mark < focus.timeline.tracks[t].last;
                     ++mark) {
                    QCOMPARE(focus.trackOf(mark), t);
                    if (focus.timeline.tracks[t].stream == Stream::Compute)
                        sum += double(focus.timeline.end[mark] - focus.timeline.start[mark]) * 1e-9;
                    QVERIFY(!focus.marks[mark].isWait || focus.marks[mark].span == kNoSpan
                        || focus.timeline.end[mark] <= timeline().start[focus.marks[mark].span]);
                }
            QVERIFY(std::abs(sum / 4 - focus.seconds) < 1e-9);
            QVERIFY(std::abs(focus.seconds - piecesOf(timeline(), std::array { part }).seconds()) < 1e-12);
        }
    }

    void waitsForTheWanStandOutAndTheRestFades()
    {
        const QPoint forward = middleOf(0, timeline().start[0], timeline().end[0]);
        QVERIFY(hasColor(forward, theme().work(WorkKind::Forward)));
        QSignalSpy changed(m_view.get(), &TimelineView::focusChanged);
        m_view->focusOn({ &Breakdown::wan });
        QCOMPARE(changed.count(), 1);
        QVERIFY(state().focus->largest.isWait);
        QCOMPARE(m_view->selectedSpan(), state().focus->largest.span);
        QVERIFY(hasColor(largest(), partColor(&Breakdown::wan)));
        QVERIFY(!hasColor(forward, theme().work(WorkKind::Forward)));
        const std::uint32_t transfer = state().focus->largest.transfer; // what is waited for stands out too
        QVERIFY(hasColor(middleOf(timeline().trackOf[transfer], timeline().start[transfer], timeline().end[transfer]),
            theme().work(WorkKind::WanTransfer)));
        QVERIFY(m_view->accessibleDescription().startsWith("WAN: "));
    }

    void bubblesAreSeenOnIdleRows()
    {
        m_view->focusOn({ &Breakdown::bubble });
        QVERIFY(hasColor(largest(), theme().textMuted));
    }

    void computeKeepsTheColoursOfItsBars()
    {
        m_view->focusOn({ &Breakdown::compute });
        QVERIFY(hasColor(middleOf(0, timeline().start[0], timeline().end[0]), theme().work(WorkKind::Forward)));
        const auto backward =
            std::uint32_t(std::ranges::find(timeline().kind, WorkKind::Backward) - timeline().kind.begin());
        QVERIFY(hasColor(middleOf(timeline().trackOf[backward], timeline().start[backward], timeline().end[backward]),
            theme().work(WorkKind::Backward)));
    }

    void theMinimapFadesToo()
    {
        auto *minimap = m_view->findChild<Minimap *>();
        const QImage before = minimap->picture();
        m_view->focusOn({ &Breakdown::wan });
        QVERIFY(minimap->picture() != before);
        m_view->focusOn({});
        QCOMPARE(minimap->picture(), before);
    }

    void fZoomsToTheLargestAndEscapeGoesBack()
    {
        const TimeInterval before = m_view->visibleRange();
        m_view->focusOn({ &Breakdown::wan });
        QCOMPARE(m_view->visibleRange(), before);
        QTest::keyClick(m_view.get(), Qt::Key_F);
        const TimePiece piece = state().focus->largest;
        QVERIFY(m_view->visibleRange().begin < piece.begin && m_view->visibleRange().end > piece.end);
        QVERIFY(m_view->visibleRange().length() < 3 * (piece.end - piece.begin));
        QTest::keyClick(m_view.get(), Qt::Key_Escape);
        QVERIFY(m_view->focusedParts().empty());
        QCOMPARE(m_view->selectedSpan(), kNoSpan);
        QCOMPARE(m_view->visibleRange(), before);
    }

    /// A share of an operation is zoomed to, not the operation around it.
    void fZoomsToAShareOfAnOperation()
    {
        auto evaluation = std::make_shared<Evaluation>(*state().evaluation);
        evaluation->timeline.classes = { { .kind = WorkKind::Forward, .exposed = { .tensor = 3e-3 } } }; // of 30 ms
        for (const WorkKind kind : evaluation->timeline.kind)
            evaluation->timeline.taskClass.push_back(kind == WorkKind::Forward ? 0 : kNoSpan);
        m_view->setEvaluation(evaluation);
        m_view->focusOn({ &Breakdown::tensorParallel });
        QTest::keyClick(m_view.get(), Qt::Key_F);
        QCOMPARE(m_view->visibleRange(), (TimeInterval { 27'000'000 - 1'500'000, 30'000'000 + 1'500'000 }));
        QVERIFY(hasColor(largest(), partColor(&Breakdown::tensorParallel)));
    }

    void whatLiesOutsideOfTheViewIsBroughtIn()
    {
        m_view->setVisibleRange(0, 20'000'000);
        m_view->focusOn({ &Breakdown::optimizer });
        const TimePiece piece = state().focus->largest;
        QVERIFY(m_view->visibleRange().begin <= piece.begin && m_view->visibleRange().end >= piece.end);
        m_view->focusOn({});
        QCOMPARE(m_view->visibleRange(), (TimeInterval { 0, 20'000'000 }));
    }

    void whereAPersonHasGoneSinceStays()
    {
        m_view->focusOn({ &Breakdown::wan });
        m_view->setVisibleRange(10'000'000, 90'000'000);
        QTest::keyClick(m_view.get(), Qt::Key_Escape);
        QCOMPARE(m_view->visibleRange(), (TimeInterval { 10'000'000, 90'000'000 }));
    }

    void theLegendSaysWhatAndHasAWayBack()
    {
        m_view->focusOn({ &Breakdown::wan });
        auto *legend = m_view->findChild<Legend *>();
        QToolButton *back = nullptr;
        for (QToolButton *button : legend->findChildren<QToolButton *>())
            back = button->text() == QStringLiteral("✕") ? button : back;
        QVERIFY(back && back->isVisible());
        QTest::mouseClick(back, Qt::LeftButton);
        QVERIFY(m_view->focusedParts().empty());
        QVERIFY(!back->isVisible());
    }

    void aWaitSaysWhoWaitsForWhatAndAClickSelectsWhoDoes()
    {
        m_view->focusOn({ &Breakdown::wan });
        QTest::keyClick(m_view.get(), Qt::Key_F);
        const TimePiece piece = state().focus->largest;
        hoverOver(largest());
        const auto *card = m_view->findChild<SpanCard *>();
        QVERIFY(card->isVisible());
        QVERIFY2(card->text().contains("WAN") && card->text().contains("which waits for WAN transfer"),
            qPrintable(card->text()));
        m_view->selectSpan(kNoSpan);
        QTest::mouseClick(m_view->canvas(), Qt::LeftButton, {}, largest());
        QCOMPARE(m_view->selectedSpan(), piece.span);
        const QPoint there = largest();
        m_view->focusOn({});
        hoverOver(there);
        QVERIFY(!card->isVisible() || !card->text().startsWith("Waiting"));
    }

    void itFollowsAnEditAndEndsWithThePlan()
    {
        m_view->focusOn({ &Breakdown::wan });
        const double before = state().focus->seconds;
        m_view->setEvaluation(
            test::sampleEvaluation({ .datacenters = 2, .stages = 4, .microBatches = 4, .wanLatency = 45'000'000 }));
        QVERIFY(state().focus && state().focus->seconds > before);
        m_view->setEvaluation(test::sampleEvaluation({ .datacenters = 1, .stages = 4, .microBatches = 4 })); // no WAN
        QVERIFY(m_view->focusedParts().empty());
        m_view->focusOn({ &Breakdown::bubble });
        QVERIFY(!m_view->focusedParts().empty());
        m_view->startPlan();
        QVERIFY(m_view->focusedParts().empty());
    }
};

TRAINYARD_TEST(TimeFocusTest)
#include "tst_time_focus.moc"
