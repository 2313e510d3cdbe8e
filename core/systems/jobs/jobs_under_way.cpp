// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/jobs_under_way.h"

#include "core/systems/jobs/served.h"

#include <algorithm>
#include <map>

namespace trainyard {

JobsUnderWay::JobsUnderWay(const JobSet &set, RemainingWork counts)
    : m_gpus(std::max<std::size_t>(1, set.gpus.size()))
    , m_words((m_gpus + 63) / 64)
    , m_counts(counts)
    , m_jobs(set.jobs.size())
{
    Served served(set);
    std::map<std::vector<std::uint8_t>, std::uint32_t> groups;
    std::map<std::pair<std::size_t, int>, std::uint32_t> known; // like jobs on a host
    for (std::size_t j = 0; j < set.jobs.size(); ++j) {
        const JobSpec &spec = set.jobs[j];
        const std::size_t like = served.likeOf(spec);
        if (!served.runs(spec, like))
            continue;
        Job &job = m_jobs[j];
        const auto [at, isNewLike] = known.try_emplace({ like, spec.node });
        if (isNewLike) {
            const std::vector<std::uint8_t> gpus = served.gpus(like, spec.node);
            const auto [found, isNew] = groups.try_emplace(gpus, groups.size());
            if (isNew)
                for (std::size_t word = 0; word < m_words; ++word) {
                    m_bits.push_back(0);
                    for (std::size_t g = 64 * word; g < std::min(64 * (word + 1), gpus.size()); ++g)
                        m_bits.back() |= std::uint64_t(gpus[g]) << (g % 64);
                }
            at->second = found->second;
        }
        job.group = at->second;
        const GpusOfKind &kinds = served.list(served.listOf(like, spec.node));
        job.units = static_cast<std::uint32_t>(spec.units.size());
        job.minibatches = job.ofAll = spec.minibatches;
        job.all = spec.minibatches * job.units;
        job.first = static_cast<std::uint32_t>(m_left.size());
        m_left.resize(m_left.size() + job.units);
        Nanoseconds left = 0;
        for (std::uint32_t u = job.units; u-- > 0;) {
            double mean = 0;
            for (const auto &[kind, gpus] : kinds)
                mean += spec.seconds[static_cast<std::size_t>(kind)][u] / static_cast<double>(kinds.size());
            m_left[job.first + u] = left += toNanoseconds(Seconds { mean });
        }
    }
}

std::vector<std::uint32_t> JobsUnderWay::groupsOn(std::uint32_t gpu) const
{
    std::vector<std::uint32_t> here;
    for (std::uint32_t group = 0; group < groups(); ++group)
        if (isServed(group, gpu))
            here.push_back(group);
    return here;
}

} // namespace trainyard
