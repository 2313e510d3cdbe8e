// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/run_comparison_view.h"

#include "models/validation/text_table_model.h"
#include "views/panels/card.h"
#include "views/panels/evidence_table.h"
#include "views/parts/page_head.h"
#include "views/session/compared_timeline.h"
#include "views/session/run_tables.h"

#include <QSplitter>
#include <QVBoxLayout>

#include <utility>

namespace trainyard {

RunComparisonView::RunComparisonView(const Catalogue &catalogue, QWidget *parent)
    : QWidget(parent)
    , upper(new ComparedTimeline)
    , lower(new ComparedTimeline)
    , numbers(new EvidenceTable(tr("Numbers of both"), 0))
    , times(new EvidenceTable(tr("GPU time by place and kind"), 0))
    , kernels(new EvidenceTable(tr("Kernels of both runs"), 6))
    , notes(new EvidenceTable(tr("What has to be known"), 0))
    , tabs(new TabbedCard(tr("What differs")))
    , m_numberRows(new TextTableModel(this))
    , m_timeRows(new TextTableModel(this))
    , m_kernelRows(new TextTableModel(this))
    , m_noteRows(new TextTableModel(this))
    , m_comparison(catalogue)
{
    numbers->setModel(m_numberRows);
    times->setModel(m_timeRows);
    kernels->setModel(m_kernelRows);
    notes->setModel(m_noteRows);
    tabs->addTab(numbers, tr("Numbers"));
    tabs->addTab(times, tr("GPU time"));
    tabs->addTab(kernels, tr("Kernels"));
    tabs->addTab(notes, tr("Notes"));
    QSplitter *body = splitter(Qt::Vertical, tr("Both"), this);
    body->addWidget(new Card(upper));
    body->addWidget(new Card(lower));
    body->addWidget(tabs);
    for (int i = 0; i < body->count(); ++i)
        body->setStretchFactor(i, 1);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(body);
    wire();
}

void RunComparisonView::wire()
{
    connect(
        upper, &ComparedTimeline::rangeChanged, this, [this](qint64 begin, qint64 end) { follow(lower, begin, end); });
    connect(
        lower, &ComparedTimeline::rangeChanged, this, [this](qint64 begin, qint64 end) { follow(upper, begin, end); });
    connect(upper, &ComparedTimeline::cursorMoved, lower, &ComparedTimeline::showCursor);
    connect(lower, &ComparedTimeline::cursorMoved, upper, &ComparedTimeline::showCursor);
    for (ComparedTimeline *one : { upper, lower })
        connect(one, &ComparedTimeline::stepChosen, this,
            [this, one](std::optional<std::int64_t> number) { emit stepChosen(one == lower, number); });
    connect(&m_comparison, &RunComparison::pairChanged, this, [this] { show(*m_comparison.pair()); });
    connect(&m_comparison, &RunComparison::underWayChanged, this, [this] {
        for (ComparedTimeline *one : { upper, lower })
            one->setStale(m_comparison.isUnderWay());
    });
}

void RunComparisonView::setSides(const ComparedSide &before, const ComparedSide &after)
{
    upper->setSide(before);
    lower->setSide(after);
    m_comparison.setSides(before, after);
}

void RunComparisonView::setLocked(bool isLocked)
{
    m_isLocked = isLocked;
    if (isLocked)
        fitBoth();
}

QString RunComparisonView::verdict() const
{
    return m_comparison.isCurrent() ? verdictOf(*m_comparison.pair()) : QString();
}

bool RunComparisonView::isRefused() const
{
    return m_comparison.isCurrent() && !m_comparison.pair()->whyNot.isEmpty();
}

void RunComparisonView::follow(ComparedTimeline *to, qint64 begin, qint64 end)
{
    if (!m_isLocked || std::exchange(m_isFollowing, true))
        return;
    to->setVisibleRange(begin, end);
    m_isFollowing = false;
}

void RunComparisonView::fitBoth()
{
    const ComparedRunsPtr &pair = m_comparison.pair();
    if (!pair || commonEnd(*pair) <= 0)
        return;
    m_fitted = commonEnd(*pair);
    m_isFollowing = true;
    for (ComparedTimeline *one : { upper, lower })
        one->setVisibleRange(0, m_fitted);
    m_isFollowing = false;
}

void RunComparisonView::show(const ComparedRuns &pair)
{
    m_isFollowing = true;
    upper->show(pair, 0);
    lower->show(pair, 1);
    m_isFollowing = false;
    if (commonEnd(pair) != m_fitted)
        fitBoth();
    m_numberRows->setTable(numberRows(pair));
    m_timeRows->setTable(gpuTimeRows(pair));
    m_kernelRows->setTable(kernelChangeRows(pair));
    m_noteRows->setTable(noteRows(pair));
    emit verdictChanged();
}

void RunComparisonView::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_comparison.setWatched(true);
}

void RunComparisonView::hideEvent(QHideEvent *event)
{
    m_comparison.setWatched(false);
    QWidget::hideEvent(event);
}

} // namespace trainyard
