// SPDX-License-Identifier: GPL-3.0-or-later
// Data, layout and pointing; what is measured in an area is in timeline_area.cpp, the commands in
// timeline_commands.cpp.
#include "views/timeline/timeline_view.h"

#include "views/theme/theme.h"
#include "views/timeline/area_table.h"
#include "views/timeline/canvas_gestures.h"
#include "views/timeline/legend.h"
#include "views/timeline/minimap.h"
#include "views/timeline/overlay_painter.h"
#include "views/timeline/same_span.h"
#include "views/timeline/span_card.h"
#include "views/timeline/span_text.h"

#include <QAccessible>
#include <QEvent>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

std::uint32_t kindsPresent(const Timeline &timeline)
{
    std::uint32_t present = 0;
    for (const WorkKind kind : timeline.kind)
        present |= 1u << int(kind);
    return present;
}

/// Whether a row's number means the same row in both.
bool haveSameRows(const TrackLayout &a, const TrackLayout &b)
{
    return std::ranges::equal(a.rows, b.rows, {}, &TrackRow::key, &TrackRow::key);
}

} // namespace

TimelineView::TimelineView(QWidget *parent)
    : QWidget(parent)
    , m_legend(new Legend(this))
    , m_canvas(new ChartCanvas(m_state, this))
    , m_minimap(new Minimap(m_state, this))
    , m_areaTable(new AreaTable(this))
    , m_card(new SpanCard(this))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_legend);
    column->addWidget(m_canvas, 1);
    column->addWidget(m_minimap);
    setFocusPolicy(Qt::StrongFocus);
    m_canvas->setFocusPolicy(Qt::ClickFocus);
    m_canvas->setFocusProxy(this);
    setAutoFillBackground(true);
    setAccessibleName(tr("Timeline"));
    applyBackground();
    wire();
    describe();
}

TimelineView::~TimelineView() = default;

QWidget *TimelineView::canvas() const
{
    return m_canvas;
}

QRect TimelineView::trackArea() const
{
    return m_canvas->geometry().tracks.translated(m_canvas->mapTo(this, QPoint()));
}

void TimelineView::wire()
{
    auto *gestures = new CanvasGestures(m_state, *m_canvas);
    connect(gestures, &CanvasGestures::rangeWished, this, &TimelineView::setRange);
    connect(gestures, &CanvasGestures::scrollWished, this, &TimelineView::setScroll);
    connect(gestures, &CanvasGestures::pointedAt, this, &TimelineView::pointAt);
    connect(gestures, &CanvasGestures::pointerLeft, this, [this] { pointAt({ -1, -1 }); });
    connect(gestures, &CanvasGestures::clicked, this, &TimelineView::click);
    connect(gestures, &CanvasGestures::doubleClicked, this, [this](QPoint point) {
        click(point);
        if (m_state.selected != kNoSpan)
            zoomToSelection();
        else if (m_canvas->geometry().ruler.contains(point))
            fit();
    });
    connect(gestures, &CanvasGestures::areaDragged, this, &TimelineView::dragArea);
    connect(gestures, &CanvasGestures::areaFinished, this, &TimelineView::finishArea);
    connect(gestures, &CanvasGestures::jobDragged, this, &TimelineView::dragJob);
    connect(gestures, &CanvasGestures::jobDropped, this, &TimelineView::dropJob);
    connect(m_legend, &Legend::jobChosen, this, [this](int job) {
        selectSpan(kNoSpan);
        selectJob(job == m_state.job ? JobSpans::kNone : job);
    });
    connect(m_minimap, &Minimap::rangeWished, this, &TimelineView::setRange);
    connect(m_legend, &Legend::shownKindsChanged, this, [this](quint32 kinds) {
        m_shownKinds = kinds;
        applyFilters();
    });
    connect(m_legend, &Legend::searchEdited, this, [this](const QString &text) { find(text); });
    connect(m_legend, &Legend::nextMatchWished, this, &TimelineView::findNext);
    connect(m_legend, &Legend::searchClosed, this, [this] {
        setFilter({});
        setFocus();
    });
    connect(m_legend, &Legend::runToggled, this, &TimelineView::toggleMeasured);
    connect(m_legend, &Legend::focusClosed, this, [this] { focusOn({}); });
    connect(m_areaTable, &AreaTable::closed, this, &TimelineView::forgetArea);
    connect(m_areaTable, &AreaTable::contentChanged, this, [this](bool has) {
        if (m_areaTable->parentWidget() != this)
            return;
        m_areaTable->setVisible(has);
        placeAreaTable();
    });
}

void TimelineView::setEvaluation(EvaluationPtr evaluation)
{
    setEvaluation(std::move(evaluation), m_state.baseline);
}

void TimelineView::setEvaluation(EvaluationPtr evaluation, EvaluationPtr baseline)
{
    const TimeInterval toldRange = m_state.range;
    takeBaseline(std::move(baseline));
    const TimeInterval oldWhole = m_state.whole, oldRange = m_state.range;
    const EvaluationPtr before = std::exchange(m_state.evaluation, std::move(evaluation));
    m_state.failure.clear();
    m_state.whole = wholeTime();
    m_state.range = carriedOver(oldRange, oldWhole, m_state.whole);
    m_state.hovered = m_state.hoveredMeasured = kNoSpan; // span numbers mean something else now
    const std::uint32_t selected = m_state.selected == kNoSpan || !before || m_state.isEmpty()
        ? kNoSpan
        : sameSpan(before->timeline, m_state.selected, *m_state.timeline());
    const bool tellsSelection = std::exchange(m_state.selected, selected) != kNoSpan;
    collectEffects();
    m_state.criticalPath.clear();
    m_sortedPath.clear();
    m_knowsCriticalPath = false;
    m_card->hide();
    if (m_state.showsCriticalPath)
        ensureCriticalPath();
    m_presentKinds = m_state.isEmpty() ? 0 : kindsPresent(*m_state.timeline());
    m_legend->setKinds(m_presentKinds);
    m_legend->setSummary(m_state.isEmpty() ? QString() : timelineSummary(*m_state.evaluation));
    relayout();
    takeJobs();
    renewFocus();
    if (m_state.area) { // relayout() left it: the same part of the new iteration
        m_state.area->time = carriedOver(m_state.area->time, oldWhole, m_state.whole);
        finishArea();
    }
    describe();
    if (m_state.range != toldRange)
        emit rangeChanged(m_state.range.begin, m_state.range.end);
    if (tellsSelection)
        emit spanSelected(m_state.selected);
}

void TimelineView::startPlan()
{
    focusOn({});
    m_legend->reset();
    m_shownKinds = kAllKinds;
    m_search = {};
    applyFilters();
    m_state.marks = {};
    forgetArea();
    selectSpan(kNoSpan);
    selectJob(JobSpans::kNone);
    m_state.scroll = 0;
    repaintChart();
    if (std::exchange(m_state.range, m_state.whole) != m_state.whole) // what comes next fits from the start
        emit rangeChanged(m_state.range.begin, m_state.range.end);
}

void TimelineView::setFailure(const QString &reason)
{
    setEvaluation(nullptr);
    m_state.failure = reason;
    m_canvas->update();
    describe();
}

/// What is in sight stays so; false where the baseline is the same.
bool TimelineView::takeBaseline(EvaluationPtr baseline)
{
    if (baseline && baseline->timeline.isEmpty())
        baseline = nullptr;
    if (baseline == m_state.baseline) // every edit says it again
        return false;
    const TimeInterval oldWhole = m_state.whole;
    m_state.baseline = std::move(baseline);
    m_state.whole = wholeTime();
    m_options.showGhost = m_state.baseline != nullptr;
    if (!m_state.isEmpty())
        m_state.range = m_state.range == oldWhole ? m_state.whole : clamped(m_state.range, m_state.whole);
    return true;
}

void TimelineView::setBaseline(EvaluationPtr baseline)
{
    const TimeInterval range = m_state.range;
    if (!takeBaseline(std::move(baseline)))
        return;
    relayout();
    if (m_state.range == range)
        return;
    repaintChart();
    emit rangeChanged(m_state.range.begin, m_state.range.end);
}

void TimelineView::setStale(bool stale)
{
    if (std::exchange(m_state.isStale, stale) == stale)
        return;
    m_canvas->update();
    m_minimap->update();
}

void TimelineView::setTitleShown(bool shown)
{
    m_legend->setTitleShown(shown);
}

void TimelineView::relayout()
{
    m_pointedRow = -1;
    m_options.availableHeight = m_canvas->height() - kRulerHeight - 2;
    m_options.line = std::max(TrackLayoutOptions().line, QFontMetrics(smallFont()).height());
    TrackLayout rows = m_state.isEmpty() ? TrackLayout {} : layOutTracks(*m_state.evaluation, m_options);
    if (rows == m_state.layout) { // most steps of a drag: the labels stand as they are
        m_canvas->invalidate();
    } else {
        const bool hasOtherRows = !haveSameRows(rows, m_state.layout);
        m_state.layout = std::move(rows);
        m_canvas->measureAnew();
        if (hasOtherRows)
            forgetArea(); // its first and last row are others now
    }
    const ChartGeometry geometry = m_canvas->geometry();
    m_minimap->setSides(geometry.tracks.left(), geometry.tracks.width());
    m_minimap->invalidate();
    setScroll(m_state.scroll);
}

void TimelineView::repaintChart()
{
    m_canvas->invalidate();
    m_minimap->update(); // its window; its rows are of the whole iteration
}

void TimelineView::setRange(TimeInterval range)
{
    range = clamped(range, m_state.whole);
    if (m_state.isEmpty() || range == m_state.range)
        return;
    m_state.range = range;
    repaintChart();
    emit rangeChanged(range.begin, range.end);
}

void TimelineView::setVisibleRange(Nanoseconds begin, Nanoseconds end)
{
    setRange({ begin, end });
}

void TimelineView::setScroll(int scroll)
{
    const int visible = m_canvas->height() - kRulerHeight - m_state.layout.pinnedHeight;
    scroll = std::clamp(scroll, 0, std::max(0, m_state.layout.contentHeight - visible));
    if (std::exchange(m_state.scroll, scroll) != scroll)
        m_canvas->invalidate();
}

void TimelineView::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    layout()->activate();
    relayout();
    placeAreaTable();
}

void TimelineView::applyBackground()
{
    QPalette own = palette();
    if (own.color(QPalette::Window) == theme().panel)
        return;
    own.setColor(QPalette::Window, theme().panel);
    setPalette(own);
}

void TimelineView::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        applyBackground();
    QWidget::changeEvent(event);
}

} // namespace trainyard
