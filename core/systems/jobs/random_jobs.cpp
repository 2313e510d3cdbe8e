// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/random_jobs.h"

#include <algorithm>
#include <functional>

namespace trainyard {

RandomJobs::RandomJobs(const JobSet &set, const JobsUnderWay &progress, int seed)
    : m_progress(progress)
    , m_random(static_cast<std::uint64_t>(seed))
{
    std::vector<double> priorities;
    for (const JobSpec &job : set.jobs)
        priorities.push_back(job.priority);
    std::ranges::sort(priorities, std::greater {});
    priorities.erase(std::ranges::unique(priorities).begin(), priorities.end());
    m_ranks = priorities.size();
    for (const JobSpec &job : set.jobs)
        m_rankOf.push_back(static_cast<std::uint32_t>(
            std::ranges::lower_bound(priorities, job.priority, std::greater {}) - priorities.begin()));
    m_free.resize(progress.groups() * m_ranks);
    for (std::uint32_t gpu = 0; gpu < set.gpus.size(); ++gpu)
        m_groupsOn.push_back(progress.groupsOn(gpu));
}

void RandomJobs::add(std::uint32_t job)
{
    freeOf(m_progress.groupOf(job), m_rankOf[job]).push_back(job);
}

std::uint32_t RandomJobs::take(std::uint32_t gpu, std::uint32_t last, bool isRunning)
{
    for (std::size_t rank = 0; rank < m_ranks; ++rank) {
        const bool countsOwn = isRunning && m_rankOf[last] == rank;
        std::size_t many = countsOwn ? 1 : 0;
        for (const std::uint32_t group : m_groupsOn[gpu])
            many += freeOf(group, rank).size();
        if (many == 0)
            continue;
        std::size_t drawn = static_cast<std::size_t>(m_random() % many);
        for (const std::uint32_t group : m_groupsOn[gpu]) {
            std::vector<std::uint32_t> &free = freeOf(group, rank);
            if (drawn < free.size()) {
                std::swap(free[drawn], free.back());
                const std::uint32_t job = free.back();
                free.pop_back();
                return job;
            }
            drawn -= free.size();
        }
        return last;
    }
    return kNoJob;
}

} // namespace trainyard
