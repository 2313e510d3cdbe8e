#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Small plans of one model with two systems on, by a seed; all else is drawn as well: schedules, degrees, placements,
// stacks, recomputation. Plans of jobs: job_pair_plans.h.

#include "core/engine/schedule/traits.h"
#include "tests/core/evaluation/evaluate/pairs/systems.h"
#include "tests/core/evaluation/evaluate/random_valid_plans.h"

namespace trainyard::test {

class PairPlan {
public:
    PairPlan(System a, System b, unsigned seed)
        : m_draws(seed)
    {
        for (const System system :
            { System::Atlas, System::Prefill, System::Offload, System::Experts, System::MixedGpus })
            if (chance(12) || system == a || system == b)
                m_systems.insert(system);
        m_plan.name = std::string(toString(a)) + " with " + toString(b) + ", " + std::to_string(seed);
    }

    Plan plan()
    {
        shape();
        cluster();
        batch();
        if (has(System::Atlas))
            atlas();
        if (has(System::Prefill))
            prefill();
        if (has(System::Offload))
            offload();
        if (has(System::MixedGpus))
            mixed();
        others();
        return std::move(m_plan);
    }

private:
    [[nodiscard]] bool has(System system) const { return m_systems.contains(system); }
    int whole(int low, int high) { return m_draws.whole(low, high); }
    double real(double low, double high) { return m_draws.real(low, high); }
    bool chance(int percent) { return whole(1, 100) <= percent; }
    template <class T> T one(std::initializer_list<T> values)
    {
        return values.begin()[whole(0, int(values.size()) - 1)];
    }

    void shape()
    {
        WorkloadSpec &w = m_plan.workload;
        Parallelism &p = m_plan.parallelism;
        w.model = one({ "gpt-3-1.3b", "qwen2.5-1.5b", "llama-3-8b", "gpt-3-6.7b" });
        w.sequenceLength = one({ 512, 1024, 2048 });
        w.precision = one({ Precision::Bf16, Precision::Bf16, Precision::Fp16 });
        m_sites = has(System::Atlas) ? whole(2, 3) : chance(15) ? 2 : 1;
        p.tensor = one({ 1, 1, 2, 4 });
        p.context = chance(8) ? 2 : 1;
        p.pipeline = has(System::Atlas) ? m_sites * whole(1, 2)
            : has(System::Prefill)      ? one({ 2, 2, 4 })
                                        : one({ 1, 2, 4 });
        p.zeroStage = one({ 0, 1, 1, 1, 2, 3 });
        p.data = has(System::Atlas) ? whole(2, 4) : one({ 1, 2, 2, 4 });
        if (has(System::Experts))
            experts();
        schedule();
        m_plan.memory.recompute = static_cast<Recompute>(whole(0, 2));
        if (chance(30))
            m_plan.stack.name = one({ "ideal", "fsdp", "megatron-deepspeed", "megatron-lm-2021" });
    }

    void schedule()
    {
        Parallelism &p = m_plan.parallelism;
        m_plan.schedule = static_cast<ScheduleKind>(whole(0, int(ScheduleKind::Atlas)));
        p.virtualPipeline = m_plan.schedule == ScheduleKind::Interleaved ? 2
            : m_plan.schedule == ScheduleKind::BreadthFirst              ? one({ 1, 2 })
                                                                         : 1;
        p.tokenSlices = one({ 2, 4 });
        if (p.pipeline == 1)
            m_plan.schedule = one({ ScheduleKind::OneFOneB, ScheduleKind::GPipe });
        if (traitsOf(m_plan.schedule).copies() == 2 && p.pipeline % 2 != 0)
            m_plan.schedule = ScheduleKind::OneFOneB;
        m_asksForTwice = traitsOf(m_plan.schedule).copies() == 2 || m_plan.schedule == ScheduleKind::DualPipeV;
    }

    const char *gpu() { return one({ "h100-sxm-80gb", "a100-sxm-80gb", "h200-sxm-141gb", "b200-sxm-180gb" }); }

    /// One pool a datacenter, of as many nodes as its stages take; of stages that take turns each on nodes of its own.
    void cluster()
    {
        const Parallelism &p = m_plan.parallelism;
        const char *common = gpu();
        const int all = p.tensor * p.context * p.pipeline * *p.data;
        for (int d = 0; d < m_sites; ++d) {
            Datacenter site;
            site.id = std::string(1, char('a' + d));
            Pool pool;
            pool.id = site.id + "0";
            pool.gpu = common;
            pool.gpusPerNode = has(System::Atlas) && chance(90) ? std::max(1, p.tensor * p.context)
                                                                : std::max(p.tensor, one({ 2, 4, 8 }));
            pool.nodes = std::max(1, (all / m_sites + pool.gpusPerNode - 1) / pool.gpusPerNode) + (chance(20) ? 1 : 0);
            site.pools.push_back(std::move(pool));
            if (chance(30))
                site.fabricGbpsPerGpu = real(50, 400);
            m_plan.cluster.datacenters.push_back(std::move(site));
        }
        for (int a = 0; a < m_sites; ++a)
            for (int b = a + 1; b < m_sites; ++b) {
                WanLink link;
                link.between = { m_plan.cluster.datacenters[std::size_t(a)].id,
                    m_plan.cluster.datacenters[std::size_t(b)].id };
                link.rttMs = real(1, 120);
                link.capacityGbps = one({ 20.0, 100.0, 400.0, 1000.0 });
                link.nodePairGbps = real(0.5, 20);
                if (chance(15))
                    link.lossRate = real(0, 0.002);
                m_plan.cluster.wanLinks.push_back(std::move(link));
            }
    }

    void batch()
    {
        WorkloadSpec &w = m_plan.workload;
        w.microBatch = one({ 1, 1, 2 });
        w.globalBatch = *m_plan.parallelism.data * m_plan.parallelism.pipeline * one({ 1, 2, 2, 3 }) * w.microBatch
            * (m_asksForTwice ? 2 : 1);
    }

    void atlas()
    {
        WanStrategy &wan = m_plan.wan;
        const Parallelism &p = m_plan.parallelism;
        wan.sharing = WanSharing::Temporal;
        if (chance(80))
            wan.cell = whole(2, *p.data);
        wan.turns = one({ TurnOrder::RoundRobin, TurnOrder::DrainFirst });
        if (chance(20))
            wan.tcpConnections = one({ 1, 8 });
        if (chance(15))
            wan.activationBits = one({ 4, 8 });
        wan.congestion = chance(20) ? CongestionControl::Bbr : CongestionControl::Cubic;
        m_plan.placement.mode = chance(85) ? PlacementMode::PipelineAcross : PlacementMode::Auto;
        if (!chance(60))
            return;
        m_plan.placement.mode = PlacementMode::PipelineAcross;
        for (int s = 0; s < m_sites; ++s)
            m_plan.placement.stages.push_back(
                { m_plan.cluster.datacenters[std::size_t(s)].id, p.pipeline / m_sites, {} });
    }

    void prefill()
    {
        BubbleFill &fill = m_plan.bubbleFill;
        fill.enabled = true;
        fill.model = one({ "gpt-3-1.3b", "qwen2.5-1.5b" });
        fill.stages = one({ 1, 1, 2 });
        fill.requestsPerSecond = one({ 20, 100, 400 });
        fill.promptTokens = one({ 64, 128, 512 });
        fill.ttftSloMs = real(500, 10000);
        fill.guardMs = one({ 0.0, 0.1, 1.0 });
        fill.chaining = chance(30);
        fill.firstTokenFromDecode = chance(20);
        fill.arrivals = static_cast<Arrivals>(whole(0, 2));
        fill.seed = whole(1, 99);
    }

    void offload()
    {
        MemoryStrategy &m = m_plan.memory;
        const int kind = whole(0, 7);
        if (kind < 5) {
            m.activationOffload = one({ ActivationOffload::Host, ActivationOffload::Ssd });
            m.offloadPolicy = kind < 3 ? OffloadPolicy::SsdTrain
                                       : one({ OffloadPolicy::Memo, OffloadPolicy::Karma, OffloadPolicy::ProTrain });
            if (kind == 0)
                m.offloadFraction = 0.1 * whole(1, 10);
            m.offloadMinElements = one({ 1024, 1024 * 1024 });
            m.offloadGroup = one({ 1, 2 });
            m.recompute = chance(60) ? Recompute::None : m.recompute;
        }
        if (kind >= 4) {
            m.optimizerOffload = one({ OptimizerOffload::Host, OptimizerOffload::Host, OptimizerOffload::Interleaved,
                OptimizerOffload::Ssd });
            m.delayedUpdate = m.optimizerOffload == OptimizerOffload::Host && chance(30);
            if (kind == 7) {
                m.parameterOffload = one({ ParameterOffload::Host, ParameterOffload::Ssd });
                m_plan.parallelism.zeroStage = 3;
            }
        }
        for (Datacenter &site : m_plan.cluster.datacenters)
            for (Pool &pool : site.pools) {
                pool.host = Host { double(whole(512, 4096)), double(whole(12, 60)), {} };
                pool.ssd = Ssd { double(whole(4, 48)), double(whole(4, 48)), 10, 2000, 1, 1, one({ 1, 2 }), {} };
            }
    }

    /// Degrees that divide each other, with something to send.
    void experts()
    {
        Parallelism &p = m_plan.parallelism;
        m_plan.workload.model = one({ "qwen1.5-moe-a2.7b", "deepseek-v2-lite", "gpt-oss-20b", "qwen1.5-moe-a2.7b",
            "deepseek-v2-lite", "qwen1.5-moe-a2.7b", "mixtral-8x7b" });
        p.data = std::max(*p.data, p.tensor == 1 ? 2 : 1);
        const int experts = builtinCatalogue().model(m_plan.workload.model)->experts;
        const int ranks = p.tensor * p.context * *p.data;
        p.expertTensor = p.tensor > 1 && chance(20) ? p.tensor : 1;
        std::vector<int> fitting;
        for (int e = 1; e <= experts; ++e)
            if (experts % e == 0 && ranks % (e * p.expertTensor) == 0 && e * p.expertTensor > 1)
                fitting.push_back(e);
        p.expert = fitting.empty() ? 1 : fitting[std::size_t(whole(0, int(fitting.size()) - 1))];
        MoeStrategy &moe = m_plan.moe;
        moe.dispatch = static_cast<MoeDispatch>(whole(0, int(MoeDispatch::TrafficAware)));
        if (chance(40))
            moe.overlapChunks = one({ 1, 2, 4 });
        moe.pipelineBackward = chance(20);
        moe.sharedExpertOverlap = chance(20);
        moe.expertOverlap = chance(20) ? ExpertOverlap::OneFOneB : ExpertOverlap::None;
        if (chance(30))
            moe.imbalance = 1 + 0.1 * whole(1, 10);
        if (chance(20))
            moe.capacityFactor = 0.25 * whole(3, 6);
        moe.permute = chance(20) ? MoePermute::MemoryEfficient : MoePermute::Standard;
        m_plan.memory.offloadExpertInput = has(System::Offload) && chance(20);
        m_plan.memory.recomputeSharedExperts = chance(15);
    }

    /// Unequal datacenters, or two kinds in each of them: both are needed for all replicas.
    void mixed()
    {
        auto &sites = m_plan.cluster.datacenters;
        const char *kinds[] = { "h100-sxm-80gb", one({ "a100-sxm-80gb", "h200-sxm-141gb", "b200-sxm-180gb" }) };
        if (m_sites > 1 && chance(60)) {
            for (std::size_t d = 0; d < sites.size(); ++d)
                sites[d].pools.front().gpu = kinds[d % 2];
        } else {
            for (Datacenter &site : sites) {
                Pool other = site.pools.front();
                other.id = site.id + "1";
                const int nodes = other.nodes;
                site.pools.front().gpu = kinds[0];
                other.gpu = kinds[1];
                site.pools.front().nodes = std::max(1, nodes / 2);
                other.nodes = std::max(1, nodes - nodes / 2);
                if (nodes == 1 && other.gpusPerNode % 2 == 0 && other.gpusPerNode / 2 >= m_plan.parallelism.tensor)
                    site.pools.front().gpusPerNode = other.gpusPerNode /= 2;
                site.pools.push_back(std::move(other));
            }
        }
        Heterogeneity &h = m_plan.heterogeneity;
        h.compute = chance(60) ? ComputeSharing::Balanced : ComputeSharing::Even;
        h.state = static_cast<StateSharing>(whole(0, int(StateSharing::MinUtilization)));
        h.layers = chance(50) ? LayerSharing::BySpeed : LayerSharing::Even;
        if (m_plan.parallelism.pipeline == 1 && chance(50)) {
            h.accumulation = Accumulation::Layered;
            h.boundaryOffload = chance(30);
            h.gatherPrefetch = chance(70);
        }
    }

    /// Rarely, each: what belongs to no pair and may still get in its way.
    void others()
    {
        WorkloadSpec &w = m_plan.workload;
        MemoryStrategy &m = m_plan.memory;
        WanStrategy &wan = m_plan.wan;
        if (chance(8))
            w.documentLength = w.sequenceLength / 4;
        if (chance(8))
            w.optimizer = static_cast<Optimizer>(whole(0, int(Optimizer::Galore)));
        if (chance(5))
            w.precision = Precision::Fp8;
        if (chance(5))
            m_plan.parallelism.data.reset();
        if (chance(8))
            m_plan.parallelism.sequenceParallel = chance(50);
        if (m.recompute == Recompute::Full && chance(15))
            m.recomputeLayers = whole(1, 4);
        m.recomputeNorms = chance(5);
        m.recomputeActivationFunction = chance(5);
        m.fp8Activations = chance(5);
        if (chance(5))
            m.savedActivationBits = one({ 4, 8 });
        if (chance(15))
            wan.allReduce = WanAllReduce::Flat;
        if (chance(8))
            wan.gradientBits = one({ 4, 8 });
        if (chance(8)) {
            wan.localSgd = one({ LocalSgd::Diloco, LocalSgd::Streaming });
            wan.localSteps = whole(5, 100);
            wan.fragments = whole(1, 4);
        }
        if (!has(System::Experts) && !has(System::Offload) && chance(12))
            profile();
        if (m_plan.cluster.wanLinks.size() == 3 && chance(5))
            m_plan.cluster.wanLinks.pop_back();
        if (chance(10))
            m_plan.cluster.datacenters.front().fabric = FabricKind::Tcp;
    }

    void profile()
    {
        MeasuredStageTimes measured;
        const auto times = [&](double low, double high) {
            PerStage values(chance(60) ? 1 : std::size_t(m_plan.parallelism.pipeline));
            for (double &value : values)
                value = real(low, high);
            return values;
        };
        measured.forwardMs = times(1, 300);
        measured.backwardMs = times(2, 600);
        if (chance(40))
            measured.recomputeMs = times(1, 300);
        measured.activationMb = real(0, 300);
        if (chance(30))
            measured.gradientMb = real(1, 300);
        measured.parametersMb = chance(50) ? 0 : real(1, 2000);
        m_plan.profile = std::move(measured);
    }

    std::set<System> m_systems;
    PortableDraws m_draws;
    Plan m_plan;
    int m_sites = 1;
    bool m_asksForTwice = false;
};

} // namespace trainyard::test
