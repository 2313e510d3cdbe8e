// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/metrics/device_metrics.h"

#include "core/iteration/model_states/stage_states.h"
#include "core/iteration/placement/ranks.h"
#include "core/iteration/placement/state_share.h"

#include <algorithm>

namespace trainyard {

namespace {

double stateShareOf(const Workload &workload, const RankSet &ranks)
{
    if (workload.degrees.zeroStage < 1)
        return 1;
    return ranks.stateShare == kNoStates ? 0 : 1 / stateShards(workload, ranks);
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
        device.ranks = pipelines.pipelines * ranks.degrees.gpusOfStage();
        device.tensor = ranks.degrees.tensor;
        device.microBatch = ranks.microBatch;
        device.microBatches = pipelines.microBatches;
        device.stateShare = stateShareOf(workload, ranks);
        if (workload.source.hasMemory) {
            const StageStates states = stageStates(workload, ranks);
            device.states = states.weights + states.gradients + states.optimizer;
        }
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
