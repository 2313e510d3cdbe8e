// SPDX-License-Identifier: GPL-3.0-or-later
// A random plan of the tests, given the schedule and the feature that its number asks for: of schedules each comes
// every seventeenth time, of features each every twentieth, so that they meet in all combinations.
#include "core/engine/schedule/traits.h"
#include "tests/core/evaluation/evaluate/random_valid_plans.h"
#include "tests/record/recorded_plans.h"

#include <array>

namespace trainyard::record {

namespace {

class Widened {
public:
    explicit Widened(unsigned number)
        : m_number(number)
        , m_plan(test::RandomPlanBy<test::PortableDraws>(number).plan())
        , m_draws(number + 1'000'000)
    {
    }

    Plan plan()
    {
        m_plan.name = "random " + std::to_string(m_number);
        setSchedule(static_cast<ScheduleKind>(m_number % kSchedules));
        addFeature(m_number % kFeatures);
        if (chance(8))
            m_plan.memory.recomputeLayers = whole(1, 4);
        if (chance(8))
            m_plan.workload.documentLength = m_plan.workload.sequenceLength / 4;
        if (chance(8))
            m_plan.parallelism.sequenceParallel = chance(50);
        if (chance(8))
            m_plan.wan.congestion = CongestionControl::Bbr;
        if (chance(8))
            m_plan.memory.savedActivationBits = one({ 8, 16 });
        m_plan.memory.recomputeActivationFunction = chance(8);
        shapeBatch();
        return std::move(m_plan);
    }

private:
    static constexpr unsigned kSchedules = unsigned(ScheduleKind::Atlas) + 1;
    static constexpr unsigned kFeatures = 20; // shares no divisor with the schedules

    int whole(int low, int high) { return m_draws.whole(low, high); }
    bool chance(int percent) { return whole(1, 100) <= percent; }
    template <class T> T one(std::initializer_list<T> values)
    {
        return values.begin()[whole(0, int(values.size()) - 1)];
    }

    void setSchedule(ScheduleKind kind)
    {
        m_plan.schedule = kind;
        Parallelism &p = m_plan.parallelism;
        p.virtualPipeline = kind == ScheduleKind::Interleaved ? one({ 2, 2, 3 })
            : kind == ScheduleKind::BreadthFirst              ? one({ 1, 2 })
                                                              : 1;
        p.tokenSlices = one({ 2, 4 });
        if (p.pipeline == 1 && chance(80))
            p.pipeline = one({ 2, 4 });
        if (traitsOf(kind).copies() == 2 && p.pipeline % 2 != 0)
            p.pipeline = 2;
    }

    /// Schedules with a micro-batch from each end of every stage.
    [[nodiscard]] bool asksForTwice() const
    {
        return traitsOf(m_plan.schedule).copies() == 2 || m_plan.schedule == ScheduleKind::DualPipeV;
    }

    /// As many micro-batches as the schedule asks for, on every pipeline; as many nodes as all pipelines take.
    void shapeBatch()
    {
        Parallelism &p = m_plan.parallelism;
        const int data = p.data.value_or(one({ 1, 2, 4 }));
        if (chance(90))
            m_plan.workload.globalBatch = data * p.pipeline * (chance(6) ? 16 : one({ 1, 2, 2, 3 }))
                * m_plan.workload.microBatch * (asksForTwice() ? 2 : 1);
        if (!m_plan.placement.stages.empty() && m_plan.placement.stages.size() == 2) {
            m_plan.placement.stages[0].stages = p.pipeline / 2;
            m_plan.placement.stages[1].stages = p.pipeline - p.pipeline / 2;
        }
        const int gpus = p.tensor * p.context * p.pipeline * data;
        auto &sites = m_plan.cluster.datacenters;
        for (Datacenter &site : sites)
            for (Pool &pool : site.pools)
                pool.nodes = std::max(pool.nodes, (gpus / int(sites.size()) + pool.gpusPerNode - 1) / pool.gpusPerNode);
    }

    /// The plan with one thing that its number asks for; some ask for the same.
    void addFeature(unsigned feature)
    {
        using W = Widened;
        static constexpr std::array<void (W::*)(), kFeatures> features { &W::drives, &W::hosts, &W::policy, &W::policy,
            &W::policy, &W::hostStates, &W::interleavedStates, &W::driveStates, &W::parameters, &W::turns, &W::turns,
            &W::localSgd, &W::experts, &W::profile, &W::mixedGpus, &W::layers, &W::localSgd, &W::exchange,
            &W::drainedFirst, &W::differentNodes };
        (this->*features[feature])();
    }

    void drives() { offloadActivations(ActivationOffload::Ssd, OffloadPolicy::SsdTrain); }
    void hosts() { offloadActivations(ActivationOffload::Host, OffloadPolicy::SsdTrain); }
    void policy()
    {
        offloadActivations(one({ ActivationOffload::Host, ActivationOffload::Ssd }),
            one({ OffloadPolicy::Memo, OffloadPolicy::Karma, OffloadPolicy::ProTrain }));
    }

    void hostStates()
    {
        offloadStates(OptimizerOffload::Host);
        m_plan.memory.delayedUpdate = chance(80);
    }

    void interleavedStates() { offloadStates(OptimizerOffload::Interleaved); }
    void driveStates() { offloadStates(OptimizerOffload::Ssd); }
    void parameters()
    {
        offloadStates(one({ OptimizerOffload::Host, OptimizerOffload::Ssd }));
        m_plan.memory.parameterOffload = one({ ParameterOffload::Host, ParameterOffload::Ssd });
        m_plan.parallelism.zeroStage = 3;
    }

    void offloadActivations(ActivationOffload to, OffloadPolicy policy)
    {
        MemoryStrategy &m = m_plan.memory;
        m.activationOffload = to;
        m.offloadPolicy = policy;
        m.offloadFraction.reset();
        if (policy == OffloadPolicy::SsdTrain && chance(50))
            m.offloadFraction = 0.05 * whole(1, 20);
        m.offloadMinElements = one({ 8 * 1024 * 1024, 1024 * 1024, 1024 });
        m.offloadGroup = one({ 1, 2, 4 });
        m.offloadAhead = one({ 1, 2 });
        m_plan.profile.reset();
        if (chance(70))
            m.recompute = one({ Recompute::None, Recompute::Selective });
        addHostsAndDrives();
    }

    void offloadStates(OptimizerOffload to)
    {
        m_plan.memory.optimizerOffload = to;
        m_plan.memory.delayedUpdate = false;
        m_plan.profile.reset();
        if (chance(80))
            m_plan.workload.optimizer = Optimizer::Adam;
        addHostsAndDrives();
    }

    void addHostsAndDrives()
    {
        for (Datacenter &site : m_plan.cluster.datacenters) {
            for (Pool &pool : site.pools) {
                pool.host = Host { double(whole(512, 4096)), double(whole(12, 60)), {} };
                pool.ssd = Ssd { double(whole(4, 48)), double(whole(4, 48)), 10, 2000, 1, 1, one({ 1, 2 }), {} };
            }
        }
    }

    /// Two or three datacenters, all of them linked, with the pipelines across them.
    void across(PlacementMode mode)
    {
        auto &sites = m_plan.cluster.datacenters;
        const int count = std::max<int>(2, int(sites.size()));
        while (int(sites.size()) < count) {
            Datacenter site = sites.front();
            site.id = "more";
            for (Pool &pool : site.pools)
                pool.id = "more-" + pool.id;
            sites.push_back(std::move(site));
        }
        m_plan.placement = {};
        m_plan.placement.mode = mode;
        m_plan.cluster.wanLinks.clear();
        for (std::size_t a = 0; a < sites.size(); ++a) {
            for (std::size_t b = a + 1; b < sites.size(); ++b) {
                WanLink link;
                link.between = { sites[a].id, sites[b].id };
                link.rttMs = whole(1, 150);
                link.capacityGbps = one({ 20, 100, 400, 1000 });
                link.nodePairGbps = whole(2, 50);
                m_plan.cluster.wanLinks.push_back(link);
            }
        }
        if (mode != PlacementMode::PipelineAcross) {
            for (Datacenter &site : sites) { // no datacenter has room for all replicas
                site.pools.resize(1);
                site.pools.front().nodes = 1;
            }
            return;
        }
        Parallelism &p = m_plan.parallelism;
        p.pipeline = std::max(
            p.pipeline, int(sites.size()) * (traitsOf(m_plan.schedule).copies() == 2 && sites.size() % 2 ? 2 : 1));
        if (!chance(70))
            return;
        int left = p.pipeline;
        for (std::size_t s = 0; s < sites.size(); ++s) {
            const int stages = left / int(sites.size() - s);
            m_plan.placement.stages.push_back({ sites[s].id, stages, {} });
            left -= stages;
        }
    }

    void turns()
    {
        across(PlacementMode::PipelineAcross);
        WanStrategy &w = m_plan.wan;
        w.sharing = WanSharing::Temporal;
        w.turns = one({ TurnOrder::RoundRobin, TurnOrder::DrainFirst });
        w.cell.reset();
        m_plan.parallelism.data = one({ 2, 3, 4, 4, 6 });
        if (chance(70))
            w.cell = whole(2, *m_plan.parallelism.data);
        if (chance(40))
            profile();
        if (chance(25))
            w.activationBits = one({ 4, 8 });
    }

    void localSgd()
    {
        across(PlacementMode::DataAcross);
        WanStrategy &w = m_plan.wan;
        w.localSgd = one({ LocalSgd::Diloco, LocalSgd::Streaming });
        w.localSteps = whole(5, 100);
        w.fragments = whole(1, 4);
        w.exchangeBits = one({ 32, 16, 8, 4 });
        m_plan.parallelism.data = one({ 2, 4 });
    }

    /// Gradients between datacenters, in all forms.
    void exchange()
    {
        across(PlacementMode::DataAcross);
        m_plan.wan.allReduce = one({ WanAllReduce::Hierarchical, WanAllReduce::Flat });
        m_plan.wan.localSgd = LocalSgd::None;
        if (chance(70))
            m_plan.wan.gradientBits = one({ 4, 8 });
        m_plan.parallelism.data = one({ 2, 4 });
    }

    void drainedFirst()
    {
        turns();
        m_plan.wan.turns = TurnOrder::DrainFirst;
        m_plan.wan.cell = m_plan.parallelism.data;
        if (chance(50))
            m_plan.memory.recompute = Recompute::Full;
    }

    void experts()
    {
        m_plan.workload.model = one({ "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v2-lite", "gpt-oss-20b" });
        m_plan.profile.reset();
        Parallelism &p = m_plan.parallelism;
        p.tensor = one({ 1, 2, 4 });
        p.expert = one({ 1, 2, 4, 8 });
        p.expertTensor = chance(20) ? p.tensor : 1;
        p.data = std::max(p.data.value_or(1), p.expert / p.tensor);
        MoeStrategy &moe = m_plan.moe;
        constexpr std::array kDispatches { MoeDispatch::Flat, MoeDispatch::Hierarchical, MoeDispatch::Dedup,
            MoeDispatch::TensorSliced, MoeDispatch::TrafficAware };
        moe.dispatch = kDispatches[std::size_t(whole(0, int(kDispatches.size()) - 1))];
        if (chance(50))
            moe.overlapChunks = one({ 1, 2, 4 });
        if (chance(30))
            moe.imbalance = 1 + 0.1 * whole(1, 10);
        if (chance(20))
            moe.capacityFactor = 1.25;
    }

    void profile()
    {
        MeasuredStageTimes measured;
        const auto times = [&](int low, int high) {
            PerStage values(chance(60) ? 1 : std::size_t(m_plan.parallelism.pipeline));
            for (double &value : values)
                value = 0.1 * whole(low, high);
            return values;
        };
        measured.forwardMs = times(50, 2000);
        measured.backwardMs = times(100, 4000);
        if (chance(50))
            measured.recomputeMs = times(50, 2000);
        if (chance(30))
            measured.weightGradMs = times(10, 50);
        if (chance(60))
            measured.inFlight = { m_plan.parallelism.pipeline + whole(0, 2) };
        measured.activationMb = whole(1, 300);
        if (chance(30))
            measured.gradientMb = whole(1, 300);
        measured.parametersMb = chance(50) ? 0 : whole(1, 2000);
        m_plan.profile = std::move(measured);
        m_plan.memory.activationOffload = ActivationOffload::None;
        m_plan.memory.optimizerOffload = OptimizerOffload::None;
        m_plan.memory.parameterOffload = ParameterOffload::None;
        m_plan.memory.delayedUpdate = false;
    }

    void mixedGpus()
    {
        auto &sites = m_plan.cluster.datacenters;
        for (std::size_t s = 0; s < sites.size(); ++s) {
            Pool &first = sites[s].pools.front();
            if (sites[s].pools.size() == 1)
                sites[s].pools.push_back(first);
            sites[s].pools.back().id = sites[s].id + "-other";
            first.gpu = "h100-sxm-80gb";
            sites[s].pools.back().gpu = one({ "a100-sxm-80gb", "h200-sxm-141gb", "b200-sxm-180gb" });
            // Half of what the pipelines take in each, so that both are needed.
            for (Pool &pool : sites[s].pools)
                pool.nodes = 1;
        }
        m_plan.heterogeneity.compute = one({ ComputeSharing::Even, ComputeSharing::Balanced });
        m_plan.heterogeneity.state = one({ StateSharing::Even, StateSharing::Balanced });
        m_plan.placement.stages.clear();
        m_plan.parallelism.data = one({ 2, 3, 4 });
    }

    /// Pools of one GPU that differ in the size of their nodes, in host memory or in drives, under work that asks for
    /// them.
    void differentNodes()
    {
        offloadStates(one({ OptimizerOffload::None, OptimizerOffload::Host, OptimizerOffload::Ssd }));
        if (chance(60))
            offloadActivations(one({ ActivationOffload::Host, ActivationOffload::Ssd }), OffloadPolicy::SsdTrain);
        for (Datacenter &site : m_plan.cluster.datacenters) {
            Pool other = site.pools.front();
            other.id = site.id + "-other";
            if (chance(50))
                other.gpusPerNode *= 2;
            other.host->gbytesPerSecondPerGpu /= 2;
            other.ssd->writeGBps /= 2;
            for (Pool *pool : { &site.pools.front(), &other })
                pool->nodes = 1;
            site.pools = { site.pools.front(), other };
        }
        m_plan.placement.stages.clear();
        m_plan.parallelism.data = one({ 2, 3, 4 });
    }

    /// Layers as the plan gives them, uneven; mostly with replicas that train alone for some steps.
    void layers()
    {
        if (chance(70))
            localSgd();
        m_plan.workload.model = "llama-3-8b"; // 32 layers
        m_plan.parallelism.expert = 1;
        m_plan.profile.reset();
        int left = 32;
        const int stages = m_plan.parallelism.pipeline;
        for (int stage = 0; stage < stages; ++stage) {
            const int rest = stages - stage - 1;
            const int most = left - 2 * rest;
            const int taken = rest == 0 ? left : std::clamp(left / (rest + 1) + whole(-1, 1), 2, most);
            m_plan.placement.layers.push_back(taken);
            left -= taken;
        }
    }

    unsigned m_number;
    Plan m_plan;
    test::PortableDraws m_draws;
};

} // namespace

PlanPtr randomPlan(unsigned number)
{
    return std::make_shared<const Plan>(Widened(number).plan());
}

} // namespace trainyard::record
