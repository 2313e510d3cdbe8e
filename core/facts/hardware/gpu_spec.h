#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the catalogue (or a plan's inline object) says of one GPU type. Every figure came from outside: `sources` names
// where. Plain value, immutable once loaded.

#include "core/facts/hardware/kernel_curves.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace trainyard {

enum class Precision : std::uint8_t { Fp32, Tf32, Fp16, Bf16, Fp8, Mxfp8, Nvfp4 };
inline constexpr int kPrecisionCount = 7;

struct GpuSpec {
    /// "a100-sxm-80gb"
    std::string id;
    /// "NVIDIA A100 SXM 80 GB"
    std::string name;
    /// "NVIDIA", "AMD"
    std::string vendor;
    /// "Ampere"
    std::string architecture;
    /// dense; 0 where the chip has no such unit
    std::array<double, kPrecisionCount> peakTflops {};
    /// as the driver reports it
    std::int64_t memoryBytes = 0;
    /// 10^9 bytes per second
    double memoryGBps = 0;
    /// NVLink or xGMI, one direction, per GPU; 0 = none (PCIe is used)
    double linkGBps = 0;
    /// GPUs joined by that link
    int linkDomain = 8;
    /// one direction
    double pcieGBps = 0;
    /// typical NIC bandwidth per GPU, 10^9 bits per second
    double fabricGbps = 0;
    double tdpWatts = 0;
    /// typical on-demand cloud price of one GPU
    double usdPerHour = 0;
    /// streaming multiprocessors or compute units
    double multiprocessors = 108;
    /// 16-bit operands and wider
    GemmCurve gemm;
    /// per-tensor 8 bit, block-scaled 8 bit, 4 bit
    GemmCurve gemmFp8, gemmBlock8, gemmFp4;
    /// of expert products
    GemmCurve grouped, groupedFp8, groupedBlock8, groupedFp4;
    AttentionCurve attention;
    /// JSON key of a figure -> "title, date"
    std::map<std::string, std::string> sources;
    bool operator==(const GpuSpec &) const = default;

    /// Peak FLOP/s of a precision; falls back to the widest unit that can stand in (bf16 -> fp16 -> fp32, fp8 -> bf16
    /// ...).
    [[nodiscard]] double peakFlops(Precision precision) const;
    /// The precision in which this chip computes when asked for another: itself, or what stands in.
    [[nodiscard]] Precision computePrecision(Precision precision) const;
    [[nodiscard]] const GemmCurve &gemmCurve(Precision precision) const;
    [[nodiscard]] const GemmCurve &groupedCurve(Precision precision) const;
};

} // namespace trainyard
