#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The evidence: how far the model's predictions lie from published measurements, by source, gate and row, in tables and
// in a plot. It runs when it is first opened, and again when asked to. Reads runs, owns none. GUI thread.

#include "models/validation/validation_runner.h"

#include <QWidget>

class QSortFilterProxyModel;
class QSplitter;

namespace trainyard {

class EvidenceTable;
class RowsPanel;
class ScatterCard;
class SummaryModel;
class TabbedCard;
class TextTableModel;
class ValidationHeader;

class ValidationPage : public QWidget {
    Q_OBJECT
public:
    explicit ValidationPage(ValidationRunner &runner, QWidget *parent = nullptr);

    ValidationHeader *const header;
    EvidenceTable *const summary, *const gates, *const ranges, *const leftOut;
    ScatterCard *const scatter;
    RowsPanel *const rows;

    /// Runs unless there is a result or a run under way.
    void open();
    /// Runs the rows of a file; the built-in ones where the path is empty.
    void run(const QString &file);

signals:
    void closed();
    /// a file of rows, to be chosen
    void fileWanted();
    /// to be written somewhere
    void csvWanted(const QString &csv);
    /// of the plot
    void pictureWanted();
    /// of a row, to be looked at
    void planChosen(const trainyard::PlanPtr &plan);

protected:
    void showEvent(QShowEvent *event) override;

private:
    void arrange();
    void connectRunner();
    void connectParts();
    void showResult(const ValidatedRowsPtr &result);
    void showState();
    void openPlan(int result);

    ValidationRunner &m_runner;
    SummaryModel *m_summary;
    QSortFilterProxyModel *m_summaryOrder;
    TextTableModel *m_gates, *m_ranges, *m_leftOut;
    QSplitter *m_rowsSplit, *m_topSplit;
    TabbedCard *m_upper, *m_lower;
    bool m_isArranged = false, m_hasFaults = false, m_wasStopped = false;
};

} // namespace trainyard
