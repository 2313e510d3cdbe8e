// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/effects.h"

#include "core/report/because.h"

#include <QMetaObject>

#include <algorithm>

#ifdef __linux__
#include <sys/resource.h>
#endif

namespace trainyard {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kRest{150};
constexpr std::chrono::milliseconds kBatch{34};      // at most 30 tables a second
constexpr double kWorthShowing = 0.0005;             // a part must save 0.05 % of the iteration

/// The effects never compete with the evaluation of an edit: lowest share of the processor.
void lowerPriority()
{
#ifdef __linux__
    setpriority(PRIO_PROCESS, 0, 15);   // of the calling thread
#endif
}

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
    : QObject(parent)
    , m_catalogue(catalogue)
    , m_evaluate(std::move(evaluate))
    , m_thread([this](const std::stop_token &stop) { run(stop); })
{
    m_rest.setSingleShot(true);
    m_rest.setInterval(kRest);
    connect(&m_rest, &QTimer::timeout, this, &StrategyEffects::start);
}

StrategyEffects::~StrategyEffects()
{
    m_thread.request_stop();
    const std::lock_guard lock(m_mutex);
    m_running.request_stop();
}

void StrategyEffects::setPlan(PlanPtr plan)
{
    if (plan == m_plan)
        return;
    m_plan = std::move(plan);
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.reset();
        m_running.request_stop();
    }
    if (m_plan)
        m_rest.start();
    else
        m_rest.stop();
}

void StrategyEffects::start()
{
    {
        const std::lock_guard lock(m_mutex);
        m_waiting = m_plan;
    }
    m_wake.notify_one();
}

void StrategyEffects::run(const std::stop_token &stop)
{
    lowerPriority();
    while (!stop.stop_requested()) {
        PlanPtr plan;
        std::stop_token running;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [this] { return m_waiting != nullptr; }) || stop.stop_requested())
                return;
            plan = std::move(m_waiting);
            m_waiting.reset();
            m_running = std::stop_source{};
            running = m_running.get_token();
        }
        evaluateAll(plan, running);
    }
}

void StrategyEffects::evaluateAll(const PlanPtr &plan, const std::stop_token &stop)
{
    EffectTable table;
    table.plan = plan;
    const ExpectedAll<EvaluationPtr> now = m_evaluate(plan, m_catalogue, m_workspace, stop, Depth::Everything);
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
    auto published = Clock::now();
    const auto evaluateOne = [&](const PlanPtr &next) {
        Effect effect = judge(m_evaluate(next, m_catalogue, m_workspace, stop, Depth::Score), now ? now->get() : nullptr);
        if (Clock::now() - published >= kBatch && !stop.stop_requested()) {
            publish(table);
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
    publish(table);
}

void StrategyEffects::publish(const EffectTable &table)
{
    auto shared = std::make_shared<const EffectTable>(table);
    QMetaObject::invokeMethod(this, [this, shared = std::move(shared)] {
        if (shared->plan == m_plan)      // a newer plan may have come while this one was on its way
            Q_EMIT effectsChanged(shared);
    }, Qt::QueuedConnection);
}

} // namespace trainyard
