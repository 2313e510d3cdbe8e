#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The jobs of a plan as a table that views show: what can be typed into a cell, and rows that can be dragged, in the
// list to another place and out of it to whoever takes a job by its name. What is typed or dropped is told, never done:
// the next plan comes from outside. GUI thread.

#include "models/job_rows.h"

#include <QAbstractTableModel>

namespace trainyard {

class JobListModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        Name,
        Batch,
        Steps,
        Deadline,
        Bar,
        /// what is typed into End is the deadline
        End,
        Price,
        Shards,
        Gpus,
        kColumns
    };
    explicit JobListModel(QObject *parent = nullptr);

    /// Rows stay where they are, selected and in the hand, as long as there are as many.
    void setRows(std::vector<JobRow> rows);
    [[nodiscard]] const JobRow &row(int index) const { return m_rows[std::size_t(index)]; }
    [[nodiscard]] const std::vector<JobRow> &rows() const { return m_rows; }
    /// All columns as people read them.
    [[nodiscard]] QString toTsv() const;

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex &index) const override;
    /// Where what is typed is no such number: false, and what would be right is told.
    bool setData(const QModelIndex &index, const QVariant &value, int role) override;
    [[nodiscard]] QStringList mimeTypes() const override;
    [[nodiscard]] QMimeData *mimeData(const QModelIndexList &indexes) const override;
    [[nodiscard]] Qt::DropActions supportedDropActions() const override { return Qt::MoveAction | Qt::CopyAction; }
    bool dropMimeData(
        const QMimeData *data, Qt::DropAction action, int row, int column, const QModelIndex &parent) override;

signals:
    void batchTyped(int row, int batch);
    /// Mini-batches of one epoch, and epochs.
    void stepsTyped(int row, int minibatches, int epochs);
    void deadlineTyped(int row, std::optional<double> seconds);
    void nameTyped(int row, const QString &name);
    /// a sentence
    void refused(const QString &why);
    /// The job of that name is to stand before the row.
    void dropped(const QString &name, int before);

private:
    [[nodiscard]] QString text(const JobRow &row, int column) const;
    [[nodiscard]] QString tip(const JobRow &row, int column) const;

    std::vector<JobRow> m_rows;
};

} // namespace trainyard
