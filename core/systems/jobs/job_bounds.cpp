// SPDX-License-Identifier: GPL-3.0-or-later
// Closed forms of jobs that share GPUs: bounds, and the time of one unit with its transfers.
#include "core/systems/jobs/served.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace trainyard {

JobBounds jobBounds(const JobSet &set)
{
    JobBounds bounds;
    const auto nodes = static_cast<int>(set.nodes.size());
    double work = 0; // of all, on the fastest GPUs
    std::vector<double> speed; // [kind]: at most, beside the fastest of a job
    std::vector<std::uint8_t> serves(set.gpus.size(), 0);
    Served served(set);
    std::set<std::pair<std::size_t, int>> known; // like jobs on a host
    for (const JobSpec &job : set.jobs) {
        const std::size_t like = served.likeOf(job);
        if (!served.runs(job, like))
            continue;
        GpusOfKind kinds;
        for (int node = std::max(0, job.node); node <= (job.node < 0 ? nodes - 1 : job.node); ++node) {
            for (const auto &of : served.list(served.listOf(like, node)))
                kinds.insert(of);
            if (!known.emplace(like, node).second)
                continue;
            const std::vector<std::uint8_t> there = served.gpus(like, node);
            for (std::size_t g = 0; g < there.size(); ++g)
                serves[g] |= there[g];
        }
        const std::vector<double> best = fastestOf(job, kinds);
        const double own = std::accumulate(best.begin(), best.end(), 0.0) * static_cast<double>(job.minibatches);
        work += own;
        bounds.longest = std::max(bounds.longest, std::max(0.0, job.arrival) + own);
        for (const auto &[kind, gpus] : kinds) {
            const auto k = static_cast<std::size_t>(kind);
            speed.resize(std::max(speed.size(), k + 1), 0);
            for (std::size_t u = 0; u < best.size(); ++u)
                speed[k] = std::max(speed[k], job.seconds[k][u] > 0 ? best[u] / job.seconds[k][u] : 1.0);
        }
    }
    double gpus = 0;
    for (std::size_t g = 0; g < set.gpus.size(); ++g)
        gpus += serves[g] != 0 ? speed[static_cast<std::size_t>(set.gpus[g].kind)] : 0;
    bounds.shared = gpus > 0 ? work / gpus : 0;
    return bounds;
}

double unitSeconds(double compute, double lambda, double upsilon, bool isDoubleBuffered, bool isFullDuplex)
{
    if (!isDoubleBuffered)
        return lambda + compute + upsilon;
    return isFullDuplex ? std::max({ compute, lambda, upsilon }) : std::max(compute, lambda + upsilon);
}

} // namespace trainyard
