#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans with every kind of field set to something, by a seed. For tests that must hold for any plan.

#include "core/facts/plan/plan.h"

#include <random>

namespace trainyard::test {

class RandomPlan {
public:
    explicit RandomPlan(unsigned seed)
        : m_random(seed)
    {
    }

    int whole(int low, int high) { return std::uniform_int_distribution(low, high)(m_random); }
    bool coin() { return whole(0, 1) == 1; }
    double real(double low, double high) { return std::uniform_real_distribution(low, high)(m_random); }

    std::string text()
    {
        static const char *const words[] = { "Oregon", "a \"quoted\" word", "back\\slash", "Zürich – 東京", "tab\there",
            "", "x/y~z", "{}" };
        return words[whole(0, 7)];
    }

    Extra extra()
    {
        Extra kept;
        if (coin())
            kept["x_" + std::to_string(whole(0, 99))] = R"({"deep":[1,2.5,null,{"b":true}]})";
        return kept;
    }

    template <class E> E one(E last) { return static_cast<E>(whole(0, static_cast<int>(last))); }

    Pool pool(const std::string &id)
    {
        Pool pool { .id = id,
            .gpu = coin() ? "h100-sxm-80gb" : "l4-24gb",
            .inlineGpu = {},
            .nodes = whole(1, 40),
            .gpusPerNode = whole(1, 8),
            .usdPerGpuHour = {},
            .ssd = {},
            .host = {},
            .extra = extra() };
        if (coin())
            pool.usdPerGpuHour = real(0, 9);
        if (coin())
            pool.ssd = Ssd { real(1, 9), real(1, 9), real(0, 9), real(0, 9999), real(1, 3), real(1, 86), whole(1, 8),
                extra() };
        if (coin())
            pool.host = Host { real(1, 4096), real(0, 90), extra() };
        return pool;
    }

    Cluster cluster()
    {
        Cluster cluster;
        cluster.extra = extra();
        const int datacenters = whole(1, 4);
        for (int d = 0; d < datacenters; ++d) {
            Datacenter datacenter;
            datacenter.id = "dc-" + std::to_string(d);
            datacenter.name = text();
            if (coin())
                datacenter.latitude = real(-90, 90), datacenter.longitude = real(-180, 180);
            if (coin())
                datacenter.fabricGbpsPerGpu = real(1, 800);
            if (coin())
                datacenter.fabricMeasuredGBps = real(1, 100);
            if (coin())
                datacenter.usdPerKwh = real(0, 1), datacenter.kgCo2PerKwh = real(0, 1);
            datacenter.fabric = one(FabricKind::Tcp);
            const int pools = whole(1, 3);
            for (int p = 0; p < pools; ++p)
                datacenter.pools.push_back(pool(datacenter.id + "-p" + std::to_string(p)));
            datacenter.extra = extra();
            cluster.datacenters.push_back(std::move(datacenter));
        }
        for (int a = 0; a < datacenters; ++a) {
            for (int b = a + 1; b < datacenters; ++b) {
                WanLink link;
                link.between = { "dc-" + std::to_string(a), "dc-" + std::to_string(b) };
                link.rttMs = real(0, 300);
                link.jitterMs = coin() ? 0 : real(0, 20);
                link.capacityGbps = real(1, 1000);
                link.nodePairGbps = real(1, 50);
                link.tcpWindowMb = real(0.1, 9);
                if (coin())
                    link.cloud = "aws", link.lossRate = real(0, 0.5);
                if (coin())
                    link.usdPerGb = { real(0, 1), coin() ? 0.5 : real(0, 1) };
                link.extra = extra();
                cluster.wanLinks.push_back(std::move(link));
            }
        }
        return cluster;
    }

    MeasuredStageTimes profile(int stages)
    {
        MeasuredStageTimes profile;
        const auto times = [&] {
            PerStage values(static_cast<std::size_t>(coin() ? 1 : stages));
            for (double &value : values)
                value = real(0.001, 1e4);
            return values;
        };
        profile.forwardMs = times();
        profile.backwardMs = times();
        if (coin())
            profile.recomputeMs = times();
        if (coin())
            profile.weightGradMs = times(), profile.pairedMs = times();
        profile.activationMb = real(0, 1e4);
        if (coin())
            profile.gradientMb = real(0, 1e4);
        profile.parametersMb = coin() ? 0 : real(0, 1e5);
        if (coin())
            profile.inFlight = { whole(1, 99) };
        profile.extra = extra();
        return profile;
    }

    Heterogeneity heterogeneity()
    {
        Heterogeneity h;
        h.compute = one(ComputeSharing::Balanced);
        h.state = one(StateSharing::MinUtilization);
        h.layers = one(LayerSharing::BySpeed);
        h.accumulation = one(Accumulation::Layered);
        h.boundaryOffload = coin();
        h.gatherPrefetch = coin();
        h.releasedStateFill = coin();
        h.unevenPenalty = real(1, 9);
        h.accumulationOverheadMs = real(0, 99);
        h.memoryFraction = real(0.1, 1);
        if (coin())
            h.commBufferGib = real(0, 9);
        for (int i = whole(0, 2); i > 0; --i) {
            RankPin &pin = h.assign.emplace_back();
            pin.datacenter = text();
            pin.pool = coin() ? "" : text();
            if (coin())
                pin.gpus = whole(1, 99), pin.tensor = whole(1, 9), pin.microBatch = whole(1, 9),
                pin.microBatches = whole(1, 99);
            if (coin())
                pin.stateShare = real(0, 1);
            pin.extra = extra();
        }
        h.extra = extra();
        return h;
    }

    LayerProfiles layerProfiles()
    {
        const auto times = [this] {
            TimeByMicroBatch made;
            if (coin())
                made.slope = real(0, 9), made.intercept = real(0, 9);
            else
                made.measured = { { whole(1, 9), real(0, 99) }, { whole(10, 99), real(0, 99) } };
            return made;
        };
        LayerProfiles profiles;
        for (int i = whole(0, 2); i > 0; --i)
            profiles.gpus["gpu-" + std::to_string(i)] = { times(), times(), { real(0, 9), real(0, 9) }, {} };
        if (coin())
            profiles.allGatherMs = real(0, 9), profiles.reduceScatterMs = real(0, 9);
        if (coin())
            profiles.parameters = real(1, 1e12), profiles.layers = whole(1, 99);
        return profiles;
    }

    Plan plan()
    {
        Plan p;
        p.name = text();
        p.notes = text();
        p.cluster = cluster();
        p.extra = extra();
        WorkloadSpec &w = p.workload;
        w.model = coin() ? "llama-3-70b" : "models/config.json";
        w.sequenceLength = whole(1, 100000);
        if (coin())
            w.documentLength = whole(1, 100000);
        w.globalBatch = whole(1, 10000);
        w.microBatch = whole(1, 16);
        w.precision = one(Precision::Nvfp4);
        w.optimizer = one(Optimizer::Galore);
        w.galoreRank = whole(1, 2048);
        if (coin())
            w.trainingTokens = real(1, 1e14);
        w.extra = extra();
        Parallelism &s = p.parallelism;
        s = { whole(1, 8), whole(1, 64), {}, whole(1, 4), whole(1, 4), whole(1, 4), whole(1, 8), whole(1, 16), {},
            whole(0, 3), extra() };
        if (coin())
            s.data = whole(1, 64);
        if (coin())
            s.sequenceParallel = coin();
        p.schedule = one(ScheduleKind::Atlas);
        if (coin())
            p.stack = { "fsdp", { { "host_us_per_kernel", real(0, 9) } }, coin() ? "2.6" : "" };
        p.placement.mode = one(PlacementMode::DataAcross);
        if (coin())
            p.placement.stages = { { "dc-0", whole(1, 9), extra() }, { "dc-1", whole(1, 9), extra() } };
        if (coin())
            p.placement.layers = { whole(1, 40), whole(1, 40) };
        p.memory.recompute = one(Recompute::Full);
        p.memory.activationOffload = one(ActivationOffload::Ssd);
        p.memory.optimizerOffload = one(OptimizerOffload::Ssd);
        p.memory.parameterOffload = one(ParameterOffload::Host);
        p.memory.offloadPolicy = one(OffloadPolicy::ProTrain);
        p.memory.recomputeNorms = coin();
        p.memory.recomputeActivationFunction = coin();
        p.memory.delayedUpdate = coin();
        p.memory.fp8Activations = coin();
        if (coin())
            p.memory.recomputeLayers = whole(0, 40), p.memory.savedActivationBits = whole(1, 16);
        if (coin())
            p.memory.offloadFraction = real(0, 1);
        if (coin())
            p.memory.offloadMinElements = whole(0, 9999999), p.memory.offloadGroup = whole(1, 9),
            p.memory.offloadAhead = whole(1, 4);
        p.wan.sharing = one(WanSharing::Temporal);
        if (coin())
            p.wan.tcpConnections = whole(1, 300);
        if (coin())
            p.wan.cell = whole(1, 16);
        p.wan.congestion = one(CongestionControl::Bbr);
        p.wan.turns = one(TurnOrder::DrainFirst);
        p.wan.allReduce = one(WanAllReduce::Flat);
        p.wan.localSgd = one(LocalSgd::Streaming);
        if (coin())
            p.wan.localSteps = whole(1, 500), p.wan.fragments = whole(1, 9), p.wan.exchangeBits = whole(1, 32);
        if (coin())
            p.wan.activationBits = whole(1, 32), p.wan.gradientBits = whole(1, 32);
        p.moe.dispatch = one(MoeDispatch::TrafficAware);
        p.moe.baseline = one(MoeBaseline::Einsum);
        p.moe.permute = one(MoePermute::MemoryEfficient);
        p.moe.expertOverlap = one(ExpertOverlap::OneFOneB);
        p.moe.pipelineBackward = coin(), p.moe.sharedExpertOverlap = coin(), p.moe.dropless = coin();
        if (coin())
            p.moe.forwardChunks = whole(1, 9), p.moe.backwardChunks = whole(1, 9),
            p.moe.communicationSms = whole(0, 99), p.moe.expertLoads = { real(0, 9), real(0, 9) };
        p.memory.recomputeUpProjection = coin(), p.memory.recomputeSharedExperts = coin();
        p.memory.offloadExpertInput = coin();
        if (coin())
            p.moe.overlapChunks = whole(1, 9), p.moe.imbalance = real(1, 4), p.moe.capacityFactor = real(0.1, 4);
        p.heterogeneity = heterogeneity();
        if (coin())
            p.layerProfiles = layerProfiles();
        p.bubbleFill.enabled = coin();
        p.bubbleFill.model = coin() ? "" : "llama-3-8b";
        p.bubbleFill.stages = whole(1, 9);
        p.bubbleFill.arrivals = one(Arrivals::Trace);
        p.bubbleFill.requestsPerSecond = real(0, 99);
        p.bubbleFill.burstiness = real(1, 9);
        p.bubbleFill.trace = coin() ? "" : "requests.csv";
        p.bubbleFill.promptTokens = whole(1, 9999);
        p.bubbleFill.ttftSloMs = real(1, 9999);
        p.bubbleFill.guardMs = real(0, 9);
        p.bubbleFill.chaining = coin();
        if (coin())
            p.bubbleFill.kvGbps = real(1, 800), p.bubbleFill.usdPerMillionTokens = real(0, 9);
        p.bubbleFill.firstTokenFromDecode = coin();
        p.bubbleFill.seed = whole(0, 99);
        p.bubbleFill.extra = extra();
        if (coin())
            p.jobs = { { "one", "opt-1.3b", whole(1, 9), whole(1, 9), whole(1, 9) } }, p.jobs[0].extra = extra();
        if (coin())
            p.jobScheduler = JobScheduler::Milp;
        if (coin())
            p.calibration["compute"] = R"({"factor":1.1,"recording":"run.json"})";
        if (coin())
            p.profile = profile(p.parallelism.pipeline);
        addJobs(p); // last, so that plans of a seed stay what they are otherwise
        addServing(p);
        for (int i = whole(0, 2); i > 0; --i)
            p.notUnderstood.push_back({ text(), text(), -real(0, 1), real(0, 9), coin(), extra() });
        return p;
    }

    void addServing(Plan &p)
    {
        if (coin())
            p.bubbleFill.prefillBatch = whole(1, 9), p.bubbleFill.batchWaitMs = real(0, 99);
        for (int i = whole(0, 2); i > 0; --i)
            p.bubbleFill.served.push_back({ text(), real(0, 99), whole(1, 9999), extra() });
        if (coin())
            p.bubbleFill.decode = { whole(1, 99), coin() ? "" : "a100-sxm-80gb", whole(1, 999), extra() };
    }

    Job job(const std::string &name)
    {
        Job job { .name = name, .model = coin() ? "opt-1.3b" : "models/config.json" };
        job.batch = whole(1, 64), job.minibatches = whole(1, 999), job.epochs = whole(1, 9);
        job.sequenceLength = whole(1, 9999);
        job.precision = one(Precision::Nvfp4), job.optimizer = one(Optimizer::Galore);
        if (coin())
            job.learningRate = real(1e-6, 1), job.deadlineS = real(1000, 2000);
        job.arrivalS = real(0, 999);
        job.priority = real(-9, 9);
        if (coin())
            job.gpus = whole(1, 99);
        job.technique = one(JobTechnique::ZeroOffload);
        for (int i = 2 * whole(0, 2); i > 0; --i)
            job.unitMs.push_back(real(0.1, 99));
        if (!job.unitMs.empty())
            job.unitMs.pop_back(); // 2K - 1 of them
        for (int gpu = whole(0, 3); gpu > 0; --gpu)
            job.pinnedGpus.insert(job.pinnedGpus.begin(), gpu);
        job.paused = coin();
        job.extra = extra();
        return job;
    }

    JobGrid grid()
    {
        JobGrid grid;
        grid.model = { "opt-1.3b", "gpt-3-1.3b" };
        if (coin())
            grid.batch = { whole(1, 9), whole(10, 99) }, grid.learningRate = { real(1e-6, 1), real(1e-6, 1) };
        if (coin())
            grid.sequenceLength = { whole(1, 9999) }, grid.minibatches = { whole(1, 9), whole(10, 99) };
        if (coin())
            grid.epochs = { whole(1, 9) }, grid.precision = { Precision::Fp32, Precision::Bf16 };
        if (coin())
            grid.optimizer = { Optimizer::Adam, Optimizer::Sgd };
        grid.extra = extra();
        return grid;
    }

    void addJobs(Plan &p)
    {
        for (int i = whole(0, 3); i > 0; --i)
            p.jobs.push_back(job("job " + std::to_string(i)));
        if (coin())
            p.jobGrid = grid();
        p.jobScheduler = one(JobScheduler::List);
        JobOptions &o = p.jobOptions;
        o.doubleBuffer = coin(), o.lookAhead = coin(), o.spill = coin();
        o.remaining = one(RemainingWork::Minibatches);
        o.seed = whole(0, 99);
        o.introspectionS = real(0, 99), o.switchCostS = real(0, 99);
        o.revocationsPerDay = real(0, 9), o.checkpointS = real(0, 999), o.restartS = real(0, 99);
        o.seconds = real(0.1, 99);
        o.extra = extra();
    }

private:
    std::mt19937 m_random;
};

} // namespace trainyard::test
