#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A table of ready-made texts, for lists that need no more than that: the gates, the rows that are left out. GUI
// thread.

#include "models/table_roles.h"
#include "models/validation/source_summary.h"

#include <QAbstractTableModel>
#include <QStringList>

#include <vector>

namespace trainyard {

struct TextRows {
    struct Line {
        QStringList cells;
        /// of the last cell
        Tone tone = Tone::Plain;
        int sourceIndex = -1;
        QString hint;
    };
    QStringList titles;
    std::vector<Line> lines;
};

class TextTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    using QAbstractTableModel::QAbstractTableModel;

    void setTable(TextRows table);

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(
        int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    TextRows m_table;
};

/// What the model has to reach, and whether it does.
[[nodiscard]] TextRows gateTable(const ValidatedRows &rows);
/// Whether the ranges of the confidence label hold, label by label.
[[nodiscard]] TextRows coverageTable(const ValidatedRows &rows);
/// Published rows that are not used, and why.
[[nodiscard]] TextRows leftOutTable(const ValidatedRows &rows);
/// One line a fault of a file of rows: where, what, and what would be right.
[[nodiscard]] TextRows faultTable(const Errors &errors);

} // namespace trainyard
