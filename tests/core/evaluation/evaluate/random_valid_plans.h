#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans that a person could have written, by a seed: every schedule, placement, way of offloading, recomputation and
// WAN strategy, mixed GPUs, experts, profiles and prefill, with shapes that mostly divide. For tests of what holds for
// any plan. Not all are feasible, nor are all placed: that is part of it.

#include "core/engine/schedule/traits.h"
#include "core/evaluation/advice/evaluate.h"
#include "tests/support/trials.h"

#include <algorithm>
#include <random>
#include <type_traits>

namespace trainyard::test {

inline unsigned randomPlans()
{
    return unsigned(trials(600));
}

/// As the standard library draws: which numbers it makes of a seed is its own affair.
class StandardDraws {
public:
    explicit StandardDraws(unsigned seed)
        : m_random(seed)
    {
    }
    int whole(int low, int high) { return std::uniform_int_distribution(low, high)(m_random); }
    double real(double low, double high) { return std::uniform_real_distribution(low, high)(m_random); }

private:
    std::mt19937 m_random;
};

/// The same numbers of a seed everywhere, for plans whose evaluations are kept.
class PortableDraws {
public:
    explicit PortableDraws(unsigned seed)
        : m_random(seed)
    {
    }
    int whole(int low, int high) { return low + int(m_random() % unsigned(high - low + 1)); }
    double real(double low, double high) { return low + (high - low) * (double(m_random()) * 0x1p-32); }

private:
    std::mt19937 m_random;
};

template <class Draws> class RandomPlanBy {
public:
    explicit RandomPlanBy(unsigned seed)
        : m_draws(seed)
    {
    }

    Plan plan()
    {
        Plan p;
        p.name = "random";
        shape(p);
        cluster(p);
        batch(p);
        memory(p);
        wan(p);
        if (chance(10))
            p.stack.name = one({ "ideal", "fsdp", "megatron-deepspeed", "deepspeed", "megatron-lm-2021" });
        if (chance(12))
            profile(p);
        if (chance(15))
            fill(p);
        if constexpr (!std::is_same_v<Draws, PortableDraws>) // whose evaluations are kept, plan by plan
            if (p.workload.model == "mixtral-8x7b")
                experts(p);
        return p;
    }

private:
    int whole(int low, int high) { return m_draws.whole(low, high); }
    double real(double low, double high) { return m_draws.real(low, high); }
    bool chance(int percent) { return whole(1, 100) <= percent; }
    template <class T> T one(std::initializer_list<T> values)
    {
        return values.begin()[whole(0, int(values.size()) - 1)];
    }

    void shape(Plan &p)
    {
        p.workload.model = one({ "gpt-3-1.3b", "llama-3-8b", "gpt-3-6.7b", "llama-2-13b", "mixtral-8x7b" });
        p.workload.sequenceLength = one({ 1024, 2048, 4096 });
        p.workload.precision = one({ Precision::Bf16, Precision::Bf16, Precision::Fp16, Precision::Fp8 });
        p.workload.optimizer = static_cast<Optimizer>(chance(70) ? 0 : whole(0, int(Optimizer::Galore)));
        if (chance(20))
            p.workload.trainingTokens = real(1e9, 1e13);
        Parallelism &s = p.parallelism;
        s.tensor = one({ 1, 2, 4, 8 });
        s.pipeline = one({ 1, 2, 2, 4, 4, 6, 8 });
        s.context = chance(10) ? 2 : 1;
        s.zeroStage = one({ 0, 1, 1, 1, 2, 3 });
        p.schedule = static_cast<ScheduleKind>(whole(0, int(ScheduleKind::Atlas)));
        s.virtualPipeline = p.schedule == ScheduleKind::Interleaved ? one({ 2, 2, 3, 4 })
            : p.schedule == ScheduleKind::BreadthFirst              ? one({ 1, 2 })
                                                                    : 1;
        s.tokenSlices = one({ 2, 4 });
        if (p.workload.model == "mixtral-8x7b")
            s.expert = one({ 1, 2, 4, 8 });
    }

    void cluster(Plan &p)
    {
        const int sites = chance(45) ? 1 : whole(2, 3);
        const int gpusOfReplica = p.parallelism.tensor * p.parallelism.context * p.parallelism.pipeline;
        m_data = one({ 1, 2, 3, 4, 8 });
        const bool mixes = chance(30);
        const char *common = gpu();
        for (int d = 0; d < sites; ++d) {
            Datacenter site;
            site.id = std::string(1, char('a' + d));
            const int pools = chance(20) ? 2 : 1;
            for (int k = 0; k < pools; ++k) {
                Pool pool;
                pool.id = site.id + std::to_string(k);
                pool.gpu = mixes ? gpu() : common;
                pool.gpusPerNode = std::max(p.parallelism.tensor, one({ 4, 8, 8 }));
                pool.nodes = std::max(1,
                    (gpusOfReplica * m_data + pool.gpusPerNode * sites - 1) / (pool.gpusPerNode * sites)
                        + whole(-1, 1));
                if (chance(40))
                    pool.ssd = Ssd { real(1, 12), real(1, 24), 10, 2000, 1, 1, one({ 1, 2 }), {} };
                if (chance(40))
                    pool.host = Host { real(64, 2048), real(10, 60), {} };
                site.pools.push_back(std::move(pool));
            }
            if (chance(30))
                site.fabricGbpsPerGpu = real(25, 400);
            if (chance(10))
                site.fabric = FabricKind::Tcp;
            p.cluster.datacenters.push_back(std::move(site));
        }
        for (int a = 0; a < sites; ++a) {
            for (int b = a + 1; b < sites; ++b) {
                WanLink link;
                link.between = { p.cluster.datacenters[std::size_t(a)].id, p.cluster.datacenters[std::size_t(b)].id };
                link.rttMs = real(0, 200);
                link.capacityGbps = one({ 5.0, 40.0, 400.0 });
                link.nodePairGbps = real(1, 50);
                link.tcpWindowMb = real(0.2, 8);
                if (chance(15))
                    link.lossRate = real(0, 0.01);
                p.cluster.wanLinks.push_back(std::move(link));
            }
        }
        p.placement.mode =
            one({ PlacementMode::Auto, PlacementMode::Auto, PlacementMode::PipelineAcross, PlacementMode::DataAcross });
        if (sites == 2 && p.parallelism.pipeline > 1 && p.placement.mode == PlacementMode::PipelineAcross && chance(40))
            p.placement.stages = { { "a", p.parallelism.pipeline / 2, {} },
                { "b", p.parallelism.pipeline - p.parallelism.pipeline / 2, {} } };
    }

    const char *gpu()
    {
        return one(
            { "h100-sxm-80gb", "a100-sxm-80gb", "a100-sxm-40gb", "h200-sxm-141gb", "mi300x-192gb", "l40s-48gb" });
    }

    void batch(Plan &p)
    {
        const int microBatches = p.parallelism.pipeline * one({ 1, 1, 2, 3 }) + (chance(10) ? 1 : 0);
        p.workload.microBatch = one({ 1, 1, 2 });
        p.workload.globalBatch = m_data * microBatches * p.workload.microBatch;
        if (chance(75))
            p.parallelism.data = m_data;
    }

    void memory(Plan &p)
    {
        MemoryStrategy &m = p.memory;
        m.recompute = static_cast<Recompute>(whole(0, 2));
        m.recomputeNorms = chance(10);
        if (chance(30)) {
            m.activationOffload = one({ ActivationOffload::Host, ActivationOffload::Ssd });
            m.offloadPolicy = static_cast<OffloadPolicy>(chance(60) ? 0 : whole(0, 3));
            if (chance(50))
                m.offloadFraction = real(0, 1);
            m.offloadGroup = one({ 1, 2, 4 });
            m.offloadAhead = one({ 1, 2 });
        }
        if (chance(15))
            m.optimizerOffload = static_cast<OptimizerOffload>(whole(0, 3));
        m.delayedUpdate = m.optimizerOffload == OptimizerOffload::Host && chance(30);
        if (chance(10))
            m.parameterOffload = static_cast<ParameterOffload>(whole(0, 2));
        m.fp8Activations = chance(10);
    }

    /// What experts and latent attention let spare; further tokens; windows.
    void experts(Plan &p)
    {
        if (chance(50)) {
            p.workload.model.clear();
            ModelSpec model = *builtinCatalogue().model("deepseek-v2-lite");
            model.mtpLayers = chance(30) ? whole(1, 2) : 0;
            model.attentionWindow = chance(30) ? one({ 128, 2048, 8192 }) : 0;
            model.windowedLayers = model.attentionWindow > 0 ? whole(1, model.layers) : 0;
            p.workload.inlineModel = model;
        }
        p.memory.recomputeUpProjection = chance(30);
        p.memory.recomputeSharedExperts = chance(30);
        p.memory.offloadExpertInput = chance(30);
        if (chance(30))
            p.moe.permute = MoePermute::MemoryEfficient;
        if (p.profile && chance(40))
            p.profile->pairedMs = { real(0.5, 300) };
    }

    void wan(Plan &p)
    {
        WanStrategy &w = p.wan;
        if (chance(40))
            w.tcpConnections = one({ 1, 8, 64 });
        w.sharing = one({ WanSharing::Spatial, WanSharing::Temporal });
        if (chance(20))
            w.cell = whole(1, 4);
        w.turns = one({ TurnOrder::RoundRobin, TurnOrder::DrainFirst });
        w.allReduce = one({ WanAllReduce::Hierarchical, WanAllReduce::Hierarchical, WanAllReduce::Flat });
        if (chance(10)) {
            w.localSgd = one({ LocalSgd::Diloco, LocalSgd::Streaming });
            w.localSteps = whole(5, 100);
            w.fragments = whole(1, 4);
        }
        if (chance(10))
            w.activationBits = one({ 4, 8 });
        if (chance(10))
            w.gradientBits = one({ 4, 8 });
    }

    void profile(Plan &p)
    {
        MeasuredStageTimes measured;
        const auto times = [&] {
            PerStage values(chance(60) ? 1 : std::size_t(p.parallelism.pipeline));
            for (double &value : values)
                value = real(0.5, 300);
            return values;
        };
        measured.forwardMs = times();
        measured.backwardMs = times();
        if (chance(40))
            measured.recomputeMs = times();
        measured.activationMb = real(0, 300);
        measured.parametersMb = chance(50) ? 0 : real(0, 2000);
        p.profile = std::move(measured);
    }

    void fill(Plan &p)
    {
        p.bubbleFill.enabled = true;
        p.bubbleFill.model = one({ "llama-3-8b", "gpt-3-1.3b" });
        p.bubbleFill.stages = one({ 1, 2, 4 });
        p.bubbleFill.requestsPerSecond = real(1, 60);
        p.bubbleFill.promptTokens = one({ 128, 512, 1024 });
        p.bubbleFill.ttftSloMs = real(500, 5000);
        p.bubbleFill.chaining = chance(30);
        p.bubbleFill.firstTokenFromDecode = chance(30);
        p.bubbleFill.arrivals = static_cast<Arrivals>(whole(0, 2));
    }

    Draws m_draws;
    int m_data = 1;
};

using RandomValidPlan = RandomPlanBy<StandardDraws>;

inline PlanPtr randomValidPlan(unsigned seed)
{
    return std::make_shared<const Plan>(RandomValidPlan(seed).plan());
}

} // namespace trainyard::test
