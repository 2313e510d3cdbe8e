// SPDX-License-Identifier: GPL-3.0-or-later
// In which precision a run of Megatron, NeMo or Megatron-Bridge computes: switches, words, or the name of a preset.
#include "core/facts/plan/enum_names.h"
#include "core/runs/imports/bridge_recipes.h"
#include "core/runs/imports/draft.h"

#include <algorithm>

namespace trainyard::imports {

void takePrecision(Draft &draft)
{
    const Told &told = draft.arguments;
    const auto set = [&](Precision precision, const char *argument) {
        draft.plan.workload.precision = precision;
        draft.take("workload.precision", toString(precision), argument);
    };
    const auto preset =
        std::ranges::find(bridgePrecisions(), told.text("mixed_precision").value_or(""), &BridgePrecision::name);
    for (const Precision one : { Precision::Bf16, Precision::Fp16, Precision::Fp8, Precision::Mxfp8, Precision::Nvfp4 })
        if (preset != bridgePrecisions().end() && preset->precision == toString(one))
            return set(one, "mixed_precision");
    if (told.has("fp4_format") && told.isOn("fp4_format"))
        return set(Precision::Nvfp4, "fp4_format");
    if (told.has("fp8_format") && told.isOn("fp8_format"))
        return set(told.text("fp8_recipe") == "mxfp8" ? Precision::Mxfp8 : Precision::Fp8, "fp8_format");
    const std::string nemo = told.text("precision").value_or("");
    if (told.isOn("bf16") || nemo.find("bf16") != std::string::npos)
        return set(Precision::Bf16, told.isOn("bf16") ? "bf16" : "precision");
    if (told.isOn("fp16") || nemo.find("16") != std::string::npos)
        return set(Precision::Fp16, told.isOn("fp16") ? "fp16" : "precision");
    if (!told.isMegatron())
        return;
    if (told.has("bf16") || nemo.find("32") != std::string::npos) {
        draft.plan.workload.precision = Precision::Fp32;
        draft.assume("workload.precision fp32: neither --bf16 nor --fp16 is on");
    } else if (nemo.empty() && isWholeScript(draft)) {
        draft.plan.workload.precision = Precision::Fp32;
        draft.assume("workload.precision fp32: neither --bf16 nor --fp16 is given");
    } else if (nemo.empty()) {
        draft.assume(
            std::string("No source tells a precision: ") + toString(draft.plan.workload.precision) + draft.stays());
    }
}

} // namespace trainyard::imports
