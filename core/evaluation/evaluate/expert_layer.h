#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One expert layer of an evaluated plan, opened: what its kernels and exchanges take, what traffic-aware chose and why,
// and how it runs. Made on demand, for the layer view, the comparison and reports; metrics keep the numbers.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/systems/experts/loads.h"
#include "core/systems/experts/traffic_aware.h"

#include <memory>
#include <optional>

namespace trainyard {

struct Catalogue;

struct ExpertLayer {
    int pipelineClass = 0, stage = 0; // whose ranks: the slowest that holds such a layer
    ExchangeRequest request; // the group and what one of its ranks brings
    std::shared_ptr<const GpuSpec> gpu; // that the request points to
    ExchangeChoice choice;
    LayerWork forward, backward; // as they run
    std::optional<PairWork> pair; // where forwards run with backwards
    LayerTimes forwardTimes, backwardTimes;
    RankLoads loads; // of the ranks of a group
};

/// Empty where the model has no experts, times are measured ones, or nothing could be placed. Errors: as resolve().
[[nodiscard]] ExpectedAll<std::optional<ExpertLayer>> expertLayer(
    const Evaluation &evaluation, const Catalogue &catalogue);

} // namespace trainyard
