// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/served.h"

#include "core/systems/jobs/unit_bytes.h"

#include <algorithm>

namespace trainyard {

namespace {

constexpr std::size_t kUnknown = std::size_t(-1);

} // namespace

Served::Served(const JobSet &set)
    : m_set(set)
{
    for (std::size_t gpu = 0; gpu < set.gpus.size(); ++gpu)
        if (isNode(set, set.gpus[gpu].node))
            m_ofSite[set.nodes[static_cast<std::size_t>(set.gpus[gpu].node)].site].push_back(gpu);
}

std::size_t Served::likeOf(const JobSpec &job)
{
    Like like { largestNeed(job), !job.units.empty(), loads(job), stores(job), {}, job.gpus };
    for (const std::vector<double> &seconds : job.seconds)
        like.kinds.push_back(!seconds.empty() && seconds.size() == job.units.size());
    std::ranges::sort(like.pins);
    like.pins.erase(std::ranges::unique(like.pins).begin(), like.pins.end());
    const auto [at, isNew] = m_known.try_emplace(std::move(like), m_likes.size());
    if (isNew) {
        m_likes.push_back(&at->first);
        m_listOf.emplace_back();
    }
    return at->second;
}

bool Served::serves(const Like &job, std::size_t gpu, int node) const
{
    const JobGpu &of = m_set.gpus[gpu];
    return of.kind >= 0 && static_cast<std::size_t>(of.kind) < job.kinds.size()
        && job.kinds[static_cast<std::size_t>(of.kind)] != 0 && job.memory <= of.memory
        && hasWay(m_set, job.loads, job.stores, gpu, node);
}

/// Calls `then` with each GPU that may run such a job.
void Served::each(const Like &job, int node, auto then) const
{
    if (!isNode(m_set, node) || !job.hasUnits)
        return;
    const int site = m_set.nodes[static_cast<std::size_t>(node)].site;
    for (const int gpu : job.pins) {
        const auto index = static_cast<std::size_t>(gpu);
        if (gpu >= 0 && index < m_set.gpus.size() && isNode(m_set, m_set.gpus[index].node)
            && m_set.nodes[static_cast<std::size_t>(m_set.gpus[index].node)].site == site && serves(job, index, node))
            then(index);
    }
    if (const auto all = m_ofSite.find(site); job.pins.empty() && all != m_ofSite.end())
        for (const std::size_t gpu : all->second)
            if (serves(job, gpu, node))
                then(gpu);
}

std::size_t Served::listOf(std::size_t like, int node)
{
    const Like &job = *m_likes[like];
    std::vector<std::size_t> &known = m_listOf[like];
    const bool isKept = job.pins.empty() && isNode(m_set, node);
    if (isKept) {
        known.resize(m_set.nodes.size(), kUnknown);
        if (known[static_cast<std::size_t>(node)] != kUnknown)
            return known[static_cast<std::size_t>(node)];
    }
    GpusOfKind kinds;
    each(job, node, [&](std::size_t gpu) { ++kinds[m_set.gpus[gpu].kind]; });
    const auto [at, isNew] = m_indexOf.try_emplace(kinds, m_lists.size());
    if (isNew)
        m_lists.push_back(std::move(kinds));
    if (isKept)
        known[static_cast<std::size_t>(node)] = at->second;
    return at->second;
}

std::vector<std::uint8_t> Served::gpus(std::size_t like, int node) const
{
    std::vector<std::uint8_t> served(m_set.gpus.size(), 0);
    each(*m_likes[like], node, [&](std::size_t gpu) { served[gpu] = 1; });
    return served;
}

bool Served::runs(const JobSpec &job, std::size_t like)
{
    if (job.units.empty() || job.minibatches <= 0 || m_set.gpus.empty())
        return false;
    const auto runsOn = [&](int node) {
        return isNode(m_set, node) && job.hostPeak() <= m_set.nodes[static_cast<std::size_t>(node)].memory
            && !list(listOf(like, node)).empty();
    };
    if (job.node >= 0)
        return runsOn(job.node);
    for (int node = 0; isNode(m_set, node); ++node)
        if (runsOn(node))
            return true;
    return false;
}

std::vector<double> fastestOf(const JobSpec &job, const GpusOfKind &kinds)
{
    std::vector<double> seconds;
    for (const auto &[kind, gpus] : kinds) {
        const std::vector<double> &there = job.seconds[static_cast<std::size_t>(kind)];
        if (seconds.empty())
            seconds = there;
        for (std::size_t u = 0; u < seconds.size(); ++u)
            seconds[u] = std::min(seconds[u], there[u]);
    }
    return seconds;
}

} // namespace trainyard
