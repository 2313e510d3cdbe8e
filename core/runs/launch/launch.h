#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan as the command that starts it: Megatron-LM's and torchtitan's arguments (with those that make the run's log
// readable back), a Slurm batch script around either, and the task graph as dot. What a framework cannot run is
// refused with the key and why; what it does differently is said as a comment in the script. Names of arguments come
// from the table that import reads (core/runs/imports/megatron_arguments.h), so that one cannot drift from the other.

#include "core/base/error.h"
#include "core/evaluation/evaluate/evaluation.h"

#include <string>
#include <vector>

namespace trainyard {

enum class LaunchTarget : std::uint8_t { Megatron, Torchtitan, Slurm };

struct LaunchFile {
    /// a shell script
    std::string text;
    std::vector<std::string>
        notes; // what the framework does otherwise than the plan, a sentence each; also in the text
};

/// Errors: one for each key that the framework cannot run, with why (schedules it lacks, several datacenters with
/// unequal pools, offload it has no switch for, measured stage times …).
[[nodiscard]] ExpectedAll<LaunchFile> launchFile(const Evaluation &evaluation, LaunchTarget target);

/// The tasks of the timeline and what started them, as Graphviz dot; clusters by stage. At most `most` spans.
[[nodiscard]] std::string dotOf(const Evaluation &evaluation, std::size_t most = 20000);

} // namespace trainyard
