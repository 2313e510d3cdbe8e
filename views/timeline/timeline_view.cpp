// SPDX-License-Identifier: GPL-3.0-or-later
// Data, layout and pointing; what is measured in an area is in timeline_area.cpp, the commands in timeline_commands.cpp.
#include "views/timeline/timeline_view.h"

#include "core/timeline/analysis.h"
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
#include <cstring>
#include <utility>

namespace trainyard {

namespace {

std::uint32_t kindsPresent(const Timeline &timeline)
{
    std::uint32_t present = 0;
    for (int k = 0; k < kWorkKindCount; ++k) {
        if (!timeline.kind.empty() && std::memchr(timeline.kind.data(), k, timeline.kind.size()))
            present |= 1u << k;
    }
    return present;
}

TimeInterval wholeOf(const EvaluationPtr &evaluation, const EvaluationPtr &baseline)
{
    const Nanoseconds duration = evaluation ? evaluation->timeline.duration : 0;
    return {0, std::max(duration, baseline ? baseline->timeline.duration : 0)};
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
    connect(gestures, &CanvasGestures::pointerLeft, this, [this] { pointAt({-1, -1}); });
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
    connect(m_areaTable, &AreaTable::closed, this, [this] {
        m_state.area.reset();
        m_areaTable->hide();
        m_canvas->update();
    });
}

void TimelineView::setEvaluation(EvaluationPtr evaluation)
{
    const TimeInterval oldWhole = m_state.whole, oldRange = m_state.range;
    const std::uint32_t kept = m_state.selected != kNoSpan && m_state.evaluation && evaluation ? sameSpan(m_state.evaluation->timeline, m_state.selected, evaluation->timeline) : kNoSpan;
    m_state.evaluation = std::move(evaluation);
    m_state.failure.clear();
    m_state.whole = wholeOf(m_state.evaluation, m_state.baseline);
    m_state.range = carriedOver(oldRange, oldWhole, m_state.whole);
    m_state.hovered = m_state.selected = kNoSpan;   // span numbers mean something else now
    m_state.effects.clear();
    m_state.criticalPath.clear();
    m_sortedPath.clear();
    m_knowsCriticalPath = false;
    m_state.area.reset();
    m_areaTable->hide();
    m_card->hide();
    if (m_state.showsCriticalPath)
        ensureCriticalPath();
    m_legend->setKinds(m_state.isEmpty() ? 0 : kindsPresent(*m_state.timeline()));
    m_legend->setSummary(m_state.isEmpty() ? QString() : timelineSummary(*m_state.evaluation));
    relayout();
    if (kept != kNoSpan)
        takeSelection(kept);
    describe();
    if (m_state.range != oldRange)
        emit rangeChanged(m_state.range.begin, m_state.range.end);
}

void TimelineView::setFailure(const QString &reason)
{
    setEvaluation(nullptr);
    m_state.failure = reason;
    m_canvas->update();
    describe();
}

void TimelineView::setBaseline(EvaluationPtr baseline)
{
    const TimeInterval oldWhole = m_state.whole;
    m_state.baseline = baseline && !baseline->timeline.isEmpty() ? std::move(baseline) : nullptr;
    m_state.whole = wholeOf(m_state.evaluation, m_state.baseline);
    m_options.showGhost = m_state.baseline != nullptr;
    relayout();
    setRange(m_state.range == oldWhole ? m_state.whole : clamped(m_state.range, m_state.whole));
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
    TrackLayout rows = m_state.isEmpty() ? TrackLayout{} : layOutTracks(*m_state.evaluation, m_options);
    if (rows == m_state.layout) {      // most steps of a drag: the labels stand as they are
        m_canvas->invalidate();
    } else {
        m_state.layout = std::move(rows);
        m_canvas->measureAnew();
    }
    const ChartGeometry geometry = m_canvas->geometry();
    m_minimap->setSides(geometry.tracks.left(), geometry.tracks.width());
    m_minimap->invalidate();
    setScroll(m_state.scroll);
}

void TimelineView::repaintChart()
{
    m_canvas->invalidate();
    m_minimap->update();
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
    setRange({begin, end});
}

void TimelineView::setScroll(int scroll)
{
    const int visible = m_canvas->height() - kRulerHeight - m_state.layout.pinnedHeight;
    scroll = std::clamp(scroll, 0, std::max(0, m_state.layout.contentHeight - visible));
    if (std::exchange(m_state.scroll, scroll) != scroll)
        m_canvas->invalidate();
}

void TimelineView::pointAt(QPoint point)
{
    const ChartGeometry geometry = m_canvas->geometry();
    const bool inside = !m_state.isEmpty() && geometry.tracks.united(geometry.ruler).contains(point);
    m_pointedRow = m_state.isEmpty() || !m_canvas->rect().contains(point) ? -1 : rowAt(m_state.layout, point.y() - geometry.tracks.top(), m_state.scroll);
    const auto oldPointer = m_state.pointer;
    m_state.pointer = inside ? std::optional(geometry.time(m_state, point.x() + 0.5)) : std::nullopt;
    // Only the two lines and the ruler's flags change.
    for (const auto &time : {oldPointer, m_state.pointer}) {
        if (time)
            m_canvas->update(QRectF(geometry.x(m_state, *time) - 2, 0, 4, m_canvas->height()).toAlignedRect());
    }
    if (oldPointer != m_state.pointer)
        m_canvas->update(geometry.ruler.adjusted(0, 0, 16, 0));
    hover(inside ? spanUnder(m_state, geometry, point) : kNoSpan, point);
}

void TimelineView::hover(std::uint32_t span, QPoint point)
{
    const bool changed = span != m_state.hovered;
    if (changed) {
        const ChartGeometry geometry = m_canvas->geometry();
        m_canvas->update(hoverRect(m_state, geometry, m_state.hovered));
        m_state.hovered = span;
        m_canvas->update(hoverRect(m_state, geometry, span));
        if (span != kNoSpan) {
            const Evaluation &evaluation = *m_state.evaluation;
            m_card->setContent(evaluation.timeline.kind[span], spanTitle(evaluation, span), spanFacts(evaluation, span, isCritical(span)));
        }
    }
    if (span == kNoSpan)
        m_card->hide();
    else
        m_card->showNear(m_canvas->mapTo(this, point));
    if (changed)
        emit spanHovered(span);
}

void TimelineView::click(QPoint point)
{
    const ChartGeometry geometry = m_canvas->geometry();
    if (geometry.gutter.contains(point)) {
        const int content = point.y() - geometry.tracks.top() - m_state.layout.pinnedHeight + m_state.scroll;
        for (const DatacenterGroup &group : m_state.layout.groups) {
            const bool hit = group.isFolded ? content >= group.y && content < group.y + group.height
                                            : content >= group.y && content < group.y + 18 && point.x() < geometry.gutter.width() / 2;
            if (!hit)
                continue;
            if (!m_options.folded.remove(group.key))
                m_options.folded.insert(group.key);
            relayout();
            return;
        }
        return;
    }
    selectSpan(spanUnder(m_state, geometry, point));
}

void TimelineView::selectSpan(std::uint32_t span)
{
    if (m_state.isEmpty() || (span != kNoSpan && span >= m_state.timeline()->spanCount()))
        span = kNoSpan;
    if (span == m_state.selected)
        return;
    takeSelection(span);
    emit spanSelected(span);
}

void TimelineView::takeSelection(std::uint32_t span)
{
    m_state.selected = span;
    m_state.effects.clear();
    if (span != kNoSpan) {
        const auto &cause = m_state.timeline()->cause;
        for (auto at = std::find(cause.begin(), cause.end(), span); at != cause.end(); at = std::find(at + 1, cause.end(), span))
            m_state.effects.push_back(std::uint32_t(at - cause.begin()));
        const auto &start = m_state.timeline()->start;
        std::sort(m_state.effects.begin(), m_state.effects.end(), [&](auto a, auto b) { return start[a] < start[b]; });
    }
    m_canvas->update();
    describe();
}

void TimelineView::ensureCriticalPath()
{
    if (m_knowsCriticalPath || m_state.isEmpty())
        return;
    m_state.criticalPath = criticalPath(*m_state.timeline());
    m_sortedPath = m_state.criticalPath;
    std::sort(m_sortedPath.begin(), m_sortedPath.end());
    m_knowsCriticalPath = true;
}

bool TimelineView::isCritical(std::uint32_t span)
{
    ensureCriticalPath();
    return std::binary_search(m_sortedPath.begin(), m_sortedPath.end(), span);
}

void TimelineView::describe()
{
    QString text = m_state.isEmpty() ? tr("No timeline. %1").arg(emptyReason(m_state.evaluation.get(), m_state.failure))
                                     : tr("%1, %2 rows in %3 datacenters.").arg(timelineSummary(*m_state.evaluation)).arg(m_state.layout.rows.size()).arg(m_state.layout.groups.size());
    if (m_state.selected != kNoSpan)
        text = spanTitle(*m_state.evaluation, m_state.selected) + QStringLiteral(". ")
            + spanFacts(*m_state.evaluation, m_state.selected, isCritical(m_state.selected)).join(QStringLiteral(". ")) + QStringLiteral(". ") + text;
    setAccessibleDescription(text);
    if (QAccessible::isActive()) {
        QAccessibleEvent event(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&event);
    }
}

void TimelineView::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    layout()->activate();
    relayout();
    if (m_areaTable->isVisible())
        m_areaTable->placeIn(rect().adjusted(Theme::kPad, m_legend->height(), -Theme::kPad, -Theme::kGap));
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
