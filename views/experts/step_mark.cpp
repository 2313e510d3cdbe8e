// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/experts/step_mark.h"

#include "views/theme/theme.h"

#include <QPainter>

#include <array>

namespace trainyard {

namespace {

constexpr int kLine = 26, kBetween = 16, kMark = 8;

struct Entry {
    QString text;
    QPen pen;
    int mark = -1; // an exchange
};

std::vector<Entry> entries()
{
    std::vector<Entry> all;
    for (int step = 0; step < int(kExchangeSteps); ++step)
        all.push_back(
            { QString::fromLatin1(labelOf(ExchangeStep(step))), QPen(stepMark(ExchangeStep(step)).color, 2), step });
    const QColor ink = theme().textMuted;
    all.push_back({ StepLegend::tr("layer, forward and backward"), QPen(ink, 2), -1 });
    all.push_back({ StepLegend::tr("exchange alone, forward"), QPen(ink, 1.3, Qt::DashLine), -1 });
    all.push_back({ StepLegend::tr("the plan"), QPen(theme().accent, 1.2, Qt::DotLine), -1 });
    return all;
}

} // namespace

SourceMark stepMark(ExchangeStep step)
{
    static constexpr std::array kPlaces { 1, 0, 2 };
    return sourceMark(kPlaces[std::size_t(step)]);
}

StepLegend::StepLegend(QWidget *parent)
    : QWidget(parent)
{
    setFont(uiFont(-1));
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

QSize StepLegend::sizeHint() const
{
    int width = 0;
    for (const Entry &entry : entries())
        width += kLine + 4 + fontMetrics().horizontalAdvance(entry.text) + kBetween;
    return { width, fontMetrics().height() + 6 };
}

QSize StepLegend::minimumSizeHint() const
{
    return { 80, sizeHint().height() };
}

void StepLegend::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const double middle = height() / 2.0;
    int x = 0;
    for (const Entry &entry : entries()) {
        painter.setPen(entry.pen);
        painter.drawLine(QPointF(x, middle), QPointF(x + kLine, middle));
        if (entry.mark >= 0)
            paintMark(painter, { x + kLine / 2.0, middle }, kMark, stepMark(ExchangeStep(entry.mark)), false);
        painter.setPen(theme().textMuted);
        const int width = fontMetrics().horizontalAdvance(entry.text);
        painter.drawText(QRect(x + kLine + 4, 0, width + 2, height()), Qt::AlignVCenter | Qt::AlignLeft, entry.text);
        x += kLine + 4 + width + kBetween;
    }
}

} // namespace trainyard
