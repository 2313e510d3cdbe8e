#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The table of a selected area: for each kind of work how often, how long, how much of the area. Copies as TSV, with
// plain numbers in seconds. Lies over a corner of the chart until it is closed.

#include "core/timeline/analysis.h"
#include "views/timeline/time_axis.h"

#include <QFrame>

class QLabel;
class QTableWidget;
class QToolButton;

namespace trainyard {

struct AreaRow {
    QString name;
    KindTotal total;
    double share = 0;                  // of the selected time on the selected tracks
};

/// Rows of the kinds that occur, by time spent, longest first, then the idle time of stages and of channels: they add up
/// to the area.
[[nodiscard]] std::vector<AreaRow> areaRows(const Timeline &timeline, TimeInterval range, const std::vector<std::uint32_t> &tracks);
/// Header and rows, tab-separated, seconds as plain numbers.
[[nodiscard]] QString toTsv(const std::vector<AreaRow> &rows);

class AreaTable : public QFrame {
    Q_OBJECT
public:
    explicit AreaTable(QWidget *parent);

    void setRows(const QString &title, std::vector<AreaRow> rows);
    /// Lower right corner of `room`, no higher than it.
    void placeIn(const QRect &room);
    void copy() const;

signals:
    void closed();


private:
    void applyTheme();

    QLabel *m_title;
    QTableWidget *m_table;
    QToolButton *m_copy, *m_close;
    std::vector<AreaRow> m_rows;
};

} // namespace trainyard
