#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Degrees of parallelism and recomputation for a new plan: evaluates a few dozen in the background and keeps the
// fastest that fits, so that whoever starts need not know them. What is found so far is told as it comes. Lives on the
// GUI thread.

#include "models/watched_worker.h"

namespace trainyard {

struct NewPlanAnswer {
    /// the plan that the search began with
    PlanPtr asked;
    /// its plan is the best so far; null where none could be evaluated
    EvaluationPtr best;
    /// of the first, where there is no best
    Errors errors;
    bool isComplete = false;
};

class NewPlanSearch : public QObject {
    Q_OBJECT
public:
    explicit NewPlanSearch(const Catalogue &catalogue, QObject *parent = nullptr);

    /// Searches around this plan from now on; null: nothing.
    void setPlan(const PlanPtr &plan);
    [[nodiscard]] const NewPlanAnswer &answer() const { return m_answer; }

signals:
    void answered(const trainyard::NewPlanAnswer &answer);

private:
    void search(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
        const WatchedWorker::Deliver &deliver);

    const Catalogue &m_catalogue;
    NewPlanAnswer m_answer;
    /// last: it uses what is above
    WatchedWorker m_worker;
};

/// Plans to try, the asked one first: tensor, pipeline and expert degrees that the nodes and layers allow.
[[nodiscard]] std::vector<Plan> candidatesFor(const Plan &plan, const ModelSpec &model);

} // namespace trainyard
