#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The operators of a run by the sizes of their tensors: what each computes and moves, how fast its kernels did, how far
// that is from the roof of the GPU (its peak, or the bandwidth of its memory), and what the plan's model of kernels
// says of the same shape. It needs a recording with its host's spans, of traces that tell sizes (record_shapes). Any
// thread.

#include "core/facts/catalogue/catalogue.h"
#include "core/runs/profile/operation_work.h"
#include "core/runs/telemetry/recording.h"

#include <array>
#include <optional>

namespace trainyard {

/// Calls of one operator with tensors of one size; its kernels together.
struct RooflineRow {
    /// "aten::mm"; "4096 × 1024 × 512" (shapeText)
    std::string operation, shape;
    /// the longest one
    std::string kernel;
    OperationWork work;
    std::int64_t calls = 0, kernels = 0;
    /// ns, of all calls
    double total = 0;
    /// s a call, at the roof and by the plan's model; empty: the GPU is not known
    std::optional<double> roofSeconds, predictedSeconds;

    /// s a call
    [[nodiscard]] double seconds() const { return calls > 0 ? total * 1e-9 / double(calls) : 0; }
    [[nodiscard]] double flopsPerSecond() const { return total > 0 ? work.flops / seconds() : 0; }
    [[nodiscard]] double bytesPerSecond() const { return total > 0 ? work.bytes / seconds() : 0; }
    /// FLOPs a byte
    [[nodiscard]] double intensity() const { return work.bytes > 0 ? work.flops / work.bytes : 0; }
    /// 1: at the roof. Above it: what its memory has to bring was in a cache.
    [[nodiscard]] std::optional<double> shareOfRoof() const
    {
        return roofSeconds && total > 0 ? std::optional(*roofSeconds / seconds()) : std::nullopt;
    }
    /// measured to predicted
    [[nodiscard]] std::optional<double> ratio() const
    {
        return predictedSeconds && *predictedSeconds > 0 ? std::optional(seconds() / *predictedSeconds) : std::nullopt;
    }
};

/// Why there are no rows.
enum class RooflineLack : std::uint8_t {
    None,
    /// no GPU works in it
    Kernels,
    /// the recording has no operators of the host: read the traces with them
    Host,
    /// operators tell no tensors: record_shapes was off
    Sizes,
    /// they do, but none of those that launched kernels is one with a formula
    Formulas
};

struct Roofline {
    RooflineLack lack = RooflineLack::None;
    /// as the traces call it; may be empty
    std::string gpuName;
    /// of the catalogue; empty: nobody tells which it is
    std::optional<GpuSpec> gpu;
    /// false: of several that are called so
    bool isGpuSure = true;
    /// ranks that were counted, and those with another GPU, which were not
    std::int64_t ranks = 0, otherRanks = 0;
    /// by total, the longest first
    std::vector<RooflineRow> rows;
    /// ns, of kernels and copies but collectives: all; of rows; of operators that tell tensors, and no formula is known
    double total = 0, counted = 0, withoutFormula = 0;
    struct Other {
        std::string operation;
        /// ns
        double total = 0;
    };
    /// of the last, the longest first
    std::vector<Other> others;
    /// Peaks that rows have, of formats that the GPU computes in, the lowest first, with the format; the memory's
    /// bandwidth is in `gpu`. Empty: the GPU is not known.
    [[nodiscard]] std::vector<std::pair<Precision, double>> peaks() const;
};
/// `gpu`: of the user, who knows better than the traces; may be null.
[[nodiscard]] Roofline rooflineOf(const Recording &recording, const Catalogue &catalogue, const GpuSpec *gpu = nullptr);

} // namespace trainyard
