#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The optimizer step of one GPU's parameters where their states are not on it: in host memory (ZeRO-Offload, arXiv
// 2101.06840), on drives (ZeRO-Infinity, arXiv 2104.07857), or in host memory with every k-th group updated on the GPU
// (Deep Optimizer States, arXiv 2410.21316). Pure functions; equations in docs/model.md, "States off the GPU".

#include "core/base/units.h"

namespace trainyard {

/// What one GPU gets while every GPU of its node does the same.
struct StateRates {
    /// its link, each way
    BytesPerSecond toHost, toGpu;
    /// parameters/s that its share of the processors updates
    double cpuAdam = 0;
    /// parameters/s from 32 bits to 16
    double cpuCast = 0;
    /// parameters/s that the GPU updates
    double gpuAdam = 0;
    /// its share of the node's drives; 0: there are none
    BytesPerSecond write, read;
    bool operator==(const StateRates &) const = default;
};

struct StateBytes { // of one parameter
    /// as it leaves the GPU
    double gradient = 2;
    /// as it returns
    double weight = 2;
    /// master weight and moments, 32 bits each under Adam
    double states = 12;
    /// with the states on drives: written while backward runs, read with them
    double storedGradient = 4;
};

/// How the step is cut.
struct StepGroups {
    /// of this GPU, shards of data parallelism taken
    double parameters = 0;
    /// that move and are updated as one
    double group = 1e8;
    /// false: copy, update, copy, one after the other
    bool isPipelined = true;
    /// interleaved updates: both directions on one stream of copies
    bool copiesTakeTurns = false;
    /// interleaved updates: of the parameters; 0: 1 / stride, groups of equal size
    double gpuShare = 0;
};

/// Seconds of each stream on its own, what they take together, and the bytes that move in one step.
struct OffloadedStep {
    Seconds time;
    Seconds cpu, gpu, toHost, toGpu, write, read;
    /// of toGpu, what brings states; the rest brings weights
    Seconds statesToGpu;
    /// that follow each other; 1 where nothing overlaps
    int groups = 1;
    /// of n groups every stride-th is updated on the GPU; 0: none
    int stride = 0;
    /// over the GPU's link
    Bytes sent, fetched;
    /// on the drives
    Bytes written, readBack;
};

/// Gradients out, Adam on the processors, weights back, group by group: the slowest stream, and the others for the
/// first or last group. t = max_i t_i + (sum t_i - max_i t_i) / groups; the sum where nothing overlaps.
[[nodiscard]] OffloadedStep hostStep(const StepGroups &groups, const StateBytes &bytes, const StateRates &rates);

/// States and gradients in from the drives, Adam on the processors, states out; gradients that are still on the GPU and
/// weights over its link. A drive's reads and writes take turns (the swap-in and swap-out of DeepSpeed's logs add up):
/// t = max(t_read + t_write, t_cpu, t_gradients, t_weights), pipelined as above.
[[nodiscard]] OffloadedStep driveStep(const StepGroups &groups, const StateBytes &bytes, const StateRates &rates);

/// Seconds in which the fp32 gradients of a step are written to the drives while backward runs.
[[nodiscard]] Seconds gradientWrites(const StepGroups &groups, const StateBytes &bytes, const StateRates &rates);

/// Of k groups one is fetched, updated on the GPU and flushed while the processors update the others (S: its
/// parameters):
///   cpu  (k - 1) S (1/U_c + 1/D_c)          to GPU  S states / B + (k - 1) S weight / B
///   GPU  S / U_g                            to host S states / B
/// A cycle takes the longest of the four, where copies take turns the two over the link as one; k minimises cycle / k.
/// `stride` > 0 asks for that k. Gradients of what the processors update have left during backward (bytes.gradient 0),
/// or go to host with the states. With a `gpuShare` g of the parameters in place of 1 / k the same per parameter.
[[nodiscard]] OffloadedStep interleavedStep(
    const StepGroups &groups, const StateBytes &bytes, const StateRates &rates, int stride = 0);

/// What shows of a step that runs beside the next iteration's compute (one step of staleness, ZeRO-Offload §4.2).
[[nodiscard]] Seconds delayedStep(Seconds step, Seconds computeOfIteration);

} // namespace trainyard
