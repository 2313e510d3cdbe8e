// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/facts/cluster/link_index.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace trainyard {

LinkIndex::LinkIndex(const Cluster &cluster)
    : m_peers(cluster.datacenters.size())
{
    std::unordered_map<std::string_view, int> numbers;
    for (std::size_t d = 0; d < cluster.datacenters.size(); ++d)
        numbers.try_emplace(cluster.datacenters[d].id, int(d)); // of two with one name the first, as Cluster::indexOf
    for (std::size_t i = 0; i < cluster.wanLinks.size(); ++i) {
        const auto a = numbers.find(cluster.wanLinks[i].between[0]), b = numbers.find(cluster.wanLinks[i].between[1]);
        if (a == numbers.end() || b == numbers.end())
            continue;
        m_peers[std::size_t(a->second)].emplace_back(b->second, int(i));
        if (a != b)
            m_peers[std::size_t(b->second)].emplace_back(a->second, int(i));
    }
    for (auto &peers : m_peers)
        std::ranges::sort(peers); // of two links between the same two the first, as Cluster::linkBetween
}

int LinkIndex::between(int a, int b) const
{
    if (a < 0 || std::size_t(a) >= m_peers.size())
        return -1;
    const auto &peers = m_peers[std::size_t(a)];
    const auto found = std::ranges::lower_bound(peers, b, {}, &std::pair<int, int>::first);
    return found == peers.end() || found->first != b ? -1 : found->second;
}

std::span<const std::pair<int, int>> LinkIndex::peers(int datacenter) const
{
    if (datacenter < 0 || std::size_t(datacenter) >= m_peers.size())
        return {};
    return m_peers[std::size_t(datacenter)];
}

} // namespace trainyard
