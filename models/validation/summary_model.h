#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The summary as a table: sources by metric with their errors and gates. Reads an immutable run. GUI thread.

#include "models/table_roles.h"
#include "models/validation/source_summary.h"

#include <QAbstractTableModel>

namespace trainyard {

class SummaryModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Source, Metric, Figures, Mean, Median, Largest, Bias, Rank, GateColumn, ColumnCount };
    using QAbstractTableModel::QAbstractTableModel;

    void setRows(const ValidatedRowsPtr &rows);
    [[nodiscard]] const SummaryLine &line(int row) const { return m_lines[std::size_t(row)]; }

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(
        int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    [[nodiscard]] QString hint(const SummaryLine &line) const;

    ValidatedRowsPtr m_rows;
    std::vector<SummaryLine> m_lines;
};

} // namespace trainyard
