#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The sources of a live document as a table: a row a source, in the order in which they were added; rows keep their
// place, and a selection its row, while what they say changes. GUI thread.

#include "models/live_document.h"

#include <QAbstractTableModel>

namespace trainyard {

class LiveSourceModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Where, State, Reason, Told, Lost, Columns };
    explicit LiveSourceModel(LiveDocument &live, QObject *parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex &parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    [[nodiscard]] QVariant headerData(
        int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    /// nullptr: there is none
    [[nodiscard]] const LiveSourceRow *row(int index) const;

    /// seconds until a try, or of silence
    void tellTime();

private:
    void take();

    LiveDocument &m_live;
    std::vector<LiveSourceRow> m_rows;
};

} // namespace trainyard
