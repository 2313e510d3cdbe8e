// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/timeline/fair_share.h"

#include <algorithm>
#include <limits>

namespace trainyard {

namespace {

/// `hasTakes`: flows take of a link what `takes` says instead of their rate.
template <bool hasTakes> class ProgressiveFilling {
public:
    ProgressiveFilling(const std::vector<double> &cap, const std::vector<double> &weight,
        const std::vector<std::uint32_t> &linkBegin, const std::vector<std::uint32_t> &linkIndex,
        const std::vector<double> &takes, std::vector<double> &rate, FairShareWorkspace &workspace)
        : m_cap(cap)
        , m_weight(weight)
        , m_linkBegin(linkBegin)
        , m_linkIndex(linkIndex)
        , m_takes(takes)
        , m_rate(rate)
        , m_work(workspace)
    {
    }

    void run(const std::vector<double> &capacity)
    {
        open(capacity);
        groupByLink(capacity.size());
        while (m_unfrozen > 0) {
            const double share = smallestShare();
            if (m_smallestCap <= share) {
                freezeAtCaps(share);
                continue;
            }
            for (std::uint32_t link = 0; link < m_work.share.size(); ++link)
                if (m_work.share[link] <= share)
                    freezeLink(link, share);
        }
    }

private:
    void open(const std::vector<double> &capacity)
    {
        const std::size_t flows = m_cap.size();
        m_rate.assign(flows, 0);
        m_work.left = capacity;
        m_work.unfrozenWeight.assign(capacity.size(), 0);
        m_work.share.resize(capacity.size());
        m_work.isFrozen.assign(flows, 0);
        m_work.open.resize(flows);
        m_unfrozen = flows;
        for (std::uint32_t i = 0; i < flows; ++i) {
            m_work.open[i] = i;
            m_smallestCap = std::min(m_smallestCap, m_cap[i]);
        }
    }

    void groupByLink(std::size_t links)
    {
        m_work.flowBegin.assign(links + 1, 0);
        m_work.flowIndex.resize(m_linkIndex.size());
        for (const std::uint32_t link : m_linkIndex)
            ++m_work.flowBegin[link];
        std::uint32_t end = 0;
        m_work.users.assign(m_work.flowBegin.begin(), m_work.flowBegin.end() - 1);
        for (std::uint32_t link = 0; link < links; ++link) {
            m_work.flowBegin[link] = end += m_work.flowBegin[link];
            if (m_work.users[link] == 0)
                close(link);
        }
        m_work.flowBegin[links] = end;
        for (auto flow = static_cast<std::uint32_t>(m_cap.size()); flow-- > 0;)
            for (std::uint32_t i = m_linkBegin[flow]; i < m_linkBegin[flow + 1]; ++i) {
                m_work.flowIndex[--m_work.flowBegin[m_linkIndex[i]]] = flow;
                m_work.unfrozenWeight[m_linkIndex[i]] += asks(flow, i);
            }
    }

    /// What flow i's entry for a link takes of it for one unit of rate.
    [[nodiscard]] double asks(std::uint32_t flow, std::uint32_t entry) const
    {
        return hasTakes ? m_weight[flow] * m_takes[entry] : m_weight[flow];
    }

    /// A link without unfrozen flows never is the tightest.
    void close(std::uint32_t link)
    {
        m_work.left[link] = std::numeric_limits<double>::infinity();
        m_work.unfrozenWeight[link] = 1;
    }

    double smallestShare()
    {
        const std::size_t links = m_work.share.size();
        for (std::size_t link = 0; link < links; ++link) // divisions side by side
            m_work.share[link] = m_work.left[link] / m_work.unfrozenWeight[link];
        double smallest = std::numeric_limits<double>::infinity();
        for (const double share : m_work.share)
            smallest = std::min(smallest, share);
        return smallest;
    }

    void freeze(std::uint32_t flow, double rate)
    {
        m_rate[flow] = rate;
        m_work.isFrozen[flow] = 1;
        --m_unfrozen;
        for (std::uint32_t i = m_linkBegin[flow]; i < m_linkBegin[flow + 1]; ++i) {
            const std::uint32_t link = m_linkIndex[i];
            m_work.left[link] = std::max(0.0, m_work.left[link] - rate * asks(flow, i));
            if constexpr (!hasTakes)
                m_work.unfrozenWeight[link] -= m_weight[flow];
            if (--m_work.users[link] == 0)
                close(link);
            else if constexpr (hasTakes)
                addUnfrozen(link);
        }
    }

    /// Anew: of takes of unlike size a difference would keep nothing but rounding.
    void addUnfrozen(std::uint32_t link)
    {
        m_work.unfrozenWeight[link] = 0;
        for (std::uint32_t i = m_work.flowBegin[link]; i < m_work.flowBegin[link + 1]; ++i)
            if (const std::uint32_t flow = m_work.flowIndex[i]; m_work.isFrozen[flow] == 0)
                for (std::uint32_t entry = m_linkBegin[flow]; entry < m_linkBegin[flow + 1]; ++entry)
                    if (m_linkIndex[entry] == link)
                        m_work.unfrozenWeight[link] += asks(flow, entry);
    }

    /// A cap at or below the smallest share is reached: taking it only leaves more for each of the others.
    void freezeAtCaps(double share)
    {
        m_smallestCap = std::numeric_limits<double>::infinity();
        std::size_t kept = 0;
        for (const std::uint32_t flow : m_work.open) {
            if (m_work.isFrozen[flow] != 0)
                continue;
            if (m_cap[flow] <= share) {
                freeze(flow, m_cap[flow]);
                continue;
            }
            m_work.open[kept++] = flow;
            m_smallestCap = std::min(m_smallestCap, m_cap[flow]);
        }
        m_work.open.resize(kept);
    }

    void freezeLink(std::uint32_t link, double share)
    {
        for (std::uint32_t i = m_work.flowBegin[link]; i < m_work.flowBegin[link + 1]; ++i)
            if (const std::uint32_t flow = m_work.flowIndex[i]; m_work.isFrozen[flow] == 0)
                freeze(flow, share);
    }

    const std::vector<double> &m_cap, &m_weight;
    const std::vector<std::uint32_t> &m_linkBegin, &m_linkIndex;
    const std::vector<double> &m_takes;
    std::vector<double> &m_rate;
    FairShareWorkspace &m_work;
    double m_smallestCap = std::numeric_limits<double>::infinity();
    std::size_t m_unfrozen = 0;
};

constexpr std::uint32_t kUnused = 0xffffffff;
constexpr std::size_t kFewLinks = 16; // of which none needs to be left out

/// A full mesh of thirty datacenters has 870 directions, of which a pipeline uses a dozen.
void takeUsedLinks(
    const std::vector<double> &capacity, const std::vector<std::uint32_t> &linkIndex, FairShareWorkspace &work)
{
    work.number.resize(capacity.size(), kUnused);
    work.used.clear();
    for (const std::uint32_t link : linkIndex) {
        if (work.number[link] == kUnused)
            work.used.push_back(link);
        work.number[link] = 0;
    }
    std::ranges::sort(work.used);
    work.usedCapacity.clear();
    for (const std::uint32_t link : work.used) {
        work.number[link] = std::uint32_t(work.usedCapacity.size());
        work.usedCapacity.push_back(capacity[link]);
    }
    work.usedIndex.resize(linkIndex.size());
    for (std::size_t i = 0; i < linkIndex.size(); ++i)
        work.usedIndex[i] = work.number[linkIndex[i]];
    for (const std::uint32_t link : work.used)
        work.number[link] = kUnused;
}

template <bool hasTakes>
void fill(const std::vector<double> &linkCapacity, const std::vector<double> &cap, const std::vector<double> &weight,
    const std::vector<std::uint32_t> &linkBegin, const std::vector<std::uint32_t> &linkIndex,
    const std::vector<double> &takes, std::vector<double> &rate, FairShareWorkspace &work)
{
    using Filling = ProgressiveFilling<hasTakes>;
    if (linkCapacity.size() <= kFewLinks)
        return Filling(cap, weight, linkBegin, linkIndex, takes, rate, work).run(linkCapacity);
    takeUsedLinks(linkCapacity, linkIndex, work);
    Filling(cap, weight, linkBegin, work.usedIndex, takes, rate, work).run(work.usedCapacity);
}

} // namespace

void maxMinFairRates(const std::vector<double> &linkCapacity, const std::vector<double> &cap,
    const std::vector<double> &weight, const std::vector<std::uint32_t> &linkBegin,
    const std::vector<std::uint32_t> &linkIndex, std::vector<double> &rate)
{
    FairShareWorkspace workspace;
    maxMinFairRates(linkCapacity, cap, weight, linkBegin, linkIndex, {}, rate, workspace);
}

void maxMinFairRates(const std::vector<double> &linkCapacity, const std::vector<double> &cap,
    const std::vector<double> &weight, const std::vector<std::uint32_t> &linkBegin,
    const std::vector<std::uint32_t> &linkIndex, const std::vector<double> &linkTakes, std::vector<double> &rate,
    FairShareWorkspace &workspace)
{
    if (linkTakes.empty())
        fill<false>(linkCapacity, cap, weight, linkBegin, linkIndex, linkTakes, rate, workspace);
    else
        fill<true>(linkCapacity, cap, weight, linkBegin, linkIndex, linkTakes, rate, workspace);
}

} // namespace trainyard
