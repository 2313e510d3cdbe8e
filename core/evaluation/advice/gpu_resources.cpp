// SPDX-License-Identifier: GPL-3.0-or-later
// A GPU with more of something is the catalogue's, described in the plan, with one figure changed.
#include "core/evaluation/advice/gpu_resources_internal.h"

#include "core/facts/cluster/pool_gpu.h"
#include "core/facts/hardware/gpu_name.h"
#include "core/iteration/placement/activations_leave.h"
#include "core/iteration/placement/measured_speed.h"
#include "core/iteration/placement/stage_source.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

using Change = std::function<void(GpuSpec &, double times)>;

/// Of every pool of the type, or of every pool where one pool describes its own and has no id.
void changeGpus(Plan &plan, const std::string &type, const Catalogue &catalogue, double times, const Change &change)
{
    for (Datacenter &datacenter : plan.cluster.datacenters)
        for (Pool &pool : datacenter.pools)
            if (const GpuSpec *gpu = gpuOf(pool, catalogue); gpu && gpuIdOf(pool) == type)
                change(detail::describeGpu(pool, *gpu), times);
}

/// At the same FLOP per joule: power that stayed would slow the clock (docs/model.md, "Sustained rates").
void moreFlops(GpuSpec &gpu, double times)
{
    for (double &peak : gpu.peakTflops)
        peak *= times;
    gpu.tdpWatts *= times;
}

struct Figure {
    ResourceKind kind;
    const char *key, *what, *unit;
    double now;
    Change change;
};

std::vector<Figure> figuresOf(const Plan &plan, const GpuSpec &gpu)
{
    const MemoryStrategy &memory = plan.memory;
    const bool usesHost = activationsLeaveTo(memory) != ActivationOffload::None
        || memory.parameterOffload != ParameterOffload::None || memory.optimizerOffload != OptimizerOffload::None;
    constexpr double kGib = 1024.0 * 1024 * 1024;
    std::vector<Figure> figures {
        { ResourceKind::PeakFlops, "flops", "FLOPs", "TFLOP/s", gpu.peakFlops(plan.workload.precision) / 1e12,
            moreFlops },
        { ResourceKind::HbmSpeed, "hbm-speed", "HBM speed", "GB/s", gpu.memoryGBps,
            [](GpuSpec &more, double times) { more.memoryGBps *= times; } },
        { ResourceKind::HbmSize, "hbm-size", "HBM size", "GiB", double(gpu.memoryBytes) / kGib,
            [](GpuSpec &more, double times) { more.memoryBytes = std::llround(double(more.memoryBytes) * times); } },
        { ResourceKind::NvLink, "nvlink", gpu.linkGBps > 0 ? "NVLink" : "PCIe", "GB/s",
            gpu.linkGBps > 0 ? gpu.linkGBps : gpu.pcieGBps,
            [](GpuSpec &more, double times) { (more.linkGBps > 0 ? more.linkGBps : more.pcieGBps) *= times; } },
    };
    if (usesHost && gpu.linkGBps > 0)
        figures.push_back({ ResourceKind::HostLink, "pcie", "PCIe to the host", "GB/s", gpu.pcieGBps,
            [](GpuSpec &more, double times) { more.pcieGBps *= times; } });
    return figures;
}

/// Per cent of what was measured: what made it so is not known.
HardwareResource measuredSpeed(std::string id, std::string name, std::function<void(Plan &, double)> faster)
{
    return { .kind = ResourceKind::PeakFlops,
        .id = std::move(id),
        .name = std::move(name),
        .unit = "%",
        .now = 100,
        .set = [faster = std::move(faster)](Plan &plan, double value) { faster(plan, value / 100); } };
}

} // namespace

GpuSpec &detail::describeGpu(Pool &pool, const GpuSpec &gpu)
{
    if (!pool.inlineGpu) {
        pool.inlineGpu = gpu;
        pool.gpu.clear();
    }
    return *pool.inlineGpu;
}

void detail::addGpuResources(
    std::vector<HardwareResource> &list, const Plan &plan, const Catalogue &catalogue, const UsedSites &sites)
{
    struct Type {
        const GpuSpec *gpu;
        int distance;
    };
    std::map<std::string, Type> types;
    for (std::size_t d = 0; d < plan.cluster.datacenters.size(); ++d)
        for (const Pool &pool : plan.cluster.datacenters[d].pools)
            if (const GpuSpec *gpu = gpuOf(pool, catalogue); gpu && pool.gpus() > 0) {
                const auto [at, isNew] = types.try_emplace(gpuIdOf(pool), Type { gpu, sites.distance(int(d)) });
                at->second.distance = std::min(at->second.distance, sites.distance(int(d)));
            }
    if (!stageFacts(plan).hasLayers) {
        list.push_back(measuredSpeed("profile:speed", "speed of all GPUs (measured stage times)", speedUpStages));
        return;
    }
    for (const auto &[type, of] : types) {
        const std::string name = of.gpu->name.empty() ? type : shortName(*of.gpu);
        const bool isMeasured = plan.layerProfiles && plan.layerProfiles->gpus.contains(type);
        if (isMeasured)
            list.push_back(measuredSpeed("gpu:" + type + ":speed", name + ", speed (measured layer times)",
                [type](Plan &p, double times) { speedUpLayers(p, type, times); }));
        for (const Figure &figure : figuresOf(plan, *of.gpu)) {
            if (!(figure.now > 0)
                || (isMeasured && (figure.kind == ResourceKind::PeakFlops || figure.kind == ResourceKind::HbmSpeed)))
                continue;
            list.push_back({ .kind = figure.kind,
                .id = "gpu:" + type + ":" + figure.key,
                .name = name + ", " + figure.what,
                .unit = figure.unit,
                .now = figure.now,
                .distance = of.distance,
                .set = [type, now = figure.now, change = figure.change, &catalogue](
                           Plan &p, double value) { changeGpus(p, type, catalogue, value / now, change); } });
        }
    }
}

std::vector<const GpuSpec *> nextGpus(const GpuSpec &now, const Catalogue &catalogue, Precision precision)
{
    const GpuSpec *roomier = nullptr, *faster = nullptr;
    const double peak = now.peakFlops(precision);
    for (const GpuSpec &g : catalogue.gpus) {
        if (g.vendor != now.vendor || g.linkGBps < now.linkGBps)
            continue;
        const double itsPeak = g.peakFlops(precision);
        if (double(g.memoryBytes) > double(now.memoryBytes) * 1.1 && itsPeak >= 0.95 * peak
            && (!roomier || g.memoryBytes < roomier->memoryBytes))
            roomier = &g;
        if (itsPeak > 1.1 * peak && double(g.memoryBytes) >= 0.95 * double(now.memoryBytes)
            && (!faster || itsPeak < faster->peakFlops(precision)))
            faster = &g;
    }
    std::vector<const GpuSpec *> next;
    if (roomier)
        next.push_back(roomier);
    if (faster && faster != roomier)
        next.push_back(faster);
    return next;
}

void replaceGpus(Plan &plan, const std::string &type, const std::string &next)
{
    for (Datacenter &datacenter : plan.cluster.datacenters)
        for (Pool &pool : datacenter.pools)
            if (!pool.inlineGpu && pool.gpu == type) {
                pool.gpu = next;
                pool.usdPerGpuHour.reset(); // the price was the other GPU's
            }
}

} // namespace trainyard
