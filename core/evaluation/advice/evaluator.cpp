// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/evaluator.h"

#include "core/facts/plan/enum_names.h"
#include "core/facts/plan/job_schedulers.h"

#include <chrono>
#include <utility>

namespace trainyard {

namespace {

bool waitsForSolver(const Plan &plan)
{
    return hasJobs(plan) && isSolver(plan.jobScheduler);
}

PlanPtr ruledPlan(const Plan &plan)
{
    Plan ruled = plan;
    ruled.jobScheduler = JobScheduler::ShardedLrtf;
    return std::make_shared<const Plan>(std::move(ruled));
}

EvaluationPtr withNote(const Evaluation &evaluation)
{
    Evaluation noted = evaluation;
    noted.problems.push_back({ Severity::Note,
        std::string("While a change is tried, jobs run by \"") + labelOf(JobScheduler::ShardedLrtf)
            + "\"; the solver is asked when it is made",
        "job_scheduler", {} });
    return std::make_shared<const Evaluation>(std::move(noted));
}

} // namespace

Evaluator::Evaluator(const Catalogue &catalogue, Callback callback)
    : m_catalogue(catalogue)
    , m_callback(std::move(callback))
    , m_worker(m_pool.threads(), WorkPool::Rank::Awaited,
          [this](Request request, const std::stop_token &stop) { work(std::move(request), stop); })
{
}

std::uint64_t Evaluator::request(PlanPtr plan, Urgency urgency)
{
    const std::uint64_t generation = ++m_generation;
    m_worker.post(Request { generation, std::move(plan), urgency }, urgency == Urgency::Settle);
    return generation;
}

void Evaluator::work(Request request, const std::stop_token &stop)
{
    ExpectedAll<EvaluationPtr> evaluation = std::unexpected(Errors {});
    const auto started = std::chrono::steady_clock::now();
    try {
        const bool isSettled = request.urgency == Urgency::Settle; // steps of a drag hardly come again
        const bool isRuled = !isSettled && waitsForSolver(*request.plan);
        evaluation =
            run(isRuled ? ruledPlan(*request.plan) : request.plan, isSettled ? Depth::Everything : Depth::Spans,
                { .catalogue = m_catalogue,
                    .workspace = m_pool.workspace(),
                    .stop = stop,
                    .fixes = &quickFixes(),
                    .cache = isSettled ? &m_pool.cache() : nullptr });
        if (isRuled && evaluation)
            evaluation = withNote(**evaluation);
    } catch (const std::exception &failure) { // out of memory, or a fault of ours: the window must live on
        m_pool.renewWorkspace();
        evaluation = std::unexpected(Errors { { ErrorCode::Internal, {}, failure.what(), {} } });
    }
    // What is here sooner than it takes was not evaluated now.
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - started;
    const bool wasKnown = evaluation && taken.count() < (*evaluation)->metrics.evaluateMs;
    m_callback({ request.generation, std::move(request.plan), std::move(evaluation), wasKnown });
}

} // namespace trainyard
