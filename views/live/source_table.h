#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The sources of a live run with their states, reasons and counts, and what can be done with the chosen one: pause, try
// at once, remove. GUI thread.

#include "models/live/live_source_model.h"

#include <QTimer>
#include <QWidget>

class QPushButton;

namespace trainyard {

class EvidenceTable;
class TextLine;

class SourceTable : public QWidget {
    Q_OBJECT
public:
    explicit SourceTable(LiveDocument &live, QWidget *parent = nullptr);

    EvidenceTable *const table;
    QPushButton *const connectButton, *const pause, *const retry, *const removeButton;
    /// the only one, where there is no other
    [[nodiscard]] const LiveSourceRow *chosen() const;

signals:
    void connectRequested();

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void showActions();
    void layColumns();

    LiveDocument &m_live;
    LiveSourceModel *m_model;
    /// why the chosen one is as it is
    TextLine *m_told;
    QTimer m_seconds;
};

} // namespace trainyard
