// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/metrics/metrics.h"

#include "core/evaluation/evaluate/metrics/chip_power.h"
#include "core/facts/cluster/wan.h"

#include <algorithm>

namespace trainyard {

namespace {

struct Hourly { // of the whole cluster
    double usd = 0, kilowatts = 0;
    Metric kgCo2; // empty where a datacenter's intensity is unknown
};

Hourly hourly(const Workload &workload, const Catalogue &catalogue, double utilization)
{
    Hourly sum;
    sum.kgCo2 = 0.0;
    const auto &datacenters = workload.plan->cluster.datacenters;
    std::vector<std::vector<int>> usedGpus(datacenters.size());
    for (std::size_t d = 0; d < datacenters.size(); ++d)
        usedGpus[d].resize(datacenters[d].pools.size());
    for (const GpuRun &run : workload.layout.runs)
        usedGpus[std::size_t(run.datacenter)][std::size_t(run.pool)] += run.gpus;
    for (std::size_t d = 0; d < datacenters.size(); ++d) {
        double kilowatts = 0;
        for (std::size_t p = 0; p < datacenters[d].pools.size(); ++p) {
            const Pool &pool = datacenters[d].pools[p];
            const GpuSpec &gpu = *workload.gpus[d][p];
            const double poolKilowatts = chipKilowatts(gpu, usedGpus[d][p], pool.gpus(), utilization);
            kilowatts += poolKilowatts;
            const double price = pool.usdPerGpuHour.value_or(gpu.usdPerHour);
            // A rental price includes power; hardware of one's own (price 0) pays for it.
            sum.usd += price > 0 ? price * pool.gpus() : poolKilowatts * datacenters[d].usdPerKwh.value_or(0);
        }
        sum.kilowatts += kilowatts;
        Metric intensity = datacenters[d].kgCo2PerKwh;
        const Region *region = intensity ? nullptr : regionOf(datacenters[d], catalogue);
        if (!intensity && region && region->kgCo2PerKwh > 0)
            intensity = region->kgCo2PerKwh;
        if (intensity && sum.kgCo2)
            *sum.kgCo2 += kilowatts * *intensity;
        else if (!intensity && kilowatts > 0)
            sum.kgCo2.reset();
    }
    return sum;
}

} // namespace

void addCostMetrics(Metrics &metrics, const Workload &workload, const Catalogue &catalogue)
{
    const double iteration = *metrics.iterationTime;
    const Hourly hour = hourly(workload, catalogue, metrics.gpuUtilization.value_or(0));
    double egress = 0;
    for (const WanLinkUse &use : metrics.wanLinks) {
        if (use.bytes[0] <= 0 && use.bytes[1] <= 0)
            continue;
        const std::array<double, 2> price = egressUsdPerGb(*workload.plan, catalogue, use.link);
        egress += (use.bytes[0] * price[0] + use.bytes[1] * price[1]) / 1e9;
    }
    CostMetrics &cost = metrics.cost;
    cost.usdPerIteration = hour.usd * iteration / 3600 + egress;
    const double tokens = double(workload.plan->workload.globalBatch) * workload.plan->workload.sequenceLength;
    cost.usdPerMillionTokens = *cost.usdPerIteration / tokens * 1e6;
    if (!workload.plan->workload.trainingTokens)
        return;
    const double iterations = *workload.plan->workload.trainingTokens / tokens;
    const double hours = iterations * iteration / 3600;
    cost.usdTotal = *cost.usdPerIteration * iterations;
    cost.egressUsdTotal = egress * iterations;
    cost.daysTotal = hours / 24;
    cost.energyMwhTotal = hour.kilowatts * hours / 1e3;
    if (hour.kgCo2)
        cost.co2TonsTotal = *hour.kgCo2 * hours / 1e3;
}

} // namespace trainyard
