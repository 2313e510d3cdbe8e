// SPDX-License-Identifier: GPL-3.0-or-later
// Which of the screened options the simulator is asked about.
#include "core/selection/candidates_internal.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace trainyard::selecting {

namespace {

/// How much faster and cheaper another option must be in closed form for one not to be simulated: what the form may be off
/// (docs/model.md, "Closed forms").
constexpr double kScreenMargin = 1.25;
/// Options on the same datacenters that differ less than this are one to whoever chooses.
constexpr double kAlike = 0.1;

bool uses(const SelectionOption &option, std::size_t datacenter)
{
    return std::ranges::find(option.blocks, int(datacenter), &DatacenterBlock::datacenter) != option.blocks.end();
}

/// The same datacenters, and hardly another number of replicas.
bool isAlike(const SelectionOption &a, const SelectionOption &b)
{
    const auto isSameSite = [](const DatacenterBlock &x, const DatacenterBlock &y) { return x.datacenter == y.datacenter; };
    const auto isNear = [](double x, double y) { return std::abs(x - y) < kAlike * std::max(x, y); };
    return std::ranges::equal(a.blocks, b.blocks, isSameSite) && isNear(a.sequencesPerSecond, b.sequencesPerSecond)
        && isNear(a.usdPerMillionTokens, b.usdPerMillionTokens);
}

} // namespace

Orders ordersOf(const std::vector<SelectionOption> &screened)
{
    Orders orders;
    for (std::size_t i = 0; i < screened.size(); ++i)
        if (screened[i].screenedSeconds > 0)
            orders.fast.push_back(i);
    orders.cheap = orders.fast;
    std::ranges::stable_sort(orders.fast, std::greater{}, [&](std::size_t i) { return screened[i].sequencesPerSecond; });
    std::ranges::stable_sort(orders.cheap, {}, [&](std::size_t i) { return screened[i].usdPerMillionTokens; });
    return orders;
}

std::vector<std::size_t> worthSimulating(const std::vector<SelectionOption> &screened, std::size_t datacenters, const SelectionOptions &options)
{
    const Orders orders = ordersOf(screened);
    const std::vector<std::size_t> &order = options.objective == SelectionObjective::Cost ? orders.cheap : orders.fast;
    std::vector<std::size_t> chosen;
    const auto choose = [&](std::size_t i) {
        if (std::ranges::find(chosen, i) == chosen.end())
            chosen.push_back(i);
    };
    if (order.empty())
        return chosen;
    choose(orders.fast.front());
    choose(orders.cheap.front());
    for (std::size_t d = 0; d < datacenters; ++d) {
        const auto with = std::ranges::find_if(order, [&](std::size_t i) { return uses(screened[i], d); });
        if (with != order.end())
            choose(*with);
    }
    for (const std::size_t i : order) {
        if (int(chosen.size()) >= options.mostSimulated)
            break;
        const SelectionOption &option = screened[i];
        const bool isOutdone = std::ranges::any_of(order, [&](std::size_t j) {
            return screened[j].sequencesPerSecond >= kScreenMargin * option.sequencesPerSecond
                && kScreenMargin * screened[j].usdPerMillionTokens <= option.usdPerMillionTokens;
        });
        const bool isKnown = std::ranges::any_of(chosen, [&](std::size_t j) { return isAlike(option, screened[j]); });
        if (!isOutdone && !isKnown)
            choose(i);
    }
    return chosen;
}

} // namespace trainyard::selecting
