// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/placement/place.h"

#include "core/placement/seating.h"
#include "core/schedule/chunks.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace trainyard {

namespace {

/// With several chunks a stage, dealt round and round, the last device hands on to the first.
bool handsBack(const Plan &plan)
{
    return chunkPlacement(plan.schedule) == ChunkPlacement::Loop && chunksPerStage(plan) > 1;
}

struct Block { int datacenter, stages; };   // contiguous stages, in pipeline order

/// Finds the order of datacenters in which blocks of stages cost least on the WAN, by depth-first search over linked
/// datacenters. A block takes all the stages that its datacenter can hold (fewest boundaries, Atlas Algorithm 1). A chain costs the
/// same from either end: then the slower hops come first, where stages have more micro-batches in flight to wait with, and
/// what else is equal is the first found. Rounding of sums must not decide: it would at any change of a rate.
class BlockSearch {
public:
    BlockSearch(const Workload &workload, const Seating &seating)
        : m_workload(workload), m_seating(seating), m_used(workload.plan->cluster.datacenters.size())
    {
    }

    std::vector<Block> run(int data)
    {
        m_data = data;
        m_best.clear();
        m_bestCost = m_bestLateness = std::numeric_limits<double>::infinity();
        m_visits = 0;
        int possible = 0;
        for (int d = 0; d < int(m_used.size()); ++d)
            possible += m_seating.capacity(d) / data;
        if (possible < m_workload.plan->parallelism.pipeline)
            return {};
        extend(m_workload.plan->parallelism.pipeline, {});
        return m_best;
    }

private:
    /// Of the hops on the way, in seconds: their sum, their longest transfer, and each times the stages before it.
    struct Way { double fill = 0, slowest = 0, lateness = 0; };

    static constexpr double kSame = 1e-9;   // relative: far above rounding, far below any difference between links

    void extend(int stagesLeft, const Way &way)
    {
        const int microBatches = (totalMicroBatches(*m_workload.plan) + m_data - 1) / m_data;
        double cost = 2 * way.fill + microBatches * way.slowest;
        if (stagesLeft == 0) {
            if (handsBack(*m_workload.plan) && m_path.size() > 1) {
                const std::optional<Hop> back = hopTo(std::size_t(m_path.front().datacenter));
                if (!back)
                    return;
                cost = 2 * (way.fill + back->seconds + back->latency) + microBatches * std::max(way.slowest, back->seconds);
            }
            const bool isCheaper = cost < m_bestCost * (1 - kSame);
            const bool isSame = !isCheaper && cost <= m_bestCost * (1 + kSame);
            if (isCheaper || (isSame && way.lateness < m_bestLateness * (1 - kSame))) {
                m_bestCost = cost;
                m_bestLateness = way.lateness;
                m_best = m_path;
            }
            return;
        }
        if (cost > m_bestCost * (1 + kSame) || ++m_visits > kMaxVisits)
            return;
        for (std::size_t next = 0; next < m_used.size(); ++next) {
            const int stages = m_used[next] ? 0 : std::min(stagesLeft, m_seating.capacity(int(next)) / m_data);
            if (stages == 0)
                continue;
            const std::optional<Hop> hop = m_path.empty() ? Hop{} : hopTo(next);
            if (!hop)
                continue;
            m_used[next] = true;
            m_path.push_back({int(next), stages});
            const double before = m_workload.plan->parallelism.pipeline - stagesLeft, length = hop->seconds + hop->latency;
            extend(stagesLeft - stages, {way.fill + length, std::max(way.slowest, hop->seconds), way.lateness + before * length});
            m_path.pop_back();
            m_used[next] = false;
        }
    }

    struct Hop { double seconds = 0, latency = 0; };

    /// One micro-batch's activations from the end of the path to a datacenter; empty where no link leads there.
    [[nodiscard]] std::optional<Hop> hopTo(std::size_t next) const
    {
        const Cluster &cluster = m_workload.plan->cluster;
        const int link = cluster.linkBetween(cluster.datacenters[std::size_t(m_path.back().datacenter)].id, cluster.datacenters[next].id);
        if (link < 0)
            return std::nullopt;
        const WanLink &wan = cluster.wanLinks[std::size_t(link)];
        return Hop{m_workload.boundaryBytes(false) / m_workload.transports[std::size_t(link)].rate.value, wan.rttMs / 2e3};
    }

    static constexpr int kMaxVisits = 20'000;   // beyond some eight datacenters the search is cut, not the answer's validity
    const Workload &m_workload;
    const Seating &m_seating;
    std::vector<bool> m_used;
    std::vector<Block> m_path, m_best;
    double m_bestCost = 0, m_bestLateness = 0;
    int m_data = 1, m_visits = 0;
};

std::vector<Block> pinnedBlocks(const Plan &plan)
{
    std::vector<Block> blocks;
    for (const StagePin &pin : plan.placement.stages)
        blocks.push_back({plan.cluster.indexOf(pin.datacenter), pin.stages});
    return blocks;
}

bool holds(const Seating &seating, const std::vector<Block> &blocks, int data)
{
    std::vector<std::pair<int, int>> needed;   // datacenter, seats; a datacenter may hold several blocks
    for (const Block &block : blocks) {
        auto entry = std::find_if(needed.begin(), needed.end(), [&](const auto &n) { return n.first == block.datacenter; });
        if (entry == needed.end())
            entry = needed.insert(needed.end(), {block.datacenter, 0});
        entry->second += block.stages * data;
    }
    return std::all_of(needed.begin(), needed.end(),
                       [&](const auto &n) { return n.first >= 0 && n.second <= seating.capacity(n.first); });
}

/// A pinned pipeline crosses only where the pinned neighbours are linked.
std::string missingLink(const Plan &plan, const std::vector<Block> &blocks)
{
    const auto &datacenters = plan.cluster.datacenters;
    for (std::size_t i = handsBack(plan) ? 0 : 1; i < blocks.size(); ++i) {
        const Block &before = blocks[(i + blocks.size() - 1) % blocks.size()];
        const Datacenter &a = datacenters[std::size_t(before.datacenter)], &b = datacenters[std::size_t(blocks[i].datacenter)];
        if (&a != &b && plan.cluster.linkBetween(a.id, b.id) < 0)
            return "no WAN link joins " + a.label() + " and " + b.label();
    }
    return {};
}

std::string tooFewGpus(const Workload &workload, const Seating &seating, int data)
{
    const Parallelism &p = workload.plan->parallelism;
    int seats = 0;
    for (int d = 0; d < int(workload.plan->cluster.datacenters.size()); ++d)
        seats += seating.capacity(d);
    const int groupSize = p.tensor * p.context;
    std::string text = std::to_string(p.pipeline) + " stages of " + std::to_string(data * groupSize) + " GPUs ("
        + std::to_string(data) + (data == 1 ? " replica of " : " replicas of ") + std::to_string(groupSize) + ") cannot be seated";
    if (seats < p.pipeline * data)
        return text + ": " + std::to_string(p.pipeline * data * groupSize) + " GPUs are needed, "
            + std::to_string(seats * groupSize) + " can serve in whole tensor groups";
    return text + " in whole stages a datacenter along linked datacenters";
}

Layout placePipelineAcross(const Workload &workload)
{
    const Plan &plan = *workload.plan;
    Seating seating(workload);
    BlockSearch search(workload, seating);
    const bool isPinned = !plan.placement.stages.empty();
    const auto blocksFor = [&](int data) {
        if (!isPinned)
            return search.run(data);
        std::vector<Block> blocks = pinnedBlocks(plan);
        return holds(seating, blocks, data) ? blocks : std::vector<Block>{};
    };
    int seats = 0;
    for (int d = 0; d < int(plan.cluster.datacenters.size()); ++d)
        seats += seating.capacity(d);

    int data = plan.parallelism.data.value_or(std::min(seats / plan.parallelism.pipeline, totalMicroBatches(plan)));
    std::vector<Block> blocks = data > 0 ? blocksFor(data) : std::vector<Block>{};
    for (; !plan.parallelism.data && blocks.empty() && data > 1; --data)
        blocks = blocksFor(data - 1);
    std::string why = isPinned && !blocks.empty() ? missingLink(plan, blocks) : std::string{};
    if (blocks.empty() || !why.empty()) {
        Layout none = seating.finish(PlacementMode::PipelineAcross, 0);
        none.unseated = !why.empty() ? why : tooFewGpus(workload, seating, std::max(1, plan.parallelism.data.value_or(1)));
        return none;
    }
    int stage = 0;
    for (const Block &block : blocks) {
        seating.seat(block.datacenter, stage, block.stages, 0, data);
        stage += block.stages;
    }
    return seating.finish(PlacementMode::PipelineAcross, data);
}

/// Datacenters that hold whole pipelines and can pass gradients to each other over direct links, each linked to one before
/// it, from the one with most room.
std::vector<int> reachable(const Cluster &cluster, const Seating &seating, int stages, int from)
{
    std::vector<int> found{from};
    for (std::size_t i = 0; i < found.size(); ++i) {
        for (int d = 0; d < int(cluster.datacenters.size()); ++d) {
            const bool isLinked = cluster.linkBetween(cluster.datacenters[std::size_t(found[i])].id,
                                                      cluster.datacenters[std::size_t(d)].id) >= 0;
            if (isLinked && seating.capacity(d) >= stages && std::find(found.begin(), found.end(), d) == found.end())
                found.push_back(d);
        }
    }
    return found;
}

Layout placeDataAcross(const Workload &workload)
{
    const Plan &plan = *workload.plan;
    Seating seating(workload);
    const int stages = plan.parallelism.pipeline;
    int largest = 0;
    for (int d = 0; d < int(plan.cluster.datacenters.size()); ++d) {
        if (seating.capacity(d) > seating.capacity(largest))
            largest = d;
    }
    const std::vector<int> sites = plan.cluster.datacenters.empty() ? std::vector<int>{} : reachable(plan.cluster, seating, stages, largest);
    int possible = 0;
    for (int d : sites)
        possible += seating.capacity(d) / stages;
    const int data = plan.parallelism.data.value_or(std::min(possible, totalMicroBatches(plan)));
    if (data == 0 || data > possible) {
        Layout none = seating.finish(PlacementMode::DataAcross, 0);
        const int whole = stages * plan.parallelism.tensor * plan.parallelism.context;
        none.unseated = std::to_string(std::max(1, data)) + (data > 1 ? " whole pipelines of " : " whole pipeline of ") + std::to_string(whole)
            + " GPUs, each in one datacenter, cannot be seated: linked datacenters hold " + std::to_string(possible);
        return none;
    }
    int replica = 0;
    for (int d : sites) {
        const int here = std::min(data - replica, seating.capacity(d) / stages);
        if (here > 0)
            seating.seat(d, 0, stages, replica, here);
        replica += here;
    }
    return seating.finish(PlacementMode::DataAcross, data);
}

} // namespace

Layout place(const Workload &workload, PlacementMode mode)
{
    return mode == PlacementMode::DataAcross ? placeDataAcross(workload) : placePipelineAcross(workload);
}

std::vector<PlacementMode> candidateModes(const Plan &plan)
{
    if (plan.placement.mode != PlacementMode::Auto)
        return {plan.placement.mode};
    if (plan.cluster.datacenters.size() < 2 || !plan.placement.stages.empty())
        return {PlacementMode::PipelineAcross};
    return {PlacementMode::PipelineAcross, PlacementMode::DataAcross};
}

} // namespace trainyard
