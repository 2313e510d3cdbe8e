#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What-ifs of a live run: each question with what the plan would say then, and what comes of it; a button takes that
// plan into the document, another opens it as a plan of its own. Proposes plans, changes none. GUI thread.

#include "models/live_document.h"

#include <QWidget>

class QPushButton;
class QVBoxLayout;

namespace trainyard {

class LiveRow;
class TextLine;

class WhatIfList : public QWidget {
    Q_OBJECT
public:
    explicit WhatIfList(LiveDocument &live, QWidget *parent = nullptr);

    QPushButton *const ask;
    struct Row {
        LiveRow *row;
        QPushButton *tryIt, *openIt;
    };
    /// in sight
    [[nodiscard]] std::vector<Row> rows() const;
    [[nodiscard]] QString summary() const;
    [[nodiscard]] QString toTsv() const;

signals:
    void tried(const trainyard::PlanPtr &plan, const QString &text);
    void planRequested(const trainyard::PlanPtr &plan);

private:
    void refresh();
    void showRow(const Row &row, const LiveWhatIf &one);
    void showAsk();

    LiveDocument &m_live;
    /// hidden ones wait for more
    std::vector<Row> m_rows;
    QVBoxLayout *m_place;
    TextLine *m_summary;
};

} // namespace trainyard
