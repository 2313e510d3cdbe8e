// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/stage_source.h"

#include <algorithm>

namespace trainyard {

namespace {

/// A plan that is not checked yet may have lists of any length.
Seconds ofStage(const PerStage &values, std::size_t stage)
{
    return values.empty() ? Seconds {} : milliseconds(values[std::min(stage, values.size() - 1)]);
}

} // namespace

StageFacts stageFacts(const Plan &plan)
{
    if (plan.profile)
        return { false, false, true, true, false };
    return { .layersOnly = plan.layerProfiles.has_value() };
}

const MemoryStrategy &movedOffGpu(const Plan &plan)
{
    static const MemoryStrategy kNothing;
    return stageFacts(plan).hasMemory ? plan.memory : kNothing;
}

StageSource stageSource(const Plan &plan)
{
    StageSource source { stageFacts(plan) };
    if (!plan.profile)
        return source;
    const MeasuredStageTimes &profile = *plan.profile;
    const std::size_t stages = std::max({ profile.forwardMs.size(), profile.backwardMs.size(),
        profile.recomputeMs.size(), profile.weightGradMs.size() });
    for (std::size_t stage = 0; stage < stages; ++stage) {
        const Seconds backward = ofStage(profile.backwardMs, stage);
        const Seconds weightGrad = profile.weightGradMs.empty() ? backward / 2 : ofStage(profile.weightGradMs, stage);
        source.measured.push_back({ ofStage(profile.forwardMs, stage), backward - weightGrad, weightGrad,
            ofStage(profile.recomputeMs, stage) });
    }
    source.activation = megabytes(profile.activationMb);
    source.gradient = megabytes(profile.gradientMb.value_or(profile.activationMb));
    source.parameters = megabytes(profile.parametersMb);
    source.inFlight = profile.inFlight;
    source.keys = { "profile.forward_ms", "profile.backward_ms", "profile.recompute_ms",
        profile.weightGradMs.empty() ? "profile.backward_ms" : "profile.weight_grad_ms", "profile.activation_mb",
        profile.gradientMb ? "profile.gradient_mb" : "profile.activation_mb", "profile.parameters_mb" };
    return source;
}

void stateGradients(Plan &plan, double megabytes)
{
    if (plan.profile)
        plan.profile->parametersMb = megabytes;
}

} // namespace trainyard
