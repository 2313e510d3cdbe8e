// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/kernel_part.h"

#include "core/base/ascii_text.h"

#include <algorithm>
#include <array>
#include <string>

namespace trainyard {

namespace {

/// Of parts of names in small letters; attention is asked first, since its kernels are made of products too.
constexpr std::array kAttention { "flash", "fmha", "sdpa", "attention", "attn_fwd", "attn_bwd", "_attn_", "mha_fwd",
    "mha_bwd" };
constexpr std::array kProducts { "gemm", "gemv", "nvjet", "xmma", "cutlass", "cublas", "matmul", "wgmma", "cijk_",
    "s16816", "s1688", "s884", "splitkreduce", "tensorop", "_mm_", "_bmm_", "addmm" };
/// Names that hold a word of those, and move memory all the same.
constexpr std::array kMemory { "elementwise", "layer_norm", "layernorm", "rmsnorm", "cast_transpose", "vectorized" };

} // namespace

CalibratedPart kernelPartOf(std::string_view name)
{
    const std::string lower = lowered(name.substr(0, 512));
    const auto has = [&](const auto &words) {
        return std::ranges::any_of(words, [&](const char *word) { return lower.find(word) != std::string::npos; });
    };
    // What a template is made of tells less than its own name: elementwise kernels name functors of anything.
    const std::string own = lower.substr(0, lower.find_first_of("<("));
    if (std::ranges::any_of(kMemory, [&](const char *word) { return own.find(word) != std::string::npos; }))
        return CalibratedPart::Memory;
    if (has(kAttention))
        return CalibratedPart::Attention;
    return has(kProducts) ? CalibratedPart::Products : CalibratedPart::Memory;
}

} // namespace trainyard
