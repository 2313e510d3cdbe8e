#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What makes the plan infeasible or wasteful, each with its fixes as buttons; otherwise how far the prediction is to be
// trusted. GUI thread.

#include "core/evaluate/evaluation.h"

#include <QWidget>

class QVBoxLayout;

namespace trainyard {

class ProblemsPanel : public QWidget {
    Q_OBJECT
public:
    explicit ProblemsPanel(QWidget *parent = nullptr);

    void setEvaluation(EvaluationPtr evaluation);
    /// The plan could not be evaluated at all: shown as blocking problems.
    void setErrors(const Errors &errors);

Q_SIGNALS:
    void editCommitted(trainyard::PlanPtr next, QString text);
    void editPreviewed(trainyard::PlanPtr next, QString text);   // the pointer rests on a fix
    void editCancelled();

private:
    void show(const std::vector<Problem> &problems, const Confidence &confidence, std::optional<double> iteration);

    EvaluationPtr m_evaluation;
    QVBoxLayout *m_list;
    QWidget *m_content = nullptr;
};

} // namespace trainyard
