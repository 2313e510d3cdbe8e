#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Shards of many jobs on whichever GPU is free (Hydra's shard alternator parallelism), as a dispatcher of the engine.
// It owns queues and counts bytes; which job a GPU takes is its policy's business.
//
// A GPU goes round: pick a unit, load what it needs, compute, send back what leaves. With look-ahead it picks the next
// one when one starts, and with a double buffer loads that meanwhile, as soon as its load engine is free, what it loads
// has arrived at the host and memory has room: all that the job has sent, or the shard's weights alone where the input
// is on the GPU. Where loads and stores take turns, a store that waits goes first, since
// it makes room. Choices are made GPU by GPU, the lowest number first, at each instant for those alone at which
// something has changed.

#include "core/engine/timeline/dispatcher.h"
#include "core/systems/jobs/gpu_state.h"
#include "core/systems/jobs/job_classes.h"
#include "core/systems/jobs/job_hosts.h"
#include "core/systems/jobs/job_policy.h"

namespace trainyard {

class ShardDispatcher final : public Dispatcher {
public:
    /// All of them live until it has run. Jobs have their hosts.
    ShardDispatcher(const JobSet &set, const JobRules &rules, ClassTable &table);

    void ended(Dispatch &at, std::uint32_t task) override;
    void choose(Dispatch &at) override;
    [[nodiscard]] std::string leftOver() const override;
    [[nodiscard]] std::size_t expects() const override;

    /// What is known besides the spans, after it has run.
    void tell(JobRun &run);

    /// of a GPU; its first is kResources * GPU
    enum Resource : std::uint32_t { Compute, Load, Store };
    static constexpr std::uint32_t kResources = 3;

private:
    struct JobState {
        /// that has picked it
        std::uint32_t gpu = 0;
        /// that have not arrived
        std::uint32_t stores = 0;
        bool isPicked = false, hasLeft = false;
        /// a bit a GPU, of the first 64; JobTimes::gpus has the others until it has run
        std::uint64_t ranOn = 0;
        TaskEnd computed, stored;
    };

    void computed(Dispatch &at, std::uint32_t gpu, std::uint32_t task);
    void loaded(Dispatch &at, std::uint32_t gpu, std::uint32_t task);
    void stored(Dispatch &at, std::uint32_t gpu, std::uint32_t task);
    void arrive(Dispatch &at);
    void becomeFree(std::uint32_t job);
    /// Of those 64 GPUs the idle ones that may take a job that has become free.
    [[nodiscard]] std::uint64_t woken(std::size_t word) const;
    void leaveIfDone(Nanoseconds now, std::uint32_t job);

    void advance(Dispatch &at, std::uint32_t gpu);
    [[nodiscard]] GpuState::Unit pick(std::uint32_t gpu, const GpuState::Unit &before);
    void settle(Dispatch &at, std::uint32_t gpu);
    void store(Dispatch &at, std::uint32_t gpu);
    void load(Dispatch &at, std::uint32_t gpu);
    [[nodiscard]] bool mayLoad(const GpuState &gpu, const GpuState::Unit &unit) const;
    bool compute(Dispatch &at, std::uint32_t gpu);
    std::uint32_t begin(Dispatch &at, std::uint32_t gpu, Resource resource, std::uint32_t taskClass,
        GraphBuilder::Tag tag, std::uint32_t cause);

    [[nodiscard]] const UnitFacts &facts(const GpuState::Unit &unit) const
    {
        return m_classes.facts(unit.job, unit.unit, unit.isContinued);
    }
    /// Whether jobs stay on the GPU that has begun them.
    [[nodiscard]] bool staysThere() const { return !m_rules.spill && !followsList(); }
    [[nodiscard]] bool followsList() const { return m_rules.scheduler == JobScheduler::ShardMilp; }
    [[nodiscard]] double toLoad(const GpuState::Unit &unit) const;
    [[nodiscard]] int routeOf(std::uint32_t job, std::uint32_t gpu) const
    {
        return m_set.routeOf[static_cast<std::size_t>(m_set.jobs[job].node)][gpu];
    }
    void touch(std::uint32_t gpu) { m_touched[gpu / 64] |= std::uint64_t(1) << (gpu % 64); }

    const JobSet &m_set;
    const JobRules &m_rules;
    JobsUnderWay m_progress;
    JobClasses m_classes;
    JobHosts m_hosts;
    std::unique_ptr<JobPolicy> m_policy;
    /// in order
    std::vector<std::pair<Nanoseconds, std::uint32_t>> m_arrivals;
    std::size_t m_arrived = 0;
    std::vector<GpuState> m_gpus;
    std::vector<JobState> m_jobs;
    /// [first unit of a shard]: stores of its weights that have not arrived
    std::vector<std::uint32_t> m_returning;
    std::vector<JobTimes> m_times;
    /// [task]
    std::vector<std::uint32_t> m_resourceOf;
    /// a bit a GPU: has to be looked at; has nothing to do
    std::vector<std::uint64_t> m_touched, m_idle;
    /// [group]: jobs that no GPU has picked
    std::vector<std::uint32_t> m_free;
    /// groups of which a job has become free at this instant
    std::vector<std::uint32_t> m_woken;
};

} // namespace trainyard
