#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One entry of gpus.json, models.json, stacks.json or of a plan's inline objects. For the .cpp files of this
// folder.

#include "core/catalogue/object_reader_internal.h"
#include "core/catalogue/residual_spread.h"
#include "core/hardware/gpu_spec.h"
#include "core/hardware/stack_spec.h"
#include "core/workload/model_spec.h"

#include <span>

namespace trainyard {

[[nodiscard]] GpuSpec readGpu(ObjectReader &reader);
[[nodiscard]] ModelSpec readModel(ObjectReader &reader);
[[nodiscard]] StackSpec readStack(ObjectReader &reader);
/// The curve's own object; the keys of kernels.json.
[[nodiscard]] GemmCurve readGemmCurve(ObjectReader &reader);
/// Of confidence.json.
[[nodiscard]] TimeRange readTimeRange(ObjectReader &reader);
[[nodiscard]] ResidualSpread readSpread(ObjectReader &reader);

struct StackField {
    const char *key;
    double StackSpec::*figure;     // one of the two is set
    bool StackSpec::*flag;
    Range range;
};
[[nodiscard]] std::span<const StackField> stackFields();

} // namespace trainyard
