// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/new_plan_search.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

namespace trainyard {

namespace {

constexpr std::chrono::milliseconds kSearchRest { 120 };
constexpr std::array kRecomputes { Recompute::None, Recompute::Selective, Recompute::Full };

double secondsOf(const Evaluation &evaluation)
{
    return evaluation.metrics.iterationTime.value_or(std::numeric_limits<double>::infinity());
}

/// How far over its GPU the fullest one is; more than 1 does not fit.
double fill(const Evaluation &evaluation)
{
    double most = 0;
    if (evaluation.metrics.memory) {
        for (const StageMemory &stage : evaluation.metrics.memory->perStage)
            most = std::max(most, stage.capacity > 0 ? double(stage.device) / double(stage.capacity) : 0);
    }
    return evaluation.metrics.iterationTime ? most : std::numeric_limits<double>::infinity();
}

/// Feasible before infeasible; then the faster, or the one that is nearer to fitting.
bool isBetter(const Evaluation &a, const Evaluation &b)
{
    if (a.feasible() != b.feasible())
        return a.feasible();
    return a.feasible() ? secondsOf(a) < secondsOf(b) : fill(a) < fill(b);
}

} // namespace

std::vector<Plan> candidatesFor(const Plan &plan, const ModelSpec &model)
{
    int perNode = std::numeric_limits<int>::max();
    for (const Datacenter &datacenter : plan.cluster.datacenters) {
        for (const Pool &pool : datacenter.pools)
            perNode = std::min(perNode, pool.gpusPerNode);
    }
    const int gpus = plan.cluster.gpus();
    std::vector<Plan> plans { plan };
    for (int tensor = 1; tensor <= std::min(8, perNode); tensor *= 2) {
        if (perNode % tensor != 0 || model.heads % tensor != 0)
            continue;
        for (int pipeline = 1; pipeline <= std::min({ model.layers, gpus / tensor, 32 }); pipeline *= 2) {
            for (int expert = 1;
                 expert <= (model.isMoe() ? std::min({ 8, model.experts, gpus / tensor / pipeline }) : 1);
                 expert *= 8) {
                Plan next = plan;
                next.parallelism.tensor = tensor;
                next.parallelism.pipeline = pipeline;
                next.parallelism.expert = expert;
                if (next.parallelism != plan.parallelism)
                    plans.push_back(std::move(next));
            }
        }
    }
    return plans;
}

NewPlanSearch::NewPlanSearch(const Catalogue &catalogue, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_worker(std::bind_front(&NewPlanSearch::search, this))
{
    m_worker.setRest(kSearchRest);
    m_worker.setWatched(true);
}

void NewPlanSearch::setPlan(const PlanPtr &plan)
{
    m_answer = {};
    m_worker.setPlan(plan);
}

void NewPlanSearch::search(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
    const WatchedWorker::Deliver &deliver)
{
    const auto tell = [&](const EvaluationPtr &best, const Errors &errors, bool isComplete) {
        deliver([this, plan, best, errors, isComplete] {
            m_answer = { plan, best, errors, isComplete };
            emit answered(m_answer);
        });
    };
    EvaluationPtr best;
    Errors errors;
    std::vector<Plan> candidates { *plan };
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        for (const Recompute recompute : kRecomputes) {
            if (stop.stop_requested())
                return;
            Plan next = candidates[i];
            next.memory.recompute = recompute;
            const auto evaluation =
                evaluate(std::make_shared<const Plan>(std::move(next)), m_catalogue, workspace, stop, Depth::Score);
            if (!evaluation) {
                if (errors.empty())
                    errors = evaluation.error();
                break;
            }
            if (i == 0 && candidates.size() == 1)
                candidates = candidatesFor(*plan, (*evaluation)->model);
            if (!best || isBetter(**evaluation, *best)) {
                best = *evaluation;
                tell(best, {}, false);
            }
            if ((*evaluation)->feasible())
                break; // more of it would only be slower
        }
    }
    tell(best, best ? Errors {} : errors, true);
}

} // namespace trainyard
