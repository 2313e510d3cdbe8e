// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/hardware/gpu_spec.h"

namespace trainyard {

namespace {

/// The format in which a chip without this unit computes: the next wider one that can stand in; itself at the end.
constexpr Precision widerThan(Precision precision)
{
    using enum Precision;
    switch (precision) {
    case Nvfp4:
        return Mxfp8;
    case Mxfp8:
        return Fp8;
    case Fp8:
        return Bf16;
    case Bf16:
        return Fp16;
    case Fp16:
    case Tf32:
    case Fp32:
        return Fp32;
    }
    return Fp32;
}

} // namespace

Precision GpuSpec::computePrecision(Precision precision) const
{
    while (peakTflops[static_cast<std::size_t>(precision)] <= 0 && precision != Precision::Fp32)
        precision = widerThan(precision);
    return precision;
}

double GpuSpec::peakFlops(Precision precision) const
{
    return peakTflops[static_cast<std::size_t>(computePrecision(precision))] * 1e12;
}

namespace {

enum class OperandFormat { Half, Fp8, Block8, Fp4 };

OperandFormat operandFormat(const GpuSpec &gpu, Precision precision)
{
    switch (gpu.computePrecision(precision)) {
    case Precision::Nvfp4:
        return OperandFormat::Fp4;
    case Precision::Mxfp8:
        return OperandFormat::Block8;
    // Block scaling is a recipe of its own also where the chip has only plain 8-bit units.
    case Precision::Fp8:
        return precision == Precision::Mxfp8 || precision == Precision::Nvfp4 ? OperandFormat::Block8
                                                                              : OperandFormat::Fp8;
    case Precision::Fp32:
    case Precision::Tf32:
    case Precision::Fp16:
    case Precision::Bf16:
        return OperandFormat::Half;
    }
    return OperandFormat::Half;
}

} // namespace

const GemmCurve &GpuSpec::gemmCurve(Precision precision) const
{
    switch (operandFormat(*this, precision)) {
    case OperandFormat::Half:
        return gemm;
    case OperandFormat::Fp8:
        return gemmFp8;
    case OperandFormat::Block8:
        return gemmBlock8;
    case OperandFormat::Fp4:
        return gemmFp4;
    }
    return gemm;
}

const GemmCurve &GpuSpec::groupedCurve(Precision precision) const
{
    switch (operandFormat(*this, precision)) {
    case OperandFormat::Half:
        return grouped;
    case OperandFormat::Fp8:
        return groupedFp8;
    case OperandFormat::Block8:
        return groupedBlock8;
    case OperandFormat::Fp4:
        return groupedFp4;
    }
    return grouped;
}

} // namespace trainyard
