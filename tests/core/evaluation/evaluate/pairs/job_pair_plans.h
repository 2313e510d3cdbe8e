#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Small plans of many models with one more system on, by a seed; schedulers, options, arrivals, pins and hosts are
// drawn as well. What a plan with jobs makes of each: Atlas asks for turns on the WAN, over which no job sends
// anything; offload is shards that wait in host memory, or ZeRO-3 with its states there; experts are models that have
// them.

#include "core/facts/plan/job_schedulers.h"
#include "tests/core/evaluation/evaluate/pairs/systems.h"
#include "tests/core/evaluation/evaluate/random_valid_plans.h"

namespace trainyard::test {

class JobPairPlan {
public:
    JobPairPlan(System with, unsigned seed)
        : m_draws(seed)
    {
        for (const System system : kSystems)
            if (system == with || chance(12))
                m_systems.insert(system);
        m_plan.name = std::string("jobs with ") + toString(with) + ", " + std::to_string(seed);
    }

    Plan plan()
    {
        scheduler();
        cluster();
        for (int job = whole(2, has(System::MixedGpus) ? 9 : 6); job > 0; --job)
            m_plan.jobs.push_back(randomJob(job));
        if (has(System::Experts) && std::ranges::none_of(m_plan.jobs, hasExperts))
            m_plan.jobs.front().model = "qwen1.5-moe-a2.7b";
        if (has(System::Prefill))
            prefill();
        if (chance(15))
            m_plan.stack.name = one({ "ideal", "fsdp" });
        return std::move(m_plan);
    }

private:
    static bool hasExperts(const Job &job) { return job.model.find("moe") != std::string::npos; }
    [[nodiscard]] bool has(System system) const { return m_systems.contains(system); }
    int whole(int low, int high) { return m_draws.whole(low, high); }
    bool chance(int percent) { return whole(1, 100) <= percent; }
    template <class T> T one(std::initializer_list<T> values)
    {
        return values.begin()[whole(0, int(values.size()) - 1)];
    }

    void scheduler()
    {
        m_plan.jobScheduler = chance(75) ? JobScheduler(whole(0, int(JobScheduler::Random)))
                                         : one({ JobScheduler::ModelParallel, JobScheduler::TaskParallel,
                                             JobScheduler::Pipeline, JobScheduler::ZeroOffload });
        if (has(System::Offload) && !isByShards(m_plan.jobScheduler))
            m_plan.jobScheduler = JobScheduler::ZeroOffload;
        JobOptions &options = m_plan.jobOptions;
        options.doubleBuffer = chance(70);
        options.lookAhead = chance(30);
        options.remaining = chance(50) ? RemainingWork::Units : RemainingWork::Minibatches;
        options.spill = has(System::Offload) || chance(80);
        options.seed = whole(0, 99);
        if (has(System::Atlas)) {
            m_plan.wan.sharing = WanSharing::Temporal;
            m_plan.wan.cell = whole(2, 4);
        }
    }

    void cluster()
    {
        const int sites = has(System::Atlas) ? whole(2, 3) : chance(20) ? 2 : 1;
        const char *common = gpu(), *other = std::string(common) == "rtx-3090-24gb" ? "v100-sxm-32gb" : "rtx-3090-24gb";
        for (int d = 0; d < sites; ++d) {
            Datacenter site;
            site.id = std::string(1, char('a' + d));
            for (int p = 0, last = has(System::MixedGpus) ? 2 : 1; p < last; ++p) {
                Pool pool;
                pool.id = site.id + std::to_string(p);
                pool.gpu = p > 0 ? other : common;
                pool.nodes = whole(1, 2);
                pool.gpusPerNode = whole(1, 4);
                if (chance(85))
                    pool.host = Host { double(whole(64, 1024)), double(whole(3, 30)), {} };
                site.pools.push_back(std::move(pool));
            }
            if (chance(40))
                site.fabricGbpsPerGpu = whole(10, 400);
            m_plan.cluster.datacenters.push_back(std::move(site));
        }
        for (int b = 1; b < sites; ++b) {
            WanLink link;
            link.between = { "a", m_plan.cluster.datacenters[std::size_t(b)].id };
            link.rttMs = whole(1, 100);
            m_plan.cluster.wanLinks.push_back(std::move(link));
        }
    }

    const char *gpu()
    {
        return has(System::Offload) ? one({ "v100-sxm-16gb", "t4-16gb", "rtx-3090-24gb", "v100-sxm-32gb" })
                                    : one({ "v100-sxm-32gb", "rtx-3090-24gb", "a100-sxm-40gb", "h100-sxm-80gb" });
    }

    Job randomJob(int number)
    {
        Job job;
        job.name = "job " + std::to_string(number);
        job.model = has(System::Offload) ? one({ "opt-1.3b", "gpt-3-2.7b", "opt-2.7b", "qwen1.5-moe-a2.7b" })
                                         : one({ "opt-125m", "opt-350m", "opt-1.3b", "qwen2.5-1.5b" });
        if (has(System::Experts) && chance(40))
            job.model = "qwen1.5-moe-a2.7b";
        job.batch = whole(1, 12);
        job.minibatches = whole(1, 4);
        job.sequenceLength = 128 * whole(1, 8);
        job.precision = chance(60) ? Precision::Fp16 : Precision::Fp32;
        job.optimizer = chance(60) ? Optimizer::Adam : Optimizer::Sgd;
        job.arrivalS = chance(40) ? whole(0, 20) : 0;
        job.priority = chance(20) ? whole(-1, 1) : 0;
        job.paused = chance(5);
        if (chance(10))
            job.pinnedGpus = { whole(0, m_plan.cluster.gpus() - 1) };
        if (chance(5))
            job.deadlineS = job.arrivalS + whole(1, 60);
        return job;
    }

    void prefill()
    {
        BubbleFill &fill = m_plan.bubbleFill;
        fill.enabled = true;
        fill.model = one({ "opt-125m", "gpt-3-1.3b", "qwen2.5-1.5b" });
        fill.stages = chance(80) ? 1 : 2;
        fill.chaining = chance(40);
        fill.requestsPerSecond = one({ 1, 5, 20 });
        fill.promptTokens = one({ 64, 256, 1024 });
        fill.ttftSloMs = one({ 500, 2000, 20000 });
        fill.guardMs = one({ 0.0, 1.0 });
        fill.arrivals = static_cast<Arrivals>(whole(0, 2));
        fill.seed = whole(1, 99);
    }

    std::set<System> m_systems;
    PortableDraws m_draws;
    Plan m_plan;
};

} // namespace trainyard::test
