// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/hardware/gpu_spec.h"

#include <initializer_list>

namespace trainyard {

double GpuSpec::peakFlops(Precision precision) const
{
    using enum Precision;
    const auto first = [&](std::initializer_list<Precision> order) {
        for (const Precision candidate : order) {
            if (const double peak = peakTflops[static_cast<std::size_t>(candidate)]; peak > 0)
                return peak * 1e12;
        }
        return 0.0;
    };
    // A chip without a unit computes in the next wider format, so each list ends in fp32.
    switch (precision) {
    case Fp32: return first({Fp32});
    case Tf32: return first({Tf32, Fp32});
    case Fp16: return first({Fp16, Fp32});
    case Bf16: return first({Bf16, Fp16, Fp32});
    case Fp8: return first({Fp8, Bf16, Fp16, Fp32});
    case Mxfp8: return first({Mxfp8, Fp8, Bf16, Fp16, Fp32});
    case Nvfp4: return first({Nvfp4, Mxfp8, Fp8, Bf16, Fp16, Fp32});
    }
    return 0;
}

} // namespace trainyard
