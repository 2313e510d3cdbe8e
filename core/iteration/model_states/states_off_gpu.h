#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan's offload of optimizer states and parameters means for one GPU of a stage: its share of the node's links,
// processors and drives, what then lies elsewhere, and how long its step takes. Joins the plan to the formulas of
// optimizer_step.h; equations in docs/model.md, "States off the GPU". Pure functions.

#include "core/iteration/model_states/optimizer_step.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Bytes of optimizer state of one parameter: 32-bit master weight, where the stack keeps one, and moments; a 32-bit
/// weight is its own master. Adam 8, Lion 4, 8-bit Adam 2 and two scales for each block of 2048, Adafactor row and
/// column factors. GaLore's, which depend on the shape of each matrix, are the workload's mean.
[[nodiscard]] double optimizerStateBytes(const Workload &workload);

/// Of 8-bit Adam: two of a byte, and two scales for each block of 2048.
inline constexpr double kMoments8Bit = 2 + 8.0 / 2048;

/// Its moments alone as elements of one parameter: GaLore of rank r keeps m r + 2 n r elements of an m x n matrix (m <=
/// n) where Adam keeps 2 m n (arXiv 2403.03507); tensors without two dimensions, and the token table, keep theirs.
/// Adam: 2.
[[nodiscard]] double galoreMomentElements(const ModelSpec &model, int rank);

[[nodiscard]] StateRates stateRates(const Requested &asked, StageLocation location);
[[nodiscard]] StateBytes stateBytes(const Workload &workload);

/// Gradients leave layer by layer during each backward: the states that take them in are off the GPU, and each rank
/// reduces its own shard (ZeRO-2 on).
[[nodiscard]] bool gradientsLeave(const Workload &workload);

/// What GaLore adds to an update of so many parameters: gradients projected and the update projected back, 2 r products
/// of each element twice, and every 200 steps a new projector by singular value decomposition, about 20 m^2 n
/// operations (recalled, low confidence), at half the peak and at a tenth of it.
[[nodiscard]] Seconds galoreTime(const Workload &workload, const GpuSpec &gpu, double parameters);

/// Bytes that an update moves through memory for one parameter: gradient, master weight and moments in; the last and a
/// 16-bit weight out. Adam 30, with 8-bit moments 18, SGD 14; 6 less where there is no master weight.
[[nodiscard]] double updateTraffic(const Requested &asked);

/// What shows of the 32-bit gradients of an iteration that are written to the drives during the backward of its last
/// micro-batch; those of the ones before are summed in host memory (DeepSpeed swaps gradients out at the boundary of an
/// accumulation).
[[nodiscard]] Seconds lateGradientWrites(
    const Workload &workload, StageLocation location, double parameters, Seconds backward);

/// Weights that the GPU has updated, back to where they lie; none where the optimizer's states lie off the GPU too.
[[nodiscard]] Seconds weightsHome(const Workload &workload, StageLocation location, double parameters);

/// What one layer moves for one micro-batch: weights to the GPU before forward and again before backward where they lie
/// elsewhere (16 bits), gradients away from it after backward (16 bits). `weights` and
/// `gradients`: elements of this GPU's shard.
struct LayerMoves {
    Seconds fetch, leave;
};
[[nodiscard]] LayerMoves layerMoves(
    const Workload &workload, const StateRates &rates, double weights, double gradients);

/// The step of so many parameters of one GPU; without time where the plan's states stay on it.
[[nodiscard]] OffloadedStep offloadedStep(const Workload &workload, StageLocation location, double parameters);

} // namespace trainyard
