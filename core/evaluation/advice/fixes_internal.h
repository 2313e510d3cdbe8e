#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where fixes are looked for, by what they mend. For the .cpp files of this folder.

#include "core/evaluation/advice/fix_search.h"
#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// What the memory ladder would do, then single steps of it that are enough alone, in its order.
[[nodiscard]] std::vector<Fix> gpuMemoryFixes(const Workload &workload, Footprints &footprints);
/// What had left stays on the GPU again where that has room; else what the ladder knows.
[[nodiscard]] std::vector<Fix> hostMemoryFixes(const Workload &workload, Footprints &footprints);

// Plans that may help, likeliest first, not yet judged.
[[nodiscard]] std::vector<Fix> fewerStages(const Plan &plan, const ModelSpec &model);
[[nodiscard]] std::vector<Fix> otherPlacements(
    const Workload &workload, const Layout &layout, const Catalogue &catalogue);
[[nodiscard]] std::vector<Fix> otherSchedules(const Workload &workload, int data);
[[nodiscard]] std::vector<Fix> smallerTensorGroups(const Workload &workload);
[[nodiscard]] std::vector<Fix> fewerPins(const Workload &workload);
[[nodiscard]] std::vector<Fix> expertsInOneDatacenter(const Workload &workload);

/// Plans that use what is idle for that reason, each evaluated.
[[nodiscard]] std::vector<Fix> idleFixes(
    const Evaluation &evaluation, const Workload &workload, const struct IdleGroup &group, FixSearch &search);
/// A dozen such plans take longer than a frame.
[[nodiscard]] bool isSlowToTry(const Evaluation &evaluation);

/// Those that run and are faster than the evaluated plan (where that cannot run: all that run), fastest first, their
/// time in the label.
struct TimedFix {
    Fix fix;
    double seconds = 0;
};
[[nodiscard]] std::vector<TimedFix> fasterFixes(
    const Evaluation &evaluation, FixSearch &search, std::vector<Fix> candidates);
/// Experts that stay in one datacenter, each evaluated and timed.
[[nodiscard]] std::vector<Fix> expertFixes(const Evaluation &evaluation, const Workload &workload, FixSearch &search);

/// Work by speed, as far as that is faster; each evaluated and timed.
[[nodiscard]] std::vector<Fix> unequalFixes(const Evaluation &evaluation, FixSearch &search);
/// Where an iteration is shorter without some of the slower GPUs: by how much, and the plan without them.
[[nodiscard]] std::optional<Problem> slowGpusProblem(
    const Evaluation &evaluation, const Workload &workload, FixSearch &search);
/// Where shares are dealt and an iteration is shorter without activation offload: both times, and what the fullest GPU
/// holds with it and without.
[[nodiscard]] std::optional<Problem> vainOffloadProblem(const Evaluation &evaluation, FixSearch &search);

/// A link to the datacenter that holds stages and is nearest by round trip, or to the largest where none holds any;
/// nothing where that link is there.
[[nodiscard]] std::optional<Fix> linkFix(
    const Plan &plan, int datacenter, const Layout &layout, const Catalogue &catalogue);

} // namespace trainyard
