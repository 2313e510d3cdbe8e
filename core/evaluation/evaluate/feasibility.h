#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a placed plan can run, judged in one place for searches, evaluations and problems.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/memory/off_gpu.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

struct Judged {
    Feasibility feasibility;
    std::vector<StageMemory> stages;
    /// of the fullest node of each pool that keeps anything
    std::vector<HostMemory> nodes;

    /// The share of whichever memory is exceeded most: at most 1 where the plan fits.
    [[nodiscard]] double need() const;
};

/// Takes the verdict and its memory over.
void setJudged(Evaluation &evaluation, Judged judged);

/// Of a resolved workload, nothing but what it is about.
[[nodiscard]] Evaluation begun(const Requested &asked);

/// Of a workload with a layout, and what its stages hold.
[[nodiscard]] Judged judge(const Workload &workload, std::vector<StageMemory> stages);

} // namespace trainyard
