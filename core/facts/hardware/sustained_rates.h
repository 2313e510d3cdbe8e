#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How fast a GPU keeps computing within a training step, where the power limit holds its clock for minutes, relative to
// the same kernel measured alone (hardware/kernel_curves.h). By architecture and format of the operands, fitted by
// tools/fit_stacks to published runs of every stack at once, resources/catalog/sustained.json. docs/model.md,
// "Sustained clocks".

#include "core/facts/hardware/gpu_spec.h"

#include <string>
#include <vector>

namespace trainyard {

struct SustainedRates {
    /// products of 16-bit operands and wider
    double half = 1;
    /// of 8- and 4-bit operands
    double eight = 1, four = 1;
    /// of expert products, beside that of their format
    double grouped = 1;
    double attention = 1;
    /// of kernels that move memory; only calibration changes it
    double memory = 1;
    /// time of the host's work a micro-batch; only calibration changes it
    double microBatchHost = 1;
    /// time that the host of such a GPU takes, relative to Hopper's
    double host = 1;
    bool operator==(const SustainedRates &) const = default;

    /// Of products in a format that the chip computes in.
    [[nodiscard]] double ofProducts(Precision format) const
    {
        return format >= Precision::Nvfp4 ? four : format >= Precision::Fp8 ? eight : half;
    }
};

struct ArchitectureRates {
    /// as GpuSpec::architecture; "" stands for all that are not named
    std::string architecture;
    /// power limit and 16-bit peak of the GPU that the rates stand for
    double watts = 0, halfTflops = 0;
    SustainedRates rates;
    std::string source;
};

/// Of this GPU at its own power limit: dynamic power goes with f V^2 and voltage with the clock, so that the clock goes
/// with the cube root of the power for each unit of its peak, which stands for how much of the chip there is. Never
/// above 1. All 1 where `known` is empty.
[[nodiscard]] SustainedRates sustainedRates(const std::vector<ArchitectureRates> &known, const GpuSpec &gpu);

} // namespace trainyard
