// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/offload/settings.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/hardware/network_spec.h"
#include "core/facts/plan/plan_io.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>

namespace trainyard {

OffloadSettings offloadSettings(const Workload &workload)
{
    const Plan &plan = *workload.plan;
    OffloadSettings settings;
    settings.target = activationsLeaveTo(plan.memory);
    settings.fraction = plan.memory.offloadFraction;
    if (!settings.fraction && workload.layout.shares.allLeaves)
        settings.fraction = 1;
    settings.minElements = plan.memory.offloadMinElements;
    settings.group = plan.memory.offloadGroup;
    settings.ahead = plan.memory.offloadAhead;
    if (onlyExpertInputLeaves(plan.memory)) { // all of it; it comes back while the layer behind it runs backward
        constexpr int kModulesOfLayer = 2;
        settings.fraction = 1;
        settings.group = 1;
        settings.ahead = std::max(settings.ahead, kModulesOfLayer);
    }
    return settings;
}

PoolRates poolRates(const Workload &workload, StageLocation location, const OffloadSettings &settings)
{
    const Ssd *drives = workload.drives(location);
    PoolRates rates;
    rates.gpu = workload.gpu(location).pcieGBps * builtinNetwork().pcie.fraction * 1e9;
    rates.gpusPerSwitch = drives ? drives->gpusSharing : 1;
    if (settings.target == ActivationOffload::Ssd) {
        rates.nodeWrite = drives ? drives->writeGBps * 1e9 : 0;
        rates.nodeRead = drives ? drives->readGBps * 1e9 : 0;
    } else {
        rates.gpu = workload.hostRate(location).value;
    }
    return rates;
}

std::string whyActivationsStay(const Plan &plan)
{
    if (activationsLeaveTo(plan.memory) == ActivationOffload::None)
        return {};
    if (!stageFacts(plan).hasMemory)
        return "A profile says nothing of activations: none are offloaded";
    if (traitsOf(plan).isSliced() && plan.memory.recompute != Recompute::None)
        return std::string("Under ") + toString(plan.schedule)
            + " slices read keys and values of earlier ones, which recomputation would make from what had left: "
              "activations stay on the GPU";
    return {};
}

} // namespace trainyard
