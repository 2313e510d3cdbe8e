#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of a list of what was found for typed text: all of one height, the chosen one on the accent; what stands in one,
// subclasses paint. GUI thread.

#include <QStyledItemDelegate>

namespace trainyard {

class RowDelegate : public QStyledItemDelegate {
public:
    RowDelegate(int height, QObject *parent)
        : QStyledItemDelegate(parent)
        , m_height(height)
    {
    }
    [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem &, const QModelIndex &) const override
    {
        return { 0, m_height };
    }
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;

protected:
    virtual void paintRow(QPainter &painter, const QRect &row, const QModelIndex &index) const = 0;
    /// Small and faint, at one end of the line.
    static void paintDetail(QPainter &painter, const QRect &line, Qt::Alignment end, const QString &text);

private:
    /// pixels
    int m_height;
};

} // namespace trainyard
