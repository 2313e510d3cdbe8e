// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/effects.h"

#include "core/report/because.h"

#include <algorithm>
#include <functional>

namespace trainyard {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kRest{150};
constexpr std::chrono::milliseconds kBatch{34};      // at most 30 tables a second
constexpr double kWorthShowing = 0.0005;             // a part must save 0.05 % of the iteration

std::optional<double> busyShare(const Metrics &metrics)
{
    return metrics.gpuUtilizationWithFill ? metrics.gpuUtilizationWithFill : metrics.gpuUtilization;
}

Effect judge(const ExpectedAll<EvaluationPtr> &answer, const Evaluation *before)
{
    const std::optional<double> now = before ? before->metrics.iterationTime : std::nullopt;
    Effect effect;
    if (!answer) {
        effect.feasible = false;
        effect.reason = answer.error().empty() ? std::string{} : answer.error().front().what;
        return effect;
    }
    const Metrics &metrics = (*answer)->metrics;
    effect.iterationTime = metrics.iterationTime;
    effect.utilization = busyShare(metrics);
    if (now && *now > 0 && metrics.iterationTime)
        effect.change = *metrics.iterationTime / *now - 1;
    effect.feasible = (*answer)->feasible();
    if (metrics.memory) {
        effect.fits = metrics.memory->fits;
        effect.memoryBytes = fullestBytes(*metrics.memory);
        effect.capacityBytes = double(metrics.memory->capacity);
    }
    if (before)
        effect.because = because(*before, **answer);
    for (const Problem &problem : (*answer)->problems) {
        if (problem.severity == Severity::Blocking) {
            effect.reason = problem.text;
            break;
        }
    }
    return effect;
}

/// A part helps where it makes the iteration shorter, or makes an infeasible plan feasible.
void rank(EffectTable &table, const Alternative &part, const Effect &effect)
{
    const bool rescues = effect.feasible && !table.feasible;
    if (!effect.feasible || !effect.change || (*effect.change > -kWorthShowing && !rescues))
        return;
    const auto same = std::ranges::find_if(table.parts, [&](const RankedPart &r) { return r.part.group == part.group; });
    if (same != table.parts.end()) {
        if (*effect.change / part.size < *same->effect.change / same->part.size - 1e-6)   // sizes come smallest first
            *same = {part, effect};
    } else {
        table.parts.push_back({part, effect});
    }
    std::ranges::stable_sort(table.parts, {}, [](const RankedPart &r) { return *r.effect.change; });
}

} // namespace

double fullestBytes(const MemoryMetrics &memory)
{
    const auto fullest = std::ranges::find(memory.perStage, memory.fullestStage, &StageMemory::stage);
    return double(fullest != memory.perStage.end() ? fullest->device : memory.peak);
}

const Effect *EffectTable::effectOf(const Plan &fixed) const
{
    const auto known = std::ranges::find_if(fixes, [&](const FixEffect &fix) { return fix.plan && *fix.plan == fixed; });
    return known == fixes.end() ? nullptr : &known->effect;
}

StrategyEffects::StrategyEffects(const Catalogue &catalogue, QObject *parent)
    : StrategyEffects(catalogue, [](PlanPtr plan, const Catalogue &c, EvaluationWorkspace &workspace, std::stop_token stop,
                                    Depth depth) { return evaluate(std::move(plan), c, workspace, stop, depth); }, parent)
{
}

StrategyEffects::StrategyEffects(const Catalogue &catalogue, Evaluate evaluate, QObject *parent)
    : QObject(parent), m_catalogue(catalogue), m_evaluate(std::move(evaluate)), m_worker(std::bind_front(&StrategyEffects::evaluateAll, this))
{
    setRest(kRest);
    m_worker.setWatched(true);
}

void StrategyEffects::evaluateAll(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop, const WatchedWorker::Deliver &deliver)
{
    EffectTable table;
    table.plan = plan;
    const ExpectedAll<EvaluationPtr> now = m_evaluate(plan, m_catalogue, workspace, stop, Depth::Everything);
    if (stop.stop_requested())
        return;
    const ModelSpec *model = now ? &(*now)->model : nullptr;
    if (now) {
        table.iterationTime = (*now)->metrics.iterationTime;
        table.utilization = busyShare((*now)->metrics);
        table.feasible = (*now)->feasible();
        if ((*now)->metrics.memory) {
            table.memoryBytes = fullestBytes(*(*now)->metrics.memory);
            table.fits = (*now)->metrics.memory->fits;
        }
    }
    const auto publish = [&] {
        deliver([this, shared = std::make_shared<const EffectTable>(table)] { Q_EMIT effectsChanged(shared); });
    };
    auto published = Clock::now();
    const auto evaluateOne = [&](const PlanPtr &next) {
        Effect effect = judge(m_evaluate(next, m_catalogue, workspace, stop, Depth::Score), now ? now->get() : nullptr);
        if (Clock::now() - published >= kBatch && !stop.stop_requested()) {
            publish();
            published = Clock::now();
        }
        return effect;
    };
    if (now)
        table.problems = (*now)->problems;
    for (const Problem &problem : table.problems) {
        for (const Fix &fix : problem.fixes) {
            Effect effect = evaluateOne(fix.plan);
            if (stop.stop_requested())
                return;
            table.fixes.push_back({fix.plan, std::move(effect)});
        }
    }
    for (const Alternative &alternative : strategyAlternatives(*plan, m_catalogue, model)) {
        if (alternative.isCurrent || !alternative.plan)
            continue;
        Effect effect = evaluateOne(alternative.plan);
        if (stop.stop_requested())
            return;
        table.strategies.insert_or_assign(alternative.id, std::move(effect));
    }
    const BetterParts parts = now ? betterParts(*plan, m_catalogue, &(*now)->layout, mostParts((*now)->metrics.spans)) : betterParts(*plan, m_catalogue);
    table.partsLeftOut = parts.leftOut;
    for (const Alternative &part : parts.list) {
        const Effect effect = evaluateOne(part.plan);
        if (stop.stop_requested())
            return;
        rank(table, part, effect);
    }
    table.complete = true;
    publish();
}

} // namespace trainyard
