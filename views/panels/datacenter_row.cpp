// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/datacenter_row.h"

#include "models/text/format.h"
#include "views/panels/effect_text.h"
#include "views/panels/hover_button.h"
#include "views/parts/text_line.h"
#include "views/theme/theme.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QPainter>

#include <cmath>

namespace trainyard {

namespace {

QString boundText(Bound bound)
{
    return bound == Bound::Compute ? QObject::tr("compute")
        : bound == Bound::Link     ? QObject::tr("link")
                                   : QObject::tr("pipeline depth");
}

QString replicasText(const SelectionOption &option)
{
    return option.cell > 1 ? QStringLiteral("%1 × %2").arg(option.cells).arg(option.cell)
                           : QString::number(option.cells);
}

QString tooltip(const SelectionOption &option)
{
    QStringList lines;
    if (!option.isFeasible)
        lines << QString::fromStdString(option.infeasibleBecause);
    if (option.seconds > 0)
        lines << QObject::tr("Iteration %1 simulated, %2 in closed form; %3 micro-batches per pipeline, %4 GPUs used.")
                     .arg(formatSeconds(option.seconds), formatSeconds(option.screenedSeconds))
                     .arg(option.microBatches)
                     .arg(option.gpusUsed)
              << QObject::tr("%1 per iteration for the GPUs that it uses, of which egress %2 for %3 over the WAN.")
                     .arg(formatUsd(option.usdPerIteration), formatUsd(option.egressUsdPerIteration),
                         formatBytes(option.wanBytes));
    if (option.givenBack > 0)
        lines << QObject::tr("Applying it gives %1 idle GPUs back: the price is without them.").arg(option.givenBack);
    for (const LeftOut &left : option.leftOut) {
        QString reason = QString::fromStdString(left.reason);
        reason[0] = reason[0].toUpper();
        lines << reason + u'.';
    }
    return lines.join(u'\n');
}

/// Against the plan as it is, by the objective.
EffectText changeOfOption(const SelectionOption &option, const SelectionOption *current, SelectionObjective objective)
{
    const bool byCost = objective == SelectionObjective::Cost;
    const auto value = [&](const SelectionOption &o) { return byCost ? o.usdWritten : o.sequencesPerSecond; };
    if (!current || option.isCurrent || !option.isFeasible || value(*current) <= 0)
        return {};
    const double change = value(option) / value(*current) - 1;
    if (std::abs(change) < kNoChange)
        return { QObject::tr("±0"), Ink::Faint };
    return { formatChange(1, 1 + change), (change > 0) != byCost ? Ink::Good : Ink::Bad };
}

} // namespace

DatacenterColumns::DatacenterColumns(QWidget *parent)
    : QWidget(parent)
    , replicas(new TextLine({}, Ink::Muted, this))
    , rate(new TextLine({}, Ink::Text, this))
    , change(new TextLine({}, Ink::Muted, this))
    , cost(new TextLine({}, Ink::Text, this))
    , egress(new TextLine({}, Ink::Muted, this))
    , bound(new TextLine({}, Ink::Muted, this))
{
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    const QFontMetrics metrics(uiFont(-1));
    const auto add = [&](TextLine *line, const char *widest, int stretch) {
        line->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        line->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        line->setMinimumWidth(metrics.horizontalAdvance(QString::fromUtf8(widest)) + 2);
        layout->addWidget(line, stretch);
    };
    add(replicas, "replicas", 3);
    add(rate, "0000", 3);
    add(change, "−00.0 %", 4);
    add(cost, "$/Mtok", 4);
    add(egress, "egress", 4);
    add(bound, "bound by", 5);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void DatacenterColumns::setInk(int ink)
{
    for (TextLine *line : { replicas, rate, change, cost, egress, bound })
        line->setInk(Ink(ink));
}

DatacenterRow::DatacenterRow(QWidget *parent)
    : QWidget(parent)
    , m_mark(new FrontMark(this))
    , m_name(new TextLine({}, Ink::Text, this))
    , m_reason(new TextLine({}, Ink::Bad, this))
    , m_now(new TextLine(tr("now"), Ink::Accent, this))
    , m_columns(new DatacenterColumns(this))
    , m_apply(new HoverButton(tr("Apply"), this))
{
    auto *layout = new QGridLayout(this);
    layout->setContentsMargins(0, 5, 0, 5);
    layout->setHorizontalSpacing(Theme::kGap);
    layout->setVerticalSpacing(1);
    for (TextLine *line : { m_name, m_reason })
        line->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_now->setAlignment(Qt::AlignCenter);
    m_apply->setFixedHeight(fontMetrics().height() + 6);
    m_now->setFixedSize(m_apply->sizeHint().width(), fontMetrics().height() + 6);
    m_apply->setFixedWidth(m_apply->sizeHint().width());
    m_now->setToolTip(tr("How the plan is placed now."));
    layout->addWidget(m_mark, 0, 0);
    layout->addWidget(m_name, 0, 1);
    layout->addWidget(m_apply, 0, 2);
    layout->addWidget(m_now, 0, 2);
    layout->addWidget(m_columns, 1, 0, 1, 3);
    layout->addWidget(m_reason, 1, 1, 1, 2);
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
    QString name = QString::fromStdString(blocksText(option.blocks, selection.plan->cluster));
    name[0] = name[0].toUpper();
    const EffectText change = changeOfOption(option, current, selection.objective);
    const bool byCost = selection.objective == SelectionObjective::Cost;
    m_mark->setOnFront(option.isOnFront);
    m_name->setText(name);
    m_name->setInk(option.isFeasible ? Ink::Text : Ink::Muted);
    m_reason->setText(QString::fromStdString(option.infeasibleBecause));
    m_reason->setVisible(!option.isFeasible);
    m_columns->setVisible(option.isFeasible);
    m_columns->replicas->setText(replicasText(option));
    m_columns->rate->setText(QString::number(option.sequencesPerSecond, 'g', 3));
    m_columns->rate->setInk(byCost ? Ink::Muted : Ink::Text);
    m_columns->change->setText(change.text);
    m_columns->change->setInk(change.ink);
    // As the top line tells the plan that applying it makes: idle GPUs of its cluster are paid for.
    m_columns->cost->setText(formatUsd(option.usdWritten));
    m_columns->cost->setToolTip(option.usdWritten > 1.0005 * option.usdPerMillionTokens
            ? tr("All GPUs of the cluster, as in the top line. Without those that it leaves idle: %1.")
                  .arg(formatUsd(option.usdPerMillionTokens))
            : QString());
    m_columns->cost->setInk(byCost ? Ink::Text : Ink::Muted);
    m_columns->egress->setText(
        option.wanBytes > 0 ? formatUsd(option.egressUsdPerMillionTokens()) : QStringLiteral("–"));
    m_columns->bound->setText(boundText(option.bound));
    m_apply->setVisible(!option.isCurrent && option.isFeasible);
    m_now->setVisible(option.isCurrent);
    const QString figures = option.isFeasible
        ? tr("%1 replicas, %2 sequences per second, %3 per million tokens, bound by %4")
              .arg(m_columns->replicas->text(), m_columns->rate->text(), m_columns->cost->text(),
                  m_columns->bound->text())
        : m_reason->text();
    m_apply->setAccessibleName(tr("Apply: %1, %2").arg(name, figures));
    setAccessibleName(QStringLiteral("%1; %2").arg(name, figures));
    setToolTip(tooltip(option));
}

void DatacenterRow::setApplicable(bool applicable)
{
    m_apply->setEnabled(applicable);
}

void DatacenterRow::paintEvent(QPaintEvent *)
{
    QPainter(this).fillRect(QRect(0, 0, width(), 1), theme().grid);
}

FrontMark::FrontMark(QWidget *parent)
    : QWidget(parent)
{
    setFixedSize(9, 9);
}

void FrontMark::setOnFront(bool onFront)
{
    m_onFront = onFront;
    setAccessibleName(onFront ? tr("On the Pareto front") : tr("Not on the Pareto front"));
    setToolTip(onFront ? tr("Pareto front: no other option that was simulated is both faster and cheaper.")
                       : tr("Another option is both faster and cheaper."));
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
