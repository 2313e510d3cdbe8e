#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Every figure in a table, with a field that filters by words, a list of sources, and the way from a row to its plan.
// GUI thread.

#include "models/validation/result_model.h"

#include <QWidget>

class QComboBox;
class QLineEdit;
class QPushButton;

namespace trainyard {

class EvidenceTable;
class TextLine;

class RowsPanel : public QWidget {
    Q_OBJECT
public:
    explicit RowsPanel(QWidget *parent = nullptr);

    /// keeps the filter as far as it still applies
    void setRows(const ValidatedRowsPtr &rows);
    /// empty: all
    void setSource(const std::string &source);
    /// selects and shows it, if it is listed
    void setCurrent(int result);
    /// -1: none
    [[nodiscard]] int current() const;
    [[nodiscard]] const RowFilter &filter() const { return m_filter->filter(); }

    QLineEdit *const search;
    QComboBox *const sources;
    QPushButton *const openPlan;
    EvidenceTable *const table;

signals:
    void filterChanged(const trainyard::RowFilter &filter);
    void currentChanged(int result);
    void planRequested(int result);

private:
    void arrange();
    void applyFilter();
    void showCount();

    ResultModel *m_model;
    ResultFilter *m_filter;
    TextLine *m_count;
};

} // namespace trainyard
