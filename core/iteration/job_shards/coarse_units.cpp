// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/job_shards/coarse_units.h"

#include <cmath>

namespace trainyard {

namespace {

constexpr double kMostTogether = 1e9;

double unitsAt(const JobSet &set, double factor)
{
    double units = 0;
    for (const JobSpec &job : set.jobs)
        units += double(job.units.size()) * std::ceil(double(job.minibatches) / factor);
    return units;
}

/// The least with few enough units; 0 where there is none.
double factorFor(const JobSet &set, double mostUnits)
{
    if (unitsAt(set, 1) <= mostUnits)
        return 1;
    double low = 1, high = 2;
    for (; unitsAt(set, high) > mostUnits; high *= 2) {
        if (high > kMostTogether)
            return 0;
        low = high;
    }
    while (high - low > 1) {
        const double middle = std::floor((low + high) / 2);
        (unitsAt(set, middle) > mostUnits ? low : high) = middle;
    }
    return high;
}

} // namespace

int takeTogether(JobSet &set, double mostUnits)
{
    const double factor = factorFor(set, mostUnits);
    if (factor <= 1)
        return int(factor);
    for (JobSpec &job : set.jobs) {
        const double all = double(job.minibatches);
        job.minibatches = std::int64_t(std::ceil(all / factor));
        for (std::vector<double> &seconds : job.seconds)
            for (double &unit : seconds)
                unit *= all / double(job.minibatches);
        job.minibatchesPerUnit = all / double(job.minibatches);
    }
    return int(factor);
}

} // namespace trainyard
