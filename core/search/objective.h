#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a search goes by, of an evaluation: the figures that it compares and bounds, and the one number of an objective,
// of which less is better. Pure functions, any thread.

#include "core/catalogue/catalogue.h"
#include "core/evaluate/evaluation.h"
#include "core/search/search.h"

#include <optional>

namespace trainyard {

struct ObjectiveFigures {
    double seconds = 0; // of an iteration
    double tokensPerSecond = 0;
    double usdPerMillionTokens = 0; // as the metric has it: all GPUs of the cluster, and egress
    double usdPerHour = 0; // of the GPUs that are used, egress included
    double joulesPerToken = 0; // of all chips of the cluster, as the metric energy_mwh_total
    Metric days; // for workload.training_tokens
    double fill = 0; // of the fullest GPU; 0 where memory is not known
    int gpus = 0; // that are used
};

/// Empty where nothing was simulated.
[[nodiscard]] std::optional<ObjectiveFigures> figuresOf(const Evaluation &evaluation, const Catalogue &catalogue);

/// Throughput: seconds per token; Cost: USD per million tokens; Energy: joules per token; Time: days, seconds per token
/// where the plan states no training tokens; Gpus: so many, and a part below one that rises with the iteration.
[[nodiscard]] double objectiveValue(Objective objective, const ObjectiveFigures &figures);

} // namespace trainyard
