#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a search goes by, of an evaluation: the figures that it compares and bounds, and the one number of an objective,
// of which less is better. Pure functions, any thread.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/planner/search/search.h"

#include <optional>
#include <string>

namespace trainyard {

struct ObjectiveFigures {
    /// of an iteration
    double seconds = 0;
    double tokensPerSecond = 0;
    // Of the nodes that hold a stage, of jobs of the GPUs on which one ran: a planner may give the others back. The
    // plan's metrics count all.
    /// egress included
    double usdPerMillionTokens = 0, usdPerHour = 0;
    /// with every GPU of the plan, as its metrics count
    double clusterUsdPerMillionTokens = 0, clusterUsdPerHour = 0;
    double joulesPerToken = 0;
    /// of an iteration
    double egressUsd = 0;
    /// for workload.training_tokens
    Metric days;
    /// of the fullest GPU; 0 where memory is not known
    double fill = 0;
    /// that are used
    int gpus = 0;
};

/// Empty where nothing was simulated. Of a plan with jobs an iteration is all of them.
[[nodiscard]] std::optional<ObjectiveFigures> figuresOf(const Evaluation &evaluation, const Catalogue &catalogue);

/// The same with every GPU of the cluster paid for where the plan keeps what it leaves idle.
[[nodiscard]] ObjectiveFigures priced(ObjectiveFigures figures, bool keepsIdle);

/// Throughput: seconds per token; Cost: USD per million tokens; Energy: joules per token; Time: days, seconds per token
/// where the plan states no training tokens; Gpus: so many, and a part below one that rises with the iteration.
[[nodiscard]] double objectiveValue(Objective objective, const ObjectiveFigures &figures);

/// "2 of 12 jobs cannot run"; empty where all can, or are paused. A plan that drops work is no answer, however fast.
[[nodiscard]] std::string jobsLeftOut(const Metrics &metrics);

/// The same where the iteration takes `factor` times as long.
[[nodiscard]] ObjectiveFigures slowed(ObjectiveFigures figures, double factor);

} // namespace trainyard
