// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/listed_jobs.h"

namespace trainyard {

std::int64_t ListedJobs::number(std::uint32_t gpu) const
{
    const std::size_t entry = m_position[gpu];
    return gpu < m_numbers.size() && entry < m_numbers[gpu].size() ? m_numbers[gpu][entry]
                                                                   : m_progress.picked(m_order[gpu][entry]);
}

std::uint32_t ListedJobs::take(std::uint32_t gpu, std::uint32_t last, bool isRunning)
{
    if (gpu >= m_order.size())
        return kNoJob;
    const std::vector<std::uint32_t> &list = m_order[gpu];
    std::size_t &next = m_position[gpu];
    const auto isMoot = [&](std::uint32_t job) {
        return job >= m_progress.jobs() || !m_progress.runs(job) || !m_progress.hasUnpicked(job)
            || !m_progress.mayRunOn(job, gpu) || number(gpu) < m_progress.picked(job);
    };
    while (next < list.size() && isMoot(list[next]))
        ++next;
    if (next == list.size())
        return kNoJob;
    const std::uint32_t job = list[next];
    if (number(gpu) > m_progress.picked(job) || (m_isFree[job] == 0 && !(isRunning && job == last)))
        return kNoJob;
    ++next;
    m_isFree[job] = 0;
    return job;
}

} // namespace trainyard
