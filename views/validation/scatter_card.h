#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The scatter plot with its legend, and a tab for every kind of figure that the rows have: seconds and bytes share no
// axis. GUI thread.

#include "models/validation/validated_rows.h"

#include <QWidget>

class QTabBar;

namespace trainyard {

class ScatterPlot;
class SourceLegend;
class TextLine;

class ScatterCard : public QWidget {
    Q_OBJECT
public:
    explicit ScatterCard(QWidget *parent = nullptr);

    void setRows(const ValidatedRowsPtr &rows, const RowFilter &filter);
    void setFilter(const RowFilter &filter);
    void setEmptyText(const QString &text);
    /// shows its kind of figure; -1: none
    void setCurrent(int result);
    void showKind(FigureKind kind);

    ScatterPlot *const plot;
    SourceLegend *const legend;
    QTabBar *const kinds;

private:
    void refresh();
    [[nodiscard]] FigureKind shownKind() const;

    TextLine *m_note;
    ValidatedRowsPtr m_rows;
    RowFilter m_filter;
    QString m_empty;
};

} // namespace trainyard
