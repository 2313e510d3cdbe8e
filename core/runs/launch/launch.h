#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A plan as the command that starts it: Megatron-LM's and torchtitan's arguments (with those that make the run's log
// readable back), overrides of Megatron-Bridge's recipes, DeepSpeed's JSON; a Slurm batch script, a job of Kubernetes
// or a task of SkyPilot around one of the first two; and the task graph as dot. What a framework cannot run is refused
// with the key and why; what it does differently is said as a comment in the file. Names of arguments come from the
// table that import reads (core/runs/imports/megatron_arguments.h), so that one cannot drift from the other.

#include "core/base/error.h"
#include "core/evaluation/evaluate/evaluation.h"

#include <string>
#include <vector>

namespace trainyard {

enum class LaunchTarget : std::uint8_t {
    Megatron,
    Torchtitan,
    /// around torchtitan where the plan's stack is fsdp, else Megatron-LM; so are TrainJob, JobSet and SkyPilot
    Slurm,
    DeepSpeed,
    MegatronBridge,
    TrainJob,
    JobSet,
    SkyPilot
};

struct LaunchFile {
    /// a shell script, YAML, or JSON
    std::string text;
    std::vector<std::string>
        notes; // what the framework does otherwise than the plan, a sentence each; also in the text
    /// the text has no comments (JSON): nobody reads the notes unless they are told
    bool areNotesApart = false;
};

/// Errors: one for each key that the framework cannot run, with why (schedules it lacks, several datacenters with
/// unequal pools, offload it has no switch for, measured stage times …). First what no setting mends: the plan is of no
/// model, or of one that the framework lacks; then machines; then all other keys.
[[nodiscard]] ExpectedAll<LaunchFile> launchFile(const Evaluation &evaluation, LaunchTarget target);

/// The tasks of the timeline and what started them, as Graphviz dot; clusters by stage. At most `most` spans.
[[nodiscard]] std::string dotOf(const Evaluation &evaluation, std::size_t most = 20000);

} // namespace trainyard
