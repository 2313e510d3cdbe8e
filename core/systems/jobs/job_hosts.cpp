// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/systems/jobs/job_hosts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace trainyard {

JobHosts::JobHosts(const JobSet &set)
    : m_set(set)
    , m_nodes(set.nodes.size())
    , m_held(set.jobs.size(), 0)
    , m_curves(set.nodes.size(), { { 0, 0 } })
    , m_peaks(set.nodes.size(), 0)
{
    for (std::size_t n = 0; n < m_nodes.size(); ++n)
        m_nodes[n].memory = set.nodes[n].memory;
}

void JobHosts::arrive(std::uint32_t job)
{
    const auto n = static_cast<std::size_t>(m_set.jobs[job].node);
    std::vector<std::uint32_t> &waiting = m_nodes[n].waiting;
    const auto goesFirst = [&](std::uint32_t a, std::uint32_t b) {
        const double first = m_set.jobs[a].priority, second = m_set.jobs[b].priority;
        return first != second ? first > second : a < b;
    };
    waiting.insert(std::ranges::upper_bound(waiting, job, goesFirst), job);
    if (!std::exchange(m_nodes[n].hasChanged, true))
        m_changed.push_back(n);
}

std::span<const std::uint32_t> JobHosts::admit(Nanoseconds now)
{
    m_admitted.clear();
    for (const std::size_t n : m_changed) {
        Node &node = m_nodes[n];
        node.hasChanged = false;
        std::erase_if(node.waiting, [&](std::uint32_t job) {
            const JobSpec &spec = m_set.jobs[job];
            if (node.reserved + spec.hostPeak() > node.memory)
                return false;
            node.reserved += spec.hostPeak();
            change(now, job, spec.hostBytes);
            m_admitted.push_back(job);
            return true;
        });
    }
    m_changed.clear();
    std::ranges::sort(m_admitted);
    return m_admitted;
}

void JobHosts::change(Nanoseconds now, std::uint32_t job, double bytes)
{
    if (bytes == 0)
        return;
    bytes = std::round(bytes);
    m_held[job] += bytes;
    step(now, static_cast<std::size_t>(m_set.jobs[job].node), bytes);
}

void JobHosts::leave(Nanoseconds now, std::uint32_t job)
{
    const auto n = static_cast<std::size_t>(m_set.jobs[job].node);
    step(now, n, -std::exchange(m_held[job], 0));
    Node &node = m_nodes[n];
    node.reserved -= m_set.jobs[job].hostPeak();
    if (node.reserved < 1)
        node.reserved = 0; // nothing but rounding
    if (!node.waiting.empty() && !std::exchange(node.hasChanged, true))
        m_changed.push_back(n);
}

void JobHosts::step(Nanoseconds now, std::size_t n, double bytes)
{
    Node &node = m_nodes[n];
    std::vector<MemoryStep> &curve = m_curves[n];
    if (curve.back().time != now) {
        m_peaks[n] = std::max(m_peaks[n], node.held); // of an instant what is held in the end
        curve.push_back({ now, 0 });
    }
    node.held += bytes;
    curve.back().bytes = wholeBytes(node.held);
}

} // namespace trainyard
