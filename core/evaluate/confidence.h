#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How far to trust the time of an evaluation: a label and a range, both from what was measured on hardware and software
// like the plan's (docs/model.md, "Confidence"). Pure functions of values.

#include "core/catalogue/catalogue.h"
#include "core/evaluate/evaluation.h"
#include "core/placement/resolve.h"

namespace trainyard {

/// What measurements would have to share with this plan: one key for each GPU type in use.
[[nodiscard]] std::vector<EvidenceKey> evidenceKeys(const Plan &plan, const ModelSpec &model, const Layout &layout,
                                                    const Catalogue &catalogue);

/// In how many respects a measurement differs from a plan: stack, GPU, precision, experts, sharded weights, network. Another architecture
/// counts as kOtherArchitecture; a network that reaches further than the plan's does not count.
[[nodiscard]] int evidenceDistance(const EvidenceKey &measured, const EvidenceKey &plan);
inline constexpr int kOtherArchitecture = 10;

/// Fills label and range; needs the iteration time.
void addConfidence(Metrics &metrics, const Workload &workload, const Catalogue &catalogue);

/// Published rows that an evaluation's label and range rest on: those of its own kind where it is calibrated, else those of
/// its nearest relatives. 0 where the plan brings measured stage times of its own.
[[nodiscard]] int evidenceRows(const Evaluation &evaluation, const Catalogue &catalogue);

} // namespace trainyard
