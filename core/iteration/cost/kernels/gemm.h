#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Time of one dense matrix product C[m,n] = A[m,k] B[k,n]: tiles of C in waves over the multiprocessors, against the
// traffic of the operands. The model and its fit are in docs/model.md, "Matrix products"; parameters live in the
// catalogue, one set a GPU and format of the operands.

#include "core/base/units.h"
#include "core/facts/hardware/gpu_spec.h"

namespace trainyard {

struct GemmShape {
    double m = 0, n = 0, k = 0;
};

/// Seconds of the kernel alone, launch floor included, operands in the format already.
[[nodiscard]] Seconds gemmTime(const GpuSpec &gpu, Precision precision, GemmShape shape);
/// Seconds to turn `elements` of a 16-bit operand into the narrower format of a product; 0 for 16 bits and wider.
[[nodiscard]] Seconds castTime(const GpuSpec &gpu, Precision precision, double elements);
/// Seconds to move so many bytes through the GPU's memory, at the share of its bandwidth that products reach.
[[nodiscard]] Seconds memoryTime(const GpuSpec &gpu, Bytes moved);

} // namespace trainyard
