#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What layers of experts cost: of the stage whose layer takes longest.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/cost/stage_costs.h"

namespace trainyard {

/// Of all classes and stages the one whose layer of experts takes longest, of such the one with most of them; class and
/// stage are -1 where there is none.
struct SlowestExperts {
    int pipelineClass = -1, stage = -1;
};
[[nodiscard]] SlowestExperts slowestExperts(const Layout &layout, const std::vector<std::vector<StageCosts>> &stages);

/// Empty where no layer has experts, or where measured times stand for the layers.
[[nodiscard]] std::optional<ExpertMetrics> expertMetrics(const Workload &workload, const Costs &costs);

} // namespace trainyard
