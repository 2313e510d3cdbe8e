#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which WAN link joins two datacenters, by their numbers. Built once a plan, since searches over routes and placements
// ask it millions of times, and comparing names link by link would be all that they do. A value; keep it no longer than
// its cluster is unchanged.

#include "core/facts/plan/plan.h"

#include <span>
#include <utility>
#include <vector>

namespace trainyard {

class LinkIndex {
public:
    LinkIndex() = default;
    explicit LinkIndex(const Cluster &cluster);

    /// Index into Cluster::wanLinks; negative where no link joins the two, or there is no such datacenter.
    [[nodiscard]] int between(int a, int b) const;
    /// Of a datacenter: the other end and the link, by other end. Empty where there is no such datacenter.
    [[nodiscard]] std::span<const std::pair<int, int>> peers(int datacenter) const;

private:
    /// [datacenter]: the other end and the link, by other end
    std::vector<std::vector<std::pair<int, int>>> m_peers;
};

} // namespace trainyard
