#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Random clusters of two to five datacenters with a plan whose placement is open, and the ways in which each can become
// better with everything else equal.

#include "tests/support/plans.h"

#include <random>

namespace trainyard::test {

class RandomClusters {
public:
    explicit RandomClusters(unsigned seed)
        : m_random(seed)
    {
    }

    Plan next(const std::vector<ScheduleKind> &schedules)
    {
        Plan plan;
        const int count = 2 + pick(4);
        const bool isMixed = pick(3) == 0;
        const std::string first = gpu();
        for (int d = 0; d < count; ++d) {
            plan.cluster.datacenters.push_back(
                site("dc" + std::to_string(d), 1 + pick(6), isMixed ? gpu() : first, 1 << (1 + pick(3))));
            Pool &pool = plan.cluster.datacenters.back().pools.front();
            if (d > 0)
                pool.gpusPerNode = plan.cluster.datacenters.front().pools.front().gpusPerNode;
            GpuSpec spec = *builtinCatalogue().gpu(pool.gpu);
            spec.id += "-like";
            pool.inlineGpu = spec;
            pool.gpu.clear();
            for (int other = 0; other < d; ++other)
                if (other == d - 1 || pick(5) > 0)
                    plan.cluster.wanLinks.push_back(wanLink("dc" + std::to_string(other), "dc" + std::to_string(d),
                        one({ 1, 5, 20, 40, 80, 150 }), one({ 1, 5, 10, 25 }), one({ 5, 20, 100, 400 })));
        }
        plan.workload.model = std::vector<std::string> { "llama-3-8b", "megatron-3.6b", "gpt-3-1.3b",
            "gpt-oss-20b" }[std::size_t(pick(4))];
        plan.workload.sequenceLength = int(one({ 512, 2048, 4096 }));
        plan.schedule = schedules[std::size_t(pick(int(schedules.size())))];
        const int perNode = plan.cluster.datacenters.front().pools.front().gpusPerNode;
        plan.parallelism.tensor = std::min(perNode, 1 << pick(3));
        plan.parallelism.pipeline = 2 * (1 + pick(6));
        plan.parallelism.zeroStage = pick(2);
        if (plan.schedule == ScheduleKind::Interleaved || plan.schedule == ScheduleKind::BreadthFirst)
            plan.parallelism.virtualPipeline = 2;
        const int data = 1 << pick(3);
        if (pick(2))
            plan.parallelism.data = data;
        plan.workload.globalBatch = data * plan.parallelism.pipeline * (1 + pick(4));
        plan.memory.recompute =
            std::vector { Recompute::None, Recompute::Selective, Recompute::Full }[std::size_t(pick(3))];
        plan.placement.mode = std::vector { PlacementMode::Auto, PlacementMode::PipelineAcross,
            PlacementMode::DataAcross }[std::size_t(pick(3))];
        if (pick(4) == 0)
            addProfile(plan);
        return plan;
    }

    int pick(int below) { return int(m_random() % unsigned(below)); }
    double one(std::vector<double> of) { return of[m_random() % of.size()]; }

private:
    std::string gpu()
    {
        return std::vector<std::string> { "h100-sxm-80gb", "a100-sxm-80gb", "b200-sxm-180gb", "l40s-48gb", "gh200-96gb",
            "v100-sxm-32gb" }[std::size_t(pick(6))];
    }

    void addProfile(Plan &plan)
    {
        MeasuredStageTimes profile;
        profile.forwardMs = { one({ 5, 50, 400 }) };
        profile.backwardMs = { 2 * profile.forwardMs.front() };
        profile.activationMb = one({ 1, 20, 200 });
        profile.parametersMb = one({ 0, 500 });
        plan.profile = profile;
    }

    std::mt19937 m_random;
};

inline Plan withLowerRoundTrips(Plan plan)
{
    for (WanLink &link : plan.cluster.wanLinks)
        link.rttMs /= 2;
    return plan;
}

inline Plan withMoreBandwidth(Plan plan)
{
    for (WanLink &link : plan.cluster.wanLinks) {
        link.capacityGbps *= 2;
        link.nodePairGbps *= 2;
        link.tcpWindowMb *= 2;
    }
    return plan;
}

inline Plan withFasterGpus(Plan plan)
{
    for (Datacenter &datacenter : plan.cluster.datacenters) {
        for (Pool &pool : datacenter.pools) {
            for (double &peak : pool.inlineGpu->peakTflops)
                peak *= 1.3;
            pool.inlineGpu->memoryGBps *= 1.3;
            pool.inlineGpu->id += "-faster";
        }
    }
    return plan;
}

} // namespace trainyard::test
