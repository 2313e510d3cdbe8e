#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How long the tiles of a result keep the multiprocessors of a GPU busy. For the matrix kernels of this folder.

#include "core/facts/hardware/element_bytes.h"
#include "core/iteration/cost/kernels/gemm.h"

namespace trainyard {

struct TileWork {
    GemmShape shape;
    /// equal products side by side
    double groups = 1;
    /// of the whole GPU, at full clock
    double flopsPerSecond = 0;
    /// of its memory
    double bytesPerSecond = 0;
};

/// Seconds of arithmetic with the tile (and the split of k) that takes least.
[[nodiscard]] double tileSeconds(const GpuSpec &gpu, const GemmCurve &curve, const TileWork &work);
/// Compute and memory time together, power limit and floor included.
[[nodiscard]] Seconds kernelSeconds(const GpuSpec &gpu, const GemmCurve &curve, double compute, double bytes);

} // namespace trainyard
