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
    /// iteration ÷ the plan's − 1; empty where either is unknown
    std::optional<double> change;
    /// share of GPU time in work, prefill in bubbles included
    std::optional<double> utilization;
    /// memory
    bool fits = true;
    bool feasible = true;
    /// of the fullest GPU; 0 = unknown
    double memoryBytes = 0, capacityBytes = 0;
    /// why it is infeasible or could not be evaluated
    std::string reason;
    /// what makes the difference, half a sentence (core/evaluation/report/because.h); may be empty
    std::string because;
    /// the time is that of all jobs
    bool isOfJobs = false;
    /// of a strategy: every number of the evaluation is as before (core/evaluation/report/outcome.h)
    bool isIdle = false;
    /// why, half a sentence; empty where nobody knows
    std::string idleBecause = {};
    /// of prefill switched on where the plan states no rate: what choosing it writes, a share of what bubbles take
    /// (core/evaluation/advice/offered_rate.h); null: the alternative's plan
    PlanPtr offered = {};
    /// requests per second that bubbles take
    Metric room = {};
    /// why it is set against nothing (core/evaluation/evaluate/comparable.h); empty where it is
    std::string notCompared = {};
};

struct RankedPart {
    Alternative part;
    Effect effect;
    /// that its hardware costs more; below 0 where it costs less, empty where a price is not known
    Metric usdPerHour;
};

/// Of a fix that a problem of the plan offers.
struct FixEffect {
    /// the plan with the fix applied
    PlanPtr plan;
    Effect effect;
};

struct EffectTable {
    /// what all effects are measured against
    PlanPtr plan;
    /// of that plan, seconds; with jobs their makespan
    std::optional<double> iterationTime;
    /// of that plan, prefill in bubbles included
    std::optional<double> utilization;
    /// of that plan's fullest GPU; 0 = unknown
    double memoryBytes = 0;
    /// of that plan
    bool feasible = false;
    /// its memory
    bool fits = true;
    std::vector<Problem>
        problems; // of that plan, with all their fixes: an edit waits only for those that are found at once
    /// of all its problems, as far as evaluated
    std::vector<FixEffect> fixes;
    /// by Alternative::id, as far as evaluated
    std::map<std::string, Effect> strategies;
    /// better parts that help, largest gain first
    std::vector<RankedPart> parts;
    /// further ones that are not evaluated
    std::size_t partsLeftOut = 0;
    /// GPUs that do not pay, most saved per token first (core/planner/sensitivity)
    std::vector<RankedPart> retired;
    /// why nothing is set against the plan; empty where it is
    std::string notCompared = {};
    /// nothing more will come for this plan
    bool complete = false;

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
    /// last: its thread uses everything above
    WatchedWorker m_worker;
};

/// What a plan is judged by, seconds: its iteration, or the time until the last of its jobs has ended.
[[nodiscard]] Metric timeOf(const Metrics &metrics);
/// What the fullest GPU holds, bytes.
[[nodiscard]] double fullestBytes(const MemoryMetrics &memory);

} // namespace trainyard
