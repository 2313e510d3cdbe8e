// SPDX-License-Identifier: GPL-3.0-or-later
// Sizes of micro-batches of their own for unequal GPUs (dealt_pipelines.h).
#include "core/iteration/layouts/dealt_groups_internal.h"
#include "core/iteration/memory/bounded_memory.h"
#include "core/iteration/placement/state_share.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace trainyard {

namespace {

/// Whether a GPU of each stage holds as many micro-batches of the group's size as the schedule has in flight. Of states
/// what is there even where others take the rest.
bool mayFit(const Workload &workload, const PipelineGroup &group)
{
    PipelineClass like = classOf(group, workload);
    const std::int64_t all = std::int64_t(group.microBatch) * workload.layout.data;
    like.microBatches = int(std::max<std::int64_t>(1, workload.plan->workload.globalBatch / all));
    if (like.stateShare == 0 && workload.plan->heterogeneity.state != StateSharing::Even)
        like.stateShare = kNoStates;
    return std::ranges::all_of(
        boundedMemory(workload, like), [](const StageMemory &m) { return m.device <= m.capacity; });
}

/// Of each group the sizes to try: those that may fit, the plan's first; the plan's alone where none does.
std::vector<std::vector<int>> sizesToTry(const Workload &workload, std::vector<PipelineGroup> groups)
{
    const int now = workload.plan->workload.microBatch, batch = workload.plan->workload.globalBatch;
    std::vector<std::vector<int>> sizes;
    for (PipelineGroup &group : groups) {
        std::vector<int> &own = sizes.emplace_back();
        const int plans = group.microBatch;
        const bool isPinned = group.pin() && (group.pin()->microBatch || group.pin()->microBatches);
        for (const int size : { now, now / 4, now / 2, 2 * now, 4 * now, 8 * now }) {
            group.microBatch = size;
            if (!isPinned && size > 0 && std::int64_t(size) * workload.layout.data <= batch && mayFit(workload, group))
                own.push_back(size);
        }
        if (own.empty())
            own.push_back(plans);
    }
    return sizes;
}

/// Sizes of each group in turn, and with them all that were looked at.
class SizeSearch {
public:
    SizeSearch(const Workload &workload, std::vector<PipelineGroup> groups)
        : m_work(workload)
        , m_groups(std::move(groups))
        , m_paces(workload)
        , m_sizes(sizesToTry(workload, m_groups))
    {
    }

    /// Ends by sizes, until no group alone would end sooner with another. Each of a few groups, all together.
    const std::map<OwnSizes, double> &run()
    {
        OwnSizes best;
        std::size_t all = 1;
        for (const std::vector<int> &own : m_sizes) {
            best.push_back(own.front());
            all = std::min(all * own.size(), kMostTogether + 1);
        }
        if (all <= kMostTogether)
            tryAll(best, 0);
        else
            while (improves(best)) { }
        return m_ends;
    }
    /// With the plan's sizes.
    [[nodiscard]] double endOfPlan()
    {
        OwnSizes plans;
        for (const PipelineGroup &group : m_groups)
            plans.push_back(group.microBatch);
        return endWith(plans);
    }

private:
    static constexpr std::size_t kMostTogether = 256;

    void tryAll(OwnSizes &sizes, std::size_t group)
    {
        if (group == sizes.size()) {
            endWith(sizes);
            return;
        }
        for (const int size : m_sizes[group]) {
            sizes[group] = size;
            tryAll(sizes, group + 1);
        }
    }

    bool improves(OwnSizes &best)
    {
        const double before = endWith(best);
        for (std::size_t group = 0; group < best.size(); ++group)
            for (const int size : m_sizes[group]) {
                OwnSizes other = best;
                other[group] = size;
                if (endWith(other) < endWith(best))
                    best = std::move(other);
            }
        return endWith(best) < before;
    }

    double endWith(const OwnSizes &sizes)
    {
        const auto [known, isNew] = m_ends.try_emplace(sizes, std::numeric_limits<double>::infinity());
        if (!isNew)
            return known->second;
        std::vector<PipelineGroup> groups = m_groups;
        for (std::size_t g = 0; g < groups.size(); ++g)
            groups[g].microBatch = sizes[g];
        GroupDeal deal(m_work, std::move(groups), m_paces);
        if (deal.run().empty())
            known->second = deal.end();
        return known->second;
    }

    const Workload &m_work;
    std::vector<PipelineGroup> m_groups;
    GroupPaces m_paces;
    std::vector<std::vector<int>> m_sizes; // of each group
    std::map<OwnSizes, double> m_ends;
};

} // namespace

std::vector<OwnSizes> ownSizes(const Workload &workload, bool areSooner)
{
    const bool sharesExperts = workload.model.isMoe() && workload.degrees.expert > 1;
    if (sharesExperts || !workload.source.hasLayers || !workload.layout.shares.why.empty())
        return {};
    std::vector<PipelineGroup> groups = groupsOf(workload, runsToDeal(workload));
    constexpr std::size_t kMostGroups = 16; // of more, what a deal takes grows beyond what an edit may
    if (groups.size() < 2 || groups.size() > kMostGroups)
        return {};
    SizeSearch search(workload, std::move(groups));
    constexpr double kWorthwhile = 0.999;
    const double before = areSooner ? kWorthwhile * search.endOfPlan() : std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, OwnSizes>> byEnd;
    for (const auto &[sizes, end] : search.run())
        if (end < before)
            byEnd.emplace_back(end, sizes);
    std::ranges::stable_sort(byEnd, {}, &std::pair<double, OwnSizes>::first);
    std::vector<OwnSizes> found;
    for (auto &[end, sizes] : byEnd)
        found.push_back(std::move(sizes));
    return found;
}

} // namespace trainyard
