#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A candidate judged in every world of a search: run in the plan's own and, where it can run there and keeps the
// constraints, in each scenario; then one value of the objective. The worst case takes the largest value, and a
// candidate that one world makes infeasible is out. An expectation is the mean by weight over the worlds where it
// runs, divided by their share of all weights: what cannot run in half of them costs twice as much. It asks the
// constraints of the plan's own world alone. Immutable once made; any thread, a workspace each.

#include "core/planner/score/batch_runner.h"
#include "core/planner/score/scorer.h"
#include "core/planner/search/least_cost.h"
#include "core/planner/search/objective.h"
#include "core/planner/search/search.h"

#include <optional>

namespace trainyard {

struct CandidateVerdict {
    /// of the plan's own world but for `value`
    SearchRow row;
    /// why it is out, in words that others share: what is counted
    std::string kind;
    /// of one that is out: how far; of two the nearer one is more promising
    double excess = 0;
    bool isStopped = false;
};

class ScenarioJudge {
public:
    /// `own` is the plan's evaluation: what memory it leaves free is the margin where none is asked for.
    ScenarioJudge(const PlanPtr &plan, const Catalogue &catalogue, const SearchOptions &options, const Evaluation &own);

    /// `told`: what run() says of the plan, where that is known.
    [[nodiscard]] CandidateVerdict judge(const PlanPtr &plan, std::uint64_t number, EvaluationWorkspace &workspace,
        const std::stop_token &stop, const EvaluationPtr &told = nullptr) const;

    /// From what the engine says of a candidate without its money, and what its score says of its computing: the
    /// verdict where that is enough, because it does not fit, surely breaks a constraint or surely has a larger value
    /// than `most`; else nothing: judge() has to say.
    [[nodiscard]] std::optional<CandidateVerdict> judgeExact(
        std::uint64_t number, const Outcome &outcome, double computing, double most) const;

    /// No candidate that takes at least so much has a smaller value.
    [[nodiscard]] double leastValue(const LeastWork &work) const;
    /// Why a candidate that takes at least so much cannot keep the constraints; empty where it may.
    [[nodiscard]] std::string surelyBroken(const LeastWork &work, double leastFill) const;
    [[nodiscard]] double margin() const { return m_margin; }

private:
    [[nodiscard]] std::optional<ObjectiveFigures> pricedOf(const Evaluation &evaluation) const;
    [[nodiscard]] int paidFor(int gpus) const;
    [[nodiscard]] ObjectiveFigures leastFigures(const LeastWork &work) const;
    [[nodiscard]] std::string broken(const ObjectiveFigures &figures, const Evaluation *evaluation) const;
    void judgeInScenarios(CandidateVerdict &verdict, const PlanPtr &plan, EvaluationWorkspace &workspace,
        const std::stop_token &stop) const;

    const Catalogue &m_catalogue;
    const SearchOptions &m_options;
    /// of the plan's own world
    LeastCost m_least;
    /// tokens of an iteration
    double m_margin = 0, m_tokens = 0;
    /// of the whole training, days an iteration's second costs; 0: not known
    double m_secondsPerDay = 0;
};

} // namespace trainyard
