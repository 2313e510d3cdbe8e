// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/job_cells.h"

#include "models/job_list_model.h"
#include "views/panels/job_list.h"
#include "views/theme/icons.h"
#include "views/theme/job_colors.h"
#include "views/theme/theme.h"

#include <QLineEdit>
#include <QPainter>

namespace trainyard {

namespace {

constexpr int kChip = 10, kCellSide = 4, kCellBarHeight = 8, kCellPin = 11, kTagMost = 220;
constexpr int kFieldLeast = 64;
constexpr double kDimmed = 0.5;

const JobRow &rowAt(const QModelIndex &index)
{
    return static_cast<const JobListModel *>(index.model())->row(index.row());
}

QColor cellInk(const JobRow &row, int column)
{
    if (column == JobListModel::End && row.state == JobState::CannotRun)
        return theme().bad;
    if (row.state != JobState::Runs)
        return theme().textFaint;
    if (column == JobListModel::End && row.deadlineState == DeadlineState::Missed)
        return theme().bad;
    if (column == JobListModel::End && row.deadlineState == DeadlineState::Met)
        return theme().good;
    return column == JobListModel::Name || column == JobListModel::End ? theme().text : theme().textMuted;
}

void paintChip(QPainter &painter, QPoint at, int job, bool isPaused)
{
    const QRectF chip(at.x() + 0.5, at.y() + 0.5, kChip - 1, kChip - 1);
    painter.setPen(QPen(jobColor(job), 1));
    painter.setBrush(isPaused ? QBrush(Qt::NoBrush) : QBrush(jobColor(job))); // hollow: it does not run
    painter.drawRoundedRect(chip, 2.5, 2.5);
}

void paintBar(QPainter &painter, const QRect &cell, const JobRow &row, int job)
{
    const QRectF track(cell.left() + kCellSide, cell.center().y() - kCellBarHeight / 2 + 0.5,
        cell.width() - 2 * kCellSide, kCellBarHeight);
    painter.setPen(QPen(theme().border, 1));
    painter.setBrush(theme().idle);
    painter.drawRoundedRect(track, 3, 3);
    if (row.to > row.from) {
        QRectF bar(
            track.left() + row.from * track.width(), track.top(), (row.to - row.from) * track.width(), track.height());
        bar.setWidth(std::max(bar.width(), 2.0));
        painter.setPen(Qt::NoPen);
        painter.setBrush(jobColor(job));
        painter.drawRoundedRect(bar, 3, 3);
    }
    if (row.deadlineAt && *row.deadlineAt <= 1) {
        const qreal x = track.left() + *row.deadlineAt * track.width();
        painter.setPen(QPen(row.deadlineState == DeadlineState::Missed ? theme().bad : theme().text, 2));
        painter.drawLine(QPointF(x, track.top() - 3), QPointF(x, track.bottom() + 3));
    }
}

} // namespace

QPixmap jobTag(const QString &name, int job, qreal devicePixelRatio)
{
    const QFontMetrics metrics(uiFont(-1));
    const QString shown = metrics.elidedText(name, Qt::ElideMiddle, kTagMost);
    const QSize size(metrics.horizontalAdvance(shown) + kChip + 6 + 4 * kCellSide, metrics.height() + 2 * kCellSide);
    QPixmap tag(size * devicePixelRatio);
    tag.setDevicePixelRatio(devicePixelRatio);
    tag.fill(Qt::transparent);
    QPainter painter(&tag);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(theme().border);
    painter.setBrush(theme().panelRaised);
    painter.drawRoundedRect(QRectF({}, size).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    paintChip(painter, { 2 * kCellSide, (size.height() - kChip) / 2 }, job, false);
    painter.setFont(uiFont(-1));
    painter.setPen(theme().text);
    painter.drawText(
        QRect({}, size).adjusted(2 * kCellSide + kChip + 6, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, shown);
    return tag;
}

JobCells::JobCells(JobList &list)
    : QStyledItemDelegate(&list)
    , m_list(list)
{
}

void JobCells::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const JobRow &row = rowAt(index);
    const bool isSelected = option.state & QStyle::State_Selected;
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (isSelected)
        painter->fillRect(option.rect, theme().accentSoft);
    if (m_list.isDimmed() && index.column() > JobListModel::Deadline)
        painter->setOpacity(kDimmed);
    if (index.column() == JobListModel::Bar) {
        paintBar(*painter, option.rect, row, index.row());
    } else {
        QRect text = option.rect.adjusted(kCellSide, 0, -kCellSide, 0);
        if (index.column() == JobListModel::Name) {
            paintChip(*painter, { text.left(), text.center().y() - kChip / 2 + 1 }, index.row(), row.isPaused);
            text.setLeft(text.left() + kChip + 6);
            if (row.isPinned) {
                text.setRight(text.right() - kCellPin - 3);
                painter->drawPixmap(text.right() + 4, text.center().y() - kCellPin / 2,
                    themedPixmap(QStringLiteral("pin"), kCellPin, theme().textMuted, m_list.devicePixelRatioF()));
            }
        }
        painter->setFont(option.font);
        painter->setPen(cellInk(row, index.column()));
        const QString shown = index.data().toString();
        painter->drawText(text, index.data(Qt::TextAlignmentRole).toInt(),
            option.fontMetrics.elidedText(shown, Qt::ElideMiddle, text.width()));
    }
    if (m_list.hasFocus() && index == m_list.currentIndex()) { // which cell F2 types into
        painter->setOpacity(1);
        painter->setPen(QPen(theme().accent, 1));
        painter->setBrush(Qt::NoBrush);
        painter->drawRoundedRect(QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    }
    painter->restore();
}

QWidget *JobCells::createEditor(QWidget *parent, const QStyleOptionViewItem &, const QModelIndex &index) const
{
    auto *field = new QLineEdit(parent);
    field->setFont(uiFont(-1));
    field->setStyleSheet(QStringLiteral("min-height: 0; padding: 0 3px; border-radius: 3px;"));
    field->setAlignment(Qt::Alignment(index.data(Qt::TextAlignmentRole).toInt()));
    field->setAccessibleName(
        tr("%1 of %2").arg(index.model()->headerData(index.column(), Qt::Horizontal).toString(), rowAt(index).name));
    if (index.column() == JobListModel::Deadline || index.column() == JobListModel::End) {
        field->setPlaceholderText(tr("deadline"));
        field->setAccessibleName(tr("Deadline of %1").arg(rowAt(index).name));
    }
    return field;
}

/// A field has room for more than what stands in the cell now.
void JobCells::updateEditorGeometry(QWidget *editor, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    QRect place = option.rect;
    if (index.column() == JobListModel::Name)
        place.setLeft(place.left() + kChip + 6);
    else if (place.width() < kFieldLeast)
        place.setLeft(place.right() - kFieldLeast);
    editor->setGeometry(place);
}

} // namespace trainyard
