// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/iteration/cost/wan/wan_reduce.h"

#include "core/engine/timeline/fair_share.h"
#include "core/facts/workload/model_math.h"
#include "core/iteration/cost/stage_coster.h"
#include "core/iteration/cost/wan/wan_codec.h"
#include "core/iteration/model_states/stage_parameters.h"
#include "core/iteration/placement/expert_spread.h"

#include <algorithm>

namespace trainyard {

namespace {

// An outer step of Nesterov momentum, bytes an element: delta out of two copies (12), then the mean delta (4), momentum
// (8), outer copy (8), and the inner weight with its 16-bit copy (6). docs/model.md, "Local SGD".
constexpr double kOuterStepBytes = 38;

struct Reduction { // of one stage
    std::vector<ReplicaSite> sites;
    SiteRoute route;
    bool isFlat = false;
    double ranks = 0; // of the ring: GPUs where it is flat, else datacenters
    Bytes gradient; // all shards of the stage, as they cross the WAN
    BytesPerSecond rate {}; // of the slowest hop
};

class Reducing {
public:
    explicit Reducing(const Workload &workload)
        : m_work(workload)
        , m_plan(*workload.plan)
        , m_local(trainsLocally(workload))
        , m_sharing(workload.degrees.pipeline / workload.degrees.copies)
    {
    }

    std::vector<SiteExchange> run(std::vector<WanLinkUse> &links)
    {
        const int stages = m_work.degrees.pipeline;
        std::vector<Reduction> all;
        for (int stage = 0; stage < stages; ++stage) // two stages with copies of the same layers reduce together
            all.push_back(m_work.degrees.mirrorOf(stage) < stage ? Reduction {} : reductionOf(stage));
        shareLinks(all);
        std::vector<SiteExchange> result;
        for (int stage = 0; stage < stages; ++stage) {
            const Reduction &reduction = all[std::size_t(stage)];
            if (const int mirror = m_work.degrees.mirrorOf(stage); mirror < stage) {
                result.push_back(result[std::size_t(mirror)]);
                continue;
            }
            result.push_back(reduction.route.hops.empty() ? SiteExchange {} : timesOf(reduction, stage));
            countBytes(reduction, links);
        }
        boundByCapacity(links);
        return result;
    }

private:
    /// Bits of an element before anything is compressed.
    [[nodiscard]] double ownBits() const
    {
        if (m_local)
            return 32;
        return 8 * m_work.gradientBytes();
    }
    [[nodiscard]] double wireBits() const
    {
        return m_local ? m_plan.wan.exchangeBits : std::min<double>(ownBits(), m_plan.wan.gradientBits.value_or(64));
    }
    [[nodiscard]] double elements(int stage) const
    {
        return stageGradient(m_work, stage).value / m_work.gradientBytes();
    }
    /// Of those, experts that lie in one datacenter have nobody to exchange with elsewhere.
    [[nodiscard]] double crossing(int stage) const
    {
        const Degrees &p = m_work.degrees;
        if (!m_work.source.hasLayers || p.expert < 2 || !m_work.model.isMoe())
            return elements(stage);
        const double experts = stageParameters(m_work, stage).experts * p.expertRanks();
        return elements(stage) - experts * (1 - expertsHeldApart(m_work, stage));
    }
    [[nodiscard]] Reduction reductionOf(int stage)
    {
        Reduction reduction;
        reduction.sites = replicaSites(m_work, stage);
        if (reduction.sites.size() < 2)
            return reduction;
        reduction.gradient = Bytes { crossing(stage) * wireBits() / 8 };
        if (reduction.gradient.value <= 0)
            return reduction;
        reduction.isFlat = reducesFlat(m_work, reduction.sites);
        reduction.route = routeOf(reduction);
        for (const ReplicaSite &site : reduction.sites)
            reduction.ranks += reduction.isFlat ? site.ranks : 1;
        return reduction;
    }

    /// Most stages lie in the same datacenters and are equally large: they take the same way.
    [[nodiscard]] SiteRoute routeOf(const Reduction &reduction)
    {
        const auto isAlike = [&](const Reduction &known) {
            return known.isFlat == reduction.isFlat && known.gradient == reduction.gradient
                && known.sites == reduction.sites;
        };
        if (const auto known = std::ranges::find_if(m_routed, isAlike); known != m_routed.end())
            return known->route;
        m_routed.push_back(reduction);
        return m_routed.back().route =
                   siteRoute(m_work, reduction.sites, reduction.gradient, !reduction.isFlat, m_sharing);
    }

    /// Max-min fair over all stages, since all reduce at the end. A chain or tree uses its links both ways.
    void shareLinks(std::vector<Reduction> &all) const
    {
        std::vector<double> capacity, cap, rate;
        for (const WanLink &link : m_plan.cluster.wanLinks)
            capacity.insert(capacity.end(), 2, gbitsPerSecond(link.capacityGbps).value);
        std::vector<std::uint32_t> begin { 0 }, index;
        for (const Reduction &reduction : all) {
            double most = 0;
            for (std::size_t i = 0; i < reduction.route.hops.size(); ++i) {
                const WanPath &hop = reduction.route.hops[i];
                const double pairs = reduction.route.nodePairs[i] * hop.nodePair.value;
                most = i == 0 ? pairs : std::min(most, pairs);
                index.push_back(std::uint32_t(2 * hop.link + hop.way));
                if (!reduction.route.isRing)
                    index.push_back(std::uint32_t(2 * hop.link + 1 - hop.way));
            }
            cap.push_back(most);
            begin.push_back(std::uint32_t(index.size()));
        }
        rate.resize(all.size());
        maxMinFairRates(capacity, cap, std::vector<double>(all.size(), 1.0), begin, index, rate);
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i].rate = BytesPerSecond { rate[i] };
    }

    /// Each hop of a flat ring, wherever the sites lie: also a chain or a tree is gone along there and back.
    [[nodiscard]] Seconds ringLatency(const Reduction &reduction) const
    {
        const double local = reduction.ranks - double(reduction.sites.size());
        return reduction.route.latency() * (reduction.route.isRing ? 1 : 2)
            + microseconds(builtinNetwork().fabric.stepUs) * local;
    }

    [[nodiscard]] SiteExchange timesOf(const Reduction &reduction, int stage) const
    {
        SiteExchange times;
        const double sites = double(reduction.sites.size()), passes = reduction.route.isRing ? (sites - 1) / sites : 1;
        if (m_local) {
            const double parts = m_plan.wan.localSgd == LocalSgd::Streaming ? m_plan.wan.fragments : 1;
            times.exchange = 2 * passes * (reduction.gradient / reduction.rate + parts * reduction.route.latency());
            times.outerStep = recode(reduction, stage) + outerStep(reduction, stage);
            return times;
        }
        times.recode = recode(reduction, stage);
        if (!reduction.isFlat) {
            times.reduce =
                2 * passes * (reduction.gradient / reduction.rate + reduction.route.latency()) + times.recode;
            return times;
        }
        times.replacesLocal = true;
        times.reduce =
            flatRingTime(reduction.gradient, reduction.ranks, reduction.rate, ringLatency(reduction)) + times.recode;
        return times;
    }

    /// Elements that one GPU owns of the stage once its datacenter has reduced.
    [[nodiscard]] double ownElements(const Reduction &reduction, int stage) const
    {
        return elements(stage) / leastTensor(stage) / (reduction.isFlat ? 1 : localRanks(reduction));
    }

    /// Of the stage's replicas: whoever has the largest shard takes longest.
    [[nodiscard]] int leastTensor(int stage) const
    {
        int least = m_work.tensorAt(m_work.layout.classes.front().locations[std::size_t(stage)]);
        for (const PipelineClass &c : m_work.layout.classes)
            for (const int holder : { stage, m_work.degrees.mirrorOf(stage) })
                least = std::min(least, m_work.tensorAt(c.locations[std::size_t(holder)]));
        return least;
    }

    [[nodiscard]] static double localRanks(const Reduction &reduction)
    {
        return std::ranges::min(reduction.sites, {}, &ReplicaSite::ranks).ranks;
    }

    [[nodiscard]] const GpuSpec &slowest(const Reduction &reduction) const
    {
        const GpuSpec *gpu = &m_work.gpu(reduction.sites.front().location);
        for (const ReplicaSite &site : reduction.sites)
            gpu = m_work.gpu(site.location).memoryGBps < gpu->memoryGBps ? &m_work.gpu(site.location) : gpu;
        return *gpu;
    }

    /// Each byte that goes out is packed and each that comes in unpacked, 2(n-1)/n of the elements.
    [[nodiscard]] Seconds recode(const Reduction &reduction, int stage) const
    {
        if (wireBits() >= ownBits())
            return {};
        const double n = reduction.ranks, passes = 2 * (n - 1) / n;
        return 2 * recodeTime(slowest(reduction), passes * ownElements(reduction, stage), ownBits(), wireBits());
    }

    [[nodiscard]] Seconds outerStep(const Reduction &reduction, int stage) const
    {
        if (!m_work.source.hasMemory) // nor of what an update touches
            return {};
        const double own =
            m_work.degrees.zeroStage >= 1 ? ownElements(reduction, stage) : elements(stage) / leastTensor(stage);
        return recodeTime(slowest(reduction), own, 8 * kOuterStepBytes, 0);
    }

    /// Every hop of a ring carries 2(n-1)/n of the tensor; a link of a chain or tree the whole of it each way.
    void countBytes(const Reduction &reduction, std::vector<WanLinkUse> &links) const
    {
        const double n = reduction.ranks, steps = m_local ? m_plan.wan.localSteps : 1;
        const double each =
            reduction.gradient.value * (reduction.route.isRing || reduction.isFlat ? 2 * (n - 1) / n : 1) / steps;
        for (std::size_t i = 0; i < reduction.route.hops.size(); ++i) {
            const WanPath &hop = reduction.route.hops[i];
            WanLinkUse &use = links[std::size_t(hop.link)];
            const double pairs =
                reduction.route.nodePairs[i] * hop.nodePair.value; // stages send over pairs of their own
            for (const int way : { hop.way, 1 - hop.way }) {
                use.bytes[std::size_t(way)] += each;
                use.syncSeconds[std::size_t(way)] = std::max(use.syncSeconds[std::size_t(way)], each / pairs);
                if (reduction.route.isRing)
                    break;
            }
            const PairLimit pair = transportLimit(m_work, hop.link);
            const bool isPair = pair.rate.value <= hop.nodePair.value * (1 + 1e-9);
            use.limit = isPair ? pair.limit : WanLimit::NodeNics;
            use.limitGbps = (isPair ? pair.rate : hop.nodePair).value * 8e-9;
        }
    }

    /// Where node pairs together ask for more than the link carries, its capacity binds.
    void boundByCapacity(std::vector<WanLinkUse> &links) const
    {
        for (std::size_t i = 0; i < links.size(); ++i) {
            const double capacity = gbitsPerSecond(m_plan.cluster.wanLinks[i].capacityGbps).value;
            for (std::size_t way = 0; way < 2; ++way) {
                if (links[i].bytes[way] <= links[i].syncSeconds[way] * capacity)
                    continue;
                links[i].syncSeconds[way] = links[i].bytes[way] / capacity;
                links[i].limit = WanLimit::LinkCapacity;
                links[i].limitGbps = m_plan.cluster.wanLinks[i].capacityGbps;
            }
        }
    }

    const Workload &m_work;
    const Plan &m_plan;
    bool m_local;
    int m_sharing;
    std::vector<Reduction> m_routed; // one of each kind
};

} // namespace

Seconds flatRingTime(Bytes size, double ranks, BytesPerSecond slowest, Seconds latency)
{
    const WanTcp &tcp = builtinNetwork().wan;
    const double seen = ranks >= tcp.ringLatencyHidesFrom ? tcp.ringLatencySeen : 1;
    return 2 * (ranks - 1) / ranks * (size / slowest + seen * latency);
}

std::vector<SiteExchange> siteExchanges(const Workload &workload, std::vector<WanLinkUse> &links)
{
    return Reducing(workload).run(links);
}

void addAcrossSites(StageCosts &stage, const SiteExchange &across, const WanStrategy &strategy)
{
    if (across.replacesLocal) {
        // As many buckets as before; the last one is whole only when the backward ends.
        const double last = stage.reduce.value > 0 ? stage.lastBucket / stage.reduce : 0;
        stage.reduce = {};
        stage.lastBucket = across.reduce * last;
    }
    stage.reduce += across.reduce;
    stage.optimizer += across.outerStep / strategy.localSteps;
    if (strategy.localSgd == LocalSgd::Diloco)
        stage.exchange += across.exchange / strategy.localSteps;
}

Seconds hiddenExchange(const std::vector<SiteExchange> &across, const WanStrategy &strategy)
{
    Seconds most;
    if (strategy.localSgd == LocalSgd::Streaming) {
        for (const SiteExchange &stage : across)
            most = std::max(most, stage.exchange / strategy.localSteps);
    }
    return most;
}

} // namespace trainyard
