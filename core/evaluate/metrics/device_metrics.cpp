// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluate/metrics/device_metrics.h"

#include "core/placement/ranks.h"

#include <algorithm>

namespace trainyard {

namespace {

double stateShareOf(const Workload &workload, const RankSet &ranks)
{
    constexpr double kNothing = 1e-12; // how a share of nothing is noted (core/layouts/dealt_states.h)
    if (workload.degrees.zeroStage < 1)
        return 1;
    const double share = 1 / stateShards(workload, ranks);
    return share < kNothing ? 0 : share;
}

} // namespace

std::vector<DeviceMetrics> deviceMetrics(const Workload &workload, const std::vector<StageSeconds> &stages)
{
    std::vector<DeviceMetrics> devices;
    devices.reserve(stages.size());
    for (const StageSeconds &stage : stages) {
        const PipelineClass &pipelines = workload.layout.classes[std::size_t(stage.pipelineClass)];
        const RankSet ranks = rankSet(workload, pipelines, stage.stage);
        DeviceMetrics device;
        device.at = ranks.at;
        device.pipelineClass = stage.pipelineClass;
        device.stage = stage.stage;
        device.ranks = pipelines.pipelines * workload.degrees.gpusOfStage();
        device.microBatch = ranks.microBatch;
        device.microBatches = pipelines.microBatches;
        device.stateShare = stateShareOf(workload, ranks);
        device.time = stage.spent.compute + stage.spent.optimizer;
        device.wait = stage.spent.total() - device.time;
        devices.push_back(device);
    }
    std::ranges::stable_sort(devices, {}, [](const DeviceMetrics &d) { return std::pair(d.pipelineClass, d.stage); });
    return devices;
}

void addDeviceMemory(std::vector<DeviceMetrics> &devices, const LiveMemory &live)
{
    for (DeviceMetrics &device : devices) {
        const auto stage = std::size_t(device.stage);
        if (stage >= live.held.size())
            continue;
        const RankBytes &held = live.held[stage][std::size_t(device.pipelineClass)];
        device.peak = held.peak;
        device.device = held.device;
        device.capacity = held.capacity;
    }
}

} // namespace trainyard
