#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One metric of an evaluation by its name in docs/metrics.md: "mfu", "memory.per_stage[0].peak_bytes",
// "breakdown_s.bubble"; or a sum, "breakdown_s.data_parallel+breakdown_s.optimizer". Pure functions, any thread.

#include "core/base/error.h"
#include "core/evaluation/evaluate/evaluation.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// Nothing where `name` is that of a number, list entries by any index, or a sum of such; else UnknownName with the
/// nearest.
[[nodiscard]] Expected<void> checkMetricName(std::string_view name);

/// The metrics of these names, in their order; empty where one does not apply to this plan, or a part of a sum.
[[nodiscard]] std::vector<Metric> metricValues(const Evaluation &evaluation, std::span<const std::string_view> names);

/// Names of all numbers, lists with an empty index: "memory.per_stage[].peak_bytes".
[[nodiscard]] const std::vector<std::string> &metricNames();

} // namespace trainyard
