#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan from what a run left behind: the arguments it was started with (Recording::arguments), its model's config.json
// (Recording::models), its machines (Recording::clusters), prices, benchmarks of links and drives. Whatever a source
// tells overrides `base`; whatever nobody tells stays as `base` has it, and is said.

#include "core/base/error.h"
#include "core/facts/plan/plan.h"
#include "core/runs/telemetry/recording.h"

namespace trainyard {

class Catalogue;

struct ImportedPlan {
    Plan plan;
    /// sentences: "parallelism.tensor 8 from --tensor-model-parallel-size (run.sh)"
    std::vector<std::string> taken;
    /// what no source told and what was taken instead
    std::vector<std::string> assumed;
    /// the one of `assumed` that a user who knows the GPU may drop; empty: it is told
    std::string assumedGpu;
    /// neither a source nor the base told one
    bool isModelAssumed = false;
    /// arguments that change nothing a plan models are not listed; these would
    std::vector<std::string> ignored;
    /// what can change work, memory or shape and is not understood: it stands in Plan::notUnderstood or with the model
    std::vector<std::string> notUnderstood = {};
};

/// `mayTellNothing`: sources that tell nothing of a plan give the base, with what is missing assumed.
/// Errors: UnknownName, BadValue with the source and the argument; nothing in the sources that a plan is made of.
[[nodiscard]] ExpectedAll<ImportedPlan> planFrom(
    const Recording &recording, const Catalogue &catalogue, const Plan &base, bool mayTellNothing = false);
/// Whether any source of it tells something of a plan.
[[nodiscard]] bool tellsOfAPlan(const Recording &recording);

} // namespace trainyard
