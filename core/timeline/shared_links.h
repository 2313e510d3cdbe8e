#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The links that flows share while an event loop runs: who asks how much of each, and the max-min fair speeds. Rates
// change only where a link that is asked for more than it carries gains or loses a flow, or where a hold begins or
// ends.

#include "core/timeline/simulator.h"

#include <algorithm>

namespace trainyard {

class SharedLinks {
public:
    SharedLinks(const ClassTable &table, SimulationWorkspace &workspace)
        : m_table(table)
        , m_carries(table.holds.empty() ? table.linkCapacity : workspace.linkLeft)
        , m_work(workspace)
    {
    }

    void reset()
    {
        m_work.linkDemand.assign(m_table.linkCapacity.size(), 0);
        m_work.linkUsers.assign(m_table.linkCapacity.size(), 0);
        if (m_table.holds.empty())
            return;
        m_work.holdUsers.assign(m_table.holds.size(), 0);
        m_work.linkLeft = m_table.linkCapacity;
    }
    void join(const Flow &flow)
    {
        if (flow.hold != kNoSpan && m_work.holdUsers[flow.hold]++ == 0)
            holdsChange();
        for (std::size_t i = 0; i < flow.links.size(); ++i) {
            const std::uint32_t link = flow.links[i];
            m_work.linkDemand[link] += demandOf(flow, i);
            ++m_work.linkUsers[link];
            m_haveChanged |= isOverloaded(link);
        }
    }
    void leave(const Flow &flow)
    {
        if (flow.hold != kNoSpan && --m_work.holdUsers[flow.hold] == 0)
            holdsChange();
        for (std::size_t i = 0; i < flow.links.size(); ++i) {
            const std::uint32_t link = flow.links[i];
            m_haveChanged |= isOverloaded(link);
            m_work.linkDemand[link] -= demandOf(flow, i);
            if (--m_work.linkUsers[link] == 0)
                m_work.linkDemand[link] = 0;
        }
    }
    [[nodiscard]] bool haveChanged() const { return m_haveChanged; }

    /// Finds the rates of all active tasks. flowOf(task): nullptr where it shares nothing and only may be stopped.
    template <class FlowOf> void share(const std::vector<SimulationWorkspace::ActiveFlow> &tasks, FlowOf flowOf)
    {
        static const Flow kAlone { .rateCap = 1, .links = {}, .takes = {} };
        m_haveChanged = false;
        m_work.cap.clear();
        m_work.weight.clear();
        m_work.linkBegin.clear();
        m_work.linkIndex.clear();
        m_work.linkTakes.clear();
        for (const auto &active : tasks) {
            const Flow *shared = flowOf(active.task);
            const Flow &flow = shared ? *shared : kAlone;
            m_work.cap.push_back(flow.rateCap);
            m_work.weight.push_back(flow.weight);
            m_work.linkBegin.push_back(static_cast<std::uint32_t>(m_work.linkIndex.size()));
            if (!flow.takes.empty()) {
                m_work.linkTakes.resize(m_work.linkIndex.size(), 1); // those of the flows before it
                m_work.linkTakes.insert(m_work.linkTakes.end(), flow.takes.begin(), flow.takes.end());
            }
            m_work.linkIndex.insert(m_work.linkIndex.end(), flow.links.begin(), flow.links.end());
        }
        m_work.linkBegin.push_back(static_cast<std::uint32_t>(m_work.linkIndex.size()));
        if (!m_work.linkTakes.empty())
            m_work.linkTakes.resize(m_work.linkIndex.size(), 1);
        maxMinFairRates(m_carries, m_work.cap, m_work.weight, m_work.linkBegin, m_work.linkIndex, m_work.linkTakes,
            m_work.rate, m_work.fairShare);
    }
    /// Of the i-th of them, the share of its full speed.
    [[nodiscard]] double speed(std::size_t i) const
    {
        return m_work.cap[i] > 0 ? std::min(1.0, m_work.rate[i] / m_work.cap[i]) : 1.0;
    }

private:
    [[nodiscard]] bool isOverloaded(std::uint32_t link) const
    {
        return m_work.linkDemand[link] > m_carries[link] * (1 + 1e-9);
    }
    void holdsChange()
    {
        m_work.linkLeft = m_table.linkCapacity;
        for (std::size_t i = 0; i < m_table.holds.size(); ++i)
            if (m_work.holdUsers[i] > 0)
                m_work.linkLeft[m_table.holds[i].link] =
                    std::max(0.0, m_work.linkLeft[m_table.holds[i].link] - m_table.holds[i].amount);
        m_haveChanged = true;
    }

    const ClassTable &m_table;
    const std::vector<double> &m_carries; // of each link, what no hold takes away
    SimulationWorkspace &m_work;
    bool m_haveChanged = false;
};

} // namespace trainyard
