// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/compared_timeline.h"

#include "views/parts/text_line.h"
#include "views/session/measured_chart.h"
#include "views/theme/theme.h"
#include "views/timeline/timeline_view.h"

#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QStackedLayout>
#include <QVBoxLayout>

#include <algorithm>
#include <limits>

namespace trainyard {

ComparedTimeline::ComparedTimeline(QWidget *parent)
    : QWidget(parent)
    , plan(new TimelineView)
    , run(new MeasuredChart)
    , step(new QSpinBox(this))
    , m_stack(new QStackedLayout)
    , m_name(new TextLine({}, Ink::Text, this))
{
    step->setAccessibleName(tr("Step of the run"));
    step->setToolTip(tr("Number of the step; the typical one is nearest to the median."));
    step->setSpecialValueText(tr("typical step"));
    step->setPrefix(tr("step "));
    step->setKeyboardTracking(false);
    plan->setAutoFillBackground(false);
    m_stack->addWidget(plan);
    m_stack->addWidget(run);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto *head = new QHBoxLayout;
    head->setContentsMargins(0, 0, Theme::kGap, 0);
    head->addWidget(m_name, 1);
    head->addWidget(step);
    column->addLayout(head);
    column->addLayout(m_stack, 1);
    connect(plan, &TimelineView::rangeChanged, this, &ComparedTimeline::rangeChanged);
    connect(plan, &TimelineView::cursorMoved, this, &ComparedTimeline::cursorMoved);
    connect(run, &MeasuredChart::rangeChanged, this, &ComparedTimeline::rangeChanged);
    connect(run, &MeasuredChart::cursorMoved, this, &ComparedTimeline::cursorMoved);
    connect(step, &QSpinBox::valueChanged, this, [this](int value) {
        emit stepChosen(value == step->minimum() ? std::nullopt : std::optional<std::int64_t>(value));
    });
}

void ComparedTimeline::setSide(const ComparedSide &side)
{
    m_name->setText(side.name);
    m_stack->setCurrentIndex(side.run ? 1 : 0);
    step->setVisible(side.run && side.run->steps.size() > 1);
    if (!side.run || side.run->steps.empty())
        return;
    const auto whole = [](std::int64_t number) {
        return int(std::clamp<std::int64_t>(number, 0, std::numeric_limits<int>::max()));
    };
    const QSignalBlocker blocker(step);
    step->setRange(whole(side.run->steps.front().number) - 1, whole(side.run->steps.back().number));
    step->setValue(side.step ? whole(*side.step) : step->minimum());
}

void ComparedTimeline::show(const ComparedRuns &pair, std::size_t place)
{
    const ComparedSide &side = place == 0 ? pair.before : pair.after;
    if (side.run) {
        run->setLeastEnd(commonEnd(pair));
        run->setLanes(pair.lanes[place], tr("The run has no traces: this step is one piece."));
        return;
    }
    if (plan->evaluation() != pair.evaluation)
        plan->setEvaluation(pair.evaluation);
    plan->setOverlay(pair.overlays[1 - place], nullptr); // its axis has room for the run; its rows are beside it
}

void ComparedTimeline::setStale(bool isStale)
{
    plan->setStale(isStale);
}

TimeInterval ComparedTimeline::visibleRange() const
{
    return m_stack->currentIndex() == 0 ? plan->visibleRange() : run->visibleRange();
}

void ComparedTimeline::setVisibleRange(Nanoseconds begin, Nanoseconds end)
{
    if (m_stack->currentIndex() == 0)
        plan->setVisibleRange(begin, end);
    else
        run->setVisibleRange(begin, end);
}

void ComparedTimeline::showCursor(qint64 time)
{
    if (m_stack->currentIndex() == 0)
        plan->showCursor(time);
    else
        run->showCursor(time);
}

Nanoseconds commonEnd(const ComparedRuns &pair)
{
    Nanoseconds end = pair.evaluation ? pair.evaluation->timeline.duration : 0;
    for (const RunOverlayPtr &overlay : pair.overlays)
        if (overlay)
            end = std::max(end, endOf(*overlay));
    return end;
}

} // namespace trainyard
