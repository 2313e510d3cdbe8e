// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/layouts/search_times.h"

#include "core/engine/schedule/traits.h"
#include "core/facts/cluster/alike_pools.h"
#include "core/iteration/cost/gpu_price.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/cost/wan/wan_codec.h"
#include "core/iteration/cost/wan/wan_path.h"
#include "core/iteration/cost/wan/wan_traffic.h"
#include "core/iteration/memory/in_flight_room.h"
#include "core/iteration/placement/location_book.h"
#include "core/iteration/placement/place.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

/// Pairs hide their exchange with experts, offload hides behind compute, gathers of weights hide behind it too.
double least(const OpSplit &op, bool isPaired)
{
    return (op.compute + op.tensor + op.context).value + (isPaired ? 0 : op.expert.value);
}

/// Pools of which none is as one before.
std::vector<int> unlikePools(const std::vector<Pool> &pools)
{
    std::vector<int> unlike;
    for (int p = 0; p < int(pools.size()); ++p)
        if (std::ranges::none_of(
                unlike, [&](int known) { return areAlike(pools[std::size_t(known)], pools[std::size_t(p)]); }))
            unlike.push_back(p);
    return unlike;
}

class Bounds {
public:
    Bounds(const Requested &asked, int data, const std::vector<std::array<double, 2>> *usdPerGb)
        : m_workload(asked, {})
        , m_plan(*asked.plan)
        , m_schedule(traitsOf(m_plan))
        , m_usdPerGb(usdPerGb)
        , m_data(data)
        , m_book(asked)
        , m_parts(poolParts(*asked.plan))
        , m_times(searchRoom(asked, data))
    {
        m_workload.layout.data = data;
        m_workload.layout.chunks = splitLayers(
            asked.model, asked.degrees.pipeline, asked.degrees.chunks, m_schedule.placement, m_plan.placement.layers);
    }

    SearchTimes run()
    {
        const int total = totalMicroBatches(m_plan), chunks = m_workload.degrees.programChunks(),
                  copies = m_workload.degrees.copies;
        const ChunkPlacement placement = m_schedule.placement;
        const bool isSliced = m_schedule.isSliced();
        m_times.microBatches = (total + m_data - 1) / m_data;
        m_times.fewest = std::max(1, total / m_data);
        m_times.isTwoWay = placement == ChunkPlacement::Bidirectional;
        m_times.isChain = chunks == 1 && copies == 1;
        m_times.passes = isSliced || m_times.isTwoWay ? 1 : chunks;
        m_times.transfers = isSliced ? 1 : std::max(1, chunks / copies);
        m_times.isListed = m_schedule.orderedBy() == OrderedBy::Times;
        m_times.waitsBetween = m_schedule.forwardsFirst && m_times.isChain;
        m_times.takesTurns = m_plan.wan.sharing == WanSharing::Temporal;
        addInFlight();
        for (std::size_t d = 0; d < m_times.holds.size(); ++d) {
            addSite(int(d));
            addHops(int(d));
        }
        return std::move(m_times);
    }

private:
    void addInFlight()
    {
        if (!m_schedule.holdsStagesBehind)
            return;
        for (int s = 0; s < m_times.stages; ++s) {
            int most = m_times.stages - s;
            if (!m_workload.source.inFlight.empty())
                most = std::min(most, m_workload.source.inFlightAt(s));
            m_times.inFlight.push_back(most);
        }
    }

    void addSite(int d)
    {
        std::vector<StageBound> stages(m_times.holds[std::size_t(d)] > 0 ? std::size_t(m_times.stages) : 0);
        const auto &pools = m_plan.cluster.datacenters[std::size_t(d)].pools;
        bool isFirst = true;
        const std::vector<int> unlike = unlikePools(pools);
        for (const PoolPart &part : m_parts) {
            const StageLocation at = part.at;
            const bool isKnown = at.tensor == 0 && std::ranges::find(unlike, at.pool) == unlike.end();
            if (stages.empty() || at.datacenter != d || isKnown || !m_book.holdsGroups(d, at.pool))
                continue;
            addPool(stages, at, isFirst);
            isFirst = false;
        }
        m_times.sites.push_back(std::move(stages));
        m_times.alike.push_back(d);
        for (int other = 0; other < d && m_times.alike.back() == d; ++other)
            if (isAlike(other, d))
                m_times.alike.back() = other;
    }

    void addPool(std::vector<StageBound> &stages, StageLocation location, bool isFirst)
    {
        m_workload.layout.classes = { PipelineClass {
            0, m_data, m_times.microBatches, std::vector<StageLocation>(stages.size(), location) } };
        StageCoster coster(m_workload);
        const bool isMadeOfLayers = m_workload.source.hasLayers && !m_schedule.isSliced();
        const StageCoster::Layers parts =
            isMadeOfLayers ? coster.layers(m_workload.layout.classes.front(), 0) : StageCoster::Layers {};
        const double usd = m_usdPerGb
            ? usdPerGpuHour(m_workload, location, 0) / 3600 * m_workload.degreesAt(location).gpusOfStage() * m_data
            : 0;
        bool mayFit = true;
        for (int s = 0; s < int(stages.size()); ++s) {
            const StageBound here = isMadeOfLayers ? computed(parts, s) : ofChunks(coster, s);
            if (!isLikeStageBefore(m_workload, s))
                mayFit = !m_workload.source.hasMemory || roomForMicroBatches(m_workload, s, 1) > 0;
            StageBound &all = stages[std::size_t(s)];
            if (isFirst) {
                all = here;
                all.usdPerSecond = usd;
                all.mayFit = mayFit;
                continue;
            }
            all.forward = std::min(all.forward, here.forward);
            all.gradient = std::min(all.gradient, here.gradient);
            all.first = std::min(all.first, here.first);
            all.last = std::min(all.last, here.last);
            all.late = std::max(all.late, here.late);
            all.busy = std::min(all.busy, here.busy);
            all.usdPerSecond = std::min(all.usdPerSecond, usd);
            all.mayFit = all.mayFit || mayFit;
        }
    }

    /// Of measured stages, or of slices of the tokens, which go through the stages one behind the other.
    [[nodiscard]] StageBound ofChunks(StageCoster &coster, int stage) const
    {
        const StageCosts costs = coster.stage(m_workload.layout.classes.front(), stage);
        const bool isSliced = m_schedule.isSliced();
        const std::size_t ofOne = isSliced ? 0 : costs.chunks.size() / std::size_t(m_workload.degrees.copies);
        StageBound bound;
        for (std::size_t c = 0; c < costs.chunks.size(); ++c)
            add(bound, costs.chunks[c], c, ofOne,
                stage > 0 && stage + 1 < m_times.stages); // which of them is last the placement says
        return finished(bound);
    }

    /// Of whole layers: without the host's time a chunk, recomputation by blocks and what sharded states exchange.
    [[nodiscard]] StageBound computed(const StageCoster::Layers &parts, int stage) const
    {
        const auto &chunks = m_workload.layout.chunks[std::size_t(stage)];
        const std::size_t ofOne = chunks.size() / std::size_t(m_workload.degrees.copies);
        StageBound bound;
        for (std::size_t c = 0; c < chunks.size(); ++c) {
            const StageChunk &chunk = chunks[c];
            ChunkCost sum = parts.dense * (chunk.layers - chunk.expertLayers);
            if (chunk.expertLayers > 0)
                sum += parts.expert * chunk.expertLayers;
            if (chunk.hasEmbedding)
                sum += parts.embedding;
            if (chunk.hasHead)
                sum += parts.head;
            add(bound, sum, c, ofOne, !chunk.hasHead && !m_plan.memory.recomputeLayers);
        }
        return finished(bound);
    }

    void add(StageBound &bound, const ChunkCost &chunk, std::size_t number, std::size_t ofOne, bool recomputes) const
    {
        const bool isPaired = m_schedule.pairs;
        const bool isSplit = m_schedule.splitsBackward;
        const double forward = least(chunk.forward, isPaired), weight = least(chunk.weightGrad, isPaired);
        // Where recomputation is an operation of its own it may be over when the gradient comes.
        const double again = recomputes ? least(chunk.recompute, isPaired) : 0;
        const double apart = m_schedule.decidesAtRunTime() ? again : 0;
        const double gradient = least(chunk.inputGrad, isPaired) + (isSplit ? 0 : weight) + again - apart;
        if (number < ofOne) {
            bound.forward += forward;
            bound.gradient += gradient;
        }
        if (number == 0 && ofOne > 0 && !m_times.isTwoWay) {
            bound.first = forward;
            bound.last = gradient;
        }
        bound.busy += forward + gradient + apart + (isSplit ? weight : 0);
        bound.late += isSplit ? weight : 0;
    }

    /// Each copy of the model does its share of the micro-batches.
    [[nodiscard]] StageBound finished(StageBound bound) const
    {
        bound.busy /= m_workload.degrees.copies;
        bound.late /= m_workload.degrees.copies;
        return bound;
    }

    [[nodiscard]] bool isAlike(int a, int b) const
    {
        const Datacenter &x = m_plan.cluster.datacenters[std::size_t(a)],
                         &y = m_plan.cluster.datacenters[std::size_t(b)];
        return m_parts.front().at.tensor == 0 && x.pools.size() == 1 && y.pools.size() == 1
            && areAlike(x.pools.front(), y.pools.front()) && x.fabric == y.fabric
            && x.fabricGbpsPerGpu == y.fabricGbpsPerGpu && x.fabricMeasuredGBps == y.fabricMeasuredGBps;
    }

    void addHops(int d)
    {
        const Cluster &cluster = m_plan.cluster;
        const double context = m_workload.boundaryParts(), share = activationBits(m_plan).share();
        const double memberClasses =
            m_plan.wan.sharing == WanSharing::Temporal ? std::max(1, m_plan.wan.cell.value_or(m_data)) : 1;
        const double sliced = m_schedule.isSliced() ? 0 : 1; // of the first slice nothing is known here
        const double together = double(totalMicroBatches(m_plan)) / m_times.fewest;
        for (HopBound &hop : m_times.hops[std::size_t(d)]) {
            const WanLink &link = cluster.wanLinks[std::size_t(hop.link)];
            const double rate = bestShare(hop.link, d, hop.to), capacity = gbitsPerSecond(link.capacityGbps).value;
            hop.latency = m_workload.roundTripMs(hop.link) / 2e3;
            const int way = direction(cluster, link, d);
            for (int backward = 0; backward < 2; ++backward) {
                const double bytes = m_workload.boundaryBytes(backward == 1) * context * share;
                const double alone = bytes / (context * rate);
                hop.serialization[backward] = std::max(alone, together * bytes / capacity);
                hop.alone[backward] = sliced * alone / std::min<double>(memberClasses, m_data);
                if (m_usdPerGb) {
                    const std::array<double, 2> &usd = (*m_usdPerGb)[std::size_t(hop.link)];
                    const bool goesEitherWay = !m_schedule.isLoop() && !m_times.isChain;
                    hop.usd += m_times.passes * totalMicroBatches(m_plan) * bytes / 1e9
                        * (goesEitherWay ? std::min(usd[0], usd[1]) : usd[std::size_t(backward ? 1 - way : way)]);
                }
            }
        }
        std::ranges::stable_sort(
            m_times.hops[std::size_t(d)], {}, [](const HopBound &hop) { return hop.latency + hop.serialization[0]; });
    }

    /// Of the pools on either side, whose nodes and NICs may differ.
    [[nodiscard]] double bestShare(int link, int from, int to) const
    {
        double best = 0;
        const auto &datacenters = m_plan.cluster.datacenters;
        for (const int p : unlikePools(datacenters[std::size_t(from)].pools))
            for (const int q : unlikePools(datacenters[std::size_t(to)].pools))
                best = std::max(best, shareOfPair(m_workload, link, { from, p }, { to, q }));
        return best;
    }

    Workload m_workload;
    const Plan &m_plan;
    const ScheduleTraits &m_schedule;
    const std::vector<std::array<double, 2>> *m_usdPerGb;
    int m_data;
    LocationBook m_book;
    std::vector<PoolPart> m_parts;
    SearchTimes m_times;
};

} // namespace

SearchTimes searchTimes(const Requested &asked, int data, const std::vector<std::array<double, 2>> *usdPerGb)
{
    return Bounds(asked, data, usdPerGb).run();
}

} // namespace trainyard
