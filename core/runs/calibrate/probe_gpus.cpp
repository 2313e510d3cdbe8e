// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/probe_gpus_internal.h"

#include "core/runs/calibrate/collective_samples.h"
#include "core/runs/imports/gpu_names.h"

#include <algorithm>
#include <memory>

namespace trainyard {

std::vector<std::string> probedNames(const Recording &recording)
{
    std::vector<std::string> names;
    for (const RecordedNodes &nodes : recording.nodes)
        if (isOfProbe(recording, nodes.source) && std::ranges::find(names, nodes.gpu) == names.end())
            names.push_back(nodes.gpu);
    return names;
}

std::vector<PlannedGpu> plannedGpus(const Requested &workload)
{
    std::vector<PlannedGpu> planned;
    for (std::size_t d = 0; d < workload.gpus.size(); ++d)
        for (std::size_t p = 0; p < workload.gpus[d].size(); ++p) {
            const GpuSpec *gpu = workload.gpus[d][p];
            auto known =
                std::ranges::find_if(planned, [&](const PlannedGpu &other) { return other.gpu->id == gpu->id; });
            if (known == planned.end())
                known = planned.insert(planned.end(), { gpu, {} });
            known->at.push_back({ .datacenter = int(d), .pool = int(p) });
        }
    return planned;
}

bool isCalled(const GpuSpec &gpu, const std::string &name, const Catalogue &catalogue)
{
    if (gpu.name == name || gpu.id == name)
        return true;
    const GpuSpec *known = imports::gpuNamed(name, catalogue).gpu;
    return known && known->id == gpu.id;
}

ExpectedAll<Requested> nominalOf(const Plan &plan, const Catalogue &catalogue)
{
    auto nominal = std::make_shared<Plan>(plan);
    nominal->calibration.clear();
    return resolve(nominal, catalogue);
}

} // namespace trainyard
