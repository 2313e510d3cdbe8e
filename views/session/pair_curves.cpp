// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/pair_curves.h"

#include "views/plots/legend_strip.h"
#include "views/theme/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

PairCurves::PairCurves(const QString &name, QWidget *parent)
    : QWidget(parent)
    , kind(new QComboBox(this))
    , place(new QComboBox(this))
    , m_stack(new QStackedWidget(this))
    , m_legend(new LegendStrip(this))
{
    setAccessibleName(name);
    kind->setAccessibleName(tr("%1: which chart").arg(name));
    place->setAccessibleName(tr("%1: of what").arg(name));
    for (QComboBox *box : { kind, place })
        box->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    auto *top = new QHBoxLayout;
    top->setContentsMargins(Theme::kPad, 0, Theme::kPad, 0);
    top->setSpacing(Theme::kGap);
    top->addWidget(kind);
    top->addWidget(place);
    top->addWidget(m_legend, 1);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 6, 0, 4);
    column->setSpacing(2);
    column->addLayout(top);
    column->addWidget(m_stack, 1);
    connect(kind, &QComboBox::currentIndexChanged, this, &PairCurves::showPlot);
    connect(place, &QComboBox::currentIndexChanged, this, [this](int index) {
        if (index >= 0 && index < int(m_places.size()))
            currentPlot()->setStage(m_places[std::size_t(index)].value);
    });
}

void PairCurves::addPlot(PairPlot *plot, const QString &title)
{
    plot->setAccessibleName(title);
    m_plots.push_back(plot);
    m_stack->addWidget(plot);
    connect(plot, &CurvePlot::rangeChanged, this, &PairCurves::rangeChanged);
    connect(plot, &CurvePlot::cursorMoved, this, &PairCurves::cursorMoved);
    connect(plot, &CurvePlot::refreshed, this, [this, plot] {
        if (plot == currentPlot())
            describe();
    });
    kind->addItem(title);
}

PairPlot *PairCurves::currentPlot() const
{
    return m_plots.at(std::size_t(std::max(0, kind->currentIndex())));
}

void PairCurves::showPlot(int index)
{
    if (index < 0 || index >= int(m_plots.size()))
        return;
    m_stack->setCurrentIndex(index);
    m_places.clear();
    fillPlaces();
    describe();
}

void PairCurves::setPair(const PairSide &before, const PairSide &after)
{
    for (PairPlot *plot : m_plots)
        plot->setPair(before, after);
    fillPlaces();
    describe();
}

/// What was looked at stays where both lists have it by name.
void PairCurves::fillPlaces()
{
    const std::vector<PlotPlace> places = currentPlot()->places();
    if (places == m_places && place->count() == int(places.size()))
        return;
    m_places = places;
    const QString kept = place->currentText();
    {
        const QSignalBlocker blocker(place);
        place->clear();
        for (const PlotPlace &one : m_places)
            place->addItem(one.name);
        place->setCurrentIndex(std::max(0, place->findText(kept)));
    }
    place->setVisible(m_places.size() > 1);
    if (!m_places.empty())
        currentPlot()->setStage(m_places[std::size_t(place->currentIndex())].value);
}

void PairCurves::describe()
{
    m_legend->setEntries(currentPlot()->legend());
}

void PairCurves::setStale(bool stale)
{
    for (PairPlot *plot : m_plots)
        plot->setStale(stale);
}

void PairCurves::setVisibleRange(Nanoseconds from, Nanoseconds to)
{
    for (PairPlot *plot : m_plots)
        plot->setVisibleRange(from, to);
}

void PairCurves::setPlotInsets(int left, int right)
{
    for (PairPlot *plot : m_plots)
        plot->setInsets(left, right);
}

void PairCurves::showCursor(qint64 time)
{
    currentPlot()->showCursor(time);
}

void PairCurves::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    Q_EMIT placed();
}

void PairCurves::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    Q_EMIT placed();
}

} // namespace trainyard
