#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters of the kernel time models of one GPU (cost/gemm.h, cost/attention.h, cost/grouped_gemm.h), fitted by
// tools/fit_kernels on measured kernels. All but the floors are relative to the GPU's own peak, bandwidth and number of
// multiprocessors, so that they carry over to a sister chip. Plain values.

#include <cstdint>

namespace trainyard {

/// How far the kernel model of this GPU is to be trusted (docs/model.md, "Confidence").
enum class KernelEvidence : std::uint8_t { Measured, SameFamily, SpecSheet };

/// Dense products, and grouped ones: tiles of the result go round the multiprocessors in waves.
struct GemmCurve {
    /// floor of one kernel
    double launchUs = 5;
    /// of the dense peak, reached by very large products
    double peakFraction = 0.8;
    /// of the memory bandwidth, for operands and result
    double memoryFraction = 0.8;
    /// elements: prologue and epilogue of a tile, in steps of its k loop
    double marginK = 128;
    /// elements: what small tiles lose to operand traffic, times (1/height + 1/width)
    double tileLoss = 20;
    /// 0: the last wave counts in full; 1: its idle multiprocessors cost nothing
    double waveOverlap = 0.5;
    /// the second pass of a product whose k is split
    double splitUs = 1;
    /// share of the memory time that compute never hides
    double memoryExposed = 0.05;
    /// operands below this come from the cache of the previous run
    double cacheMbytes = 0;
    /// rate lost by long kernels, once the power limit lowers the clock
    double slowdown = 0;
    /// length of a kernel at which half of that is lost
    double slowdownMs = 1;
    /// turning 16-bit rows into the kernel's narrower format: floor ...
    double castUs = 0;
    /// ... and share of the memory bandwidth
    double castFraction = 0.8;
    KernelEvidence evidence = KernelEvidence::SpecSheet;
    bool operator==(const GemmCurve &) const = default;
};

/// Fused attention. Rates by head size are relative to a head of 128 elements and interpolated between.
struct AttentionCurve {
    /// floor of one kernel and its preparation
    double launchUs = 15;
    /// of the dense peak, heads of 128, long sequences
    double peakFraction = 0.6;
    /// heads of 64, 192 and 256 elements against 128
    double rate64 = 0.75, rate192 = 0.95, rate256 = 1;
    /// of the memory bandwidth; queries, keys, values and result once
    double memoryFraction = 0.6;
    /// a tile of queries pays for as many keys more: start, masked corner, end
    double marginKeys = 300;
    /// of the longest tile, by which the last multiprocessor is late
    double tailShare = 0.7;
    /// as of products
    double slowdown = 0;
    double slowdownMs = 5;
    /// backward FLOP/s against forward's; not measured, see docs/model.md
    double backwardRate = 0.86;
    bool operator==(const AttentionCurve &) const = default;
};

} // namespace trainyard
