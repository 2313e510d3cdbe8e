// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/run/difference_bars.h"

#include "models/text/foreign_text.h"
#include "views/run/run_words.h"
#include "views/theme/theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

constexpr int kStack = 16, kStackGap = 6, kBar = 8, kMark = 9;
constexpr std::array kColumns { 0.365, 0.145, 0.135, 0.155, 0.2 }; // kind, plan, run, difference, bar: of the width
constexpr double kNamePart = 0.15, kValuePart = 0.15, kLeastBarShare = 0.0005;

} // namespace

DifferenceBars::DifferenceBars(QWidget *parent)
    : QWidget(parent)
{
    setFont(uiFont(-1));
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void DifferenceBars::setOverlay(const RunOverlayPtr &overlay)
{
    m_overlay = overlay;
    m_lines.clear();
    m_most = 0;
    if (overlay) {
        const DifferenceTable &table = overlay->differences;
        const bool hasReference = table.referenceSeconds > 0 && table.otherJob.empty();
        m_referenceName = overlay->reference ? tr("compared") : tr("plan");
        m_measuredName = tr("run");
        const auto add = [&](const QString &name, const DifferenceRow &row, bool isSum, const QColor &color,
                             const QString &meaning) {
            const QString none = QStringLiteral("–");
            const bool isTold = hasReference && row.isReferenceTold;
            const bool isBoth = hasReference && (isSum || isComparable(row, table)); // what is not told is no gain
            m_lines.push_back({ name, isTold ? secondsText(row.reference) : none,
                row.isMeasuredTold ? secondsText(row.measured) : none, isBoth ? signedSeconds(row.difference()) : none,
                isBoth ? row.difference() : 0, color, meaning });
        };
        for (const DifferenceRow &row : table.rows) {
            const bool isNothing = row.reference == 0 && row.measured == 0;
            if (row.kind == DifferenceKind::Untold && isNothing)
                continue;
            add(QString::fromLatin1(nameOf(row.kind)), row, false, colorOf(row.kind), meaningOf(row.kind));
            m_most = std::max(m_most, std::abs(m_lines.back().seconds));
        }
        DifferenceRow sum;
        sum.reference = table.referenceSeconds;
        sum.measured = table.measuredSeconds;
        add(tr("Step"), sum, true, {}, tr("What stands above, added up."));
    }
    QStringList words;
    for (const Line &line : m_lines)
        words << tr("%1: %2 %3, %4 %5, difference %6")
                     .arg(line.name, m_referenceName, line.reference, m_measuredName, line.measured, line.difference);
    setAccessibleName(words.join(QStringLiteral("; ")));
    updateGeometry();
    update();
}

int DifferenceBars::lineHeight() const
{
    return fontMetrics().height() + 5;
}

int DifferenceBars::tableTop() const
{
    return 2 * (kStack + kStackGap) + 6;
}

QSize DifferenceBars::sizeHint() const
{
    return { 400, tableTop() + (int(m_lines.size()) + 1) * lineHeight() + 4 };
}

QSize DifferenceBars::minimumSizeHint() const
{
    return { 300, sizeHint().height() };
}

void DifferenceBars::paintStack(QPainter &painter, int top, const QString &name, bool isMeasured) const
{
    const DifferenceTable &table = m_overlay->differences;
    const double reference = table.otherJob.empty() ? table.referenceSeconds : 0;
    const double most = std::max(reference, table.measuredSeconds);
    const int left = int(width() * kNamePart), value = int(width() * kValuePart);
    const double room = width() - left - value;
    painter.setPen(theme().textMuted);
    painter.drawText(QRect(0, top, left - 6, kStack), Qt::AlignLeft | Qt::AlignVCenter, name);
    const double all = isMeasured ? table.measuredSeconds : reference;
    painter.setPen(theme().text);
    painter.drawText(QRect(width() - value, top, value, kStack), Qt::AlignRight | Qt::AlignVCenter,
        all > 0 ? secondsText(all) : QStringLiteral("–"));
    double x = left;
    for (const DifferenceRow &row : table.rows) {
        const double part = isMeasured ? row.measured : row.reference;
        if (!(all > 0) || part < kLeastBarShare * most)
            continue;
        const QRectF box(x, top, std::max(1.0, part / most * room - 1), kStack);
        painter.fillRect(box, colorOf(row.kind));
        x += part / most * room;
    }
}

void DifferenceBars::paintLine(QPainter &painter, const Line &line, int top) const
{
    const bool isSum = !line.color.isValid();
    const int height = lineHeight(), name = int(width() * kColumns[0]);
    painter.setFont(isSum ? uiFont(-1, QFont::DemiBold) : font());
    if (isSum)
        painter.fillRect(QRect(0, top, width(), 1), theme().border);
    else
        painter.fillRect(QRectF(0, top + (height - kMark) / 2.0, kMark, kMark), line.color);
    const int indent = isSum ? 0 : kMark + 7;
    painter.setPen(theme().text);
    painter.drawText(QRect(indent, top, name - indent, height), Qt::AlignLeft | Qt::AlignVCenter,
        painter.fontMetrics().elidedText(line.name, Qt::ElideRight, name - indent));
    int x = name;
    const auto cell = [&](int column, const QString &text, const QColor &ink) {
        const int room = int(width() * kColumns[std::size_t(column)]);
        painter.setPen(ink);
        painter.drawText(QRect(x, top, room - 4, height), Qt::AlignRight | Qt::AlignVCenter, text);
        x += room;
    };
    cell(1, line.reference, theme().textMuted);
    cell(2, line.measured, theme().text);
    const bool isSame = std::abs(line.seconds) < 1e-3 * m_overlay->differences.measuredSeconds;
    cell(3, line.difference, isSame ? theme().textMuted : line.seconds > 0 ? theme().bad : theme().good);
    const QRectF place(x + 6, top + (height - kBar) / 2.0, width() - x - 6, kBar);
    painter.fillRect(QRectF(place.center().x(), top + 2, 1, height - 4), theme().border);
    if (isSum || !(m_most > 0))
        return;
    const double reach = line.seconds / m_most * place.width() / 2;
    QRectF bar(place.center().x(), place.top(), std::abs(reach), kBar);
    if (reach < 0)
        bar.moveRight(place.center().x());
    painter.fillRect(bar, line.seconds > 0 ? theme().bad : theme().good);
}

void DifferenceBars::paintEvent(QPaintEvent *)
{
    if (!m_overlay)
        return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(font());
    paintStack(painter, 0, m_referenceName, false);
    paintStack(painter, kStack + kStackGap, m_measuredName, true);
    int top = tableTop(), x = int(width() * kColumns[0]);
    painter.setPen(theme().textFaint);
    for (int i = 0; i < 3; ++i) {
        const QString title = i == 0 ? m_referenceName : i == 1 ? m_measuredName : tr("difference");
        const int room = int(width() * kColumns[std::size_t(i + 1)]);
        painter.drawText(QRect(x - 4, top, room, lineHeight()), Qt::AlignRight | Qt::AlignVCenter, title);
        x += room;
    }
    for (const Line &line : m_lines)
        paintLine(painter, line, top += lineHeight());
}

bool DifferenceBars::event(QEvent *event)
{
    if (event->type() != QEvent::ToolTip)
        return QWidget::event(event);
    const auto *help = static_cast<QHelpEvent *>(event);
    const int at = (help->pos().y() - tableTop()) / lineHeight() - 1;
    if (at >= 0 && at < int(m_lines.size()))
        QToolTip::showText(help->globalPos(), plainTip(m_lines[std::size_t(at)].meaning), this);
    return true;
}

} // namespace trainyard
