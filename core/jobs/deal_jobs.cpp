// SPDX-License-Identifier: GPL-3.0-or-later
// Which host holds which job: list scheduling over datacenters, longest job first, then the host with the most room.
#include "core/jobs/serving.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace trainyard {

namespace {

class Dealer {
public:
    explicit Dealer(JobSet &set)
        : m_set(set)
        , m_taken(set.nodes.size(), 0)
    {
        int sites = 0;
        for (const JobNode &node : set.nodes)
            sites = std::max(sites, node.site + 1);
        m_busy.resize(static_cast<std::size_t>(sites), 0);
        for (const JobSpec &job : set.jobs)
            if (isDealt(job))
                take(job, job.node);
    }

    void deal()
    {
        std::vector<std::uint32_t> open;
        for (std::uint32_t j = 0; j < m_set.jobs.size(); ++j)
            if (m_set.jobs[j].node < 0)
                open.push_back(j);
        std::vector<double> longest(m_set.jobs.size(), 0);
        for (const std::uint32_t j : open)
            for (int node = 0; node < nodes(); ++node)
                longest[j] = std::max(longest[j], alone(m_set.jobs[j], servedBy(m_set, m_set.jobs[j], node)));
        // Pinned jobs have no choice, so the others see them.
        std::ranges::stable_sort(open, [&](std::uint32_t a, std::uint32_t b) {
            const bool isPinned = !m_set.jobs[a].gpus.empty(), isOtherPinned = !m_set.jobs[b].gpus.empty();
            return isPinned != isOtherPinned ? isPinned : longest[a] > longest[b];
        });
        for (const std::uint32_t j : open) {
            JobSpec &job = m_set.jobs[j];
            job.node = nodeFor(job);
            take(job, job.node);
        }
    }

private:
    [[nodiscard]] int nodes() const { return static_cast<int>(m_set.nodes.size()); }
    [[nodiscard]] const JobNode &node(int index) const { return m_set.nodes[static_cast<std::size_t>(index)]; }
    [[nodiscard]] bool isDealt(const JobSpec &job) const { return job.node >= 0 && job.node < nodes(); }
    [[nodiscard]] static double unitsOf(const std::vector<double> &seconds, const JobSpec &job)
    {
        return std::accumulate(seconds.begin(), seconds.end(), 0.0) * static_cast<double>(job.minibatches);
    }
    /// Seconds from its first unit to its last, on the fastest GPUs.
    [[nodiscard]] double alone(const JobSpec &job, const std::vector<std::uint8_t> &served) const
    {
        return unitsOf(fastest(m_set, job, served), job);
    }
    /// Seconds for which it occupies all the GPUs that may run it, if they shared it.
    [[nodiscard]] double shared(const JobSpec &job, const std::vector<std::uint8_t> &served) const
    {
        double rate = 0;
        for (std::size_t g = 0; g < served.size(); ++g)
            if (served[g] != 0)
                rate += 1 / unitsOf(job.seconds[static_cast<std::size_t>(m_set.gpus[g].kind)], job);
        return rate > 0 ? 1 / rate : 0;
    }
    [[nodiscard]] bool isPinnedTo(const JobSpec &job, int host) const
    {
        return std::ranges::any_of(job.gpus, [&](int gpu) {
            return gpu >= 0 && static_cast<std::size_t>(gpu) < m_set.gpus.size()
                && m_set.gpus[static_cast<std::size_t>(gpu)].node == host;
        });
    }

    [[nodiscard]] int nodeFor(const JobSpec &job) const
    {
        // Nodes that can, those that could but for their host's memory, those of pinned GPUs, the first.
        for (const bool asksRoom : { true, false })
            for (const bool asksPins : { true, false })
                if (const int found = best(job, asksRoom, asksPins && !job.gpus.empty()); found >= 0)
                    return found;
        for (int host = 0; host < nodes(); ++host)
            if (isPinnedTo(job, host))
                return host;
        return 0;
    }

    [[nodiscard]] int best(const JobSpec &job, bool asksRoom, bool asksPins) const
    {
        int found = -1;
        double done = std::numeric_limits<double>::infinity();
        for (int host = 0; host < nodes(); ++host) {
            if ((asksRoom && job.hostPeak() > node(host).memory) || (asksPins && !isPinnedTo(job, host)))
                continue;
            const std::vector<std::uint8_t> served = servedBy(m_set, job, host);
            if (!isServed(served))
                continue;
            const double busy = m_busy[static_cast<std::size_t>(node(host).site)];
            const double end = std::max(busy + shared(job, served), job.arrival + alone(job, served));
            const bool isSameSite = found >= 0 && node(host).site == node(found).site;
            if (found < 0 || (isSameSite ? hasMoreRoom(host, found) : end < done)) {
                found = host;
                done = end;
            }
        }
        return found;
    }
    [[nodiscard]] bool hasMoreRoom(int host, int other) const
    {
        const double taken = m_taken[static_cast<std::size_t>(host)], his = m_taken[static_cast<std::size_t>(other)];
        const double room = node(host).memory - taken, hisRoom = node(other).memory - his;
        return room > hisRoom || (room == hisRoom && taken < his); // without limits: with less on it
    }

    void take(const JobSpec &job, int host)
    {
        if (host < 0 || host >= nodes())
            return;
        m_taken[static_cast<std::size_t>(host)] += job.hostPeak();
        m_busy[static_cast<std::size_t>(node(host).site)] += shared(job, servedBy(m_set, job, host));
    }

    JobSet &m_set;
    std::vector<double> m_taken; // [node]: bytes of its host
    std::vector<double> m_busy; // [site]: seconds of all its GPUs
};

} // namespace

void dealJobs(JobSet &set)
{
    if (!set.nodes.empty())
        Dealer(set).deal();
}

} // namespace trainyard
