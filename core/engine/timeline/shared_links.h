#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The links that flows share while an event loop runs: who asks how much of each, and the max-min fair speeds. Rates
// change only where a link that is asked for more than it carries gains or loses a flow, or where a hold begins or
// ends.

#include "core/engine/timeline/simulator.h"

#include <algorithm>

namespace trainyard {

class SharedLinks {
public:
    SharedLinks(const ClassTable &table, SimulationWorkspace &workspace)
        : m_table(table)
        , m_isPlain(table.holds.empty()
              && std::ranges::all_of(table.flows, [](const Flow &flow) { return flow.takes.empty(); }))
        , m_carries(m_isPlain ? table.linkCapacity : workspace.linkLeft)
        , m_work(workspace)
    {
    }

    void reset()
    {
        m_work.linkDemand.assign(m_table.linkCapacity.size(), 0);
        m_work.linkUsers.assign(m_table.linkCapacity.size(), 0);
        if (!m_isPlain)
            resetHolds();
    }
    void join(const Flow &flow)
    {
        if (!m_isPlain) [[unlikely]]
            return joinTaking(flow);
        for (const std::uint32_t link : flow.links) {
            m_work.linkDemand[link] += flow.weight * flow.rateCap;
            ++m_work.linkUsers[link];
            m_haveChanged |= isOverloaded(link);
        }
    }
    void leave(const Flow &flow)
    {
        if (!m_isPlain) [[unlikely]]
            return leaveTaking(flow);
        for (const std::uint32_t link : flow.links) {
            m_haveChanged |= isOverloaded(link);
            m_work.linkDemand[link] -= flow.weight * flow.rateCap;
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
            if (!m_isPlain)
                addTakes(flow);
            m_work.linkIndex.insert(m_work.linkIndex.end(), flow.links.begin(), flow.links.end());
        }
        m_work.linkBegin.push_back(static_cast<std::uint32_t>(m_work.linkIndex.size()));
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
    // Where some flow takes more or less than its rate, or holds something.
    void resetHolds();
    void joinTaking(const Flow &flow);
    void leaveTaking(const Flow &flow);
    void addTakes(const Flow &flow);
    void holdsChange();

    const ClassTable &m_table;
    /// every flow takes its rate of each of its links and holds nothing
    const bool m_isPlain;
    /// of each link, what no hold takes away
    const std::vector<double> &m_carries;
    SimulationWorkspace &m_work;
    bool m_haveChanged = false;
};

} // namespace trainyard
