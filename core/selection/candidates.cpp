// SPDX-License-Identifier: GPL-3.0-or-later
// The loop of Algorithm 1. Seats instead of GPUs are divided, so that tensor groups stay whole in nodes.
#include "core/cluster/wan.h"
#include "core/cost/stage_coster.h"
#include "core/cost/wan_codec.h"
#include "core/placement/place.h"
#include "core/schedule/chunks.h"
#include "core/selection/candidates_internal.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

namespace trainyard::selecting {

namespace {

struct Hop { double seconds = 0, latency = 0; };

/// The orders of datacenters for one data-parallel degree.
class OrderSearch {
public:
    OrderSearch(const Workload &workload, const Seating &seating, int data)
        : m_workload(workload), m_data(data), m_used(workload.plan->cluster.datacenters.size())
    {
        for (std::size_t d = 0; d < m_used.size(); ++d)
            m_holds.push_back(seating.capacity(int(d)) / data);
    }

    /// For each set of datacenters the order whose boundaries cost least: there and back, and the slowest for the pace.
    std::vector<std::vector<DatacenterBlock>> all()
    {
        extend(m_workload.plan->parallelism.pipeline, {}, 0);
        return take();
    }

    /// The datacenters in the order given; one that no link joins to the one before is passed over.
    std::vector<std::vector<DatacenterBlock>> inOrder(const std::vector<int> &order)
    {
        Hop way;
        double slowest = 0;
        int left = m_workload.plan->parallelism.pipeline;
        for (const int d : order) {
            const int stages = std::min(left, m_holds[std::size_t(d)]);
            if (stages == 0)
                continue;
            const std::optional<Hop> hop = m_path.empty() ? Hop{} : between(m_path.back().datacenter, d);
            if (!hop)
                continue;
            m_path.push_back({d, stages});
            way = {way.seconds + hop->seconds, way.latency + hop->latency};
            slowest = std::max(slowest, hop->seconds);
            left -= stages;
            if (left == 0)
                finish(way, slowest);
        }
        return take();
    }

private:
    struct Best { double cost; std::vector<DatacenterBlock> blocks; };

    void extend(int left, Hop way, double slowest)
    {
        if (left == 0)
            return finish(way, slowest);
        for (int d = 0; d < int(m_used.size()); ++d) {
            const int stages = m_used[std::size_t(d)] ? 0 : std::min(left, m_holds[std::size_t(d)]);
            const std::optional<Hop> hop = stages == 0 || m_path.empty() ? Hop{} : between(m_path.back().datacenter, d);
            if (stages == 0 || !hop)
                continue;
            m_used[std::size_t(d)] = true;
            m_path.push_back({d, stages});
            extend(left - stages, {way.seconds + hop->seconds, way.latency + hop->latency}, std::max(slowest, hop->seconds));
            m_path.pop_back();
            m_used[std::size_t(d)] = false;
        }
    }

    void finish(Hop way, double slowest)
    {
        if (handsBack() && m_path.size() > 1) {
            const std::optional<Hop> back = between(m_path.back().datacenter, m_path.front().datacenter);
            if (!back)
                return;
            way = {way.seconds + back->seconds, way.latency + back->latency};
            slowest = std::max(slowest, back->seconds);
        }
        std::uint64_t set = 0;
        for (const DatacenterBlock &block : m_path)
            set |= std::uint64_t{1} << (block.datacenter % 64);
        const double microBatches = double(totalMicroBatches(*m_workload.plan)) / m_data;
        const double cost = 2 * (way.seconds + way.latency) + microBatches * slowest;
        const auto [entry, isNew] = m_best.try_emplace(set, Best{cost, m_path});
        if (!isNew && cost < entry->second.cost)
            entry->second = {cost, m_path};
    }

    /// With several chunks a stage, dealt round and round, the last device hands on to the first.
    [[nodiscard]] bool handsBack() const
    {
        const Plan &plan = *m_workload.plan;
        return chunkPlacement(plan.schedule) == ChunkPlacement::Loop && chunksPerStage(plan) > 1;
    }

    [[nodiscard]] std::optional<Hop> between(int from, int to) const
    {
        const Plan &plan = *m_workload.plan;
        const auto &datacenters = plan.cluster.datacenters;
        const int link = plan.cluster.linkBetween(datacenters[std::size_t(from)].id, datacenters[std::size_t(to)].id);
        if (link < 0)
            return std::nullopt;
        const WanLink &wan = plan.cluster.wanLinks[std::size_t(link)];
        return Hop{m_workload.boundaryBytes(false) * activationBits(plan).share() / m_workload.transports[std::size_t(link)].rate.value, wan.rttMs / 2e3};
    }

    std::vector<std::vector<DatacenterBlock>> take()
    {
        std::vector<std::vector<DatacenterBlock>> found;
        for (auto &[set, best] : m_best)
            found.push_back(std::move(best.blocks));
        return found;
    }

    const Workload &m_workload;
    int m_data;
    std::vector<bool> m_used;
    std::vector<int> m_holds;              // stages of so many replicas
    std::vector<DatacenterBlock> m_path;
    std::map<std::uint64_t, Best> m_best;  // by set of datacenters
};

std::vector<int> sortedBy(std::size_t count, auto key)
{
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, key);
    return order;
}

std::vector<std::vector<DatacenterBlock>> placements(const Workload &workload, const Seating &seating, int data)
{
    const std::size_t count = workload.plan->cluster.datacenters.size();
    if (count <= kMostForAllOrders)
        return OrderSearch(workload, seating, data).all();
    auto found = OrderSearch(workload, seating, data).inOrder(sortedBy(count, [&](int d) { return -seating.capacity(d); }));
    auto cheap = OrderSearch(workload, seating, data).inOrder(sortedBy(count, [&](int d) { return gpuPrice(workload, d); }));
    std::ranges::move(cheap, std::back_inserter(found));
    return found;
}

/// tf of the slowest stage of one pipeline, wherever it finds seats.
double slowestForward(const Workload &workload)
{
    Plan one = *workload.plan;
    one.placement.stages.clear();
    one.parallelism.data = 1;
    Workload alone = workload;
    alone.plan = std::make_shared<const Plan>(std::move(one));
    alone.layout = place(alone, PlacementMode::PipelineAcross);
    if (alone.layout.data == 0)
        return 0;
    StageCoster coster(alone);
    double slowest = 0;
    for (int stage = 0; stage < alone.plan->parallelism.pipeline; ++stage) {
        double forward = 0;
        for (const ChunkCost &chunk : coster.wholeStage(alone.layout.classes.front(), stage).chunks)
            forward += chunk.forward.total().value;
        slowest = std::max(slowest, forward);
    }
    return slowest;
}

PlanPtr planOf(const Workload &workload, const SelectionOption &option, const SelectionOptions &options)
{
    Plan plan = *workload.plan;
    plan.placement.mode = PlacementMode::PipelineAcross;
    plan.placement.stages.clear();
    for (const DatacenterBlock &block : option.blocks)
        plan.placement.stages.push_back({plan.cluster.datacenters[std::size_t(block.datacenter)].id, block.stages, {}});
    plan.parallelism.data = option.data();
    if (options.microBatches)
        plan.workload.globalBatch = *options.microBatches * std::max(1, plan.workload.microBatch) * option.data();
    return std::make_shared<const Plan>(std::move(plan));
}

} // namespace

int cellFor(const Workload &workload, const SelectionOptions &options)
{
    const Plan &plan = *workload.plan;
    if (options.cell)
        return std::max(1, *options.cell);
    if (plan.wan.cell)
        return std::max(1, *plan.wan.cell);
    if (plan.wan.sharing != WanSharing::Temporal)
        return 1;
    const Seating seating(workload);
    double slowest = 0;                    // s on the slowest link between datacenters that can hold a stage
    for (std::size_t i = 0; i < plan.cluster.wanLinks.size(); ++i) {
        const WanLink &link = plan.cluster.wanLinks[i];
        const bool isUsable = std::ranges::all_of(link.between, [&](const std::string &id) {
            const int d = plan.cluster.indexOf(id);
            return d >= 0 && seating.capacity(d) > 0;
        });
        if (isUsable)
            slowest = std::max(slowest, workload.boundaryBytes(false) * activationBits(plan).share() / workload.transports[i].rate.value);
    }
    const double forward = slowestForward(workload);
    return forward > 0 ? int(std::clamp(std::lround(slowest / forward), 1L, long(totalMicroBatches(plan)))) : 1;
}

std::vector<SelectionOption> candidates(const Workload &workload, int cell, const SelectionOptions &options)
{
    const Plan &plan = *workload.plan;
    const Seating seating(workload);
    std::vector<SelectionOption> found;
    const int most = options.microBatches ? std::numeric_limits<int>::max() : totalMicroBatches(plan);
    for (int cells = 1; std::int64_t(cells) * cell <= most; ++cells) {
        const auto blocks = placements(workload, seating, cells * cell);
        if (blocks.empty())
            break;
        for (const auto &placed : blocks) {
            SelectionOption option;
            option.blocks = placed;
            option.cells = cells;
            option.cell = cell;
            option.plan = planOf(workload, option, options);
            option.sentence = "Select " + blocksText(placed, plan.cluster) + (plan.parallelism.pipeline == 1 ? " stage, " : " stages, ")
                + std::to_string(option.data()) + (option.data() == 1 ? " replica" : " replicas");
            found.push_back(std::move(option));
        }
    }
    return found;
}

} // namespace trainyard::selecting
