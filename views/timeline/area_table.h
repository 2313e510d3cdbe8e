#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The table of a selected area: for each kind of work how often, how long, how much of the area. Copies as TSV, with
// plain numbers in seconds. Lies over a corner of the chart until it is closed or docked elsewhere. GUI thread.

#include "views/timeline/area_rows.h"

#include <QFrame>

class QLabel;
class QTableWidget;
class QToolButton;

namespace trainyard {

class AreaTable : public QFrame {
    Q_OBJECT
public:
    explicit AreaTable(QWidget *parent);

    void setRows(const QString &title, std::vector<AreaRow> rows);
    /// Nothing is selected any more.
    void clear();
    [[nodiscard]] bool hasContent() const { return !m_rows.empty(); }
    /// Lower right corner of `room`, no higher than it.
    void placeIn(const QRect &room);
    void copy() const;

signals:
    void closed();
    /// Rows came, or the last ones went.
    void contentChanged(bool has);

protected:
    void contextMenuEvent(QContextMenuEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void applyTheme();

    QLabel *m_title;
    QTableWidget *m_table;
    QToolButton *m_copy, *m_close;
    std::vector<AreaRow> m_rows;
};

} // namespace trainyard
