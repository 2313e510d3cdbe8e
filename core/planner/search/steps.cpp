// SPDX-License-Identifier: GPL-3.0-or-later
// The greedy way, by sets of axes that are not yet as in the found plan. The next step is the smallest set that gains;
// among sets of one size the one that gains most. Where none gains, the smallest that loses nothing, then the smallest
// that loses least. Sets of two are all looked at; larger ones only by taking from all that is left whatever is not
// needed, one axis after the other, since there are too many.
#include "core/planner/search/steps.h"

#include "core/facts/plan/plan_diff.h"
#include "core/planner/search/scenario_judge.h"
#include "core/planner/search/shortfall.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace trainyard {

namespace {

using AxisSet = std::vector<std::size_t>; // rising

constexpr double kNothing = 1e-9; // a share of the objective below it is rounding
constexpr std::size_t kMostPairs = 120; // of sixteen axes; of more, larger sets are cut down at once

struct Looked { // a plan on the way
    PlanPtr plan; // null where run() refuses it
    Errors refused;
    bool isFeasible = false;
    std::string breaks;
    double seconds = 0, usdPerMillionTokens = 0;
    double value = std::numeric_limits<double>::infinity();
};

/// Share that `after` saves; 0 where one of them has no value.
double gainOf(const Looked &before, const Looked &after)
{
    return std::isfinite(before.value) && before.value > 0 && std::isfinite(after.value)
        ? 1 - after.value / before.value
        : 0;
}

class Way {
public:
    Way(const SearchResult &found, std::size_t row, const Catalogue &catalogue, EvaluationWorkspace &workspace,
        std::stop_token stop)
        : m_found(found)
        , m_row(row)
        , m_context { catalogue, workspace, std::move(stop) }
        , m_asked(found.asked ? *found.asked : SearchOptions { .objective = found.objective })
        , m_target(found.space->candidate(found.rows[row].number))
        , m_now(found.space->baseCandidate())
    {
        for (std::size_t axis = 0; axis < m_now.size(); ++axis)
            if (m_now[axis] != m_target[axis])
                m_left.push_back(axis);
    }

    ExpectedAll<std::vector<SearchStep>> walk()
    {
        std::vector<SearchStep> steps;
        const Looked *at = &look({});
        if (!at->plan) // there is nowhere to begin
            return std::unexpected(at->refused);
        while (!m_left.empty()) {
            const AxisSet next = nextStep(*at);
            if (m_context.stop.stop_requested())
                return std::unexpected(Errors { { ErrorCode::Cancelled, {}, "the way was stopped", {} } });
            const Looked &after = look(next);
            if (!after.plan) // the found plan itself
                return std::unexpected(after.refused);
            steps.push_back(stepFrom(*at, after, next));
            for (const std::size_t axis : next)
                m_now[axis] = m_target[axis];
            std::erase_if(m_left, [&](std::size_t axis) { return std::ranges::binary_search(next, axis); });
            at = &after;
        }
        return steps;
    }

private:
    /// The plan with some more axes as in the found one.
    const Looked &look(const AxisSet &more)
    {
        Candidate candidate = m_now;
        for (const std::size_t axis : more)
            candidate[axis] = m_target[axis];
        const auto [entry, isNew] = m_known.try_emplace(candidate);
        Looked &looked = entry->second;
        if (!isNew)
            return looked;
        PlanPtr plan = candidate == m_target ? m_found.plan(m_row) : m_found.space->plan(candidate);
        EvaluationPtr told;
        if (!m_judge) { // the plan that was asked about, which is looked at first
            const auto own = run(m_found.space->base(), Depth::Score, m_context);
            if (!own) {
                looked.refused = own.error();
                return looked;
            }
            m_judge.emplace(m_found.space->base(), m_context.catalogue, m_asked, **own);
            told = *own;
        }
        const CandidateVerdict verdict = m_judge->judge(plan, 0, m_context.workspace, m_context.stop, told);
        const SearchRow &row = verdict.row;
        if (!told && candidate != m_target) // that one is the row's
            plan = withReplicas(plan, row.data);
        if (verdict.isStopped || row.state == RowState::Refused) {
            looked.refused.push_back(
                { verdict.isStopped ? ErrorCode::Cancelled : ErrorCode::BadValue, {}, row.reason, {} });
            return looked;
        }
        looked.plan = std::move(plan);
        looked.isFeasible = row.state != RowState::Infeasible;
        if (row.state == RowState::OutOfConstraint)
            looked.breaks = reasonWithNumbers(row);
        looked.seconds = row.seconds;
        looked.usdPerMillionTokens = row.usdPerMillionTokens;
        if (row.seconds > 0)
            looked.value = row.value;
        return looked;
    }

    struct Best {
        AxisSet set;
        double gain = -std::numeric_limits<double>::infinity();
    };

    /// A plan on the way can run, as the one before; where that cannot, the first that can is a gain of its own.
    void offer(const Looked &at, const AxisSet &set, Best &best)
    {
        const Looked &after = look(set);
        if (!after.plan || !after.isFeasible)
            return;
        const double gain = at.isFeasible ? gainOf(at, after) : 1 / (1 + after.value);
        if (gain > best.gain)
            best = { set, gain };
    }

    [[nodiscard]] bool isStopped() const { return m_context.stop.stop_requested(); }

    AxisSet nextStep(const Looked &at)
    {
        Best one, two;
        for (std::size_t i = 0; i < m_left.size() && !isStopped(); ++i)
            offer(at, { m_left[i] }, one);
        if (one.gain > kNothing || m_left.size() == 1)
            return one.set.empty() ? m_left : one.set;
        if (m_left.size() * (m_left.size() - 1) / 2 <= kMostPairs)
            for (std::size_t i = 0; i < m_left.size(); ++i)
                for (std::size_t j = i + 1; j < m_left.size() && !isStopped(); ++j)
                    offer(at, { m_left[i], m_left[j] }, two);
        if (two.gain > kNothing)
            return two.set;
        Best all;
        offer(at, m_left, all);
        for (const double least : { kNothing, -kNothing }) {
            if (least < 0) // nothing gains any more
                for (const Best *best : { &one, &two })
                    if (best->gain >= least)
                        return best->set;
            if (all.gain > least)
                return cutDown(at, all.set, least);
        }
        return !one.set.empty() ? one.set : !two.set.empty() ? two.set : m_left;
    }

    /// Without the axes that it does not take for such a gain.
    AxisSet cutDown(const Looked &at, AxisSet set, double least)
    {
        for (std::size_t i = set.size(); i-- > 0 && set.size() > 1 && !isStopped();) {
            AxisSet fewer = set;
            fewer.erase(fewer.begin() + std::ptrdiff_t(i));
            Best without;
            offer(at, fewer, without);
            if (without.gain > least)
                set = std::move(fewer);
        }
        return set;
    }

    SearchStep stepFrom(const Looked &before, const Looked &after, const AxisSet &set)
    {
        SearchStep step;
        step.sentences = describeDifferences(*before.plan, *after.plan);
        if (step.sentences.empty()) // as the axes name it
            for (const std::size_t i : set) {
                const Axis &axis = m_found.space->axes()[i];
                step.sentences.push_back(
                    axis.label + " " + axis.values[m_now[i]].text + " → " + axis.values[m_target[i]].text);
            }
        step.plan = after.plan;
        step.isFeasible = after.isFeasible;
        step.value = after.value;
        step.breaks = after.breaks;
        step.seconds = after.seconds;
        step.usdPerMillionTokens = after.usdPerMillionTokens;
        step.gain = gainOf(before, after);
        return step;
    }

    const SearchResult &m_found;
    std::size_t m_row;
    RunContext m_context;
    SearchOptions m_asked; // worlds refer to it
    std::optional<ScenarioJudge> m_judge;
    Candidate m_target, m_now;
    AxisSet m_left;
    std::map<Candidate, Looked> m_known; // what a candidate is does not depend on the way to it
};

} // namespace

ExpectedAll<std::vector<SearchStep>> stepsBetween(const SearchResult &found, std::size_t row,
    const Catalogue &catalogue, EvaluationWorkspace &workspace, std::stop_token stop)
{
    return Way(found, row, catalogue, workspace, std::move(stop)).walk();
}

} // namespace trainyard
