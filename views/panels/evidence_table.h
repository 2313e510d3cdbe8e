#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A table of the validation page: sortable, one line a row, the marks of sources and the tones of cells in the theme's
// colours, copied as TSV. GUI thread.

#include <QTableView>

namespace trainyard {

class EvidenceTable : public QTableView {
    Q_OBJECT
public:
    /// `stretched`: the column that takes what room is left.
    EvidenceTable(const QString &name, int stretched, QWidget *parent = nullptr);

    void setModel(QAbstractItemModel *model) override;
    /// Widths by content, measured on the first rows.
    void fitColumns();
    /// The selected rows, or all where none is, with a header line.
    [[nodiscard]] QString toTsv() const;

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;

private:
    int m_stretched;
};

} // namespace trainyard
