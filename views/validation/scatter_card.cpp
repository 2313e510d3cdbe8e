// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/validation/scatter_card.h"

#include "models/text/format.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"
#include "views/validation/scatter_plot.h"
#include "views/validation/source_legend.h"

#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QTabBar>
#include <QVBoxLayout>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kLegendWidth = 168;

QString kindName(FigureKind kind)
{
    const std::array names { ScatterCard::tr("Time"), ScatterCard::tr("Throughput"), ScatterCard::tr("Memory"),
        ScatterCard::tr("Utilization"), ScatterCard::tr("Other") };
    return names[std::size_t(kind)];
}

} // namespace

ScatterCard::ScatterCard(QWidget *parent)
    : QWidget(parent)
    , plot(new ScatterPlot(this))
    , legend(new SourceLegend(this))
    , kinds(new QTabBar(this))
    , m_note(new TextLine({}, Ink::Faint, this))
{
    kinds->setDrawBase(false);
    kinds->setExpanding(false);
    kinds->setAccessibleName(tr("Kind of figure"));
    m_note->setFont(uiFont(-1));
    m_note->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    legend->setFixedWidth(kLegendWidth);
    auto *top = new QHBoxLayout;
    top->setContentsMargins(Theme::kPad, 0, Theme::kPad, 0);
    top->addWidget(kinds);
    top->addWidget(m_note, 1);
    auto *middle = new QHBoxLayout;
    middle->setContentsMargins(4, 0, 4, 0);
    middle->setSpacing(0);
    middle->addWidget(plot, 1);
    middle->addWidget(legend);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 5, 0, 0);
    column->setSpacing(2);
    column->addLayout(top);
    column->addLayout(middle, 1);
    connect(kinds, &QTabBar::currentChanged, this, &ScatterCard::refresh);
}

void ScatterCard::setRows(const ValidatedRowsPtr &rows, const RowFilter &filter)
{
    const FigureKind before = shownKind();
    m_rows = rows;
    m_filter = filter;
    {
        const QSignalBlocker blocker(kinds);
        while (kinds->count() > 0)
            kinds->removeTab(0);
        std::array<bool, kFigureKinds> has {};
        for (const ValidationResult &result : rows ? rows->results() : std::vector<ValidationResult>())
            has[std::size_t(kindOfFigure(result.metric))] = true;
        for (int kind = 0; kind < kFigureKinds; ++kind) {
            if (has[std::size_t(kind)])
                kinds->setTabData(kinds->addTab(kindName(FigureKind(kind))), kind);
        }
    }
    plot->setCurrent(-1);
    showKind(before);
    refresh();
}

void ScatterCard::setFilter(const RowFilter &filter)
{
    m_filter = filter;
    refresh();
}

void ScatterCard::setEmptyText(const QString &text)
{
    m_empty = text;
    refresh();
}

FigureKind ScatterCard::shownKind() const
{
    return kinds->count() > 0 ? FigureKind(kinds->tabData(kinds->currentIndex()).toInt()) : FigureKind::Time;
}

void ScatterCard::showKind(FigureKind kind)
{
    for (int tab = 0; tab < kinds->count(); ++tab) {
        if (kinds->tabData(tab).toInt() == int(kind))
            kinds->setCurrentIndex(tab);
    }
}

void ScatterCard::setCurrent(int result)
{
    if (result >= 0)
        showKind(kindOfFigure(m_rows->results()[std::size_t(result)].metric));
    plot->setCurrent(result);
}

void ScatterCard::refresh()
{
    std::vector<int> shown;
    std::vector<SourceLegend::Entry> entries;
    int isWithin = 0;
    const RowFilter everySource { {}, m_filter.text }; // the legend keeps what a click may bring back
    for (int i = 0; m_rows && i < int(m_rows->results().size()); ++i) {
        const ValidationResult &r = m_rows->results()[std::size_t(i)];
        if (kindOfFigure(r.metric) != shownKind() || !r.predicted || !isListed(r, everySource))
            continue;
        const SourceLegend::Entry entry { r.source, sourceIndex(*m_rows, r.source) };
        if (std::ranges::find(entries, entry) == entries.end())
            entries.push_back(entry);
        if (!isListed(r, m_filter))
            continue;
        shown.push_back(i);
        isWithin += std::abs(*r.error()) <= ScatterPlot::kBand ? 1 : 0;
    }
    legend->setEntries(entries, m_filter.source);
    legend->setVisible(!entries.empty());
    plot->setEmptyText(
        m_rows && !m_rows->results().empty() ? tr("No figure of this kind is among the rows shown") : m_empty);
    m_note->setText(shown.empty()
            ? QString()
            : tr("%1, %L2 within ±10 %").arg(countOf(qint64(shown.size()), tr("figure"), tr("figures"))).arg(isWithin));
    plot->setPoints(m_rows, std::move(shown), shownKind());
}

} // namespace trainyard
