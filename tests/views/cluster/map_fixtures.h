#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans and evaluations for the map's tests: made by hand, so that no placement or cost model stands between a test and
// what it says. The stages are dealt out in pipeline order; nothing here is a measurement.

#include "core/evaluation/evaluate/evaluation.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace trainyard::testing {

inline Pool pool(std::string id, int nodes, int gpusPerNode = 8, std::string gpu = "h100-sxm-80gb")
{
    Pool p;
    p.id = std::move(id);
    p.gpu = std::move(gpu);
    p.nodes = nodes;
    p.gpusPerNode = gpusPerNode;
    return p;
}

inline Datacenter datacenter(std::string name, double latitude, double longitude, std::vector<Pool> pools)
{
    Datacenter d;
    d.id = name;
    std::ranges::transform(d.id, d.id.begin(), [](unsigned char c) { return c == ' ' ? '-' : char(std::tolower(c)); });
    d.name = std::move(name);
    d.latitude = latitude;
    d.longitude = longitude;
    d.pools = std::move(pools);
    return d;
}

inline WanLink link(std::string a, std::string b, double rttMs, double capacityGbps)
{
    WanLink l;
    l.between = { std::move(a), std::move(b) };
    l.rttMs = rttMs;
    l.capacityGbps = capacityGbps;
    return l;
}

/// Three regions of `nodes` nodes of eight GPUs, 12 stages of tensor 8.
inline Plan threeRegions(int nodes = 24)
{
    Plan plan;
    plan.cluster.datacenters = { datacenter("Oregon", 45.6, -121.2, { pool("oregon-h100", nodes) }),
        datacenter("Iowa", 41.3, -95.9, { pool("iowa-h100", nodes) }),
        datacenter("Virginia", 38.9, -77.4, { pool("virginia-h100", nodes) }) };
    plan.cluster.wanLinks = { link("virginia", "iowa", 28, 400), link("iowa", "oregon", 36, 400) };
    plan.parallelism.tensor = 8;
    plan.parallelism.pipeline = 12;
    return plan;
}

inline Plan oneSite(int nodes)
{
    Plan plan;
    plan.cluster.datacenters = { datacenter("Site", 50, 8, { pool("site-a100", nodes, 8, "a100-sxm-80gb") }) };
    plan.parallelism.tensor = 8;
    plan.parallelism.pipeline = 8;
    return plan;
}

/// Deals the stages over the datacenters, east first, every stage `idle` GPUs short of its share at the end.
inline EvaluationPtr dealt(PlanPtr plan, double seconds, int idlePerDatacenter = 0)
{
    auto evaluation = std::make_shared<Evaluation>();
    const Cluster &cluster = plan->cluster;
    const int stages = plan->parallelism.pipeline, sites = std::max(1, int(cluster.datacenters.size()));
    for (int d = 0; d < int(cluster.datacenters.size()); ++d) {
        const int order = sites - 1 - d, first = stages * order / sites, last = stages * (order + 1) / sites;
        const int usable = cluster.datacenters[std::size_t(d)].gpus() - idlePerDatacenter;
        int done = 0;
        for (int p = 0; p < int(cluster.datacenters[std::size_t(d)].pools.size()); ++p) {
            const int gpus = cluster.datacenters[std::size_t(d)].pools[std::size_t(p)].gpus();
            for (int g = 0; g < gpus && done < usable;) {
                const int share = std::max(1, (usable + last - first - 1) / std::max(1, last - first));
                const int stage = std::min(last - 1, first + done / share);
                const int run = std::min({ gpus - g, usable - done, share - done % share });
                evaluation->layout.runs.push_back({ d, p, g, run, stage, 0, std::max(1, run / 8) });
                g += run;
                done += run;
            }
        }
        if (idlePerDatacenter > 0)
            evaluation->layout.idle.push_back({ d, 0, idlePerDatacenter, "a stage needs 64 GPUs here, 16 are left" });
    }
    for (int l = 0; l < int(cluster.wanLinks.size()); ++l)
        evaluation->metrics.wanLinks.push_back({ l, { 3e10, 3e10 }, l % 2 ? 0.48 : 0.82, 16 + l, 4.9 });
    evaluation->metrics.iterationTime = seconds;
    evaluation->layout.data = 6;
    evaluation->plan = std::move(plan);
    return evaluation;
}

} // namespace trainyard::testing
