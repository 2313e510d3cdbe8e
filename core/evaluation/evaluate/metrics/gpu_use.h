#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// GPU utilization over time: the same definition as Metrics::gpuUtilization, which is the time average of fleetUse.
// Spans of forward and backward contain collectives that nothing hides; these are not computation
// (Metrics::computeShare).

#include "core/evaluation/evaluate/evaluation.h"

#include <vector>

namespace trainyard {

/// Share of each of `buckets` equal slices of the iteration in which a compute track's GPUs compute; 0..1.
[[nodiscard]] std::vector<double> gpuUse(const Evaluation &evaluation, std::uint32_t track, int buckets);

/// The mean of all GPUs that hold a stage, or of those of one stage; negative: all.
[[nodiscard]] std::vector<double> fleetUse(const Evaluation &evaluation, int buckets, int stage = -1);

} // namespace trainyard
