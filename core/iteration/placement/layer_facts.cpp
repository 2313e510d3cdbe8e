// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/layer_facts.h"

#include "core/iteration/placement/activation_shape.h"

namespace trainyard {

const GpuLayerTimes *measuredLayer(const Workload &workload, StageLocation at)
{
    const auto &profiles = workload.plan->layerProfiles;
    if (!profiles)
        return nullptr;
    const auto found = profiles->gpus.find(workload.gpu(at).id);
    return found == profiles->gpus.end() ? nullptr : &found->second;
}

std::optional<double> measuredBytes(const Workload &workload, StageLocation at)
{
    const GpuLayerTimes *measured = measuredLayer(workload, at);
    if (!measured || measured->computeGib.empty() || workload.plan->memory.recompute != Recompute::Full)
        return {};
    return measured->computeGibAt(workload.plan->workload.microBatch) * double(1 << 30);
}

double layerInputBytes(const Workload &workload)
{
    return workload.boundaryBytes(false) / (workload.degrees.isSequenceParallel ? workload.degrees.tensor : 1);
}

double keptInputBytes(const Workload &workload)
{
    return layerInputBytes(workload) * activationShape(workload).keptShare;
}

} // namespace trainyard
