#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Time of one grouped matrix product: the same layer of every expert that lives on a GPU, in a single kernel. Model and
// fit in docs/model.md, "Grouped products"; parameters live in the catalogue, one set a GPU.

#include "core/iteration/cost/kernels/gemm.h"

namespace trainyard {

/// Seconds of `groups` products C[m,n] = A[m,k] B[k,n], `perGroup` each, launch floor included.
[[nodiscard]] Seconds groupedGemmTime(const GpuSpec &gpu, Precision precision, double groups, GemmShape perGroup);

} // namespace trainyard
