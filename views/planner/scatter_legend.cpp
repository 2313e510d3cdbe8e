// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/planner/scatter_legend.h"

#include "models/planner_words.h"
#include "views/planner/scatter_marks.h"
#include "views/theme/theme.h"

#include <QPainter>

namespace trainyard {

namespace {

constexpr int kMark = 12, kBetween = 14;
constexpr std::array kDrawn { RowState::Feasible, RowState::OutOfConstraint, RowState::Infeasible, RowState::Outdone };

} // namespace

ScatterLegend::ScatterLegend(QWidget *parent)
    : QWidget(parent)
{
    setFont(uiFont(-1));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

QString ScatterLegend::textOf(RowState state, bool isShort) const
{
    const std::size_t count = m_counts[std::size_t(state)];
    return isShort || count == 0 ? nameOf(state) : QStringLiteral("%1 %2").arg(nameOf(state), countText(count));
}

void ScatterLegend::setCounts(const std::array<std::size_t, 5> &counts)
{
    m_counts = counts;
    QStringList names;
    for (const RowState state : kDrawn)
        names << textOf(state, false);
    setToolTip(names.join(u'\n'));
    setAccessibleName(tr("Legend: %1").arg(names.join(QStringLiteral(", "))));
    update();
}

QSize ScatterLegend::sizeHint() const
{
    return { 200, fontMetrics().height() + 4 };
}

void ScatterLegend::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const auto widthOf = [this](bool isShort) {
        int total = 0;
        for (const RowState state : kDrawn)
            total += kMark + fontMetrics().horizontalAdvance(textOf(state, isShort)) + kBetween;
        return total;
    };
    const bool isShort = widthOf(false) > width();
    double x = 0;
    for (const RowState state : kDrawn) {
        paintRowMark(painter, { x + kMark / 2.0, height() / 2.0 }, state);
        const QString text = textOf(state, isShort);
        const int room = fontMetrics().horizontalAdvance(text) + 2;
        if (x + kMark + room > width() + 2)
            break;
        painter.setPen(theme().textMuted);
        painter.drawText(QRectF(x + kMark, 0, room, height()), Qt::AlignLeft | Qt::AlignVCenter, text);
        x += kMark + room + kBetween;
    }
}

} // namespace trainyard
