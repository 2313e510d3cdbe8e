#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What else could be done with the jobs of the plan, live: other schedulers, what each part of Hydra is worth, more and
// fewer GPUs. Parts arrive as they are done, worked out in the background by the searchers that all evaluations share.
// Solvers run only where somebody asks for them. Works only while someone looks. Lives on the GUI thread.

#include "core/evaluation/advice/job_comparison.h"
#include "models/watched_worker.h"

#include <memory>
#include <vector>

namespace trainyard {

struct JobComparison {
    PlanPtr plan;
    /// why there is nothing to compare, one sentence; then all else is empty
    std::string nothing;
    /// the plan's own first
    std::vector<JobVariant> schedulers;
    std::vector<JobVariant> ablation, scaling, oneMore;
    /// among the schedulers
    bool hasSolvers = false;
    /// but for solvers
    bool isComplete = false;
};
using JobComparisonPtr = std::shared_ptr<const JobComparison>;

class JobStudy : public QObject {
    Q_OBJECT
public:
    explicit JobStudy(const Catalogue &catalogue, QObject *parent = nullptr);

    void setPlan(const PlanPtr &plan);
    void setWatched(bool watched);
    void setRest(std::chrono::milliseconds rest);
    /// Solvers too, of this plan.
    void solve();
    [[nodiscard]] bool isSolving() const { return m_isSolving; }

Q_SIGNALS:
    void comparisonChanged(trainyard::JobComparisonPtr comparison);

private:
    void compare(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
        const WatchedWorker::Deliver &deliver);
    void runSolvers(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
        const WatchedWorker::Deliver &deliver);
    void take(JobComparison comparison);

    const Catalogue &m_catalogue;
    /// these three: GUI thread only
    JobComparisonPtr m_comparison;
    /// schedulers with solvers
    std::vector<JobVariant> m_solved;
    bool m_isSolving = false;
    /// last: their threads use everything above
    WatchedWorker m_worker, m_solver;
};

} // namespace trainyard
