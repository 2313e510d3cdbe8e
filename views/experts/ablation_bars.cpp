// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/experts/ablation_bars.h"

#include "models/text/format.h"
#include "views/experts/expert_words.h"
#include "views/experts/step_mark.h"
#include "views/theme/theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kBar = 9, kBelow = 7;
constexpr double kNamePart = 0.30, kValuePart = 0.17, kRelationPart = 0.17; // of the width

} // namespace

QString AblationBars::Measure::text(std::size_t step) const
{
    if (!values[step])
        return QStringLiteral("–");
    return isBytes ? formatBytes(*values[step]) : formatSeconds(*values[step]);
}

QString AblationBars::Measure::relation(std::size_t step) const
{
    if (step == 0 || !values.front() || !values[step] || *values.front() <= 0 || *values[step] <= 0)
        return {};
    if (isFactor)
        return tr("÷ %1").arg(*values.front() / *values[step], 0, 'f', 2);
    return formatChange(*values.front(), *values[step]);
}

AblationBars::AblationBars(QWidget *parent)
    : QWidget(parent)
{
    setFont(uiFont(-1));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void AblationBars::setComparison(const ExpertComparison &comparison)
{
    m_measures.clear();
    for (std::size_t s = 0; s < kExchangeSteps; ++s)
        m_names[s] = QString::fromLatin1(labelOf(ExchangeStep(s)));
    if (comparison.now) {
        const Ablation &now = *comparison.now;
        if (now.back().forwardPieces > 1)
            m_names.back() = tr("Overlapped (%1)").arg(now.back().forwardPieces);
        const auto add = [&](const QString &title, const QString &help, auto value) -> Measure & {
            Measure &measure = m_measures.emplace_back(Measure { .title = title, .help = help, .values = {} });
            for (std::size_t s = 0; s < kExchangeSteps; ++s)
                measure.values[s] = value(s);
            return measure;
        };
        if (now.front().nicBytes > 0) {
            Measure &bytes = add(tr("Bytes on a NIC, forward"),
                tr("What one GPU sends to other nodes in one layer's forward, dispatch and combine."),
                [&](std::size_t s) { return Metric(now[s].nicBytes); });
            bytes.isBytes = bytes.isFactor = true;
            add(tr("All-to-all between nodes, alone"),
                tr("The time of these bytes with the NIC to themselves. This is what a published factor of the "
                   "all-to-all is about."),
                [&](std::size_t s) { return Metric(now[s].allToAll.value); })
                .isFactor = true;
        }
        add(tr("Exchange, dispatch and combine"),
            tr("All-to-all, gather and copies as they follow each other or overlap, beside nothing else; forward."),
            [&](std::size_t s) { return Metric(now[s].exchange.value); });
        Measure &layer =
            add(tr("One layer, forward and backward"), tr("As the layer's graph runs. Pale: nothing computes."),
                [&](std::size_t s) { return Metric(now[s].layer().value); });
        for (std::size_t s = 0; s < kExchangeSteps; ++s)
            layer.exposed[s] = now[s].exposed.value;
        add(tr("Iteration"), tr("The plan evaluated with each exchange."),
            [&](std::size_t s) { return comparison.iteration[s]; });
    }
    QStringList words;
    for (const Measure &measure : m_measures) {
        QStringList values;
        for (std::size_t s = 0; s < kExchangeSteps; ++s)
            values << m_names[s] + u' ' + measure.text(s);
        words << measure.title + QStringLiteral(": ") + values.join(QStringLiteral(", "));
    }
    setAccessibleName(words.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

int AblationBars::lineHeight() const
{
    return fontMetrics().height() + 2;
}

QSize AblationBars::sizeHint() const
{
    const int one = lineHeight() * int(kExchangeSteps + 1) + kBelow;
    return { 380, std::max<int>(1, int(m_measures.size())) * one };
}

QSize AblationBars::minimumSizeHint() const
{
    return { 280, sizeHint().height() };
}

void AblationBars::paintMeasure(QPainter &painter, const Measure &measure, int top) const
{
    const int line = lineHeight(), name = int(width() * kNamePart), value = int(width() * kValuePart),
              relation = int(width() * kRelationPart), room = width() - name - value - relation;
    painter.setFont(uiFont(-1, QFont::DemiBold));
    painter.setPen(theme().text);
    painter.drawText(QRect(0, top, width(), line), Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetrics(painter.font()).elidedText(measure.title, Qt::ElideRight, width()));
    painter.setFont(font());
    double most = 0;
    for (const Metric &one : measure.values)
        most = std::max(most, one.value_or(0));
    for (std::size_t s = 0; s < kExchangeSteps; ++s) {
        const int y = top + int(s + 1) * line;
        const SourceMark mark = stepMark(ExchangeStep(s));
        paintMark(painter, { 5, y + line / 2.0 }, 7, mark, false);
        painter.setPen(theme().textMuted);
        painter.drawText(QRect(14, y, name - 18, line), Qt::AlignLeft | Qt::AlignVCenter,
            fontMetrics().elidedText(m_names[s], Qt::ElideRight, name - 18));
        QRectF bar(name, y + (line - kBar) / 2.0, room, kBar);
        painter.fillRect(bar, theme().isDark ? theme().panelRaised : theme().grid);
        if (measure.values[s] && most > 0) {
            bar.setWidth(std::max(1.0, *measure.values[s] / most * room));
            QColor pale = mark.color;
            pale.setAlphaF(0.4f);
            painter.fillRect(bar, pale);
            bar.setWidth(std::max(0.0, (*measure.values[s] - measure.exposed[s]) / most * room));
            painter.fillRect(bar, mark.color);
        }
        painter.setPen(theme().text);
        painter.drawText(QRect(name + room, y, value, line), Qt::AlignRight | Qt::AlignVCenter, measure.text(s));
        painter.setPen(theme().textMuted);
        painter.drawText(
            QRect(name + room + value, y, relation, line), Qt::AlignRight | Qt::AlignVCenter, measure.relation(s));
    }
}

void AblationBars::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const int one = lineHeight() * int(kExchangeSteps + 1) + kBelow;
    for (std::size_t i = 0; i < m_measures.size(); ++i)
        paintMeasure(painter, m_measures[i], int(i) * one);
}

bool AblationBars::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const std::size_t at = std::size_t(help->pos().y() / (lineHeight() * int(kExchangeSteps + 1) + kBelow));
    if (at < m_measures.size())
        QToolTip::showText(help->globalPos(), m_measures[at].help, this);
    return true;
}

} // namespace trainyard
