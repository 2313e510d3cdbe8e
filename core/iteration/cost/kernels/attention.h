#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Time of fused ("flash") attention on one GPU: scores, softmax and weighted values in one kernel, nothing of size
// queries x keys in memory. Model and fit in docs/model.md, "Attention"; parameters live in the catalogue, one set a
// GPU.

#include "core/base/units.h"
#include "core/facts/hardware/gpu_spec.h"

namespace trainyard {

/// What one GPU works on in one kernel: its share of the heads, its slice of the sequence.
struct AttentionShape {
    double batch = 1, heads = 1, kvHeads = 1;
    /// tokens of one sequence
    double queries = 0, keys = 0;
    /// elements of a head (queries and keys; values)
    double queryDim = 128, valueDim = 128;
    /// the last query sees every key, each earlier one a key less
    bool causal = true;
};

/// Seconds of the forward kernel, launch floor included.
[[nodiscard]] Seconds attentionForward(const GpuSpec &gpu, Precision precision, const AttentionShape &shape);
/// Seconds of the backward kernels: five products for the forward's two, at a lower rate.
[[nodiscard]] Seconds attentionBackward(const GpuSpec &gpu, Precision precision, const AttentionShape &shape);

} // namespace trainyard
