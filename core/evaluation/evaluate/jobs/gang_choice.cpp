// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/jobs/gang_choice.h"

#include "core/base/number_text.h"
#include "core/facts/plan/measured_units.h"

#include <algorithm>
#include <tuple>

namespace trainyard {

namespace {

/// Closed forms may be off by so much: plans behind the best by more are not looked at.
constexpr double kSlack = 1.03;
constexpr int kMostThatMayNotFit = 2; // by the most that they may take; looked at where none surely fits

struct Candidate {
    const GangPlan *plan;
    PlanPtr timed; // with measured times; null: as modelled
    double seconds = 0, need = 0; // by closed forms
    bool fits = false;
};

/// The share of whichever memory is fullest, and what it is.
struct Fullest {
    double need = 0, bytes = 0, capacity = 0;
    bool isHost = false;
};

Fullest fullest(const Evaluation &evaluation)
{
    Fullest most;
    if (!evaluation.metrics.memory)
        return most;
    const auto take = [&](std::int64_t bytes, std::int64_t capacity, bool isHost) {
        const double need = double(bytes) / double(std::max<std::int64_t>(capacity, 1));
        if (need > most.need)
            most = { need, double(bytes), double(capacity), isHost };
    };
    const MemoryMetrics &memory = *evaluation.metrics.memory;
    for (const StageMemory &stage : memory.perStage)
        take(stage.device, stage.capacity, false);
    if (memory.hostCapacity > 0)
        take(memory.host, memory.hostCapacity, true);
    return most;
}

std::string whyNot(const GangPlan &plan, const Evaluation &evaluation)
{
    const Fullest most = fullest(evaluation);
    if (most.need <= 1)
        return evaluation.problems.empty() ? "it cannot run so: " + plan.name : evaluation.problems.front().text;
    return "it needs at the least " + bytesText(most.bytes) + " of " + (most.isHost ? "a host's " : "a GPU's ")
        + bytesText(most.capacity) + ", " + plan.name;
}

class GangChoosing {
public:
    explicit GangChoosing(const RunContext &context)
        : m_context(context)
    {
    }

    ExpectedAll<void> estimate(const std::vector<GangPlan> &plans, const std::vector<double> &unitMs)
    {
        for (const GangPlan &plan : plans) {
            Candidate candidate { &plan, unitMs.empty() ? nullptr : withMeasuredUnits(*plan.plan, unitMs) };
            if (!unitMs.empty() && !candidate.timed && plan.plan->memory.parameterOffload == ParameterOffload::None)
                continue;
            const auto judged = look(plan.plan, Depth::Estimate);
            if (!judged)
                return std::unexpected(judged.error());
            if (!*judged)
                continue;
            const auto timed = candidate.timed ? look(candidate.timed, Depth::Estimate) : judged;
            if (!timed)
                return std::unexpected(timed.error());
            if (!*timed || !(*timed)->metrics.iterationTime)
                continue;
            candidate.fits = (*judged)->feasible();
            candidate.seconds = *(*timed)->metrics.iterationTime;
            candidate.need = fullest(**judged).need;
            m_candidates.push_back(std::move(candidate));
        }
        std::ranges::stable_sort(
            m_candidates, {}, [](const Candidate &c) { return std::tuple(!c.fits, c.fits ? c.seconds : c.need); });
        return {};
    }

    ExpectedAll<GangChoice> choose(int mostScores)
    {
        GangChoice best;
        double nearest = 0;
        int scored = 0;
        for (const Candidate &candidate : m_candidates) {
            const bool isBehind = best.plan && candidate.seconds > *best.evaluation->metrics.iterationTime * kSlack;
            if ((best.plan && !candidate.fits) || isBehind
                || scored++ >= (candidate.fits ? mostScores : kMostThatMayNotFit))
                break;
            const auto judged = look(candidate.plan->plan, Depth::Score);
            const auto timed = judged && candidate.timed ? look(candidate.timed, Depth::Score) : judged;
            if (!timed)
                return std::unexpected(timed.error());
            if (!*judged || !*timed)
                continue;
            if (!(*judged)->feasible() || !(*timed)->metrics.iterationTime) {
                if (const double need = fullest(**judged).need; best.why.empty() || need < nearest) {
                    best.why = whyNot(*candidate.plan, **judged);
                    nearest = need;
                }
                continue;
            }
            if (!best.plan || *(*timed)->metrics.iterationTime < *best.evaluation->metrics.iterationTime) {
                best.plan = candidate.plan;
                best.evaluation = *timed;
                best.judged = *judged;
            }
        }
        if (best.plan)
            best.why.clear();
        else if (best.why.empty())
            best.why = m_error.empty() ? "no number of GPUs that it may use is right for it" : m_error;
        return best;
    }

private:
    /// Null where the plan makes no sense; the first such error is remembered.
    ExpectedAll<EvaluationPtr> look(const PlanPtr &plan, Depth depth)
    {
        // Not by the cache: these are quick and many, and would drive out what somebody waits for.
        auto evaluation =
            run(plan, depth, { m_context.catalogue, m_context.workspace, m_context.stop, nullptr, nullptr, nullptr });
        if (evaluation)
            return evaluation;
        const Error &error = evaluation.error().front();
        if (error.code == ErrorCode::Cancelled || error.code == ErrorCode::Internal)
            return evaluation;
        if (m_error.empty())
            m_error = error.what;
        return EvaluationPtr();
    }

    const RunContext &m_context;
    std::vector<Candidate> m_candidates;
    std::string m_error;
};

} // namespace

ExpectedAll<GangChoice> fastestThatFits(
    const std::vector<GangPlan> &plans, const std::vector<double> &unitMs, int mostScores, const RunContext &context)
{
    GangChoosing choosing(context);
    if (const auto estimated = choosing.estimate(plans, unitMs); !estimated)
        return std::unexpected(estimated.error());
    return choosing.choose(mostScores);
}

} // namespace trainyard
