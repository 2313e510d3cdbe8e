#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers at the top of the window: eight of an iteration, or six of jobs, and further ones where there are experts
// or prefill is served, each with its difference to the pinned baseline. Reads evaluations, owns none; the window
// decides what the baseline is. GUI thread.

#include "core/evaluation/evaluate/evaluation.h"

#include <QWidget>

#include <vector>

namespace trainyard {

class NumberCard;

class NumberStrip : public QWidget {
    Q_OBJECT
public:
    explicit NumberStrip(QWidget *parent = nullptr);

    /// null: every card shows a dash
    void setEvaluation(EvaluationPtr evaluation);
    /// null: no differences. `against` says what it is: "your plan".
    void setBaseline(EvaluationPtr baseline, const QString &against);
    /// numbers are of an older plan: dimmed
    void setStale(bool stale);
    [[nodiscard]] const std::vector<NumberCard *> &cards() const { return m_cards; }
    /// Name, value and difference of every card, one a line, tab-separated.
    [[nodiscard]] QString toTsv() const;

Q_SIGNALS:
    void baselinePinRequested();
    void baselineUnpinRequested();

protected:
    void contextMenuEvent(QContextMenuEvent *event) override;

private:
    void refresh();
    void showWhatApplies();

    bool m_isOfJobs = false;
    EvaluationPtr m_evaluation, m_baseline;
    QString m_against;
    std::vector<NumberCard *> m_cards;
};

} // namespace trainyard
