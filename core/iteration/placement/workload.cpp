// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/workload.h"

#include "core/facts/workload/model_math.h"
#include "core/iteration/placement/calibrated.h"

#include <algorithm>

namespace trainyard {

void Requested::setPlan(PlanPtr next)
{
    plan = std::move(next);
    degrees = degreesOf(*plan);
    source = stageSource(*plan);
    if (plan->heterogeneity.isLayered()) // a chunk is a layer
        degrees.chunks = std::max(1, model.layers);
}

Requested Requested::askedBy(PlanPtr next) const
{
    Requested other = *this;
    other.setPlan(std::move(next));
    return other;
}

Workload Workload::askedBy(PlanPtr next) const
{
    return { Requested::askedBy(std::move(next)), layout };
}

const Workload &WorkloadInTurn::askedBy(PlanPtr next)
{
    setPlan(std::move(next));
    return *this;
}

const Workload &WorkloadInTurn::at(Layout next)
{
    layout = std::move(next);
    return *this;
}

const Pool &Requested::pool(StageLocation location) const
{
    return plan->cluster.datacenters[std::size_t(location.datacenter)].pools[std::size_t(location.pool)];
}

const GpuSpec &Requested::gpu(StageLocation location) const
{
    return *gpus[std::size_t(location.datacenter)][std::size_t(location.pool)];
}

SustainedRates Requested::sustainedRates(StageLocation location) const
{
    return sustained.empty() ? SustainedRates {}
                             : sustained[std::size_t(location.datacenter)][std::size_t(location.pool)];
}

Degrees Requested::degreesAt(StageLocation location) const
{
    Degrees there = degrees;
    there.tensor = tensorAt(location);
    there.isSequenceParallel = plan->parallelism.sequenceParallel.value_or(there.tensor > 1);
    return there;
}

double Requested::fabricGbps(StageLocation location) const
{
    const Datacenter &datacenter = plan->cluster.datacenters[std::size_t(location.datacenter)];
    return datacenter.fabricGbpsPerGpu.value_or(gpu(location).fabricGbps);
}

const Ssd *Requested::drives(StageLocation location) const
{
    if (calibrated)
        if (const auto &own = calibrated->drives[std::size_t(location.datacenter)][std::size_t(location.pool)])
            return &*own;
    const Pool &at = pool(location);
    return at.ssd ? &*at.ssd : nullptr;
}

BytesPerSecond Requested::hostRate(StageLocation location) const
{
    if (calibrated)
        if (const auto &own = calibrated->toHost[std::size_t(location.datacenter)][std::size_t(location.pool)])
            return *own;
    const Pool &at = pool(location);
    return gbytesPerSecond(at.host && at.host->gbytesPerSecondPerGpu > 0
            ? at.host->gbytesPerSecondPerGpu
            : gpu(location).pcieGBps * builtinNetwork().pcie.fraction);
}

double Requested::roundTripMs(int link) const
{
    if (calibrated)
        if (const auto &own = calibrated->roundTripMs[std::size_t(link)])
            return *own;
    return trainyard::roundTripMs(plan->cluster.wanLinks[std::size_t(link)]);
}

double Requested::boundaryBytes(bool backward) const
{
    if (!source.measured.empty())
        return (backward ? source.gradient : source.activation).value;
    return weightBytes(plan->workload.precision) * plan->workload.microBatch * plan->workload.sequenceLength
        * model.hidden / degrees.context;
}

double Requested::gradientBytes() const
{
    return source.measured.empty() ? stack.gradientBytes : weightBytes(plan->workload.precision);
}

Bytes Requested::crossingBytes() const
{
    if (degrees.pipeline > 1 || !source.hasLayers)
        return Bytes { boundaryBytes(false) };
    return Bytes { totalParameters(model) * gradientBytes() / degrees.tensor };
}

} // namespace trainyard
