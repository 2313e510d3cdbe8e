#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Of a plan the one that shares as another system does: what of it is set and what is searched. Plans in, plans out;
// errors say why it cannot be made of these GPUs. docs/model.md, "Mixed GPUs".

#include "core/evaluation/evaluate/run.h"

namespace trainyard {

[[nodiscard]] Expected<Plan> evenSplit(const Plan &plan, const RunContext &context);
[[nodiscard]] Expected<Plan> evenAccumulated(const Plan &plan, const RunContext &context);
[[nodiscard]] Expected<Plan> unevenPipeline(const Plan &plan, const RunContext &context);
[[nodiscard]] Expected<Plan> byFlops(const Plan &plan, const RunContext &context);
[[nodiscard]] Expected<Plan> pipelineOfGroups(const Plan &plan, const RunContext &context);
[[nodiscard]] Plan cephalo(const Plan &plan);

/// Even in every way, placed wherever it fits.
[[nodiscard]] Plan evened(const Plan &plan);
/// Every GPU, or group of context ranks, goes through the whole model and shards all that there is.
[[nodiscard]] Plan fullySharded(const Plan &plan);
/// Everything computed again in its backward.
[[nodiscard]] Plan recomputed(Plan plan);
[[nodiscard]] bool canRun(const Plan &plan, const RunContext &context);

} // namespace trainyard
