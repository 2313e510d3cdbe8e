#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of the machine beside a plan: what it is told of the plan, and what the verdict then names.

#include "core/runs/overlay/judge_run.h"
#include "tests/core/runs/causes/job_machine.h"

#include <QTemporaryDir>

namespace trainyard::test {

/// Stages, tensor groups of two and four replicas on nodes of four GPUs, whose network shows in the step.
[[nodiscard]] Plan denseJob();
/// Experts over four replicas.
[[nodiscard]] Plan expertJob();

/// What the machine takes for each piece of work, by the plan's own figures.
[[nodiscard]] MachineJob machineOf(const EvaluationPtr &plan);

/// One with this cause, drawn by the seed, which costs at least 2 % of a step; its severity and what it costs.
struct DrawnRun {
    MachineTrouble trouble;
    MachineNoise noise;
    double healthySeconds = 0, moreSeconds = 0;
    /// draws that cost less
    int tooSmall = 0;
};
[[nodiscard]] DrawnRun drawRun(const MachineJob &job, MachineCause cause, std::uint64_t seed);

/// The recording is written as a file, read and judged as the command line does.
[[nodiscard]] RunVerdict judgedText(const std::string &text, const PlanPtr &plan, const QTemporaryDir &folder);

/// What the verdict should name first.
[[nodiscard]] bool isNamed(const RankedCause &named, const MachineTrouble &trouble, const MachineJob &job);

} // namespace trainyard::test
