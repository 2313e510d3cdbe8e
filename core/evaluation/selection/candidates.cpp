// SPDX-License-Identifier: GPL-3.0-or-later
// Every data-parallel degree with every placement of its stages, by the search that also places a plan.
#include "core/base/words.h"
#include "core/evaluation/selection/candidates_internal.h"
#include "core/facts/cluster/wan.h"
#include "core/iteration/layouts/search_times.h"
#include "core/iteration/placement/as_placed.h"

#include <algorithm>
#include <limits>

namespace trainyard::selecting {

namespace {

constexpr int kKept = 12; // placements of one degree, by time and by cost each
constexpr int kVisits = 60'000; // of datacenters by all searches together
constexpr std::int64_t kMostSequences = 10'000'000; // of a global batch
constexpr int kMostDegrees = 400; // beyond, only one in so many small degrees is looked at

Plan openPlan(const Requested &asked, int data, const SelectionOptions &options)
{
    Plan plan = *asked.plan;
    plan.placement.mode = PlacementMode::PipelineAcross;
    plan.placement.stages.clear();
    plan.parallelism.data = data;
    if (options.microBatches)
        plan.workload.globalBatch = *options.microBatches * std::max(1, plan.workload.microBatch) * data;
    return plan;
}

PlanPtr pinnedPlan(Plan plan, const std::vector<DatacenterBlock> &blocks)
{
    pinStages(plan, blocks);
    return std::make_shared<const Plan>(std::move(plan));
}

/// 1, 2, … most; of very many the small ones with gaps of a hundredth.
std::vector<int> degrees(int most)
{
    std::vector<int> all;
    for (int data = most; data >= 1; data -= std::max(1, int(all.size()) >= kMostDegrees ? data / 100 : 1))
        all.push_back(data);
    std::ranges::reverse(all);
    return all;
}

/// The placements of one degree. Across the WAN only whole cells of replicas where the plan says how many make one:
/// Algorithm 1.
class OfDegree {
public:
    OfDegree(const Requested &asked, int data, std::optional<int> cell, const SelectionOptions &options,
        const std::vector<std::array<double, 2>> &usdPerGb)
        : m_plan(openPlan(asked, data, options))
        , m_data(data)
        , m_cell(cell && data % *cell == 0 ? *cell : 1)
        , m_goesAcross(!cell || data % *cell == 0)
    {
        m_times = searchTimes(asked.askedBy(std::make_shared<const Plan>(m_plan)), data, &usdPerGb);
    }

    void search(Candidates &out, int visits)
    {
        std::vector<BoundedBlocks> found;
        const auto take = [&](const BoundedBlocks &b) {
            if (std::ranges::find(found, b.blocks, &BoundedBlocks::blocks) == found.end())
                found.push_back(b);
        };
        for (int d = 0; d < int(m_times.holds.size()); ++d)
            if (m_times.holds[std::size_t(d)] >= m_times.stages)
                take(boundBlocks(m_times, { { d, m_times.stages } }));
        constexpr double kNothing = std::numeric_limits<double>::infinity();
        const LeftBound rest = m_goesAcross ? searchAcross(take, out.looked, visits) : LeftBound { kNothing, kNothing };
        const double sequences = m_plan.workload.globalBatch;
        out.rest.push_back({ rest.seconds / sequences, rest.usd / sequences });
        for (BoundedBlocks &b : found)
            if (b.mayFit)
                add(out, std::move(b));
    }

private:
    LeftBound searchAcross(const auto &take, int &looked, int visits)
    {
        LeftBound rest;
        for (const bool byCost : { false, true }) {
            const FoundBlocks found = searchBlocks(m_times, { BlockSizes::Any, byCost, kKept, visits });
            (byCost ? rest.usd : rest.seconds) = found.rest;
            looked += byCost ? 0 : found.looked;
            std::ranges::for_each(found.blocks, take);
        }
        for (const BoundedBlocks &b : searchBlocks(m_times, { BlockSizes::Most, false, 2, visits }).blocks)
            take(b); // where the others were cut
        return rest;
    }

    void add(Candidates &out, BoundedBlocks &&b) const
    {
        SelectionOption option;
        option.cell = m_cell;
        option.cells = m_data / option.cell;
        option.leastSeconds = b.seconds;
        option.leastUsd = b.usd;
        option.plan = pinnedPlan(m_plan, b.blocks);
        option.sentence = "Select " + blocksText(b.blocks, m_plan.cluster)
            + (degreesOf(m_plan).pipeline == 1 ? " stage, " : " stages, ") + counted(m_data, "replica");
        option.blocks = std::move(b.blocks);
        out.options.push_back(std::move(option));
    }

    Plan m_plan;
    int m_data, m_cell;
    bool m_goesAcross;
    SearchTimes m_times;
};

} // namespace

std::optional<int> askedCell(const Requested &asked, const SelectionOptions &options)
{
    const Auto<int> &cell = options.cell ? options.cell : asked.plan->wan.cell;
    return cell ? std::optional(std::max(1, *cell)) : std::nullopt;
}

Candidates candidates(
    const Requested &asked, const Catalogue &catalogue, const SelectionOptions &options, const std::stop_token &stop)
{
    const Plan &plan = *asked.plan;
    const std::int64_t fed = options.microBatches
        ? kMostSequences / (std::int64_t(*options.microBatches) * std::max(1, plan.workload.microBatch))
        : totalMicroBatches(plan);
    std::vector<std::array<double, 2>> usdPerGb;
    for (int link = 0; link < int(plan.cluster.wanLinks.size()); ++link)
        usdPerGb.push_back(egressUsdPerGb(plan, catalogue, link));
    const std::vector<int> all = degrees(int(std::min(LocationBook(asked).capacity() / asked.degrees.pipeline, fed)));
    Candidates found;
    if (int(all.size()) > 0 && all.back() != int(all.size()))
        found.rest.push_back({ 0, 0 }); // degrees left out may be anything
    for (const int data : all) {
        if (stop.stop_requested())
            return found;
        OfDegree(asked, data, askedCell(asked, options), options, usdPerGb)
            .search(found, std::max(200, kVisits / int(all.size())));
    }
    return found;
}

} // namespace trainyard::selecting
