#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sets of jobs for tests: equal GPUs on one host, models as lists of unit times.

#include "core/systems/jobs/run_jobs.h"

#include <utility>
#include <vector>

namespace trainyard::test {

struct Model {
    std::vector<double> units; // seconds of each unit of a mini-batch
    int minibatches = 1;
};

/// Shard of the i-th of 2K - 1 units: 0 ... K-1 ... 0.
inline int shardOf(std::size_t unit, std::size_t units)
{
    return static_cast<int>(std::min(unit, units - 1 - unit));
}

inline JobSpec job(const Model &model)
{
    JobSpec spec;
    spec.name = "job";
    spec.minibatches = model.minibatches;
    spec.node = 0;
    spec.seconds = { model.units };
    const std::size_t units = model.units.size();
    for (std::size_t u = 0; u < units; ++u)
        spec.units.push_back({ .shard = shardOf(u, units),
            .kind = 2 * u + 1 < units ? WorkKind::Forward
                : 2 * u + 1 == units  ? WorkKind::ForwardBackward
                                      : WorkKind::Backward });
    return spec;
}

/// Equal GPUs with nothing to transfer.
inline JobSet equalGpus(int gpus, const std::vector<Model> &models)
{
    JobSet set;
    set.gpus.resize(static_cast<std::size_t>(gpus));
    set.nodes.resize(1);
    for (const Model &model : models)
        set.jobs.push_back(job(model));
    return set;
}

/// Every unit loads `lambda` bytes before it and stores `upsilon` after it, at `rate` bytes a second, on a route of
/// each GPU's own. Outputs and inputs have no bytes, so the route counts weights alone.
inline JobSet withTransfers(JobSet set, double lambda, double upsilon, double rate)
{
    set.routes = { { .toGpu = rate, .toHost = rate, .linksToGpu = {}, .linksToHost = {} } };
    set.routeOf = { std::vector<int>(set.gpus.size(), 0) };
    for (JobSpec &spec : set.jobs)
        for (JobUnit &unit : spec.units) {
            unit.weights = lambda;
            unit.writeBack = upsilon;
            unit.running = lambda;
        }
    return set;
}

inline const std::vector<Model> &fiveModels()
{
    static const std::vector<Model> models { { { .1, .1, .3, .2, .2 }, 6 }, { { .2, .2, .6, .4, .4 }, 3 },
        { { .05, .05, .15, .1, .1 }, 20 }, { { .3, .5, .4 }, 5 }, { { .1, .1, .1, .3, .2, .2, .2 }, 4 } };
    return models;
}

inline std::vector<Model> twelveModels()
{
    return std::vector<Model>(12, { { .1, .1, .1, .3, .2, .2, .2 }, 10 });
}

} // namespace trainyard::test
