// SPDX-License-Identifier: GPL-3.0-or-later
// The widget under real mouse, wheel and key events.
#include "tests/support/painted.h"
#include "tests/support/sample_timelines.h"
#include "tests/support/test_program.h"
#include "views/timeline/area_table.h"
#include "views/timeline/legend.h"
#include "views/timeline/minimap.h"
#include "views/timeline/span_card.h"
#include "views/timeline/timeline_view.h"

#include <QApplication>
#include <QClipboard>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include <memory>

using namespace trainyard;

class TimelineViewTest : public QObject {
    Q_OBJECT
    std::unique_ptr<TimelineView> m_view;

    [[nodiscard]] const TimelineState &state() const { return m_view->state(); }
    [[nodiscard]] const Timeline &timeline() const { return *state().timeline(); }
    double m_windowLeft = 0, m_windowWidth = 0; // of the tracks, which the minimap lines up with

    void mouse(
        QEvent::Type type, QPoint at, Qt::MouseButton button, Qt::MouseButtons buttons, Qt::KeyboardModifiers keys = {})
    {
        QWidget *canvas = m_view->canvas();
        QMouseEvent event(type, at, canvas->mapToGlobal(at), button, buttons, keys);
        QApplication::sendEvent(canvas, &event);
    }
    void hoverOver(QPoint at) { mouse(QEvent::MouseMove, at, Qt::NoButton, Qt::NoButton); }
    void drag(QPoint from, QPoint to, Qt::MouseButton button = Qt::LeftButton, Qt::KeyboardModifiers keys = {})
    {
        mouse(QEvent::MouseButtonPress, from, button, button, keys);
        mouse(QEvent::MouseMove, (from + to) / 2, Qt::NoButton, button, keys);
        mouse(QEvent::MouseMove, to, Qt::NoButton, button, keys);
        mouse(QEvent::MouseButtonRelease, to, button, Qt::NoButton, keys);
    }
    void wheel(QPoint at, int notches, Qt::KeyboardModifiers keys = {})
    {
        QWidget *canvas = m_view->canvas();
        QWheelEvent event(
            at, canvas->mapToGlobal(at), {}, { 0, notches * 120 }, Qt::NoButton, keys, Qt::NoScrollPhase, false);
        QApplication::sendEvent(canvas, &event);
    }
    [[nodiscard]] double xOf(Nanoseconds t) const { return timeToX(t, state().range, m_windowLeft, m_windowWidth); }
    [[nodiscard]] QPoint middleOf(std::uint32_t span) const
    {
        const TrackRow &row = state().layout.rows[std::size_t(state().layout.rowOfTrack[timeline().trackOf[span]])];
        return { int((xOf(timeline().start[span]) + xOf(timeline().end[span])) / 2),
            kRulerHeight + rowTop(state().layout, row, state().scroll) + row.barTop + row.barHeight / 2 };
    }
    void dragOverAllRows()
    {
        const auto middle = [&](const TrackRow &row) {
            return kRulerHeight + rowTop(state().layout, row, state().scroll) + row.barTop + row.barHeight / 2;
        };
        drag({ int(m_windowLeft) + 200, middle(state().layout.rows.front()) },
            { int(m_windowLeft) + 700, middle(state().layout.rows.back()) });
    }
    void foldSecondDatacenter()
    {
        QTest::mouseClick(
            m_view->canvas(), Qt::LeftButton, {}, QPoint(30, kRulerHeight + state().layout.groups[1].y + 6));
    }
    /// The n-th span of a stage's compute track.
    [[nodiscard]] std::uint32_t spanOf(int stage, std::uint32_t n) const
    {
        return timeline().tracks[std::size_t(stage)].first + n;
    }

private slots:
    void init()
    {
        m_view = std::make_unique<TimelineView>();
        m_view->resize(1280, 400);
        m_view->setEvaluation(test::sampleEvaluation());
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get()));
        const QRectF whole = m_view->findChild<Minimap *>()->window();
        m_windowLeft = whole.left();
        m_windowWidth = whole.width();
    }
    void cleanup() { m_view.reset(); }

    void theWholeIterationIsShownAtFirst()
    {
        QCOMPARE(m_view->visibleRange(), (TimeInterval { 0, timeline().duration }));
    }

    void theHoverNamesTheSpanUnderTheMouse()
    {
        const std::uint32_t span = spanOf(4, 20);
        hoverOver(middleOf(span));
        QCOMPARE(state().hovered, span);
        QVERIFY(m_view->findChild<SpanCard *>()->isVisible());
        hoverOver({ int(m_windowLeft) + 300, 5 });
        QCOMPARE(state().hovered, kNoSpan);
        QVERIFY(!m_view->findChild<SpanCard *>()->isVisible());
    }

    void aClickSelectsAndEscapeClears()
    {
        QSignalSpy selected(m_view.get(), &TimelineView::spanSelected);
        const std::uint32_t span = spanOf(7, 12);
        QTest::mouseClick(m_view->canvas(), Qt::LeftButton, {}, middleOf(span));
        QCOMPARE(selected.size(), 1);
        QCOMPARE(m_view->selectedSpan(), span);
        QVERIFY(m_view->accessibleDescription().contains(QStringLiteral("stage 8")));
        QTest::keyClick(m_view.get(), Qt::Key_Escape);
        QCOMPARE(m_view->selectedSpan(), kNoSpan);
    }

    void ctrlWheelZoomsAtTheCursor()
    {
        const QPoint at(700, 150);
        const Nanoseconds under = xToTime(at.x(), state().range, m_windowLeft, m_windowWidth);
        wheel(at, 3, Qt::ControlModifier);
        QVERIFY(m_view->visibleRange().length() < timeline().duration * 0.6);
        QVERIFY(std::abs(xOf(under) - at.x()) < 1.5);
    }

    void shiftWheelPansAndWheelScrolls()
    {
        wheel({ 700, 150 }, 4, Qt::ControlModifier);
        const TimeInterval before = m_view->visibleRange();
        wheel({ 700, 150 }, -1, Qt::ShiftModifier);
        QVERIFY(m_view->visibleRange().begin > before.begin);
        QCOMPARE(m_view->visibleRange().length(), before.length());
        m_view->resize(1280, 140); // too flat even for the shortest rows
        QApplication::processEvents();
        wheel({ 700, 50 }, -1);
        QVERIFY(state().scroll > 0);
        wheel({ 700, 50 }, 99);
        QCOMPARE(state().scroll, 0);
    }

    void aDragOnTheRulerPans_data()
    {
        QTest::addColumn<QPoint>("from");
        QTest::addColumn<int>("button");
        QTest::addColumn<int>("keys");
        QTest::newRow("ruler") << QPoint(700, 8) << int(Qt::LeftButton) << 0;
        QTest::newRow("shift") << QPoint(700, 120) << int(Qt::LeftButton) << int(Qt::ShiftModifier);
        QTest::newRow("middle button") << QPoint(700, 120) << int(Qt::MiddleButton) << 0;
    }
    void aDragOnTheRulerPans()
    {
        QFETCH(QPoint, from);
        QFETCH(int, button);
        QFETCH(int, keys);
        wheel({ 700, 150 }, 6, Qt::ControlModifier);
        const TimeInterval before = m_view->visibleRange();
        drag(from, from - QPoint(100, 0), Qt::MouseButton(button), Qt::KeyboardModifiers(keys));
        const double moved =
            double(m_view->visibleRange().begin - before.begin) / double(before.length()) * m_windowWidth;
        QVERIFY2(std::abs(moved - 100) < 1.5, qPrintable(QString::number(moved)));
        QVERIFY(!state().area);
    }

    void aDragSelectsAnAreaAndItsTableCopies()
    {
        const QPoint from = middleOf(spanOf(0, 0)) - QPoint(2, 0), to = middleOf(spanOf(2, 20));
        drag(from, to);
        QVERIFY(state().area);
        QCOMPARE(state().area->firstRow, state().layout.rowOfTrack[0]);
        QCOMPARE(state().area->lastRow, state().layout.rowOfTrack[2]);
        auto *table = m_view->findChild<AreaTable *>();
        QVERIFY(table->isVisible());
        QTest::keyClick(m_view.get(), Qt::Key_C, Qt::ControlModifier);
        const QStringList lines = QApplication::clipboard()->text().split(u'\n', Qt::SkipEmptyParts);
        QCOMPARE(lines.first().split(u'\t').size(), 7);
        double total = 0; // work and idle time add up to the area
        for (const QString &line : lines.mid(1))
            total += line.split(u'\t').at(2).toDouble();
        QVERIFY(std::abs(total - 3 * double(state().area->time.length()) * 1e-9) < 1e-6);
        QTest::keyClick(m_view.get(), Qt::Key_Escape);
        QVERIFY(!table->isVisible());
    }

    /// Its rows are counted in the layout: where that gets other rows, the area would be of others, or of none.
    void anAreaEndsWhereFoldsOrPinsChangeItsRows()
    {
        auto *table = m_view->findChild<AreaTable *>();
        dragOverAllRows();
        QCOMPARE(state().area->lastRow + 1, int(state().layout.rows.size()));
        m_view->resize(1280, 380); // the same rows
        QApplication::processEvents();
        QVERIFY(state().area && table->isVisible());
        foldSecondDatacenter();
        QVERIFY(!state().area && !table->isVisible());
        QTest::mouseClick(m_view->findChild<KindButton *>(), Qt::LeftButton); // counts an area anew, where there is one
        QVERIFY(!m_view->filter().isNeutral());
        foldSecondDatacenter();
        dragOverAllRows();
        QVERIFY(state().area);
        hoverOver(middleOf(spanOf(6, 3)));
        QTest::keyClick(m_view.get(), Qt::Key_P);
        QCOMPARE(state().layout.pinnedCount, 1);
        QVERIFY(!state().area && !table->isVisible());
    }

    void anAreaStaysOverAnEditOfTheSameRowsOnly()
    {
        dragOverAllRows();
        m_view->setEvaluation(test::sampleEvaluation({ .wanHold = 60'000'000 }));
        QVERIFY(state().area);
        foldSecondDatacenter();
        m_view->setEvaluation(test::sampleEvaluation()); // read rows of before the fold
        QVERIFY(!state().area);
        foldSecondDatacenter();
        dragOverAllRows();
        m_view->setEvaluation(test::sampleEvaluation({ .datacenters = 1 }));
        QVERIFY(!state().area);
    }

    void aDoubleClickZoomsToTheSpanAndFFitsAgain()
    {
        const std::uint32_t span = spanOf(5, 14);
        QTest::mouseDClick(m_view->canvas(), Qt::LeftButton, {}, middleOf(span));
        QCOMPARE(m_view->selectedSpan(), span);
        const Nanoseconds length = timeline().end[span] - timeline().start[span];
        QCOMPARE(m_view->visibleRange().length(), 2 * length);
        QTest::keyClick(m_view.get(), Qt::Key_F);
        QCOMPARE(m_view->visibleRange(), state().whole);
    }

    void theKeysZoomAndPan()
    {
        QSignalSpy changed(m_view.get(), &TimelineView::rangeChanged);
        QTest::keyClick(m_view.get(), Qt::Key_W);
        const TimeInterval zoomedIn = m_view->visibleRange();
        QVERIFY(zoomedIn.length() < state().whole.length());
        QTest::keyClick(m_view.get(), Qt::Key_D);
        QVERIFY(m_view->visibleRange().begin > zoomedIn.begin);
        QTest::keyClick(m_view.get(), Qt::Key_Left);
        QCOMPARE(m_view->visibleRange(), zoomedIn);
        QTest::keyClick(m_view.get(), Qt::Key_S);
        QCOMPARE(m_view->visibleRange(), state().whole);
        QCOMPARE(changed.size(), 4);
    }

    void periodAndCommaWalkAlongTheTrack()
    {
        m_view->selectSpan(spanOf(3, 5));
        QTest::keyClick(m_view.get(), Qt::Key_Period);
        QCOMPARE(m_view->selectedSpan(), spanOf(3, 6));
        QTest::keyClick(m_view.get(), Qt::Key_Comma);
        QTest::keyClick(m_view.get(), Qt::Key_Comma);
        QCOMPARE(m_view->selectedSpan(), spanOf(3, 4));
    }

    void bracketsFollowTheDependency()
    {
        const std::uint32_t first = spanOf(1, 0); // the first forward of stage 2 waits for that of stage 1
        m_view->selectSpan(first);
        QTest::keyClick(m_view.get(), Qt::Key_BracketLeft);
        QCOMPARE(m_view->selectedSpan(), spanOf(0, 0));
        QTest::keyClick(m_view.get(), Qt::Key_BracketRight);
        QCOMPARE(timeline().cause[m_view->selectedSpan()], spanOf(0, 0));
    }

    void marksComeInPairs()
    {
        for (const std::uint32_t n : { 3u, 9u, 12u }) {
            m_view->selectSpan(spanOf(2, n));
            QTest::keyClick(m_view.get(), Qt::Key_M);
        }
        QCOMPARE(*state().marks[0], timeline().start[spanOf(2, 9)]);
        QCOMPARE(*state().marks[1], timeline().start[spanOf(2, 12)]);
    }

    void aPinnedRowOutlivesANewEvaluation()
    {
        m_view->selectSpan(spanOf(6, 0));
        QTest::keyClick(m_view.get(), Qt::Key_P);
        QCOMPARE(state().layout.pinnedCount, 1);
        m_view->setEvaluation(test::sampleEvaluation({ .microBatches = 20 }));
        QCOMPARE(state().layout.pinnedCount, 1);
        QCOMPARE(state().layout.rows.front().label, QStringLiteral("stage 7"));
    }

    /// What was pinned and folded comes back with the next start; a state that is none changes nothing.
    void pinnedAndFoldedRowsComeBack()
    {
        m_view->selectSpan(spanOf(6, 0));
        QTest::keyClick(m_view.get(), Qt::Key_P);
        foldSecondDatacenter();
        const QByteArray kept = m_view->rowsState();
        TimelineView next;
        next.resize(m_view->size());
        next.setEvaluation(test::sampleEvaluation());
        QCOMPARE(next.state().layout.pinnedCount, 0);
        next.restoreRows(QByteArray("none"));
        next.restoreRows({});
        QCOMPARE(next.state().layout.pinnedCount, 0);
        next.restoreRows(kept);
        QCOMPARE(next.state().layout.pinnedCount, 1);
        QCOMPARE(next.state().layout.rows.front().label, QStringLiteral("stage 7"));
        QCOMPARE(next.state().layout.rows.size(), state().layout.rows.size()); // the folded ones, too
        QCOMPARE(next.rowsState(), kept);
    }

    void newNumbersKeepTheZoom()
    {
        const Nanoseconds old = timeline().duration;
        m_view->setVisibleRange(old / 4, old / 2);
        m_view->setEvaluation(test::sampleEvaluation({ .wanHold = 60'000'000 }));
        const Nanoseconds now = timeline().duration;
        QVERIFY(now > old);
        QVERIFY(std::abs(m_view->visibleRange().begin - now / 4) < 10);
        QVERIFY(std::abs(m_view->visibleRange().end - now / 2) < 10);
    }

    void aLongerBaselineStretchesTheWhole()
    {
        const auto slower = test::sampleEvaluation({ .wanHold = 60'000'000 });
        m_view->setBaseline(slower);
        QCOMPARE(m_view->visibleRange().end, slower->timeline.duration);
        QVERIFY(state().layout.rows.front().ghostHeight > 0);
        m_view->setBaseline(nullptr);
        QCOMPARE(m_view->visibleRange().end, timeline().duration);
    }

    void anotherPlanIsShownWholeAndTheChartsBelowAreTold()
    {
        wheel({ 700, 150 }, 3, Qt::ControlModifier);
        QSignalSpy ranges(m_view.get(), &TimelineView::rangeChanged);
        m_view->startPlan();
        QCOMPARE(ranges.size(), 1);
        QCOMPARE(ranges.first().at(0).toLongLong(), 0);
        QCOMPARE(ranges.first().at(1).toLongLong(), timeline().duration);
        QCOMPARE(m_view->visibleRange(), (TimeInterval { 0, timeline().duration }));
        m_view->startPlan(); // whole already
        QCOMPARE(ranges.size(), 1);
    }

    /// Every edit says the baseline, long before its answer is there.
    void theSameBaselineAgainPaintsNothing()
    {
        auto *minimap = m_view->findChild<Minimap *>(); // lies beside the canvas
        const auto baseline = test::sampleEvaluation({ .wanHold = 60'000'000 });
        for (const EvaluationPtr &of : { EvaluationPtr(), baseline }) {
            m_view->setBaseline(of);
            test::untilPainted(*minimap); // what it changed is painted
            const test::PaintsOf paints(*m_view->canvas());
            m_view->setBaseline(of);
            test::untilPainted(*minimap);
            QCOMPARE(paints.count(), 0);
        }
    }

    void draggingTheMinimapsWindowPans()
    {
        m_view->setVisibleRange(0, timeline().duration / 4);
        auto *map = m_view->findChild<Minimap *>();
        const QPoint from = map->window().center().toPoint();
        QTest::mousePress(map, Qt::LeftButton, {}, from);
        QMouseEvent move(QEvent::MouseMove, from + QPoint(200, 0), map->mapToGlobal(from + QPoint(200, 0)),
            Qt::NoButton, Qt::LeftButton, {});
        QApplication::sendEvent(map, &move);
        QTest::mouseRelease(map, Qt::LeftButton, {}, from + QPoint(200, 0));
        QVERIFY(std::abs(map->window().left() - m_windowLeft - 200) < 1.5);
        QVERIFY(std::abs(m_view->visibleRange().length() - timeline().duration / 4) < 10);
    }

    void aClickOnADatacenterFoldsIt()
    {
        const std::size_t before = state().layout.rows.size();
        const QPoint name(30, kRulerHeight + state().layout.groups[1].y + 6);
        QTest::mouseClick(m_view->canvas(), Qt::LeftButton, {}, name);
        QVERIFY(state().layout.groups[1].isFolded && !state().layout.groups[0].isFolded);
        QVERIFY(state().layout.rows.size() < before);
        QTest::mouseClick(
            m_view->canvas(), Qt::LeftButton, {}, QPoint(30, kRulerHeight + state().layout.groups[1].y + 6));
        QCOMPARE(state().layout.rows.size(), before);
    }

    void searchingSelectsTheFirstMatchAndNarrowsTheFilter()
    {
        QVERIFY(m_view->find(QStringLiteral("backward 4")));
        QCOMPARE(timeline().kind[m_view->selectedSpan()], WorkKind::Backward);
        QCOMPARE(timeline().microBatch[m_view->selectedSpan()], 3);
        const Nanoseconds first = timeline().start[m_view->selectedSpan()];
        m_view->findNext();
        QVERIFY(timeline().start[m_view->selectedSpan()] > first);
        QVERIFY(!m_view->find(QStringLiteral("nonsense")));
    }

    void aPlanThatCannotBeEvaluatedSaysWhyUntilOneCan()
    {
        const EvaluationPtr before = m_view->evaluation();
        m_view->setFailure(QStringLiteral("no model is called x"));
        QVERIFY(m_view->state().isEmpty());
        QVERIFY(m_view->accessibleDescription().startsWith(
            QStringLiteral("No timeline. This plan cannot be evaluated: no model is called x.")));
        m_view->grab();
        m_view->setEvaluation(before);
        QVERIFY(!m_view->accessibleDescription().contains(QStringLiteral("cannot")));
    }

    void nothingToShowIsNoCrash()
    {
        m_view->setEvaluation(nullptr);
        QVERIFY(m_view->accessibleDescription().startsWith(QStringLiteral("No timeline")));
        for (const int key : { Qt::Key_W, Qt::Key_S, Qt::Key_D, Qt::Key_F, Qt::Key_Period, Qt::Key_Comma, Qt::Key_M,
                 Qt::Key_P, Qt::Key_C, Qt::Key_BracketLeft, Qt::Key_Escape })
            QTest::keyClick(m_view.get(), Qt::Key(key));
        drag({ 400, 60 }, { 600, 100 });
        wheel({ 500, 80 }, 2, Qt::ControlModifier);
        m_view->find(QStringLiteral("forward"));
        m_view->grab();
        QCOMPARE(m_view->selectedSpan(), kNoSpan);
    }
};

TRAINYARD_TEST(TimelineViewTest)
#include "tst_timeline_view.moc"
