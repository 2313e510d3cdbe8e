#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The way from the plan to a found one, a line a step: what changes, what it buys, and a button that takes it with
// those before it. Until the steps are worked out, what changes in all. GUI thread.

#include "models/plan_search.h"

#include <QWidget>

class QPushButton;
class QVBoxLayout;

namespace trainyard {

class TextLine;

class SearchStepRow : public QWidget {
    Q_OBJECT
public:
    explicit SearchStepRow(int number, QWidget *parent = nullptr);
    void setStep(const SearchStep &step, Objective objective, bool isTaken);

    QPushButton *const apply;
    TextLine *const words, *const gain;
};

class StepList : public QWidget {
    Q_OBJECT
public:
    explicit StepList(PlanSearch &search, QWidget *parent = nullptr);

    /// Of a row; -1: none.
    void setRow(int row);
    /// those in sight
    [[nodiscard]] std::vector<SearchStepRow *> steps() const;
    [[nodiscard]] QString toTsv() const;

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);

private:
    void refresh();
    [[nodiscard]] QString noteText() const;

    PlanSearch &m_search;
    int m_row = -1;
    TextLine *m_note;
    QVBoxLayout *m_list;
    std::vector<SearchStepRow *> m_rows;
};

} // namespace trainyard
