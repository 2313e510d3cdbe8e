// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/trace_card.h"

#include "models/text/format.h"
#include "views/parts/panel_parts.h"
#include "views/run/trace_chart.h"
#include "views/theme/theme.h"

#include <QCheckBox>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kChartHeight = 320; // at least

} // namespace

TraceCard::TraceCard(RunProfile &profile, QWidget *parent)
    : QWidget(parent)
    , host(new QCheckBox(tr("Operators and calls of the host"), this))
    , chart(new TraceChart(this))
    , m_profile(profile)
    , m_summary(new TextLine({}, Ink::Muted, this))
{
    setAccessibleName(tr("Trace of the run"));
    auto *column = panelLayout(this);
    column->setSpacing(6);
    auto *head = new QHBoxLayout;
    head->setSpacing(Theme::kGap);
    head->addWidget(m_summary, 1);
    head->addWidget(host);
    column->addLayout(head);
    column->addWidget(chart, 1);
    chart->setMinimumHeight(kChartHeight);
    host->setToolTip(tr("Reads the traces again and keeps what the host did. It takes memory for each of its events."));
    host->setChecked(profile.runs().keepsHost());
    connect(host, &QCheckBox::toggled, this, [this](bool keeps) { m_profile.runs().setKeepsHost(keeps); });
    connect(&profile, &RunProfile::changed, this, &TraceCard::refresh);
    refresh();
}

QString TraceCard::summary() const
{
    return m_summary->text();
}

void TraceCard::refresh()
{
    const QSignalBlocker quiet(host); // it may be asked for elsewhere
    host->setChecked(m_profile.runs().keepsHost());
    const ProfilePtr &profile = m_profile.shown();
    const bool isShown = profile && !profile->trace->rows().empty();
    chart->setRows(isShown ? profile->trace : nullptr);
    chart->setVisible(isShown);
    if (m_profile.runs().isLive())
        m_summary->setText(tr("The run goes on: its trace is drawn when it is over."));
    else if (!profile)
        m_summary->setText(m_profile.isMaking() ? tr("Laying out the trace…") : QString());
    else if (!isShown)
        m_summary->setText(tr("No file of the run shows spans."));
    else
        m_summary->setText(tr("%1 in %2, over %3. The wheel zooms, a drag pans, a double click shows all.")
                               .arg(countOf(qint64(profile->run->recording->spanCount()), tr("span"), tr("spans")),
                                   countOf(qint64(profile->trace->rows().size()), tr("row"), tr("rows")),
                                   formatSeconds(double(profile->trace->end() - profile->trace->begin()) * 1e-9)));
}

void TraceCard::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    m_profile.setSeen(this, true);
    refresh();
}

void TraceCard::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    m_profile.setSeen(this, false);
}

} // namespace trainyard
