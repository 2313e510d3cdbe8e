// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/planner/search/scenario_judge.h"

#include "core/base/number_text.h"
#include "core/planner/search/shortfall.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

constexpr const char *kTooLarge = "it does not fit the memory of the GPUs";
constexpr double kMargin = 0.05; // of memory, where nobody says
/// A bound stays one when its sums are rounded another way.
constexpr double kRounding = 1 - 1e-9;

std::string kindOf(const Feasibility &f)
{
    return !f.isPlaced ? "it cannot be placed"
        : !f.isShaped  ? "replicas get no micro-batch, or experts' ranks do not divide"
        : !f.isSharded ? "in a pipeline the stack does not shard so much"
        : !f.fitsGpus  ? kTooLarge
        : !f.fitsHosts ? "it does not fit the memory of the hosts"
        : !f.hasDrives ? "there are no drives"
                       : "the model has no time for it";
}

std::string sentenceOf(const Evaluation &evaluation, const std::string &kind)
{
    const auto blocking = std::ranges::find(evaluation.problems, Severity::Blocking, &Problem::severity);
    return blocking == evaluation.problems.end() ? kind : blocking->text;
}

void tellTooFull(SearchRow &row)
{
    row.missedBy = row.fill - 1;
    row.shortfall = "needs " + percentText(row.fill) + " of the memory of its fullest GPU";
}

/// Of one that breaks a constraint by nobody knows how much: by all of it.
double excessOf(const SearchRow &row)
{
    return row.missedBy > 0 ? row.missedBy : 1;
}

} // namespace

ScenarioJudge::ScenarioJudge(
    const PlanPtr &plan, const Catalogue &catalogue, const SearchOptions &options, const Evaluation &own)
    : m_catalogue(catalogue)
    , m_options(options)
    , m_least(*plan, catalogue, options.constraints.datacenters)
{
    const auto figures = pricedOf(own);
    const double left = own.feasible() && figures ? 1 - figures->fill : kMargin;
    m_margin = options.constraints.memoryMargin.value_or(std::clamp(left, 0.0, kMargin));
    m_tokens = double(plan->workload.globalBatch) * plan->workload.sequenceLength;
    if (plan->workload.trainingTokens && m_tokens > 0)
        m_secondsPerDay = *plan->workload.trainingTokens / m_tokens / 86400;
}

/// What evaluate would tell of the plan as it is written.
std::optional<ObjectiveFigures> ScenarioJudge::pricedOf(const Evaluation &evaluation) const
{
    const auto figures = figuresOf(evaluation, m_catalogue);
    return figures ? std::optional(priced(*figures, m_options.keepsIdle)) : std::nullopt;
}

/// Of a plan that uses so many, at least.
int ScenarioJudge::paidFor(int gpus) const
{
    return m_options.keepsIdle ? std::max(gpus, m_least.gpus()) : gpus;
}

ObjectiveFigures ScenarioJudge::leastFigures(const LeastWork &work) const
{
    ObjectiveFigures least;
    least.seconds = work.seconds * kRounding;
    least.gpus = work.gpus;
    if (!(least.seconds > 0) || !(m_tokens > 0)) {
        least.seconds = 0;
        least.tokensPerSecond = std::numeric_limits<double>::infinity();
        return least;
    }
    least.tokensPerSecond = m_tokens / least.seconds;
    least.usdPerHour = m_least.usdPerHour(paidFor(work.gpus)) * kRounding;
    least.usdPerMillionTokens = least.usdPerHour / 3600 / least.tokensPerSecond * 1e6;
    least.joulesPerToken = m_least.joules(work.gpus, least.seconds, work.computing * kRounding) * kRounding / m_tokens;
    if (m_secondsPerDay > 0)
        least.days = least.seconds * m_secondsPerDay;
    return least;
}

double ScenarioJudge::leastValue(const LeastWork &work) const
{
    const double own = objectiveValue(m_options.objective, leastFigures(work));
    if (m_options.robustness == Robustness::WorstCase || m_options.scenarios.empty())
        return own;
    double weights = 1; // of the others nothing is known but that they are above zero
    for (const Scenario &scenario : m_options.scenarios)
        weights += scenario.weight;
    return own / weights;
}

std::string ScenarioJudge::broken(const ObjectiveFigures &figures, const Evaluation *evaluation) const
{
    const Constraints &c = m_options.constraints;
    if (c.mostGpus && figures.gpus > *c.mostGpus)
        return "it uses more GPUs than allowed";
    if (c.mostUsdPerHour && figures.usdPerHour > *c.mostUsdPerHour)
        return "it costs more per hour than allowed";
    if (c.mostUsdPerMillionTokens && figures.usdPerMillionTokens > *c.mostUsdPerMillionTokens)
        return "it costs more per token than allowed";
    if (c.leastTokensPerSecond && figures.tokensPerSecond < *c.leastTokensPerSecond)
        return "it is slower than asked for";
    if (c.mostDays && figures.days.value_or(0) > *c.mostDays)
        return "it takes more days than allowed";
    if (figures.fill > 1 - m_margin)
        return "it leaves less memory free than the margin";
    if (evaluation && !c.datacenters.empty())
        for (const GpuRun &run : evaluation->layout.runs)
            if (std::ranges::find(c.datacenters, evaluation->plan->cluster.datacenters[std::size_t(run.datacenter)].id)
                == c.datacenters.end())
                return "it uses other datacenters than allowed";
    return {};
}

std::string ScenarioJudge::surelyBroken(const LeastWork &work, double leastFill) const
{
    ObjectiveFigures figures = leastFigures(work);
    if (!(figures.usdPerHour > 0))
        figures.usdPerHour = m_least.usdPerHour(paidFor(work.gpus)) * kRounding;
    figures.fill = leastFill * kRounding; // as full as the plan is not fuller
    return broken(figures, nullptr);
}

std::optional<CandidateVerdict> ScenarioJudge::judgeExact(
    std::uint64_t number, const Outcome &outcome, double computing, double most) const
{
    if (!outcome.isRun || !(outcome.seconds > 0) || !(m_tokens > 0))
        return std::nullopt;
    CandidateVerdict verdict;
    SearchRow &row = verdict.row;
    row.number = number;
    row.seconds = outcome.seconds;
    row.tokensPerSecond = m_tokens / outcome.seconds;
    row.fill = outcome.fill;
    row.gpus = outcome.gpusUsed;
    row.data = outcome.data;
    // Of datacenters that may not be used nothing is known here, but what is kept of them is paid for.
    const bool isPriceKnown = m_least.isExact(paidFor(outcome.gpusUsed))
        && !(m_options.keepsIdle && !m_options.constraints.datacenters.empty());
    if (isPriceKnown) {
        row.usdPerHour = m_least.usdPerHour(paidFor(outcome.gpusUsed));
        row.usdPerMillionTokens = row.usdPerHour / 3600 / row.tokensPerSecond * 1e6;
    }
    const LeastWork work { outcome.seconds, outcome.gpusUsed, computing };
    const double least = leastValue(work);
    const auto out = [&](RowState state, const std::string &kind, double excess) {
        row.state = state;
        row.reason = verdict.kind = kind;
        verdict.excess = excess;
        return verdict;
    };
    if (!outcome.isFeasible) {
        if (!(outcome.fill > 1))
            return std::nullopt; // for another reason
        tellTooFull(row);
        return out(RowState::Infeasible, kTooLarge, outcome.fill);
    }
    if (const std::string why = surelyBroken(work, outcome.fill); !why.empty()) {
        const bool knowsValue =
            m_options.objective != Objective::Energy && (m_options.objective != Objective::Cost || isPriceKnown);
        row.value = knowsValue ? least : 0;
        ObjectiveFigures known { .seconds = row.seconds, .tokensPerSecond = row.tokensPerSecond };
        known.usdPerHour = row.usdPerHour;
        known.fill = row.fill;
        known.gpus = row.gpus;
        if (m_secondsPerDay > 0)
            known.days = row.seconds * m_secondsPerDay;
        tellShortfall(row, known, m_options.constraints, m_margin);
        return out(RowState::OutOfConstraint, why, excessOf(row));
    }
    if (!(least > most))
        return std::nullopt;
    row.value = least;
    row.isExact = true;
    return out(RowState::Outdone, "its iteration, simulated, makes it worse than the best that were found", least);
}

CandidateVerdict ScenarioJudge::judge(const PlanPtr &plan, std::uint64_t number, EvaluationWorkspace &workspace,
    const std::stop_token &stop, const EvaluationPtr &told) const
{
    CandidateVerdict verdict;
    verdict.row.number = number;
    const auto out = [&](RowState state, std::string kind, std::string reason, double excess) {
        verdict.row.state = state;
        verdict.row.reason = std::move(reason);
        verdict.kind = std::move(kind);
        verdict.excess = excess;
        return verdict;
    };
    const auto evaluation = told
        ? ExpectedAll<EvaluationPtr>(told)
        : run(plan, Depth::Score,
            { .catalogue = m_catalogue, .workspace = workspace, .stop = stop, .replicas = OpenReplicas::Most });
    if (!evaluation) {
        const Error &error = evaluation.error().front();
        verdict.isStopped = error.code == ErrorCode::Cancelled;
        return out(RowState::Refused,
            error.where.empty() ? error.what : error.where + " contradicts other keys of the plan", error.what, 1e300);
    }
    const Evaluation &known = **evaluation;
    const auto figures = pricedOf(known);
    if (figures) {
        SearchRow &row = verdict.row;
        row.seconds = figures->seconds;
        row.tokensPerSecond = figures->tokensPerSecond;
        row.usdPerMillionTokens = figures->usdPerMillionTokens;
        row.usdPerHour = figures->usdPerHour;
        row.clusterUsdPerMillionTokens = figures->clusterUsdPerMillionTokens;
        row.clusterUsdPerHour = figures->clusterUsdPerHour;
        row.joulesPerToken = figures->joulesPerToken;
        row.fill = figures->fill;
        row.gpus = figures->gpus;
        row.data = known.layout.data;
        row.value = objectiveValue(m_options.objective, *figures);
    }
    if (!known.feasible() || !figures) {
        const std::string kind = kindOf(known.feasibility);
        if (figures && figures->fill > 1)
            tellTooFull(verdict.row);
        return out(RowState::Infeasible, kind, sentenceOf(known, kind), figures ? figures->fill : 1e200);
    }
    if (const std::string kind = jobsLeftOut(known.metrics); !kind.empty()) // fewer jobs are sooner done
        return out(RowState::Infeasible, kind, kind, 1e200);
    if (const std::string kind = broken(*figures, &known); !kind.empty()) {
        tellShortfall(verdict.row, *figures, m_options.constraints, m_margin);
        return out(RowState::OutOfConstraint, kind, kind, excessOf(verdict.row));
    }
    verdict.row.state = RowState::Feasible;
    if (!m_options.scenarios.empty())
        judgeInScenarios(verdict, told ? plan : withReplicas(plan, known.layout.data), workspace, stop);
    return verdict;
}

void ScenarioJudge::judgeInScenarios(
    CandidateVerdict &verdict, const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop) const
{
    const bool isWorst = m_options.robustness == Robustness::WorstCase;
    double worst = verdict.row.value, sum = verdict.row.value, ran = 1, weights = 1;
    for (std::size_t i = 0; i < m_options.scenarios.size(); ++i) {
        const Scenario &scenario = m_options.scenarios[i];
        weights += scenario.weight;
        std::string why = "it cannot run in a scenario";
        const auto there = inScenario(plan, scenario);
        const auto evaluation = there
            ? run(*there, Depth::Score, { .catalogue = m_catalogue, .workspace = workspace, .stop = stop })
            : ExpectedAll<EvaluationPtr>(std::unexpected(there.error()));
        if (!evaluation && evaluation.error().front().code == ErrorCode::Cancelled) {
            verdict.isStopped = true;
            return;
        }
        auto figures = evaluation && (*evaluation)->feasible() && jobsLeftOut((*evaluation)->metrics).empty()
            ? pricedOf(**evaluation)
            : std::nullopt;
        if (figures) {
            figures = slowed(*figures, timeFactorOf(scenario, (*evaluation)->metrics));
            why = isWorst ? broken(*figures, evaluation->get()) : std::string();
        }
        if (figures && why.empty()) {
            const double value = objectiveValue(m_options.objective, *figures);
            if (value > worst) {
                worst = value;
                verdict.row.worstScenario = int(i);
            }
            sum += scenario.weight * value;
            ran += scenario.weight;
        } else if (isWorst) {
            verdict.row.state = figures ? RowState::OutOfConstraint : RowState::Infeasible;
            verdict.row.worstScenario = int(i);
            verdict.kind = why;
            verdict.row.reason = scenario.name + ": " + why;
            if (figures)
                tellShortfall(verdict.row, *figures, m_options.constraints, m_margin);
            verdict.excess = excessOf(verdict.row);
            return;
        }
    }
    verdict.row.value = isWorst ? worst : sum / ran * (weights / ran);
}

} // namespace trainyard
