// SPDX-License-Identifier: GPL-3.0-or-later
// Which host holds which job: list scheduling over datacenters, longest job first, then the host with the most room.
#include "core/systems/jobs/served.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <ranges>

namespace trainyard {

namespace {

/// How long one job takes, by the GPUs that serve a host.
class Timed {
public:
    struct Times {
        double alone = -1; // seconds from its first unit to its last, on the fastest GPUs
        double shared = 0; // seconds for which it occupies all the GPUs that may run it, if they shared it
        bool isServed = false;
    };

    Timed(const JobSpec &job, Served &served)
        : spec(job)
        , m_served(served)
        , m_like(served.likeOf(job))
    {
    }

    const JobSpec &spec;

    [[nodiscard]] const Times &on(int node)
    {
        const std::size_t list = m_served.listOf(m_like, node);
        m_known.resize(std::max(m_known.size(), list + 1));
        Times &times = m_known[list];
        if (times.alone < 0)
            times = timesOn(m_served.list(list));
        return times;
    }

private:
    [[nodiscard]] double all(const std::vector<double> &seconds) const
    {
        return std::accumulate(seconds.begin(), seconds.end(), 0.0) * static_cast<double>(spec.minibatches);
    }
    [[nodiscard]] Times timesOn(const GpusOfKind &kinds) const
    {
        double rate = 0;
        for (const auto &[kind, gpus] : kinds)
            rate += gpus / all(spec.seconds[static_cast<std::size_t>(kind)]);
        return { all(fastestOf(spec, kinds)), rate > 0 ? 1 / rate : 0, !kinds.empty() };
    }

    Served &m_served;
    std::size_t m_like;
    std::vector<Times> m_known; // [list]
};

class Dealer {
public:
    explicit Dealer(JobSet &set)
        : m_set(set)
        , m_served(set)
        , m_taken(set.nodes.size(), 0)
    {
        int sites = 0;
        for (const JobNode &node : set.nodes)
            sites = std::max(sites, node.site + 1);
        m_busy.resize(static_cast<std::size_t>(sites), 0);
        for (const JobSpec &job : set.jobs)
            if (isDealt(job))
                take(Timed(job, m_served), job.node);
    }

    void deal()
    {
        std::vector<std::uint32_t> open;
        for (std::uint32_t j = 0; j < m_set.jobs.size(); ++j)
            if (m_set.jobs[j].node < 0)
                open.push_back(j);
        std::vector<double> longest(m_set.jobs.size(), 0);
        for (const std::uint32_t j : open)
            for (Timed job(m_set.jobs[j], m_served); const int node : std::views::iota(0, nodes()))
                longest[j] = std::max(longest[j], job.on(node).alone);
        std::vector<char> runs(m_set.jobs.size());
        for (const std::uint32_t j : open)
            runs[j] = m_served.runs(m_set.jobs[j], m_served.likeOf(m_set.jobs[j]));
        // Pinned jobs have no choice, so the others see them; jobs that never run take nothing from anybody.
        std::ranges::stable_sort(open, [&](std::uint32_t a, std::uint32_t b) {
            if (runs[a] != runs[b])
                return runs[a] > runs[b];
            const bool isPinned = !m_set.jobs[a].gpus.empty(), isOtherPinned = !m_set.jobs[b].gpus.empty();
            return isPinned != isOtherPinned ? isPinned : longest[a] > longest[b];
        });
        for (const std::uint32_t j : open) {
            Timed job(m_set.jobs[j], m_served);
            m_set.jobs[j].node = nodeFor(job);
            take(job, m_set.jobs[j].node);
        }
    }

private:
    [[nodiscard]] int nodes() const { return static_cast<int>(m_set.nodes.size()); }
    [[nodiscard]] const JobNode &node(int index) const { return m_set.nodes[static_cast<std::size_t>(index)]; }
    [[nodiscard]] bool isDealt(const JobSpec &job) const { return job.node >= 0 && job.node < nodes(); }
    [[nodiscard]] bool isPinnedTo(const JobSpec &job, int host) const
    {
        return std::ranges::any_of(job.gpus, [&](int gpu) {
            return gpu >= 0 && static_cast<std::size_t>(gpu) < m_set.gpus.size()
                && m_set.gpus[static_cast<std::size_t>(gpu)].node == host;
        });
    }

    [[nodiscard]] int nodeFor(Timed &job) const
    {
        // Nodes that can, those that could but for their host's memory, those of pinned GPUs, the first.
        for (const bool asksRoom : { true, false })
            for (const bool asksPins : { true, false })
                if (const int found = best(job, asksRoom, asksPins && !job.spec.gpus.empty()); found >= 0)
                    return found;
        for (int host = 0; host < nodes(); ++host)
            if (isPinnedTo(job.spec, host))
                return host;
        return 0;
    }

    [[nodiscard]] int best(Timed &job, bool asksRoom, bool asksPins) const
    {
        int found = -1;
        double done = std::numeric_limits<double>::infinity();
        for (int host = 0; host < nodes(); ++host) {
            if ((asksRoom && job.spec.hostPeak() > node(host).memory) || (asksPins && !isPinnedTo(job.spec, host)))
                continue;
            const Timed::Times &times = job.on(host);
            if (!times.isServed)
                continue;
            const double busy = m_busy[static_cast<std::size_t>(node(host).site)];
            const double end = std::max(busy + times.shared, job.spec.arrival + times.alone);
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

    void take(Timed job, int host)
    {
        if (host < 0 || host >= nodes())
            return;
        m_taken[static_cast<std::size_t>(host)] += job.spec.hostPeak();
        m_busy[static_cast<std::size_t>(node(host).site)] += job.on(host).shared;
    }

    JobSet &m_set;
    Served m_served;
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
