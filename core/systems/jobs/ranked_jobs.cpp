// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/ranked_jobs.h"

#include <algorithm>

namespace trainyard {

RankedJobs::RankedJobs(const JobSet &set, const JobsUnderWay &progress, By by)
    : m_progress(progress)
    , m_by(by)
    , m_isFree(set.jobs.size(), 0)
    , m_stamp(set.jobs.size(), 0)
    , m_heaps(progress.groups())
{
    for (const JobSpec &job : set.jobs)
        m_priority.push_back(job.priority);
    for (std::uint32_t gpu = 0; gpu < set.gpus.size(); ++gpu)
        m_groupsOn.push_back(progress.groupsOn(gpu));
}

RankedJobs::Entry RankedJobs::entryOf(std::uint32_t job) const
{
    const Nanoseconds remaining = m_by == By::RemainingWork ? m_progress.remaining(job) : 0;
    return { m_priority[job], remaining, job, m_stamp[job] };
}

void RankedJobs::add(std::uint32_t job)
{
    m_isFree[job] = 1;
    ++m_stamp[job];
    std::vector<Entry> &heap = m_heaps[m_progress.groupOf(job)];
    heap.push_back(entryOf(job));
    std::push_heap(heap.begin(), heap.end(), isLower);
}

const RankedJobs::Entry *RankedJobs::top(std::uint32_t group)
{
    std::vector<Entry> &heap = m_heaps[group];
    while (!heap.empty()) {
        const Entry &first = heap.front();
        if (m_isFree[first.job] != 0 && m_stamp[first.job] == first.stamp)
            return &first;
        std::pop_heap(heap.begin(), heap.end(), isLower);
        heap.pop_back();
    }
    return nullptr;
}

std::uint32_t RankedJobs::take(std::uint32_t gpu, std::uint32_t last, bool isRunning)
{
    const Entry *best = nullptr;
    for (const std::uint32_t group : m_groupsOn[gpu])
        if (const Entry *first = top(group); first && (!best || isLower(*best, *first)))
            best = first;
    if (last != kNoJob && (isRunning || (m_by == By::RemainingWork && m_isFree[last] != 0))) {
        const Entry own = entryOf(last);
        if (!best || isLower(*best, own) || (m_by == By::RemainingWork && isTie(*best, own))) {
            m_isFree[last] = 0;
            return last;
        }
    }
    if (!best)
        return kNoJob;
    const std::uint32_t job = best->job;
    std::vector<Entry> &heap = m_heaps[m_progress.groupOf(job)];
    std::pop_heap(heap.begin(), heap.end(), isLower);
    heap.pop_back();
    m_isFree[job] = 0;
    return job;
}

} // namespace trainyard
