// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/datacenter_row.h"

#include "models/text/format.h"
#include "views/panels/effect_text.h"
#include "views/panels/hover_button.h"
#include "views/panels/text_line.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QPainter>
#include <QStyle>

#include <cmath>

namespace trainyard {

namespace {

QString rateText(double perSecond)
{
    return QObject::tr("%1 seq/s").arg(QString::number(perSecond, 'g', 3));
}

QString boundText(Bound bound)
{
    return bound == Bound::Compute ? QObject::tr("compute-bound") : bound == Bound::Link ? QObject::tr("link-bound") : QObject::tr("in-flight-bound");
}

QString detailText(const SelectionOption &option)
{
    if (!option.isFeasible)
        return QString::fromStdString(option.infeasibleBecause);
    const QString replicas = option.cell > 1 ? QObject::tr("%1 cells × %2").arg(option.cells).arg(option.cell)
        : option.cells == 1 ? QObject::tr("1 replica") : QObject::tr("%1 replicas").arg(option.cells);
    const QString egress = option.wanBytes > 0 ? QObject::tr("egress %1").arg(formatUsd(option.egressUsdPerMillionTokens())) : QObject::tr("no egress");
    return QStringList{replicas, egress, boundText(option.bound)}.join(QStringLiteral(" · "));
}

QString tooltip(const SelectionOption &option)
{
    QStringList lines;
    if (!option.isFeasible)
        lines << QString::fromStdString(option.infeasibleBecause);
    if (option.seconds > 0)
        lines << QObject::tr("Iteration %1 simulated, %2 in closed form; %3 micro-batches a pipeline, %4 GPUs used.")
                     .arg(formatSeconds(option.seconds), formatSeconds(option.screenedSeconds)).arg(option.microBatches).arg(option.gpusUsed)
              << QObject::tr("%1 an iteration for the GPUs that it uses, of which egress %2 for %3 over the WAN.")
                     .arg(formatUsd(option.usdPerIteration), formatUsd(option.egressUsdPerIteration), formatBytes(option.wanBytes));
    for (const LeftOut &left : option.leftOut) {
        QString reason = QString::fromStdString(left.reason);
        reason[0] = reason[0].toUpper();
        lines << reason + u'.';
    }
    return lines.join(u'\n');
}

/// Against the plan as it is, by the objective.
EffectText changeText(const SelectionOption &option, const SelectionOption *current, SelectionObjective objective)
{
    const bool byCost = objective == SelectionObjective::Cost;
    const auto value = [&](const SelectionOption &o) { return byCost ? o.usdPerMillionTokens : o.sequencesPerSecond; };
    if (!current || option.isCurrent || !option.isFeasible || value(*current) <= 0)
        return {};
    const double change = value(option) / value(*current) - 1;
    if (std::abs(change) < kNoChange)
        return {QObject::tr("±0"), Ink::Faint};
    return {formatChange(1, 1 + change), (change > 0) != byCost ? Ink::Good : Ink::Bad};
}

} // namespace

DatacenterRow::DatacenterRow(QWidget *parent)
    : QWidget(parent), m_mark(new FrontMark(this)), m_name(new TextLine({}, Ink::Text, this)), m_detail(new TextLine({}, Ink::Muted, this)),
      m_rate(new TextLine({}, Ink::Text, this)), m_cost(new TextLine({}, Ink::Muted, this)), m_change(new TextLine({}, Ink::Good, this)),
      m_now(new TextLine(tr("now"), Ink::Accent, this)), m_apply(new HoverButton(tr("Apply"), this))
{
    auto *layout = new QGridLayout(this);
    layout->setContentsMargins(0, 3, 0, 3);
    layout->setHorizontalSpacing(Theme::kGap);
    layout->setVerticalSpacing(0);
    for (TextLine *line : {m_name, m_detail})
        line->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    for (TextLine *line : {m_rate, m_cost, m_change})
        line->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_now->setAlignment(Qt::AlignCenter);
    m_apply->setFixedHeight(fontMetrics().height() + 8);
    const int button = m_apply->sizeHint().width();
    m_now->setFixedWidth(button);
    m_apply->setFixedWidth(button);
    const int rate = fontMetrics().horizontalAdvance(QStringLiteral("$00.00/Mtok")) + 2;
    m_rate->setFixedWidth(rate);
    m_cost->setFixedWidth(rate);
    m_change->setFixedWidth(fontMetrics().horizontalAdvance(QStringLiteral("−00.0 %")) + 4);
    layout->addWidget(m_mark, 0, 0);
    layout->addWidget(m_name, 0, 1);
    layout->addWidget(m_rate, 0, 2);
    layout->addWidget(m_change, 0, 3, 2, 1, Qt::AlignVCenter);
    layout->addWidget(m_apply, 0, 4, 2, 1, Qt::AlignVCenter);
    layout->addWidget(m_now, 0, 4, 2, 1, Qt::AlignVCenter);
    layout->addWidget(m_detail, 1, 1);
    layout->addWidget(m_cost, 1, 2);
    layout->setColumnStretch(1, 1);
    const auto text = [this] { return QString::fromStdString(m_option.sentence); };
    connect(m_apply, &QPushButton::clicked, this, [this, text] { Q_EMIT applied(m_option.plan, text()); });
    connect(m_apply, &HoverButton::entered, this, [this, text] {
        if (m_apply->isEnabled())
            Q_EMIT previewed(m_option.plan, text());
    });
    connect(m_apply, &HoverButton::left, this, &DatacenterRow::previewEnded);
}

void DatacenterRow::setOption(const SelectionOption &option, const Selection &selection, const SelectionOption *current)
{
    m_option = option;
    const QString name = QString::fromStdString(blocksText(option.blocks, selection.plan->cluster));
    const EffectText change = changeText(option, current, selection.objective);
    m_mark->setOnFront(option.isOnFront);
    m_name->setText(name);
    m_detail->setText(detailText(option));
    m_name->setInk(option.isFeasible ? Ink::Text : Ink::Muted);
    m_detail->setInk(option.isFeasible ? Ink::Muted : Ink::Bad);
    m_rate->setText(option.seconds > 0 ? rateText(option.sequencesPerSecond) : QString());
    m_cost->setText(option.seconds > 0 ? tr("%1/Mtok").arg(formatUsd(option.usdPerMillionTokens)) : QString());
    const bool byCost = selection.objective == SelectionObjective::Cost;
    m_rate->setInk(option.isFeasible && !byCost ? Ink::Text : Ink::Muted);
    m_cost->setInk(option.isFeasible && byCost ? Ink::Text : Ink::Muted);
    m_change->setText(change.text);
    m_change->setInk(change.ink);
    m_apply->setVisible(!option.isCurrent && option.isFeasible);
    m_now->setVisible(option.isCurrent);
    m_now->setToolTip(tr("How the plan is placed now."));
    m_apply->setAccessibleName(tr("Apply: %1, %2, %3").arg(name, m_rate->text(), m_cost->text()));
    setAccessibleName(tr("%1; %2; %3, %4").arg(name, m_detail->text(), m_rate->text(), m_cost->text()));
    setToolTip(tooltip(option));
}

void DatacenterRow::setApplicable(bool applicable)
{
    m_apply->setEnabled(applicable);
}

FrontMark::FrontMark(QWidget *parent) : QWidget(parent)
{
    setFixedSize(9, 9);
}

void FrontMark::setOnFront(bool onFront)
{
    m_onFront = onFront;
    setAccessibleName(onFront ? tr("On the Pareto front") : tr("Not on the Pareto front"));
    setToolTip(onFront ? tr("Pareto front: no other option is both faster and cheaper.") : tr("Another option is both faster and cheaper."));
    update();
}

void FrontMark::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(m_onFront ? theme().accent : theme().textFaint, 1.2));
    painter.setBrush(m_onFront ? QBrush(theme().accent) : QBrush(Qt::NoBrush));
    painter.drawEllipse(QRectF(rect()).adjusted(1, 1, -1, -1));
}

} // namespace trainyard
