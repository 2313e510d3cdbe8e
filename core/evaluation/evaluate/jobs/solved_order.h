#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// By which rules the units of a plan's jobs run: those that the plan states, or the order that a solver finds, with
// what is to be said about that.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/systems/jobs/shard_milp.h"

#include <optional>

namespace trainyard {

/// Nothing where a solver is asked for and is not installed, which a blocking problem then says; a note says how good
/// an order that it found is. Blocks for JobOptions::seconds at most, about.
/// Errors: Cancelled, those of runJobs, a solver that broke down.
[[nodiscard]] Expected<std::optional<JobRules>> rulesToRun(const Plan &plan, const JobSet &set,
    SimulationWorkspace &workspace, const std::stop_token &stop, std::vector<Problem> &problems);

/// How good the order is, in one sentence.
[[nodiscard]] std::string solverSentence(const ShardMilpAnswer &answer, double seconds);

} // namespace trainyard
