// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/placement/location_book.h"

#include "core/base/words.h"
#include "core/engine/schedule/traits.h"
#include "core/iteration/placement/expert_spread.h"
#include "core/iteration/placement/place.h"
#include "core/iteration/placement/ranks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

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
        && !cutExperts(workload) && isDealt(workload) && !unsizedGradients(workload);
}

std::optional<UnsizedGradients> unsizedGradients(const Workload &workload)
{
    const std::vector<PipelineClass> &classes = workload.layout.classes;
    if (workload.source.hasGradients() || classes.empty())
        return std::nullopt;
    for (std::size_t stage = 0; stage < classes.front().locations.size(); ++stage) {
        const int first = classes.front().locations[stage].datacenter;
        for (const PipelineClass &other : classes)
            if (const int datacenter = other.locations[stage].datacenter; datacenter != first)
                return UnsizedGradients { first, datacenter };
    }
    return std::nullopt;
}

bool isDealt(const Workload &workload)
{
    const SharedOut &shares = workload.layout.shares;
    return shares.why.empty() || (workload.plan->heterogeneity.isLayered() && shares.layerTime > 0);
}

int PoolLocations::firstGpu(int group, int gpusPerNode) const
{
    if (group < groupsBeside)
        return part.firstGpu + group * part.tensor;
    const int inNodes = group - groupsBeside, first = part.firstGpu + besideNodes;
    return nodesPerGroup > 0 ? first + inNodes * part.tensor
                             : first + inNodes / groupsPerNode * gpusPerNode + inNodes % groupsPerNode * part.tensor;
}

int PoolLocations::groupsFrom(int group, int gpusPerNode) const
{
    const bool isWithoutGaps =
        (nodesPerGroup > 0 || gpusPerNode % part.tensor == 0) && besideNodes == groupsBeside * part.tensor;
    if (isWithoutGaps)
        return std::numeric_limits<int>::max();
    return group < groupsBeside ? groupsBeside - group
        : nodesPerGroup > 0     ? std::numeric_limits<int>::max()
                                : groupsPerNode - (group - groupsBeside) % groupsPerNode;
}

LocationBook::LocationBook(const Requested &asked)
    : m_asked(asked)
{
    const Degrees &degrees = asked.degrees;
    std::int64_t held = 0;
    const std::vector<PoolPart> parts = poolParts(*asked.plan);
    m_pools.reserve(parts.size());
    for (const PoolPart &part : parts) {
        const int gpusPerNode = std::max(1, asked.pool(part.at).gpusPerNode), tensor = part.tensor;
        PoolLocations locations { part, gpusPerNode / tensor, 0, 0, 0, 0, 0 };
        const int gpus = locations.part.gpus, inNode = locations.part.firstGpu % gpusPerNode;
        locations.besideNodes = inNode > 0 ? std::min(gpus, gpusPerNode - inNode) : 0;
        locations.groupsBeside = locations.besideNodes / tensor;
        const int inNodes = gpus - locations.besideNodes;
        locations.locations =
            int((locations.groupsBeside + std::int64_t(inNodes / gpusPerNode) * locations.groupsPerNode
                    + inNodes % gpusPerNode / tensor)
                / degrees.context);
        held += locations.locations;
        m_isMixed |= locations.part.at.tensor > 0;
        m_pools.push_back(locations);
    }
    const bool isEnough = held >= std::int64_t(degrees.pipeline) * degrees.data.value_or(1);
    for (PoolLocations &locations : m_pools) {
        const int gpusPerNode = asked.pool(locations.part.at).gpusPerNode, tensor = locations.part.tensor;
        if (locations.groupsPerNode > 0 || tensor % gpusPerNode != 0 || (isEnough && !locations.part.isPinned))
            continue;
        locations.nodesPerGroup = tensor / gpusPerNode;
        locations.locations =
            (locations.part.gpus - locations.besideNodes) / gpusPerNode / locations.nodesPerGroup / degrees.context;
    }
}

std::span<const PoolLocations> LocationBook::poolsOf(int datacenter) const
{
    return std::ranges::equal_range(
        m_pools, datacenter, {}, [](const PoolLocations &pool) { return pool.part.at.datacenter; });
}

void LocationBook::preferFastest()
{
    std::ranges::stable_sort(m_pools, {}, [&](const PoolLocations &pool) {
        const GpuSpec &gpu = m_asked.gpu(pool.part.at);
        return std::pair(pool.part.at.datacenter, -gpu.peakFlops(m_asked.plan->workload.precision));
    });
}

int LocationBook::capacity(int datacenter) const
{
    int locations = 0;
    for (const PoolLocations &pool : poolsOf(datacenter))
        locations += pool.locations;
    return locations;
}

int LocationBook::usableGpus(int datacenter) const
{
    int gpus = 0;
    for (const PoolLocations &pool : poolsOf(datacenter))
        gpus += pool.locations * pool.part.tensor * m_asked.degrees.context;
    return gpus;
}

std::int64_t LocationBook::usableGpus() const
{
    std::int64_t gpus = 0;
    for (const PoolLocations &pool : m_pools)
        gpus += std::int64_t(pool.locations) * pool.part.tensor * m_asked.degrees.context;
    return gpus;
}

bool LocationBook::holdsGroups(int datacenter, int pool) const
{
    return std::ranges::any_of(
        poolsOf(datacenter), [&](const PoolLocations &p) { return p.part.at.pool == pool && p.holdsGroups(); });
}

std::int64_t LocationBook::capacity() const
{
    std::int64_t locations = 0;
    for (const PoolLocations &pool : m_pools)
        locations += pool.locations;
    return locations;
}

void LocationBook::take(std::size_t pool, int stage, int firstReplica, int replicas)
{
    m_pieces.push_back({ stage, firstReplica, replicas, int(pool), m_pools[pool].taken });
    m_pools[pool].taken += replicas;
}

void LocationBook::place(int datacenter, int firstStage, int stages, int firstReplica, int replicas)
{
    const int end = firstReplica + replicas;
    const std::span<const PoolLocations> here = poolsOf(datacenter);
    const std::size_t begin = std::size_t(here.data() - m_pools.data()), behind = begin + here.size();
    for (std::size_t i = begin; i < behind && m_isMixed && firstReplica < end; ++i) {
        const PoolLocations &pool = m_pools[i];
        const int whole = std::min((pool.locations - pool.taken) / stages, end - firstReplica);
        for (int stage = firstStage; stage < firstStage + stages && whole > 0; ++stage)
            take(i, stage, firstReplica, whole);
        firstReplica += whole;
    }
    for (int stage = firstStage; stage < firstStage + stages; ++stage) {
        int replica = firstReplica;
        for (std::size_t i = begin; i < behind && replica < end; ++i) {
            const PoolLocations &pool = m_pools[i];
            const int count = std::min(pool.locations - pool.taken, end - replica);
            if (count <= 0)
                continue;
            take(i, stage, replica, count);
            replica += count;
        }
    }
}

void LocationBook::addRuns(const Piece &piece, Layout &layout) const
{
    const PoolLocations &pool = m_pools[std::size_t(piece.poolIndex)];
    const StageLocation at = pool.part.at;
    const int gpusPerNode = m_asked.pool(at).gpusPerNode, context = m_asked.degrees.context;
    const int firstGroup = piece.firstLocation * context, end = firstGroup + piece.replicas * context;
    for (int group = firstGroup; group < end;) { // left-over GPUs of each node interrupt the run
        const int together = std::min(pool.groupsFrom(group, gpusPerNode), end - group);
        layout.runs.push_back(
            { at.datacenter, at.pool, pool.firstGpu(group, gpusPerNode), together * pool.part.tensor, piece.stage,
                piece.firstReplica + (group - firstGroup) / context, std::max(1, together / context), at.tensor });
        group += together;
    }
}

void LocationBook::makeClasses(Layout &layout) const
{
    const Plan &plan = *m_asked.plan;
    const int total = totalMicroBatches(plan);
    const int fewest = total / layout.data;
    const bool dealsEvenly = m_asked.degrees.chunks > 1 || fewest == 0; // then the fullest stands for all
    const int fuller = dealsEvenly ? 0 : total % layout.data; // the first replicas take one micro-batch more
    std::set<int> cuts { 0, fuller };
    for (const Piece &piece : m_pieces)
        cuts.insert(piece.firstReplica);
    cuts.erase(layout.data);

    std::vector<int> alike(
        m_pools.size()); // of each pool in use the first of its datacenter that nothing tells it from
    for (std::size_t i = 0; i < m_pools.size(); ++i) {
        const StageLocation at = m_pools[i].part.at;
        while (m_pools[i].taken > 0 && !areAlike(m_asked, { at.datacenter, alike[i], at.tensor }, at))
            ++alike[i];
    }
    // Micro-batches; of each stage datacenter, pool and tensor parallel degree.
    using Key = std::pair<int, std::vector<std::tuple<int, int, int>>>;
    std::map<Key, std::size_t> known;
    for (auto cut = cuts.begin(); cut != cuts.end(); ++cut) {
        const int first = *cut;
        const int next = std::next(cut) == cuts.end() ? layout.data : *std::next(cut);
        PipelineClass found { first, next - first,
            dealsEvenly ? (total + layout.data - 1) / layout.data : fewest + (first < fuller),
            std::vector<StageLocation>(std::size_t(m_asked.degrees.pipeline)) };
        Key key { found.microBatches, {} };
        key.second.resize(found.locations.size());
        for (const Piece &piece : m_pieces) {
            if (first < piece.firstReplica || first >= piece.firstReplica + piece.replicas)
                continue;
            const StageLocation at = m_pools[std::size_t(piece.poolIndex)].part.at;
            found.locations[std::size_t(piece.stage)] = at;
            key.second[std::size_t(piece.stage)] = { at.datacenter, alike[std::size_t(piece.poolIndex)], at.tensor };
        }
        const auto [entry, isNew] = known.try_emplace(std::move(key), layout.classes.size());
        if (isNew)
            layout.classes.push_back(std::move(found));
        else
            layout.classes[entry->second].pipelines += found.pipelines;
    }
}

std::string LocationBook::idleReason(const PoolLocations &locations, int idle, int usable, const Layout &layout) const
{
    const Pool &pool = m_asked.pool(locations.part.at);
    const int tensor = locations.part.tensor;
    if (!locations.holdsGroups())
        return "a tensor group needs " + std::to_string(tensor) + " GPUs in one node, these nodes have "
            + std::to_string(pool.gpusPerNode);
    if (layout.data == 0)
        return "nothing could be placed";
    if (m_isMixed && locations.taken == locations.locations)
        return counted(idle, "GPU") + " left here " + (idle == 1 ? "does" : "do") + " not make a tensor group of "
            + std::to_string(tensor);
    const int whole = tensor * m_asked.degrees.context
        * (layout.mode == PlacementMode::DataAcross ? m_asked.degrees.pipeline : layout.data);
    const char *unit = layout.mode == PlacementMode::DataAcross ? "a pipeline" : "a stage";
    if (usable < whole)
        return std::string(unit) + " needs " + counted(whole, "GPU") + ", this datacenter has "
            + std::to_string(usable);
    if (locations.groupsPerNode > 0 && pool.gpusPerNode % tensor != 0 && locations.taken == locations.locations)
        return std::to_string(pool.gpusPerNode % tensor) + " GPUs of each node do not make a tensor group of "
            + std::to_string(tensor);
    return idle >= whole
        ? noMoreReplicas(layout)
        : std::string(unit) + " needs " + counted(whole, "GPU") + ", " + std::to_string(idle) + " are left here";
}

/// Why there is room for a stage, and yet no further replica.
std::string LocationBook::noMoreReplicas(const Layout &layout) const
{
    const Plan &plan = *m_asked.plan;
    const std::string replicas = std::to_string(layout.data) + (layout.data == 1 ? " replica" : " replicas");
    if (m_asked.degrees.data)
        return "the plan asks for " + replicas;
    if (m_leavesRoom)
        return "more than " + replicas + " are no better";
    if (const int micro = totalMicroBatches(plan); layout.data >= micro)
        return "the global batch has " + std::to_string(micro)
            + (micro == 1 ? " micro-batch, one for each replica" : " micro-batches, one for each replica");
    if (!plan.placement.stages.empty() && layout.mode != PlacementMode::DataAcross)
        return "the pinned placement puts no stage here";
    const std::string more = "one more than " + replicas + " would need ";
    if (layout.mode == PlacementMode::DataAcross)
        return more + std::to_string(m_asked.degrees.pipeline * m_asked.degrees.gpusOfStage())
            + " GPUs in one datacenter";
    return more + std::to_string((layout.data + 1) * m_asked.degrees.gpusOfStage())
        + " GPUs per stage in one datacenter";
}

/// Datacenters that hold stages, and which others a link joins to one of them.
class LocationBook::Reach {
public:
    explicit Reach(const LocationBook &book)
        : m_plan(*book.m_asked.plan)
        , m_isReached(m_plan.cluster.datacenters.size())
    {
        for (const PoolLocations &pool : book.m_pools)
            if (const int d = pool.part.at.datacenter; pool.taken > 0 && (m_used.empty() || m_used.back() != d)) {
                m_used.push_back(d);
                m_isReached[std::size_t(d)] = true;
                for (const auto &[other, link] : book.m_asked.links.peers(d))
                    m_isReached[std::size_t(other)] = true;
            }
    }

    /// "no link to Virginia": a datacenter that no link joins to any that has a stage; empty elsewhere.
    [[nodiscard]] std::string missingLinks(int datacenter) const
    {
        if (m_isReached[std::size_t(datacenter)])
            return {};
        constexpr std::size_t kMostNamed = 3;
        if (m_used.size() > kMostNamed)
            return "no link to any of the " + std::to_string(m_used.size()) + " datacenters that hold stages";
        std::string text;
        for (const int d : m_used)
            text += (text.empty() ? "no link to " : " or ") + m_plan.cluster.datacenters[std::size_t(d)].label();
        return text;
    }

private:
    const Plan &m_plan;
    std::vector<int> m_used;
    std::vector<bool> m_isReached;
};

void LocationBook::countIdle(Layout &layout) const
{
    const Reach reach(*this);
    int datacenter = -1, usable = 0; // of the pool before: those of a datacenter lie together
    std::array<int, 7> toldBefore {};
    toldBefore[0] = -1;
    for (const PoolLocations &locations : m_pools) {
        const StageLocation at = locations.part.at;
        if (at.datacenter != datacenter)
            usable = usableGpus(datacenter = at.datacenter);
        const int total = locations.part.gpus;
        const int used = locations.taken * locations.part.tensor * m_asked.degrees.context;
        layout.gpusTotal += total;
        layout.gpusUsed += used;
        if (total == used)
            continue;
        // All that a reason says of a pool: thousands may be told the same.
        const std::array told { at.datacenter, m_asked.pool(at).gpusPerNode, at.tensor, locations.part.tensor,
            int(locations.holdsGroups()), int(locations.taken == locations.locations), total - used };
        if (told == toldBefore) {
            IdleGpus same = layout.idle.back();
            same.pool = at.pool;
            layout.idle.push_back(std::move(same));
            continue;
        }
        toldBefore = told;
        std::string unlinked =
            locations.holdsGroups() && layout.data > 0 ? reach.missingLinks(at.datacenter) : std::string();
        const bool isUnlinked = !unlinked.empty();
        layout.idle.push_back({ at.datacenter, at.pool, total - used,
            isUnlinked ? std::move(unlinked) : idleReason(locations, total - used, usable, layout), isUnlinked });
    }
}

Layout LocationBook::finish(PlacementMode mode, int data) const
{
    Layout layout;
    layout.mode = mode;
    layout.data = data;
    if (data > 0) {
        const Plan &plan = *m_asked.plan;
        layout.chunks = splitLayers(m_asked.model, m_asked.degrees.pipeline, m_asked.degrees.chunks,
            traitsOf(plan).placement, plan.placement.layers);
        for (const Piece &piece : m_pieces)
            addRuns(piece, layout);
        makeClasses(layout);
    }
    countIdle(layout);
    return layout;
}

} // namespace trainyard
