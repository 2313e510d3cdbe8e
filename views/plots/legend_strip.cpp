// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/plots/legend_strip.h"

#include "views/theme/theme.h"

#include <QPainter>

namespace trainyard {

namespace {

constexpr int kSwatch = 8;
constexpr int kBetween = 14;

} // namespace

LegendStrip::LegendStrip(QWidget *parent)
    : QWidget(parent)
{
    setFont(uiFont(-1));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void LegendStrip::setEntries(std::vector<CurvePlot::LegendEntry> entries)
{
    m_entries = std::move(entries);
    QStringList names;
    for (const CurvePlot::LegendEntry &entry : m_entries)
        names << entry.name;
    setToolTip(names.join(u'\n'));
    setAccessibleName(tr("Legend: %1").arg(names.join(QStringLiteral(", "))));
    updateGeometry();
    update();
}

int LegendStrip::widthOf(const CurvePlot::LegendEntry &entry) const
{
    return kSwatch + 5 + fontMetrics().horizontalAdvance(entry.name) + kBetween;
}

QSize LegendStrip::sizeHint() const
{
    int total = 0;
    for (const CurvePlot::LegendEntry &entry : m_entries)
        total += widthOf(entry);
    return { total, fontMetrics().height() + 4 };
}

void LegendStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    int shown = 0, total = 0;
    for (const CurvePlot::LegendEntry &entry : m_entries) {
        if (total + widthOf(entry) > width())
            break;
        total += widthOf(entry);
        ++shown;
    }
    int x = width() - total;
    for (int i = 0; i < shown; ++i) {
        const CurvePlot::LegendEntry &entry = m_entries[i];
        painter.setPen(Qt::NoPen);
        painter.setBrush(entry.color);
        painter.drawRoundedRect(QRectF(x, (height() - kSwatch) / 2.0, kSwatch, kSwatch), 2, 2);
        painter.setPen(theme().textMuted);
        painter.drawText(
            QRect(x + kSwatch + 5, 0, widthOf(entry), height()), Qt::AlignLeft | Qt::AlignVCenter, entry.name);
        x += widthOf(entry);
    }
}

} // namespace trainyard
