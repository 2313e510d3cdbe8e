// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/job_study.h"

#include <utility>

namespace trainyard {

JobStudy::JobStudy(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_worker([this](const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
                   const WatchedWorker::Deliver &deliver) { compare(plan, workspace, stop, deliver); })
    , m_solver([this](const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
                   const WatchedWorker::Deliver &deliver) { runSolvers(plan, workspace, stop, deliver); })
{
    m_solver.setRest(std::chrono::milliseconds(0));
}

void JobStudy::setPlan(const PlanPtr &plan)
{
    if (plan == m_worker.plan())
        return;
    m_solver.setPlan(nullptr);
    m_isSolving = false;
    m_solved.clear();
    m_worker.setPlan(plan);
}

void JobStudy::setWatched(bool watched)
{
    m_worker.setWatched(watched);
    m_solver.setWatched(watched);
}

void JobStudy::setRest(std::chrono::milliseconds rest)
{
    m_worker.setRest(rest);
}

void JobStudy::solve()
{
    if (!m_worker.plan() || !hasJobs(*m_worker.plan()))
        return;
    m_isSolving = m_solved.empty();
    m_solver.setPlan(m_worker.plan());
}

void JobStudy::take(JobComparison comparison)
{
    if (!m_solved.empty()) {
        comparison.schedulers = m_solved;
        comparison.hasSolvers = true;
    }
    m_comparison = std::make_shared<const JobComparison>(std::move(comparison));
    Q_EMIT comparisonChanged(m_comparison);
}

void JobStudy::compare(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
    const WatchedWorker::Deliver &deliver)
{
    JobComparison known { .plan = plan };
    const auto tell = [&] { deliver([this, copy = known] { take(copy); }); };
    if (!hasJobs(*plan)) {
        known.nothing =
            "This plan trains one model. Add jobs, or a grid of them, and their schedulers are compared here";
        known.isComplete = true;
        return tell();
    }
    const RunContext context {
        .catalogue = m_catalogue, .workspace = workspace, .stop = stop, .cache = &RunPool::shared().cache()
    };
    known.schedulers = jobSchedulers(plan, context, false);
    if (stop.stop_requested())
        return;
    tell();
    known.ablation = jobAblation(plan, context);
    if (stop.stop_requested())
        return;
    tell();
    known.scaling = jobScaling(plan, context);
    if (stop.stop_requested())
        return;
    tell();
    known.oneMore = jobsWithOneMoreGpu(plan, context);
    if (stop.stop_requested())
        return;
    known.isComplete = true;
    tell();
}

void JobStudy::runSolvers(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
    const WatchedWorker::Deliver &deliver)
{
    std::vector<JobVariant> all = jobSchedulers(plan,
        { .catalogue = m_catalogue, .workspace = workspace, .stop = stop, .cache = &RunPool::shared().cache() }, true);
    if (stop.stop_requested())
        return;
    deliver([this, plan, all = std::move(all)] {
        m_isSolving = false;
        m_solved = all;
        take(m_comparison && m_comparison->plan == plan ? *m_comparison : JobComparison { .plan = plan });
    });
}

} // namespace trainyard
