// SPDX-License-Identifier: GPL-3.0-or-later
// Closed forms of jobs that share GPUs: bounds, and the time of one unit with its transfers.
#include "core/jobs/serving.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

JobBounds jobBounds(const JobSet &set)
{
    JobBounds bounds;
    double work = 0; // of all, on the fastest GPUs
    std::vector<double> speed; // [kind]: at most, beside the fastest of a job
    std::vector<std::uint8_t> serves(set.gpus.size(), 0);
    for (const JobSpec &job : set.jobs) {
        if (!neverRuns(set, job).empty())
            continue;
        std::vector<std::uint8_t> served(set.gpus.size(), 0);
        for (int node = 0; node < static_cast<int>(set.nodes.size()); ++node)
            if (job.node == node || job.node < 0) {
                const std::vector<std::uint8_t> there = servedBy(set, job, node);
                for (std::size_t g = 0; g < there.size(); ++g)
                    served[g] |= there[g];
            }
        const std::vector<double> best = fastest(set, job, served);
        const double own = std::accumulate(best.begin(), best.end(), 0.0) * static_cast<double>(job.minibatches);
        work += own;
        bounds.longest = std::max(bounds.longest, std::max(0.0, job.arrival) + own);
        for (std::size_t g = 0; g < served.size(); ++g)
            serves[g] |= served[g];
        for (const int kind : kindsOf(set, served)) {
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
