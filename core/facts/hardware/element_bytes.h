#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How much room one number takes in each format.

#include "core/facts/hardware/gpu_spec.h"

namespace trainyard {

/// Without its share of a scale.
[[nodiscard]] constexpr int elementBits(Precision precision)
{
    switch (precision) {
    case Precision::Fp32:
    case Precision::Tf32:
        return 32;
    case Precision::Fp16:
    case Precision::Bf16:
        return 16;
    case Precision::Fp8:
    case Precision::Mxfp8:
        return 8;
    case Precision::Nvfp4:
        return 4;
    }
    return 16;
}

/// With it: of 8 bits, for 32 elements of MXFP8 or 16 of NVFP4.
[[nodiscard]] constexpr double elementBytes(Precision precision)
{
    const double scale = precision == Precision::Mxfp8 ? 1.0 / 32 : precision == Precision::Nvfp4 ? 1.0 / 16 : 0;
    return elementBits(precision) / 8.0 + scale;
}

} // namespace trainyard
