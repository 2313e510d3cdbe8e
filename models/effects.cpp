// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/effects.h"

#include "core/evaluation/advice/offered_rate.h"
#include "core/evaluation/advice/resources.h"
#include "core/evaluation/evaluate/comparable.h"
#include "core/evaluation/report/because.h"
#include "core/evaluation/report/idle_changes.h"
#include "core/evaluation/report/outcome.h"
#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/plan/job_schedulers.h"
#include "core/planner/sensitivity/shadow_prices.h"

#include <algorithm>
#include <functional>
#include <mutex>

namespace trainyard {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kEffectsRest { 150 };
constexpr std::chrono::milliseconds kBetweenTables { 34 }; // at most 30 tables a second
constexpr double kWorthShowing = 0.0005; // a part must save 0.05 % of the iteration

std::optional<double> busyShare(const Metrics &metrics)
{
    if (metrics.jobs && !metrics.gpuUtilizationWithFill)
        return metrics.jobs->gpuUtilization;
    return metrics.gpuUtilizationWithFill ? metrics.gpuUtilizationWithFill : metrics.gpuUtilization;
}

std::ptrdiff_t cannotRun(const Metrics &metrics)
{
    return metrics.jobs ? std::ranges::count(metrics.jobs->perJob, JobState::CannotRun, &JobResult::state) : 0;
}

Effect answeredEffect(const ExpectedAll<EvaluationPtr> &answer, const Evaluation *before)
{
    const std::optional<double> now = before ? timeOf(before->metrics) : std::nullopt;
    Effect effect;
    if (!answer) {
        effect.feasible = false;
        effect.reason = answer.error().empty() ? std::string {} : answer.error().front().what;
        return effect;
    }
    const Metrics &metrics = (*answer)->metrics;
    effect.iterationTime = timeOf(metrics);
    effect.isOfJobs = metrics.jobs.has_value();
    effect.utilization = busyShare(metrics);
    if (metrics.bubbleFill)
        effect.room = metrics.bubbleFill->saturationRequestsPerSecond;
    // what is not understood of either may weigh more than the difference
    effect.notCompared = before ? whyNotCompared(*before, **answer) : whyNotCompared(**answer);
    if (now && *now > 0 && effect.iterationTime && effect.notCompared.empty())
        effect.change = *effect.iterationTime / *now - 1;
    effect.feasible = (*answer)->feasible();
    if (metrics.memory) {
        effect.fits = metrics.memory->fits;
        effect.memoryBytes = fullestBytes(*metrics.memory);
        effect.capacityBytes = double(metrics.memory->capacity);
    }
    if (before && effect.notCompared.empty())
        effect.because = because(*before, **answer);
    if (const std::ptrdiff_t more = cannotRun(metrics) - (before ? cannotRun(before->metrics) : 0); more > 0) {
        effect.feasible = false; // what takes less time because it does less is no gain
        effect.reason = more == 1 ? "one job more cannot run" : std::to_string(more) + " jobs more cannot run";
        return effect;
    }
    for (const Problem &problem : (*answer)->problems) {
        if (problem.severity == Severity::Blocking) {
            effect.reason = problem.text;
            break;
        }
    }
    return effect;
}

/// Of a value of a strategy, which says why it does nothing where it does nothing.
Effect strategyEffect(const ExpectedAll<EvaluationPtr> &answer, const Evaluation *before, const Catalogue &catalogue)
{
    Effect effect = answeredEffect(answer, before);
    effect.isIdle = answer && before && effect.notCompared.empty() && sameOutcome(*before, **answer);
    if (effect.isIdle)
        effect.idleBecause = whyIdle(*before, **answer, catalogue);
    return effect;
}

/// Where filling begins and the plan says nothing of how much arrives: the rate of the alternative tells nothing.
PlanPtr offeredInstead(const Plan &plan, const Evaluation &filled)
{
    const bool begins = !plan.bubbleFill.enabled && filled.plan && filled.plan->bubbleFill.enabled;
    return begins && plan.bubbleFill.requestsPerSecond <= 0 ? withOfferedRate(filled) : nullptr;
}

/// USD an hour of all GPUs; empty where the price of one is not known.
Metric rentOf(const Plan &plan, const Catalogue &catalogue)
{
    double usd = 0;
    for (const Datacenter &datacenter : plan.cluster.datacenters)
        for (const Pool &pool : datacenter.pools) {
            const GpuSpec *gpu = gpuOf(pool, catalogue);
            const double price = pool.usdPerGpuHour.value_or(gpu ? gpu->usdPerHour : 0);
            if (!(price > 0))
                return {};
            usd += price * pool.gpus();
        }
    return usd;
}

Metric dearerBy(const Plan &part, const Plan &now, const Catalogue &catalogue)
{
    const Metric before = rentOf(now, catalogue), after = rentOf(part, catalogue);
    return before && after && *before != *after ? Metric(*after - *before) : std::nullopt;
}

/// GPUs without which a token is cheaper, or the iteration shorter: what it says before the colon is what is done.
std::vector<RankedPart> retiredFrom(
    const PlanPtr &plan, const Catalogue &catalogue, EvaluationWorkspace &workspace, const std::stop_token &stop)
{
    std::vector<RankedPart> parts;
    for (const Retirement &gpus : retirements(plan, catalogue, workspace, stop).value_or(std::vector<Retirement> {})) {
        if (!gpus.isFeasible || (gpus.saving < kWorthShowing && gpus.slowdown > -kWorthShowing))
            continue;
        const std::size_t colon = gpus.sentence.rfind(": ");
        RankedPart &part = parts.emplace_back();
        part.part.label = part.part.sentence = gpus.sentence.substr(0, colon);
        part.part.id = part.part.group = "retire:" + part.part.label;
        part.part.plan = gpus.plan;
        part.effect.iterationTime = gpus.seconds;
        part.effect.change = gpus.slowdown;
        part.effect.because = colon == std::string::npos ? std::string() : gpus.sentence.substr(colon + 2);
        part.usdPerHour = dearerBy(*gpus.plan, *plan, catalogue);
    }
    return parts;
}

bool isSolved(const Plan &plan)
{
    return hasJobs(plan) && isSolver(plan.jobScheduler);
}

/// A part helps where it makes the iteration shorter, or makes an infeasible plan feasible.
void rank(EffectTable &table, const Alternative &part, const Effect &effect, const Catalogue &catalogue)
{
    const bool rescues = effect.feasible && !table.feasible;
    if (!effect.feasible || !effect.change || (*effect.change > -kWorthShowing && !rescues))
        return;
    const auto same =
        std::ranges::find_if(table.parts, [&](const RankedPart &r) { return r.part.group == part.group; });
    if (same != table.parts.end()) {
        if (*effect.change / part.size < *same->effect.change / same->part.size - 1e-6) // sizes come smallest first
            *same = { part, effect, dearerBy(*part.plan, *table.plan, catalogue) };
    } else {
        table.parts.push_back({ part, effect, dearerBy(*part.plan, *table.plan, catalogue) });
    }
    std::ranges::stable_sort(table.parts, {}, [](const RankedPart &r) { return *r.effect.change; });
}

} // namespace

Metric timeOf(const Metrics &metrics)
{
    return metrics.jobs ? metrics.jobs->makespan : metrics.iterationTime;
}

double fullestBytes(const MemoryMetrics &memory)
{
    const auto fullest = std::ranges::find(memory.perStage, memory.fullestStage, &StageMemory::stage);
    return double(fullest != memory.perStage.end() ? fullest->device : memory.peak);
}

const Effect *EffectTable::effectOf(const Plan &fixed) const
{
    const auto known =
        std::ranges::find_if(fixes, [&](const FixEffect &fix) { return fix.plan && *fix.plan == fixed; });
    return known == fixes.end() ? nullptr : &known->effect;
}

StrategyEffects::StrategyEffects(const Catalogue &catalogue, QObject *parent)
    : StrategyEffects(
        catalogue,
        [](PlanPtr plan, const Catalogue &c, EvaluationWorkspace &workspace, std::stop_token stop, Depth depth) {
            return run(std::move(plan), depth,
                { .catalogue = c,
                    .workspace = workspace,
                    .stop = std::move(stop),
                    .fixes = &allFixes(),
                    .cache = &RunPool::shared().cache() });
        },
        parent)
{
}

StrategyEffects::StrategyEffects(const Catalogue &catalogue, Evaluate evaluate, QObject *parent)
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_evaluate(std::move(evaluate))
    , m_worker(std::bind_front(&StrategyEffects::evaluateAll, this))
{
    setRest(kEffectsRest);
    m_worker.setWatched(true);
}

void StrategyEffects::evaluateAll(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
    const WatchedWorker::Deliver &deliver)
{
    EffectTable table;
    table.plan = plan;
    const ExpectedAll<EvaluationPtr> now = m_evaluate(plan, m_catalogue, workspace, stop, Depth::Everything);
    if (stop.stop_requested())
        return;
    const ModelSpec *model = now ? &(*now)->model : nullptr;
    if (now) {
        table.iterationTime = timeOf((*now)->metrics);
        table.utilization = busyShare((*now)->metrics);
        table.feasible = (*now)->feasible();
        table.notCompared = whyNotCompared(**now);
        if ((*now)->metrics.memory) {
            table.memoryBytes = fullestBytes(*(*now)->metrics.memory);
            table.fits = (*now)->metrics.memory->fits;
        }
    }
    if (now)
        table.problems = (*now)->problems;
    std::vector<PlanPtr> plans; // fixes, strategies, parts
    for (const Problem &problem : table.problems)
        for (const Fix &fix : problem.fixes)
            plans.push_back(fix.plan);
    const std::size_t fixes = plans.size();
    std::vector<Alternative> strategies = strategyAlternatives(*plan, m_catalogue, model);
    std::erase_if(strategies, [](const Alternative &a) { return a.isCurrent || !a.plan || isSolved(*a.plan); });
    const BetterParts parts = isSolved(*plan) ? BetterParts {}
        : now ? betterParts(*plan, m_catalogue, &(*now)->layout, mostParts((*now)->metrics.spans))
              : betterParts(*plan, m_catalogue);
    table.partsLeftOut = parts.leftOut;
    for (const std::vector<Alternative> *list : { &std::as_const(strategies), &parts.list })
        for (const Alternative &alternative : *list)
            plans.push_back(alternative.plan);

    std::vector<std::optional<Effect>> effects(plans.size());
    const auto soFar = [&] {
        EffectTable filled = table;
        for (std::size_t i = 0; i < plans.size(); ++i) {
            if (!effects[i])
                continue;
            if (i < fixes)
                filled.fixes.push_back({ plans[i], *effects[i] });
            else if (const std::size_t at = i - fixes; at < strategies.size())
                filled.strategies.insert_or_assign(strategies[at].id, *effects[i]);
            else
                rank(filled, parts.list[at - strategies.size()], *effects[i], m_catalogue);
        }
        return filled;
    };
    const auto publish = [&](EffectTable filled) {
        deliver(
            [this, shared = std::make_shared<const EffectTable>(std::move(filled))] { Q_EMIT effectsChanged(shared); });
    };
    std::mutex mutex; // of what follows, and of `effects`
    auto published = Clock::now();
    RunPool::shared().threads().each(plans.size(), [&](std::size_t i) {
        if (stop.stop_requested())
            return;
        const auto answer = m_evaluate(plans[i], m_catalogue, RunPool::shared().workspace(), stop, Depth::Score);
        const Evaluation *const before = now ? now->get() : nullptr;
        const bool isStrategy = i >= fixes && i < fixes + strategies.size();
        Effect effect = isStrategy ? strategyEffect(answer, before, m_catalogue) : answeredEffect(answer, before);
        if (const PlanPtr offered = isStrategy && answer ? offeredInstead(*plan, **answer) : nullptr) {
            const auto again = m_evaluate(offered, m_catalogue, RunPool::shared().workspace(), stop, Depth::Score);
            effect = strategyEffect(again, before, m_catalogue);
            effect.offered = offered;
        }
        const std::lock_guard lock(mutex);
        effects[i] = std::move(effect);
        if (Clock::now() - published >= kBetweenTables && !stop.stop_requested()) {
            publish(soFar());
            published = Clock::now();
        }
    });
    if (stop.stop_requested())
        return;
    table = soFar();
    if (now && !hasJobs(*plan))
        table.retired = retiredFrom(plan, m_catalogue, workspace, stop);
    if (stop.stop_requested())
        return;
    table.complete = true;
    publish(std::move(table));
}

} // namespace trainyard
