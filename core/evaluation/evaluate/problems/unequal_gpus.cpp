// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/unequal_gpus.h"

#include "core/base/number_text.h"
#include "core/facts/hardware/gpu_name.h"

#include <algorithm>

namespace trainyard {

std::vector<GpuPace> gpuPaces(const Evaluation &evaluation, const Workload &workload)
{
    std::vector<GpuPace> paces;
    for (const DeviceMetrics &device : evaluation.metrics.devices) {
        const GpuSpec *gpu = &workload.gpu(device.at);
        auto pace = std::ranges::find_if(paces, [&](const GpuPace &p) { return p.gpu->name == gpu->name; });
        if (pace == paces.end())
            pace = paces.insert(paces.end(), { gpu, 0 });
        pace->time = std::max(pace->time, device.time);
    }
    std::ranges::stable_sort(paces, std::greater {}, &GpuPace::time);
    return paces;
}

namespace {

/// Whether some stage has replicas on different GPUs.
bool areReplicasUnlike(const Evaluation &evaluation, const Workload &workload)
{
    std::vector<const GpuSpec *> known(std::size_t(workload.degrees.pipeline), nullptr); // [stage]
    return std::ranges::any_of(evaluation.metrics.devices, [&](const DeviceMetrics &device) {
        const GpuSpec *&first = known[std::size_t(device.stage)], *gpu = &workload.gpu(device.at);
        first = first ? first : gpu;
        return first->name != gpu->name;
    });
}

} // namespace

void addUnequalGpus(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload)
{
    constexpr double kMuch = 0.05; // of the iteration
    const Plan &plan = *evaluation.plan;
    const Heterogeneity &h = plan.heterogeneity;
    const std::vector<GpuPace> paces = gpuPaces(evaluation, workload);
    if (paces.size() < 2 || !workload.source.hasLayers)
        return;
    const bool sharesReplicas = h.compute == ComputeSharing::Even && areReplicasUnlike(evaluation, workload),
               sharesLayers =
                   h.layers == LayerSharing::Even && plan.placement.layers.empty() && workload.degrees.pipeline > 1;
    if (!sharesReplicas && !sharesLayers)
        return;
    const double wait = paces.front().time - paces.back().time,
                 iteration = evaluation.metrics.iterationTime.value_or(0);
    if (wait < kMuch * iteration)
        return;
    problems.push_back({ Severity::Note,
        "Each " + shortName(*paces.front().gpu) + " makes each " + shortName(*paces.back().gpu) + " wait "
            + secondsText(wait) + " of the " + secondsText(iteration) + " of an iteration: both get as much work",
        sharesReplicas ? "heterogeneity.compute" : "heterogeneity.layers", {}, FixSearchKind::UnequalGpus });
}

} // namespace trainyard
