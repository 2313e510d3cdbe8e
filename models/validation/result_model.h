#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Every published figure beside its prediction, one a row, and the filter and order that a table shows them in. Reads
// an immutable run. GUI thread.

#include "models/table_roles.h"
#include "models/validation/validated_rows.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

namespace trainyard {

class ResultModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Source, Row, Metric, Published, Predicted, Error, Remarks, ColumnCount };
    using QAbstractTableModel::QAbstractTableModel;

    void setRows(ValidatedRowsPtr rows);
    [[nodiscard]] const ValidationResult &result(int row) const { return m_rows->results()[std::size_t(row)]; }

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(
        int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    ValidatedRowsPtr m_rows;
};

/// Orders by value, errors by their size; figures without a prediction come last in either order.
class ResultFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit ResultFilter(ResultModel *model, QObject *parent = nullptr);

    void setFilter(const RowFilter &filter);
    [[nodiscard]] const RowFilter &filter() const { return m_filter; }

protected:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex &parent) const override;
    [[nodiscard]] bool lessThan(const QModelIndex &left, const QModelIndex &right) const override;

private:
    ResultModel &m_model;
    RowFilter m_filter;
};

/// "inputs assumed · fitted · does not fit": what to know before the figure is believed.
[[nodiscard]] QString remarksOf(const ValidationResult &result);

} // namespace trainyard
