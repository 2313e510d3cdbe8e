#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How long the prefill of a prompt takes and what it leaves behind, for a model that is split over some GPUs of one
// datacenter. Equations of docs/model.md, "Prefill in bubbles"; rates are derived from the kernel curves. Pure
// functions.

#include "core/base/units.h"
#include "core/facts/network/collectives.h"
#include "core/facts/workload/model_spec.h"

namespace trainyard {

/// FLOPs of the prefill of one prompt: 2 N L + 2 layers L^2 a d, N the parameters that a token meets; attention is
/// causal.
[[nodiscard]] Flops prefillFlops(const ModelSpec &model, double tokens);
/// FLOP/s that a GPU reaches in the matrix products of that prefill, by its kernel curve for 16-bit operands. Derived.
[[nodiscard]] FlopsPerSecond prefillRate(const GpuSpec &gpu, const ModelSpec &model, double tokens);
/// prefillFlops / prefillRate: one prompt on one GPU that does nothing else. Of several at once the products have the
/// rows of all, attention stays with each.
[[nodiscard]] Seconds prefillTime(const GpuSpec &gpu, const ModelSpec &model, double tokens, int prompts = 1);

/// Keys and values of a prompt, 16 bits: 2 layers g d 2 L; latent attention keeps its compressed form instead.
[[nodiscard]] Bytes kvCacheBytes(const ModelSpec &model, double tokens);
/// Weights of the whole model, 16 bits: 2 N, every expert included.
[[nodiscard]] Bytes servedWeights(const ModelSpec &model);

/// One stage of the served model at work on one prompt, or on several at once.
struct SliceTime {
    /// prefillTime / stages
    Nanoseconds compute = 0;
    /// activations to the next stage: 2 L h / bandwidth
    Nanoseconds hop = 0;
    /// its share of the keys and values to the decode GPUs
    Nanoseconds kvMove = 0;
    /// What is kept free for it: prefill at the pace at which keys and values get away, so that no more than two
    /// prompts' are on a GPU at once.
    [[nodiscard]] Nanoseconds slot() const { return compute > kvMove ? compute : kvMove; }
};

/// `hop`: the way to the next stage; `decode`: the way of one GPU to the decode GPUs.
[[nodiscard]] SliceTime sliceTime(const GpuSpec &gpu, const ModelSpec &model, int stages, double tokens,
    const Link &hop, const Link &decode, int prompts = 1);

} // namespace trainyard
