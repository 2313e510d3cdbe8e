#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which nodes a run had, of all that its sources tell: a topology describes one machine, a list of nodes tells how many
// there are, and what launches the job how many of them it runs on. Where they differ the job's own count stands, and
// the difference goes with the plan. One thread.

#include "core/runs/imports/draft.h"

#include <string>
#include <vector>

namespace trainyard::imports {

struct CountedNodes {
    /// with how many of them there are
    RecordedNodes like;
    /// who counts them, where it is not their source: " as --nnodes (run.sh) counts them, for a world of 32"
    std::string why;
};
/// Empty where no source tells of nodes.
[[nodiscard]] std::vector<CountedNodes> countedNodes(Draft &draft);
/// GPUs of a node as the only topology has them; empty without one, and of several that differ.
[[nodiscard]] std::optional<int> gpusOfTopology(const Recording &recording);
/// 90 of "sm_90", as a topology of NCCL tells its GPUs; 0 of any other name.
[[nodiscard]] int capabilityNamed(std::string_view gpu);

} // namespace trainyard::imports
