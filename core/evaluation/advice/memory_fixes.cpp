// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/advice/fixes_internal.h"

#include "core/base/number_text.h"
#include "core/evaluation/memory_fit/fit.h"

namespace trainyard {

constexpr std::size_t kMostMemoryFixes = 3;

std::vector<Fix> gpuMemoryFixes(const Workload &workload, Footprints &footprints)
{
    const Fitting fitting = fitMemory(workload.plan, footprints);
    if (!fitting.fits || fitting.steps.empty())
        return {};
    std::string label;
    for (const LadderStep &step : fitting.steps)
        label += (label.empty() ? "" : " + ") + step.name;
    std::vector<Fix> fixes { { label
            + (fitting.isTight ? " (" + plainText(100 * (1 - fitting.after.fill())) + " % headroom)" : ""),
        fitting.plan } };
    for (const MemorySaving &saving : memorySavings(*workload.plan, workload.model, workload.stack)) {
        if (fixes.size() == kMostMemoryFixes)
            break;
        Plan next = *workload.plan;
        saving.apply(next);
        auto plan = std::make_shared<const Plan>(std::move(next));
        if (*plan != *fitting.plan && footprints.of(plan).hasRoom())
            fixes.push_back({ saving.name, std::move(plan) });
    }
    return fixes;
}

std::vector<Fix> hostMemoryFixes(const Workload &workload, Footprints &footprints)
{
    Plan stays = *workload.plan;
    stays.memory.optimizerOffload = OptimizerOffload::None;
    stays.memory.parameterOffload = ParameterOffload::None;
    stays.memory.delayedUpdate = stays.memory.offloadExpertInput = false;
    if (stays.memory.activationOffload == ActivationOffload::Host)
        stays.memory.activationOffload = ActivationOffload::None;
    auto plan = std::make_shared<const Plan>(std::move(stays));
    if (footprints.of(plan).hasRoom())
        return { { "Keep them on the GPU", std::move(plan) } };
    return gpuMemoryFixes(workload, footprints);
}

} // namespace trainyard
