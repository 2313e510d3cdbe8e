#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans around one plan, simulated and valued by one objective: what shadow prices and retirements are made of.

#include "core/evaluation/evaluate/run.h"
#include "core/planner/search/objective.h"

#include <utility>

namespace trainyard::detail {

struct PlanRun {
    PlanPtr plan;
    /// null: refused
    EvaluationPtr evaluation;
    std::optional<ObjectiveFigures> figures;
    /// 0: none
    double value = 0;

    [[nodiscard]] bool isFeasible() const { return evaluation && evaluation->feasible() && figures; }
};

class PlanRuns {
public:
    PlanRuns(const Catalogue &catalogue, EvaluationWorkspace &workspace, Objective objective, std::stop_token stop)
        : m_context { .catalogue = catalogue, .workspace = workspace, .stop = std::move(stop) }
        , m_objective(objective)
    {
    }

    ExpectedAll<PlanRun> run(PlanPtr plan)
    {
        auto evaluation = trainyard::run(plan, Depth::Score, m_context);
        if (!evaluation)
            return std::unexpected(std::move(evaluation.error()));
        PlanRun run { std::move(plan), std::move(*evaluation), {}, 0 };
        run.figures = figuresOf(*run.evaluation, m_context.catalogue);
        if (run.figures)
            run.value = objectiveValue(m_objective, *run.figures);
        return run;
    }
    /// What is refused has no evaluation.
    PlanRun tried(Plan plan)
    {
        auto made = std::make_shared<const Plan>(std::move(plan));
        return run(made).value_or(PlanRun { made, nullptr, {}, 0 });
    }
    [[nodiscard]] bool isStopped() const { return m_context.stop.stop_requested(); }
    [[nodiscard]] const RunContext &context() const { return m_context; }

private:
    RunContext m_context;
    Objective m_objective;
};

/// Share of the value of `before` that `after` saves; 0 where one of them has none.
[[nodiscard]] inline double savedShare(const PlanRun &before, const PlanRun &after)
{
    return before.value > 0 && after.isFeasible() ? 1 - after.value / before.value : 0;
}

} // namespace trainyard::detail
