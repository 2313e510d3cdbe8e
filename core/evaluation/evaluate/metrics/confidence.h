#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How far to trust the time of an evaluation: a label and a range, both from what was measured on hardware and software
// like the plan's (docs/model.md, "Confidence"). Pure functions of values.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/calibration.h"
#include "core/iteration/placement/resolve.h"

#include <optional>
#include <span>

namespace trainyard {

/// What measurements would have to share with this plan: one key for each GPU type in use.
[[nodiscard]] std::vector<EvidenceKey> evidenceKeys(
    const Plan &plan, const ModelSpec &model, const Layout &layout, const Catalogue &catalogue);

/// In how many respects a measurement differs from a plan: stack, GPU, precision, experts, sharded weights, network.
/// Another architecture counts as kOtherArchitecture; a network that reaches further than the plan's does not count.
/// Sharded weights are kUnrelated to plans without them and to other stacks.
[[nodiscard]] int evidenceDistance(const EvidenceKey &measured, const EvidenceKey &plan);
inline constexpr int kOtherArchitecture = 10, kUnrelated = 100;

/// By what was measured alone, whatever is known of the GPU's kernels.
[[nodiscard]] ConfidenceLabel labelOf(const EvidenceKey &plan, std::span<const Evidence> evidence);

/// Where nine in ten measured times of plans with this label lie, relative to the predicted one.
[[nodiscard]] TimeRange rangeOf(const ConfidenceData &data, ConfidenceLabel label, const EvidenceKey &plan);

/// The job that a plan is, for factors that are fitted to a run of it. Empty where nothing is placed.
[[nodiscard]] std::optional<FittedOn> jobOfPlan(
    const Plan &plan, const ModelSpec &model, const Layout &layout, const Catalogue &catalogue);

/// Factors of a recording make the plan of that very job calibrated, with the error that held-out steps had, where that
/// is at most this. Of jobs that published measurements would count as equal they make a plan of the same family; of
/// others they leave its label, at best same family, because what was published was predicted without them.
inline constexpr double kMostOwnError = 0.1;

/// Fills label and range; needs the iteration time. A plan that crosses datacenters, brings stage times of its own or
/// changes what was fitted is at best of the same family.
void addConfidence(Metrics &metrics, const Workload &workload, const Catalogue &catalogue);

/// Published rows that make an evaluation calibrated, or of the same family. 0 where it is neither, or brings stage
/// times of its own.
[[nodiscard]] int evidenceRows(const Evaluation &evaluation, const Catalogue &catalogue);

} // namespace trainyard
