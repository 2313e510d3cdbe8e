#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the cells of the list of jobs: the chip beside a name, the bar of a job's time with its deadline, the inks of
// what is late, paused or cannot run. GUI thread.

#include <QPixmap>
#include <QStyledItemDelegate>

namespace trainyard {

class JobList;

/// What is seen of a job on its way: chip and name.
[[nodiscard]] QPixmap jobTag(const QString &name, int job, qreal devicePixelRatio);

class JobCells : public QStyledItemDelegate {
    Q_OBJECT
public:
    explicit JobCells(JobList &list);

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    QWidget *createEditor(QWidget *parent, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    void updateEditorGeometry(
        QWidget *editor, const QStyleOptionViewItem &option, const QModelIndex &index) const override;

private:
    JobList &m_list;
};

} // namespace trainyard
