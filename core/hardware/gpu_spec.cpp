// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/hardware/gpu_spec.h"

namespace trainyard {

namespace {

/// The format in which a chip without this unit computes: the next wider one that can stand in; itself at the end.
constexpr Precision widerThan(Precision precision)
{
    using enum Precision;
    switch (precision) {
    case Nvfp4: return Mxfp8;
    case Mxfp8: return Fp8;
    case Fp8: return Bf16;
    case Bf16: return Fp16;
    case Fp16:
    case Tf32:
    case Fp32: return Fp32;
    }
    return Fp32;
}

} // namespace

double GpuSpec::peakFlops(Precision precision) const
{
    double peak = peakTflops[static_cast<std::size_t>(precision)];
    while (peak <= 0 && precision != Precision::Fp32) {
        precision = widerThan(precision);
        peak = peakTflops[static_cast<std::size_t>(precision)];
    }
    return peak * 1e12;
}

} // namespace trainyard
