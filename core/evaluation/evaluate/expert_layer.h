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
    /// whose ranks: the slowest that holds such a layer
    int pipelineClass = 0, stage = 0;
    /// the group and what one of its ranks brings
    ExchangeRequest request;
    /// that the request points to
    std::shared_ptr<const GpuSpec> gpu;
    ExchangeChoice choice;
    /// as they run
    LayerWork forward, backward;
    /// where forwards run with backwards
    std::optional<PairWork> pair;
    LayerTimes forwardTimes, backwardTimes;
    /// of the ranks of a group
    RankLoads loads;
};

/// Empty where the model has no experts, times are measured ones, or nothing could be placed. Errors: as resolve().
[[nodiscard]] ExpectedAll<std::optional<ExpertLayer>> expertLayer(
    const Evaluation &evaluation, const Catalogue &catalogue);

} // namespace trainyard
