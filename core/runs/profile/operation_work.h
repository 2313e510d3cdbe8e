#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the call of an operator computes and moves, from the sizes of its tensors: matrix products, attention, and
// operators that take their tensors element by element. Formulas with their sources: docs/model.md, "Work of a measured
// kernel". Pure functions.

#include "core/facts/hardware/sustained_rates.h"
#include "core/iteration/cost/kernels/attention.h"
#include "core/iteration/cost/kernels/gemm.h"
#include "core/runs/telemetry/tensor_arguments.h"

#include <optional>

namespace trainyard {

enum class OperationKind : std::uint8_t { Product, Attention, Elementwise };
inline constexpr std::size_t kOperationKinds = 3;
/// "product", "attention", "elementwise"
[[nodiscard]] const char *nameOf(OperationKind kind);
/// "bf16", as plans name it
[[nodiscard]] std::string formatName(Precision precision);

/// Of one call.
struct OperationWork {
    OperationKind kind = OperationKind::Elementwise;
    /// of the operands; of what is elementwise, of the first tensor
    Precision precision = Precision::Bf16;
    /// multiplications and additions; what is elementwise has one for each element of its result, a copy none
    double flops = 0;
    /// operands and result once
    double bytes = 0;
    /// of a product: `groups` of C[m,n] = A[m,k] B[k,n]
    GemmShape product;
    double groups = 1;
    /// each group has rows of its own number, as tokens by expert; `product` is of a mean one
    bool isGrouped = false;
    AttentionShape attention;
    bool isBackward = false;
};

/// `name`: "aten::mm". Empty: no formula is known, or the sizes are not those of such an operator.
[[nodiscard]] std::optional<OperationWork> workOf(std::string_view name, const std::vector<TensorArgument> &arguments);
/// "32768 × 2048 × 8192" (m × n × k), "64 · 128 × 128 × 64", "8 · 16 heads · 4096 × 4096 · 128, causal"; of what is
/// elementwise, its tensors.
[[nodiscard]] std::string shapeText(const OperationWork &work, const std::vector<TensorArgument> &arguments);
/// Queries and keys of one head of one sequence that meet: under a causal mask the last query sees every key, each
/// earlier one a key less.
[[nodiscard]] double attendedPairsOf(const AttentionShape &shape);

/// Seconds of a call by the plan's own model of kernels, at the clock that the GPU keeps while it trains
/// (docs/model.md, "Matrix products", "Attention", "Sustained clocks"). `sustained`: of the GPU.
[[nodiscard]] double predictedSeconds(const GpuSpec &gpu, const SustainedRates &sustained, const OperationWork &work);
/// Seconds that the call takes at least: at the peak of its format, or at the bandwidth of the memory.
[[nodiscard]] double roofSeconds(const GpuSpec &gpu, const OperationWork &work);

} // namespace trainyard
