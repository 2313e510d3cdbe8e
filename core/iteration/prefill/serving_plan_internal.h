#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// From a training plan and its timeline to what the controller decides on: groups of GPUs with their windows and room,
// and what each prompt length costs on them. Internal to core/iteration/prefill.

#include "core/iteration/placement/resolve.h"
#include "core/iteration/prefill/backlog.h"
#include "core/iteration/prefill/batches.h"
#include "core/iteration/prefill/bubble_fill.h"
#include "core/iteration/prefill/groups.h"

namespace trainyard {

/// More lengths than that are padded to so many.
inline constexpr std::size_t kMostPromptSizes = 32;

struct ServingSetup {
    /// guard included
    FreeWindows free;
    std::vector<InferenceGroup> groups;
    /// its groups are those
    ServingPlan plan;
    std::vector<PrefillRequest> requests;
    PromptBatches batches;
    /// the batches
    std::vector<SizedRequest> sized;
    /// of each size what one prompt alone takes on each kind
    std::vector<std::vector<Nanoseconds>> alone;
    /// requests of each model, of which those are placed; more only where there are too many (arrivals.h)
    std::vector<std::int64_t> arrived;
};

/// `memory`: bytes that training takes on each stage; empty for a profile, which counts none.
[[nodiscard]] ServingSetup servingSetup(const Workload &workload, const Timeline &timeline,
    const std::vector<StageMemory> &memory, const BubbleService &service, Afterwards afterwards = Afterwards::Again);

/// What so many prompts at once ask of a GPU of the location; `isInNode`: the stages of the served model lie in one
/// node.
[[nodiscard]] SliceTime sliceOn(const Workload &workload, const ModelSpec &served, int tokens,
    const StageLocation &location, bool isInNode, int prompts = 1);
/// Whether aligned groups lie in one node: each is a part of what a node holds of a tensor group.
[[nodiscard]] bool fitsTensorGroup(const Workload &workload);

/// The lengths in which prompts of a model are served: their own where they are few, else steps of equal ratio.
[[nodiscard]] std::vector<int> promptSizes(const std::vector<PrefillRequest> &requests, int model = 0);

} // namespace trainyard
