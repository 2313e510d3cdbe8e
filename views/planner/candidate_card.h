#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One candidate beside the plan: its figures and theirs, why it is out where it is, the steps that lead to it, and
// buttons that try and adopt it. GUI thread.

#include "models/plan_search.h"

#include <QWidget>

#include <array>

class QPushButton;

namespace trainyard {

class StepList;
class TextLine;

class CandidateCard : public QWidget {
    Q_OBJECT
public:
    explicit CandidateCard(PlanSearch &search, QWidget *parent = nullptr);

    /// A row of the search; -1: none.
    void setRow(int row);
    void refresh();
    [[nodiscard]] int row() const { return m_row; }
    [[nodiscard]] QString title() const;
    /// why it is out; empty of what is feasible
    [[nodiscard]] QString reason() const;
    /// what becomes of GPUs that it leaves idle, with both prices; empty where all are used
    [[nodiscard]] QString idle() const;
    /// where there are scenarios: which one decides
    [[nodiscard]] QString world() const;
    /// of the candidate; empty where it is not told
    [[nodiscard]] QString fact(const QString &name) const;

    QPushButton *const tryIt, *const adopt;
    StepList *const steps;

Q_SIGNALS:
    void tryRequested(int row);
    void adoptRequested(int row);

private:
    struct Fact {
        QWidget *line;
        TextLine *name, *before, *after, *change;
    };
    static constexpr std::size_t kFacts = 7;
    void arrange();
    void tellIdle(const SearchRow &row, bool isOwn);
    void setFact(std::size_t at, const QString &before, const QString &after, const QString &change, bool isGood);

    PlanSearch &m_search;
    int m_row = -1;
    TextLine *m_title, *m_reason, *m_idle, *m_world;
    QWidget *m_facts, *m_changes;
    std::array<Fact, kFacts> m_lines {};
};

} // namespace trainyard
