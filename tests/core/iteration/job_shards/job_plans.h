#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans with jobs for tests.

#include "core/facts/plan/plan.h"
#include "core/iteration/job_shards/job_workloads.h"

#include <QtGlobal>

#include <memory>

namespace trainyard::test {

inline Pool pool(const char *id, const char *gpu, int nodes, int gpusPerNode, double hostGib = 512, double rate = 12)
{
    Pool made;
    made.id = id;
    made.gpu = gpu;
    made.nodes = nodes;
    made.gpusPerNode = gpusPerNode;
    if (hostGib > 0 || rate > 0)
        made.host = Host { hostGib, rate, {} };
    return made;
}

inline Job job(const char *name, const char *model, int batch = 4, int minibatches = 3)
{
    Job made;
    made.name = name;
    made.model = model;
    made.batch = batch;
    made.minibatches = minibatches;
    made.sequenceLength = 1024;
    made.precision = Precision::Fp16;
    return made;
}

inline Plan jobPlan(std::vector<Pool> pools, std::vector<Job> jobs)
{
    Plan plan;
    plan.name = "jobs";
    Datacenter lab;
    lab.id = "lab";
    lab.pools = std::move(pools);
    plan.cluster.datacenters = { lab };
    plan.jobs = std::move(jobs);
    return plan;
}

inline PlanPtr share(Plan plan)
{
    return std::make_shared<const Plan>(std::move(plan));
}

inline JobWorkloads resolved(const Plan &plan)
{
    auto jobs = resolveJobs(share(plan), builtinCatalogue());
    if (!jobs)
        qFatal("%s", toString(jobs.error().front()).c_str());
    return std::move(*jobs);
}

} // namespace trainyard::test
