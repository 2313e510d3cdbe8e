#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// MoNTA's comparison for a plan: its expert layer under three exchanges (expert_ablation.h), now and over what the
// exchange depends on, the iteration under each, and the NIC bandwidth at which the iteration gains what is published.
// Every point is the layer of an evaluated plan that differs in that one thing; tensor groups alone are varied in the
// layer itself. Works on a pool's threads.

#include "core/evaluation/advice/expert_variants.h"
#include "core/evaluation/advice/run_pool.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace trainyard {

struct ExpertPoint {
    double x = 0;
    /// the plan's own
    bool isCurrent = false;
    Ablation steps;
};

struct ExpertCurve {
    /// x of the plan
    double current = 0;
    /// ascending; those that could be placed
    std::vector<ExpertPoint> points;
};

struct ExpertComparison {
    PlanPtr plan;
    /// why there is none, one sentence without a full stop; empty where there is or may be
    std::string nothing;
    /// of the layer that is compared
    std::optional<ExpertGroup> group;
    std::optional<Ablation> now;
    /// seconds
    std::array<Metric, kExchangeSteps> iteration;
    std::array<ExpertCurve, kExpertAxes> curves;
    std::optional<PublishedGain> published;
    bool isComplete = false;
};

/// From a thread of the pool. `found` is called under a lock with all that is known so far, as more comes, and at last
/// with the complete comparison; never once stopped.
void compareExperts(const PlanPtr &plan, const Catalogue &catalogue, RunPool &pool, const std::stop_token &stop,
    const std::function<void(const ExpertComparison &)> &found);
/// The same from any other thread, when all is there.
[[nodiscard]] ExpertComparison expertComparison(
    const PlanPtr &plan, const Catalogue &catalogue, RunPool &pool, const std::stop_token &stop = {});

/// A row for each point and exchange, separated by `separator`: axis, x, whether the plan's own, exchange, what runs,
/// pieces, bytes and seconds.
[[nodiscard]] std::string tableOf(const ExpertComparison &comparison, char separator);

} // namespace trainyard
