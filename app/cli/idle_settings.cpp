// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/idle_settings.h"

#include <algorithm>

namespace trainyard::cli {

namespace {

ScorePlan scorer(EvaluationWorkspace &workspace)
{
    return [&workspace](PlanPtr plan) -> EvaluationPtr {
        auto score = evaluate(std::move(plan), builtinCatalogue(), workspace, {}, Depth::Score);
        return score ? *score : nullptr;
    };
}

} // namespace

ExpectedAll<SetPlan> loadSetPlan(const std::string &path, const std::vector<std::string> &settings)
{
    auto written = loadPlan(path);
    if (!written)
        return std::unexpected(std::move(written.error()));
    auto set = withSettings(**written, settings);
    if (!set)
        return std::unexpected(std::move(set.error()));
    return SetPlan { *written, std::make_shared<const Plan>(std::move(*set)) };
}

EvaluationPtr withIdleNotes(const EvaluationPtr &evaluation, const PlanPtr &before)
{
    EvaluationWorkspace workspace;
    std::vector<Problem> notes = idleNotes(idleChanges(before, *evaluation, builtinCatalogue(), scorer(workspace)));
    if (notes.empty())
        return evaluation;
    auto told = std::make_shared<Evaluation>(*evaluation);
    std::ranges::move(notes, std::back_inserter(told->problems));
    return told;
}

std::vector<IdleChange> idleSettings(const Evaluation &evaluation, const PlanPtr &written)
{
    EvaluationWorkspace workspace;
    const ScorePlan score = scorer(workspace);
    const auto standard = std::make_shared<const Plan>(withSwitchesAtDefault(*evaluation.plan));
    std::vector<IdleChange> idle = idleChanges(standard, evaluation, builtinCatalogue(), score);
    for (IdleChange &set : idleChanges(written, evaluation, builtinCatalogue(), score))
        if (std::ranges::find(idle, set.key, &IdleChange::key) == idle.end())
            idle.push_back(std::move(set));
    return idle;
}

} // namespace trainyard::cli
