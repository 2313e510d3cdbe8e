// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/memory_parts.h"

#include "models/text/format.h"
#include "views/export/panel_picture.h"
#include "views/theme/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>

#include <algorithm>
#include <utility>

namespace trainyard {

MemoryParts::MemoryParts(QWidget *parent)
    : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void MemoryParts::setStage(StageMemory stage)
{
    m_stage = std::move(stage);
    QStringList words;
    for (const Line &line : lines())
        words << QStringLiteral("%1 %2").arg(line.name, formatBytes(line.bytes));
    setAccessibleName(words.join(QStringLiteral(", ")));
    updateGeometry();
    update();
}

std::vector<MemoryParts::Line> MemoryParts::lines() const
{
    std::vector<Line> lines;
    if (m_stage.capacity <= 0)
        return lines;
    for (const auto &[name, bytes] : m_stage.parts)
        lines.push_back({ QString::fromStdString(name), double(bytes) });
    lines.push_back({ tr("in use, of %1").arg(formatBytes(double(m_stage.capacity))), double(m_stage.device), true });
    if (m_stage.offloaded > 0)
        lines.push_back({ tr("off the GPU, at most"), double(m_stage.offloaded) });
    return lines;
}

void MemoryParts::setDimmed(bool isDimmed)
{
    if (std::exchange(m_isDimmed, isDimmed) != isDimmed)
        update();
}

QSize MemoryParts::sizeHint() const
{
    return { 240, std::max(1, int(lines().size())) * lineHeight() };
}

void MemoryParts::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    if (m_isDimmed)
        painter.setOpacity(0.45);
    const std::vector<Line> all = lines();
    if (all.empty()) {
        painter.setPen(theme().textFaint);
        painter.drawText(rect(), Qt::AlignLeft | Qt::AlignTop, tr("No memory is modelled for this plan."));
        return;
    }
    const int valueWidth = fontMetrics().horizontalAdvance(QStringLiteral("000.0 GB")) + Theme::kGap;
    QRect row(0, 0, width(), lineHeight());
    for (const Line &line : all) {
        const bool overflows = line.isSum && !m_stage.fits();
        if (line.isSum) {
            painter.fillRect(QRect(0, row.top(), width(), 1), theme().border);
        } else {
            QColor bar = theme().accentSoft;
            const double share = std::clamp(line.bytes / double(m_stage.capacity), 0.0, 1.0);
            painter.fillRect(QRectF(0, row.top() + 2, share * width(), row.height() - 4), bar);
        }
        painter.setPen(overflows ? theme().bad : line.isSum ? theme().text : theme().textMuted);
        const QRect text = row.adjusted(line.isSum ? 0 : 6, 0, -valueWidth, 0);
        painter.drawText(
            text, Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(line.name, Qt::ElideRight, text.width()));
        painter.setPen(overflows ? theme().bad : theme().text);
        painter.drawText(row.adjusted(0, 0, -2, 0), Qt::AlignRight | Qt::AlignVCenter, formatBytes(line.bytes));
        row.translate(0, lineHeight());
    }
}

QString MemoryParts::toTsv() const
{
    QString text = tr("part\tbytes\n");
    for (const Line &line : lines())
        text += line.name + u'\t' + QString::number(line.bytes, 'f', 0) + u'\n';
    return text;
}

void MemoryParts::contextMenuEvent(QContextMenuEvent *event)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    connect(menu->addAction(tr("Copy as TSV")), &QAction::triggered, this,
        [this] { QApplication::clipboard()->setText(toTsv()); });
    addPictureActions(*menu, this, tr("memory"));
    menu->popup(event->globalPos());
}

} // namespace trainyard
