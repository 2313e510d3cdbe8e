// SPDX-License-Identifier: GPL-3.0-or-later
// What only flows with takes and holds need; those of the WAN have none, and pay nothing for it.
#include "core/engine/timeline/shared_links.h"

namespace trainyard {

void SharedLinks::resetHolds()
{
    m_work.holdUsers.assign(m_table.holds.size(), 0);
    m_work.linkLeft = m_table.linkCapacity;
}

void SharedLinks::joinTaking(const Flow &flow)
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

void SharedLinks::leaveTaking(const Flow &flow)
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

void SharedLinks::addTakes(const Flow &flow)
{
    if (flow.takes.empty())
        m_work.linkTakes.insert(m_work.linkTakes.end(), flow.links.size(), 1);
    else
        m_work.linkTakes.insert(m_work.linkTakes.end(), flow.takes.begin(), flow.takes.end());
}

void SharedLinks::holdsChange()
{
    m_work.linkLeft = m_table.linkCapacity;
    for (std::size_t i = 0; i < m_table.holds.size(); ++i)
        if (m_work.holdUsers[i] > 0) {
            double &left = m_work.linkLeft[m_table.holds[i].link];
            left = std::max(0.0, left - m_table.holds[i].amount);
        }
    m_haveChanged = true;
}

} // namespace trainyard
