#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Max-min fair rates of flows over shared links, by progressive filling (Bertsekas and Gallager, Data Networks,
// §6.5.2): all rates rise together; a flow stops at its cap or where one of its links is full. A flow may take more or
// less of a link than its rate; it fills up all the same.

#include <cstdint>
#include <vector>

namespace trainyard {

struct FairShareWorkspace {
    // of many links the few that carry a flow, in their order, and the flows' links by their numbers among these
    std::vector<std::uint32_t> number, used, usedIndex;
    std::vector<double> usedCapacity;
    /// per link
    std::vector<double> left, unfrozenWeight, share;
    /// per link: flows not yet frozen
    std::vector<std::uint32_t> users;
    /// flows of each link
    std::vector<std::uint32_t> flowBegin, flowIndex;
    /// flows not yet frozen
    std::vector<std::uint32_t> open;
    std::vector<std::uint8_t> isFrozen;
};

/// Each flow i gets at most cap[i] and no link carries more than its capacity; weight[i] > 0 equal flows are meant by
/// flow i, and the rate returned is that of one of them. Flow i crosses links linkIndex[linkBegin[i] ..
/// linkBegin[i+1]), each at most once. Units: any, the same everywhere.
void maxMinFairRates(const std::vector<double> &linkCapacity, const std::vector<double> &cap,
    const std::vector<double> &weight, const std::vector<std::uint32_t> &linkBegin,
    const std::vector<std::uint32_t> &linkIndex, std::vector<double> &rate);

/// The same without allocation once the workspace has grown. One unit of flow i's rate takes linkTakes[j] > 0 of link
/// linkIndex[j]; empty: 1 of each.
void maxMinFairRates(const std::vector<double> &linkCapacity, const std::vector<double> &cap,
    const std::vector<double> &weight, const std::vector<std::uint32_t> &linkBegin,
    const std::vector<std::uint32_t> &linkIndex, const std::vector<double> &linkTakes, std::vector<double> &rate,
    FairShareWorkspace &workspace);

} // namespace trainyard
