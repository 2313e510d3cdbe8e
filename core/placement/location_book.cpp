// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/placement/location_book.h"

#include "core/placement/expert_spread.h"
#include "core/placement/place.h"
#include "core/placement/ranks.h"
#include "core/schedule/traits.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace trainyard {

int totalMicroBatches(const Plan &plan)
{
    const int b = std::max(1, plan.workload.microBatch);
    return std::max(1, (plan.workload.globalBatch + b - 1) / b);
}

bool everyReplicaHasWork(const Workload &workload)
{
    return totalMicroBatches(*workload.plan) >= workload.layout.data;
}

bool expertsDivideRanks(const Workload &workload)
{
    const Degrees &p = workload.degrees;
    return !workload.model.isMoe() || p.tensor * p.context * workload.layout.data % (p.expert * p.expertTensor) == 0;
}

bool hasRunnableShape(const Workload &workload)
{
    return everyReplicaHasWork(workload) && expertsDivideRanks(workload) && !unlinkedExperts(workload)
        && isDealt(workload);
}

bool isDealt(const Workload &workload)
{
    const SharedOut &shares = workload.layout.shares;
    return shares.why.empty() || (workload.plan->heterogeneity.isLayered() && shares.layerTime > 0);
}

LocationBook::LocationBook(const Workload &workload)
    : m_workload(workload)
{
    const Degrees &degrees = workload.degrees;
    const auto &datacenters = workload.plan->cluster.datacenters;
    std::int64_t held = 0;
    for (std::size_t d = 0; d < datacenters.size(); ++d) {
        const std::size_t pools = datacenters[d].pools.size();
        m_pools.reserve(std::max(m_pools.size() + pools, d == 0 ? pools * datacenters.size() : 0));
        for (std::size_t p = 0; p < pools; ++p) {
            const Pool &pool = datacenters[d].pools[p];
            PoolLocations locations { int(d), int(p), pool.gpusPerNode / degrees.tensor, 0, 0, 0 };
            locations.locations = int(std::int64_t(pool.nodes) * locations.groupsPerNode / degrees.context);
            held += locations.locations;
            m_pools.push_back(locations);
        }
    }
    if (held >= std::int64_t(degrees.pipeline) * degrees.data.value_or(1))
        return;
    for (PoolLocations &locations : m_pools) {
        if (locations.groupsPerNode > 0)
            continue;
        const Pool &pool = workload.pool({ locations.datacenter, locations.pool });
        if (degrees.tensor % pool.gpusPerNode != 0)
            continue;
        locations.nodesPerGroup = degrees.tensor / pool.gpusPerNode;
        locations.locations = pool.nodes / locations.nodesPerGroup / degrees.context;
    }
}

int LocationBook::capacity(int datacenter) const
{
    int locations = 0;
    for (const PoolLocations &pool : m_pools)
        locations += pool.datacenter == datacenter ? pool.locations : 0;
    return locations;
}

bool LocationBook::holdsGroups(int datacenter, int pool) const
{
    return std::ranges::any_of(m_pools, [&](const PoolLocations &p) {
        return p.datacenter == datacenter && p.pool == pool && (p.groupsPerNode > 0 || p.nodesPerGroup > 0);
    });
}

std::int64_t LocationBook::capacity() const
{
    std::int64_t locations = 0;
    for (const PoolLocations &pool : m_pools)
        locations += pool.locations;
    return locations;
}

void LocationBook::location(int datacenter, int firstStage, int stages, int firstReplica, int replicas)
{
    for (int stage = firstStage; stage < firstStage + stages; ++stage) {
        int replica = firstReplica;
        for (std::size_t i = 0; i < m_pools.size() && replica < firstReplica + replicas; ++i) {
            PoolLocations &pool = m_pools[i];
            const int count = pool.datacenter == datacenter
                ? std::min(pool.locations - pool.taken, firstReplica + replicas - replica)
                : 0;
            if (count <= 0)
                continue;
            m_pieces.push_back({ stage, replica, count, int(i), pool.taken });
            pool.taken += count;
            replica += count;
        }
    }
}

void LocationBook::addRuns(const Piece &piece, Layout &layout) const
{
    const PoolLocations &pool = m_pools[std::size_t(piece.poolIndex)];
    const Degrees &degrees = m_workload.degrees;
    const int gpusPerNode = m_workload.pool({ pool.datacenter, pool.pool }).gpusPerNode;
    const int firstGroup = piece.firstLocation * degrees.context;
    const int groups = piece.replicas * degrees.context;
    if (gpusPerNode % degrees.tensor == 0 || pool.nodesPerGroup > 0) {
        layout.runs.push_back({ pool.datacenter, pool.pool, firstGroup * degrees.tensor, groups * degrees.tensor,
            piece.stage, piece.firstReplica, piece.replicas });
        return;
    }
    for (int group = firstGroup; group < firstGroup + groups;) { // left-over GPUs of each node interrupt the run
        const int inNode = std::min(pool.groupsPerNode - group % pool.groupsPerNode, firstGroup + groups - group);
        const int gpu = group / pool.groupsPerNode * gpusPerNode + group % pool.groupsPerNode * degrees.tensor;
        layout.runs.push_back({ pool.datacenter, pool.pool, gpu, inNode * degrees.tensor, piece.stage,
            piece.firstReplica + (group - firstGroup) / degrees.context, std::max(1, inNode / degrees.context) });
        group += inNode;
    }
}

void LocationBook::makeClasses(Layout &layout) const
{
    const Plan &plan = *m_workload.plan;
    const int total = totalMicroBatches(plan);
    const int fewest = total / layout.data;
    const bool dealsEvenly = m_workload.degrees.chunks > 1 || fewest == 0; // then the fullest stands for all
    const int fuller = dealsEvenly ? 0 : total % layout.data; // the first replicas take one micro-batch more
    std::set<int> cuts { 0, fuller };
    for (const Piece &piece : m_pieces)
        cuts.insert(piece.firstReplica);
    cuts.erase(layout.data);

    std::vector<int> alike(
        m_pools.size()); // of each pool in use the first of its datacenter that nothing tells it from
    for (std::size_t i = 0; i < m_pools.size(); ++i) {
        const auto [datacenter, pool, groups, nodes, locations, taken] = m_pools[i];
        while (taken > 0 && !areAlike(m_workload, { datacenter, alike[i] }, { datacenter, pool }))
            ++alike[i];
    }
    using Key = std::pair<int, std::vector<std::pair<int, int>>>; // micro-batches; of each stage datacenter and pool
    std::map<Key, std::size_t> known;
    for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
        const int first = *cut;
        const int next = std::next(cut) == cuts.end() ? layout.data : *std::next(cut);
        PipelineClass found { first, next - first,
            dealsEvenly ? (total + layout.data - 1) / layout.data : fewest + (first < fuller),
            std::vector<StageLocation>(std::size_t(m_workload.degrees.pipeline)) };
        Key key { found.microBatches, {} };
        key.second.resize(found.locations.size());
        for (const Piece &piece : m_pieces) {
            if (first < piece.firstReplica || first >= piece.firstReplica + piece.replicas)
                continue;
            const PoolLocations &pool = m_pools[std::size_t(piece.poolIndex)];
            found.locations[std::size_t(piece.stage)] = { pool.datacenter, pool.pool };
            key.second[std::size_t(piece.stage)] = { pool.datacenter, alike[std::size_t(piece.poolIndex)] };
        }
        const auto [entry, isNew] = known.try_emplace(std::move(key), layout.classes.size());
        if (isNew)
            layout.classes.push_back(std::move(found));
        else
            layout.classes[entry->second].pipelines += found.pipelines;
    }
}

std::string LocationBook::idleReason(const PoolLocations &locations, int idle, const Layout &layout) const
{
    const Pool &pool = m_workload.pool({ locations.datacenter, locations.pool });
    const int tensor = m_workload.degrees.tensor;
    if (locations.groupsPerNode == 0 && locations.nodesPerGroup == 0)
        return "a tensor group needs " + std::to_string(tensor) + " GPUs in one node, these nodes have "
            + std::to_string(pool.gpusPerNode);
    if (layout.data == 0)
        return "nothing could be placed";
    const int inDatacenter = capacity(locations.datacenter) * tensor * m_workload.degrees.context;
    const int whole = tensor * m_workload.degrees.context
        * (layout.mode == PlacementMode::DataAcross ? m_workload.degrees.pipeline : layout.data);
    const char *unit = layout.mode == PlacementMode::DataAcross ? "a pipeline" : "a stage";
    if (inDatacenter < whole)
        return std::string(unit) + " needs " + std::to_string(whole) + " GPUs, this datacenter has "
            + std::to_string(inDatacenter);
    if (locations.groupsPerNode > 0 && pool.gpusPerNode % tensor != 0 && locations.taken == locations.locations)
        return std::to_string(pool.gpusPerNode % tensor) + " GPUs of each node do not make a tensor group of "
            + std::to_string(tensor);
    return idle >= whole
        ? noMoreReplicas(layout)
        : std::string(unit) + " needs " + std::to_string(whole) + " GPUs, " + std::to_string(idle) + " are left here";
}

/// Why there is room for a stage, and yet no further replica.
std::string LocationBook::noMoreReplicas(const Layout &layout) const
{
    const Plan &plan = *m_workload.plan;
    const std::string replicas = std::to_string(layout.data) + (layout.data == 1 ? " replica" : " replicas");
    if (m_workload.degrees.data)
        return "the plan asks for " + replicas;
    if (const int micro = totalMicroBatches(plan); layout.data >= micro)
        return "the global batch has " + std::to_string(micro)
            + (micro == 1 ? " micro-batch, one for each replica" : " micro-batches, one for each replica");
    if (!plan.placement.stages.empty() && layout.mode != PlacementMode::DataAcross)
        return "the pinned placement puts no stage here";
    const std::string more = "one more than " + replicas + " would need ";
    if (layout.mode == PlacementMode::DataAcross)
        return more + std::to_string(m_workload.degrees.pipeline * m_workload.degrees.gpusOfStage())
            + " GPUs in one datacenter";
    return more + std::to_string((layout.data + 1) * m_workload.degrees.gpusOfStage())
        + " GPUs per stage in one datacenter";
}

/// "no link to Virginia": a datacenter without a stage that no link joins to any that has one; empty elsewhere.
std::string LocationBook::missingLinks(int datacenter) const
{
    std::vector<int> used;
    for (const PoolLocations &pool : m_pools) {
        if (pool.taken > 0 && (used.empty() || used.back() != pool.datacenter))
            used.push_back(pool.datacenter);
    }
    if (std::ranges::any_of(
            used, [&](int d) { return d == datacenter || m_workload.links.between(d, datacenter) >= 0; }))
        return {};
    constexpr std::size_t kMostNamed = 3;
    if (used.size() > kMostNamed)
        return "no link to any of the " + std::to_string(used.size()) + " datacenters that hold stages";
    std::string text;
    for (const int d : used)
        text += (text.empty() ? "no link to " : " or ") + m_workload.plan->cluster.datacenters[std::size_t(d)].label();
    return text;
}

void LocationBook::countIdle(Layout &layout) const
{
    for (const PoolLocations &locations : m_pools) {
        const int total = m_workload.pool({ locations.datacenter, locations.pool }).gpus();
        const int used = locations.taken * m_workload.degrees.gpusOfStage();
        layout.gpusTotal += total;
        layout.gpusUsed += used;
        if (total == used)
            continue;
        const bool holdsGroups = locations.groupsPerNode > 0 || locations.nodesPerGroup > 0;
        std::string unlinked = holdsGroups && layout.data > 0 ? missingLinks(locations.datacenter) : std::string();
        const bool isUnlinked = !unlinked.empty();
        layout.idle.push_back({ locations.datacenter, locations.pool, total - used,
            isUnlinked ? std::move(unlinked) : idleReason(locations, total - used, layout), isUnlinked });
    }
}

Layout LocationBook::finish(PlacementMode mode, int data) const
{
    Layout layout;
    layout.mode = mode;
    layout.data = data;
    if (data > 0) {
        const Plan &plan = *m_workload.plan;
        layout.chunks = splitLayers(m_workload.model, m_workload.degrees.pipeline, m_workload.degrees.chunks,
            traitsOf(plan).placement, plan.placement.layers);
        for (const Piece &piece : m_pieces)
            addRuns(piece, layout);
        makeClasses(layout);
    }
    countIdle(layout);
    return layout;
}

} // namespace trainyard
