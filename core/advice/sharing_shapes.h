#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Of a plan the one that shares as another system does: what of it is set and what is searched. Plans in, plans out;
// errors say why it cannot be made of these GPUs. docs/model.md, "Mixed GPUs".

#include "core/evaluate/run.h"

namespace trainyard {

[[nodiscard]] Expected<Plan> evenSplit(const Plan &plan, const RunContext &context);
[[nodiscard]] Expected<Plan> evenAccumulated(const Plan &plan, const RunContext &context);
[[nodiscard]] Expected<Plan> unevenPipeline(const Plan &plan, const RunContext &context);
[[nodiscard]] Expected<Plan> byFlops(const Plan &plan, const RunContext &context);
[[nodiscard]] Expected<Plan> pipelineOfGroups(const Plan &plan, const RunContext &context);
[[nodiscard]] Plan cephalo(const Plan &plan);

} // namespace trainyard
