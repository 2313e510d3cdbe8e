#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the model says of the kernels of one GPU over an iteration, by kind, as calibration has to compare it with what
// was measured: what grows with a factor of the kind, and what does not. Found by asking the coster with rates changed,
// so that it is what an evaluation would say, whatever a layer is made of.

#include "core/iteration/placement/resolve.h"

namespace trainyard {

struct KernelSeconds { // of an iteration
    /// at factor 1; a factor multiplies them
    double products = 0, attention = 0, memory = 0;
    /// computing that runs beside communication loses so much; no factor moves it
    double fixedProducts = 0;
    /// launch floors of kernels that move memory, likewise
    double fixedMemory = 0;
    [[nodiscard]] double total() const { return products + attention + memory + fixedProducts + fixedMemory; }
};

/// What a stage does in an iteration: of each chunk (as StageCosts has them; with slices, of each slice) the backwards
/// that recompute first, over the micro-batches. Empty: all of them do, where the plan recomputes at all.
using RecomputedShares = std::vector<double>;

/// Forward, backward, recomputation and, where it runs on the GPU, the optimizer; nothing of the host. All 0 where
/// stages or layers were measured instead of modelled.
[[nodiscard]] KernelSeconds kernelSeconds(
    const Workload &workload, const PipelineClass &pipelines, int stage, const RecomputedShares &recomputed = {});

/// Seconds of an iteration in which a GPU of the stage waits for its host, were the host `factor` times as slow.
[[nodiscard]] double hostSeconds(const Workload &workload, const PipelineClass &pipelines, int stage, double factor,
    const RecomputedShares &recomputed = {});

/// Communication of one GPU in an iteration that a stack hides in part, without messages of a few bytes a token.
struct HiddenCommunication {
    /// tensor parallel, under its products
    double tensor = 0, tensorHidden = 0;
    /// gradients of data parallel ranks, under the backward
    double reduce = 0, reduceHidden = 0;
    /// weights of the sharded, under the forward
    double gather = 0, gatherHidden = 0;
    [[nodiscard]] double total() const { return tensor + reduce + gather; }
    [[nodiscard]] double hidden() const { return tensorHidden + reduceHidden + gatherHidden; }
};
[[nodiscard]] HiddenCommunication hiddenCommunication(
    const Workload &workload, const PipelineClass &pipelines, int stage);

} // namespace trainyard
