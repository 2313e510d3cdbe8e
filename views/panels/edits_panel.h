#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The edits since the plan was opened, what each cost and gained, and a way back to any of them by a click or Enter.
// GUI thread.

#include <QWidget>

namespace trainyard {

class EditHistory;
class EvidenceTable;
class TextLine;
class TextTableModel;

class EditsPanel : public QWidget {
    Q_OBJECT
public:
    explicit EditsPanel(EditHistory &history, QWidget *parent = nullptr);

    [[nodiscard]] EvidenceTable *table() const { return m_table; }
    [[nodiscard]] QString toTsv() const;

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void refresh();

    EditHistory &m_history;
    TextTableModel *m_model;
    EvidenceTable *m_table;
    TextLine *m_sum;
};

} // namespace trainyard
