#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the catalogue (or a plan's inline object) says of one GPU type. Every figure came from outside: `sources` names
// where. Plain value, immutable once loaded.

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace trainyard {

enum class Precision : std::uint8_t { Fp32, Tf32, Fp16, Bf16, Fp8, Mxfp8, Nvfp4 };
inline constexpr int kPrecisionCount = 7;

/// How far the kernel model of this GPU is to be trusted (docs/model.md, "Confidence").
enum class KernelEvidence : std::uint8_t { Measured, SameFamily, SpecSheet };

/// Parameters of the smooth GEMM time model (cost/gemm.h), per GPU, fitted by tools/fit_gemm on measured kernels. All but
/// the floor are relative to the GPU's own peak and bandwidth, so that they carry over to a sister chip.
struct GemmCurve {
    double launchUs = 5;           // floor of one kernel
    double peakFraction = 0.8;     // of the dense peak, reached by very large products
    double memoryFraction = 0.8;   // of the memory bandwidth, for operands and result
    double marginM = 64, marginN = 64, marginK = 128;   // elements: partly filled tiles, prologue of the k loop
    double waveArea = 1e6;         // result elements of one full wave of tiles: less than that takes as long
    double slowdown = 0;           // rate lost by long kernels, once the power limit lowers the clock
    double slowdownMs = 1;         // length of a kernel at which half of that is lost
    KernelEvidence evidence = KernelEvidence::SpecSheet;
    bool operator==(const GemmCurve &) const = default;
};

struct GpuSpec {
    std::string id;                // "a100-sxm-80gb"
    std::string name;              // "NVIDIA A100 SXM 80 GB"
    std::string vendor;            // "NVIDIA", "AMD"
    std::string architecture;      // "Ampere"
    std::array<double, kPrecisionCount> peakTflops{};   // dense; 0 where the chip has no such unit
    std::int64_t memoryBytes = 0;  // as the driver reports it
    double memoryGBps = 0;         // 10^9 bytes per second
    double linkGBps = 0;           // NVLink or xGMI, one direction, per GPU; 0 = none (PCIe is used)
    int linkDomain = 8;            // GPUs joined by that link
    double pcieGBps = 0;           // one direction
    double fabricGbps = 0;         // typical NIC bandwidth per GPU, 10^9 bits per second
    double tdpWatts = 0;
    double usdPerHour = 0;         // typical on-demand cloud price of one GPU
    double attentionFraction = 0.55;   // of the dense peak, fused attention forward; backward in cost/attention
    GemmCurve gemm;
    std::map<std::string, std::string> sources;   // JSON key of a figure -> "title, date"
    bool operator==(const GpuSpec &) const = default;

    /// Peak FLOP/s of a precision; falls back to the widest unit that can stand in (bf16 -> fp16 -> fp32, fp8 -> bf16 ...).
    [[nodiscard]] double peakFlops(Precision precision) const;
};

} // namespace trainyard
