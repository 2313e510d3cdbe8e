#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Time of one dense matrix product C[m,n] = A[m,k] B[k,n], smooth in every argument so that searches have gradients.
// The model and its fit are in docs/model.md, "Matrix products"; parameters live in the catalogue, one set a GPU.

#include "core/base/units.h"
#include "core/hardware/gpu_spec.h"

namespace trainyard {

struct GemmShape { double m = 0, n = 0, k = 0; };

/// Seconds of the kernel alone, launch floor included.
[[nodiscard]] Seconds gemmTime(const GpuSpec &gpu, Precision precision, GemmShape shape);
/// Achieved share of the dense peak, 0..1.
[[nodiscard]] double gemmEfficiency(const GpuSpec &gpu, Precision precision, GemmShape shape);

} // namespace trainyard
