#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Inside of the room: how the jobs of a plan become work (resolveJobs). Names first (resolve_jobs.cpp); then models are
// cut, jobs are dealt to hosts and, where GPUs differ, cut anew for those that they reach (job_cuts.cpp).

#include "core/iteration/job_shards/lone_job.h"

#include <map>
#include <memory>
#include <optional>
#include <tuple>

namespace trainyard {

class JobResolver {
public:
    JobResolver(const PlanPtr &plan, const Catalogue &catalogue);
    ExpectedAll<JobWorkloads> resolve();

private:
    using ShapeKey = std::tuple<std::string, int, int, Precision, Optimizer>;
    [[nodiscard]] std::string keyOf(std::size_t job, const std::string &key) const;
    void fail(Error error);
    void resolveModels();
    ExpectedAll<Requested> workloadOf(const JobWorkload &of) const;
    void addErrors(std::size_t job, Errors errors);
    void addCluster();
    void addShapes();
    /// Those that exist, ascending.
    [[nodiscard]] std::vector<int> pinsOf(const Job &job) const;
    /// `isDealt`: each job is cut for GPUs that reach its host.
    void makeSpecs(bool isDealt);
    void forgetCuts();
    /// Jobs that no host has memory for are cut beside the others, which do not heed them; whether there are any.
    bool leaveOutNeverHeld();
    [[nodiscard]] bool isNeverHeld(std::size_t job) const { return !m_isNeverHeld.empty() && m_isNeverHeld[job] != 0; }
    [[nodiscard]] bool counts(std::size_t job) const { return !m_jobs.jobs[job].job.paused && !isNeverHeld(job); }
    /// Of the only job that can run, the best of all GPUs, hosts and cuts by simulation, where that is better than what
    /// rules for many jobs have made of it.
    void placeLone();
    void take(const LoneChoice &choice, std::size_t lone);
    /// Where GPUs differ: jobs are dealt to hosts by what the smallest GPU of all makes of them, and then cut anew for
    /// the GPUs there.
    void cutForSites();
    /// Before a job has a host it may run anywhere.
    void addGpus();
    void group();
    static double minibatchesOf(const Job &job) { return double(job.minibatches) * job.epochs; }
    [[nodiscard]] CutRules rulesOfCut(bool isDealt) const;
    void cut(bool isDealt);
    /// Those of its cut, or none where it cannot run.
    void takeShards(std::size_t job);
    void addSpecs();
    JobSpec specOf(std::size_t index);
    /// What jobs that are cut alike share.
    const JobSpec &modelledSpec(std::size_t group);
    /// Names what is most of it: one job's mini-batches, or its arrival.
    void failTooLong();
    const Plan &m_plan;
    const Catalogue &m_catalogue;
    JobWorkloads m_jobs;
    Errors m_errors;
    std::vector<StageLocation> m_kindPlaces;
    std::vector<CutKind> m_kinds;
    std::map<ShapeKey, std::unique_ptr<ShardModel>> m_shapes;
    /// [job]
    std::vector<ShardModel *> m_shapeOf;
    /// [job][kind]: GPUs
    std::vector<std::vector<int>> m_mayRun;
    /// [job]: no host has the memory; empty: nobody has looked yet
    std::vector<char> m_isNeverHeld;
    /// of the only job that runs
    std::optional<std::pair<std::size_t, int>> m_loneGpu;
    /// [job]: whose host holds it; empty: nobody has said yet
    std::vector<int> m_nodeOf;
    std::vector<CutGroup> m_groups;
    /// [job]
    std::vector<std::size_t> m_groupOf;
    /// [group]
    std::vector<ModelCut> m_cuts;
    /// [group]
    std::vector<JobSpec> m_specs;
};

} // namespace trainyard
