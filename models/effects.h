#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What each switch and each better part would do, evaluated before anyone touches it. The
// alternatives of the newest plan are evaluated in the background; tables arrive on this object's thread at most 30
// times a second, and none before edits have rested, so that a drag has the machine to itself. Lives on the GUI thread.

#include "core/evaluation/advice/alternatives.h"
#include "models/watched_worker.h"

#include <QString>

#include <map>
#include <memory>
#include <optional>

namespace trainyard {

/// Of one alternative, against the plan that it departs from.
struct Effect {
    std::optional<double>
        iterationTime; // seconds, of a plan with jobs their makespan; empty: it could not be evaluated
    std::optional<double> change; // iteration ÷ the plan's − 1; empty where either is unknown
    std::optional<double> utilization; // share of GPU time in work, prefill in bubbles included
    bool fits = true; // memory
    bool feasible = true;
    double memoryBytes = 0, capacityBytes = 0; // of the fullest GPU; 0 = unknown
    std::string reason; // why it is infeasible or could not be evaluated
    std::string because; // what makes the difference, half a sentence (core/evaluation/report/because.h); may be empty
    bool isOfJobs = false; // the time is that of all jobs
};

struct RankedPart {
    Alternative part;
    Effect effect;
    Metric usdPerHour; // that its hardware costs more; below 0 where it costs less, empty where a price is not known
};

/// Of a fix that a problem of the plan offers.
struct FixEffect {
    PlanPtr plan; // the plan with the fix applied
    Effect effect;
};

struct EffectTable {
    PlanPtr plan; // what all effects are measured against
    std::optional<double> iterationTime; // of that plan, seconds; with jobs their makespan
    std::optional<double> utilization; // of that plan, prefill in bubbles included
    double memoryBytes = 0; // of that plan's fullest GPU; 0 = unknown
    bool feasible = false; // of that plan
    bool fits = true; // its memory
    std::vector<Problem>
        problems; // of that plan, with all their fixes: an edit waits only for those that are found at once
    std::vector<FixEffect> fixes; // of all its problems, as far as evaluated
    std::map<std::string, Effect> strategies; // by Alternative::id, as far as evaluated
    std::vector<RankedPart> parts; // better parts that help, largest gain first
    std::size_t partsLeftOut = 0; // further ones that are not evaluated
    std::vector<RankedPart> retired; // GPUs that do not pay, most saved per token first (core/planner/sensitivity)
    bool complete = false; // nothing more will come for this plan

    /// Of the fix that leads to an equal plan; nullptr where it is not known yet.
    [[nodiscard]] const Effect *effectOf(const Plan &fixed) const;
};
using EffectTablePtr = std::shared_ptr<const EffectTable>;

class StrategyEffects : public QObject {
    Q_OBJECT
public:
    using Evaluate = std::function<ExpectedAll<EvaluationPtr>(
        PlanPtr, const Catalogue &, EvaluationWorkspace &, std::stop_token, Depth)>;
    explicit StrategyEffects(const Catalogue &catalogue, QObject *parent = nullptr);
    /// With another evaluation than the core's, for tests.
    StrategyEffects(const Catalogue &catalogue, Evaluate evaluate, QObject *parent = nullptr);

    /// The document's plan. Stops work on the plan before at once and starts on this one when edits have rested.
    void setPlan(const PlanPtr &plan) { m_worker.setPlan(plan); }
    void setRest(std::chrono::milliseconds rest) { m_worker.setRest(rest); }

Q_SIGNALS:
    void effectsChanged(trainyard::EffectTablePtr effects);

private:
    void evaluateAll(const PlanPtr &plan, EvaluationWorkspace &workspace, const std::stop_token &stop,
        const WatchedWorker::Deliver &deliver);

    const Catalogue &m_catalogue;
    Evaluate m_evaluate;
    WatchedWorker m_worker; // last: its thread uses everything above
};

/// What a plan is judged by, seconds: its iteration, or the time until the last of its jobs has ended.
[[nodiscard]] Metric timeOf(const Metrics &metrics);
/// What the fullest GPU holds, bytes.
[[nodiscard]] double fullestBytes(const MemoryMetrics &memory);

} // namespace trainyard
