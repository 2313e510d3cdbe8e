// SPDX-License-Identifier: GPL-3.0-or-later
// What a WAN link carries, how much of what it could carry that is, and what keeps it from carrying more.
#include "core/engine/schedule/traits.h"
#include "core/evaluation/evaluate/metrics/metrics.h"
#include "core/iteration/cost/wan/wan_traffic.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

/// Longer than alone by more than this: others on the link take from it.
constexpr double kStretched = 1.02;

struct Boundary { // between two stages of one class: a channel each way
    const Track *channel[2] = { nullptr, nullptr }; // by direction of the link
};

Nanoseconds carried(const Timeline &timeline, const Track &track)
{
    Nanoseconds sum = 0;
    for (std::uint32_t span = track.first; span < track.last; ++span)
        sum += timeline.end[span] - timeline.start[span];
    return sum;
}

/// Time in which either channel carries. Spans of a channel follow each other.
Nanoseconds carriedEitherWay(const Timeline &timeline, const Boundary &boundary)
{
    std::uint32_t at[2] = { 0, 0 }, end[2] = { 0, 0 };
    for (int way = 0; way < 2; ++way) {
        if (boundary.channel[way]) {
            at[way] = boundary.channel[way]->first;
            end[way] = boundary.channel[way]->last;
        }
    }
    Nanoseconds sum = 0, reached = 0;
    while (at[0] < end[0] || at[1] < end[1]) {
        const int way = at[1] >= end[1] || (at[0] < end[0] && timeline.start[at[0]] <= timeline.start[at[1]]) ? 0 : 1;
        const std::uint32_t span = at[way]++;
        const Nanoseconds from = std::max(reached, timeline.start[span]);
        sum += std::max<Nanoseconds>(0, timeline.end[span] - from);
        reached = std::max(reached, timeline.end[span]);
    }
    return sum;
}

/// What its transfers would take alone, on average: every boundary between the two stages has as many of them.
double aloneNs(const Track &track, const PipelineCosts &pipeline, ChunkPlacement placement)
{
    const int devices = int(pipeline.syncAndStep.size());
    double sum = 0;
    int count = 0;
    for (int q = 0; q < int(pipeline.boundaries.size()); ++q) {
        const int from = deviceAt(placement, devices, q), to = deviceAt(placement, devices, q + 1);
        const bool forward = from == track.stage && to == track.toStage,
                   backward = from == track.toStage && to == track.stage;
        if (!pipeline.boundaries[std::size_t(q)].isWan || (!forward && !backward))
            continue;
        sum += double(pipeline.boundaries[std::size_t(q)].serialization[forward ? 0 : 1]);
        ++count;
    }
    return count > 0 ? sum / count : 0;
}

class WanUses {
public:
    WanUses(const Workload &workload, const Costs &costs, const Timeline &timeline)
        : m_work(workload)
        , m_costs(costs)
        , m_timeline(timeline)
    {
        for (const Track &track : timeline.tracks) {
            if (track.stream != Stream::Wan || track.wanLink < 0 || track.first == track.last)
                continue;
            const WanLink &link = workload.plan->cluster.wanLinks[std::size_t(track.wanLink)];
            const int way = direction(workload.plan->cluster, link, location(track, track.stage).datacenter);
            const auto [low, high] = std::minmax(track.stage, track.toStage);
            m_boundaries[{ track.wanLink, track.pipelineClass, low, high }].channel[way] = &track;
        }
    }

    WanLinkUse use(WanLinkUse use) const
    {
        const double iteration = double(m_timeline.duration);
        const Boundary *busiest = nullptr;
        Nanoseconds most = 0;
        for (auto at = m_boundaries.lower_bound({ use.link, 0, 0, 0 });
             at != m_boundaries.end() && std::get<0>(at->first) == use.link; ++at) {
            if (const Nanoseconds own = carriedEitherWay(m_timeline, at->second); own > most) {
                most = own;
                busiest = &at->second;
            }
        }
        for (int way = 0; way < 2; ++way) {
            const Track *channel = busiest ? busiest->channel[way] : nullptr;
            use.carrying[way] = std::min(1.0,
                ((channel ? double(carried(m_timeline, *channel)) : 0)
                    + (use.syncSeconds[way] + use.expertSeconds[way]) * 1e9)
                    / iteration);
        }
        const double sync = (use.syncSeconds[0] + use.syncSeconds[1]) * 1e9,
                     experts = std::max(use.expertSeconds[0], use.expertSeconds[1]) * 1e9; // both ways at once
        use.usableUtilization = std::min(1.0, (double(most) + sync + experts) / iteration);
        if (busiest && double(most) > std::max(sync, experts))
            name(use, *(busiest->channel[0] ? busiest->channel[0] : busiest->channel[1]));
        if (use.limit == WanLimit::None) { // it carries nothing: what would bind
            const PairLimit pair = transportLimit(m_work, use.link);
            use.limit = pair.limit;
            use.limitGbps = pair.rate.value * 8e-9;
        }
        return use;
    }

private:
    [[nodiscard]] StageLocation location(const Track &track, int stage) const
    {
        return m_work.layout.classes[std::size_t(track.pipelineClass)].locations[std::size_t(stage)];
    }

    void name(WanLinkUse &use, const Track &track) const
    {
        const PipelineCosts &pipeline = m_costs.iteration.classes[std::size_t(track.pipelineClass)];
        const double mean = double(carried(m_timeline, track)) / (track.last - track.first);
        if (mean > kStretched * aloneNs(track, pipeline, traitsOf(*m_work.plan).placement)) {
            use.limit = WanLimit::LinkCapacity;
            use.limitGbps = m_work.plan->cluster.wanLinks[std::size_t(use.link)].capacityGbps;
            return;
        }
        const PairLimit pair =
            limitOfPair(m_work, use.link, location(track, track.stage), location(track, track.toStage));
        use.limit = pair.limit;
        use.limitGbps = pair.rate.value * 8e-9;
    }

    const Workload &m_work;
    const Costs &m_costs;
    const Timeline &m_timeline;
    std::map<std::tuple<int, int, int, int>, Boundary> m_boundaries; // by link, class, stages
};

} // namespace

const WanLinkUse *busiestLink(const Metrics &metrics)
{
    const auto busiest = std::ranges::max_element(metrics.wanLinks, {}, &WanLinkUse::usableUtilization);
    return busiest == metrics.wanLinks.end() || busiest->totalBytes() <= 0 ? nullptr : &*busiest;
}

void addWanMetrics(Metrics &metrics, const Workload &workload, const Costs &costs, const Timeline &timeline)
{
    const double iteration = toSeconds(timeline.duration).value;
    const WanUses uses(workload, costs, timeline);
    for (const WanLinkUse &counted : costs.wanLinks) {
        WanLinkUse use = uses.use(counted);
        const double capacity =
            gbitsPerSecond(workload.plan->cluster.wanLinks[std::size_t(use.link)].capacityGbps).value;
        use.utilization = std::max(use.bytes[0], use.bytes[1]) / (capacity * iteration);
        metrics.wanBytesPerIteration += use.totalBytes();
        metrics.wanLinks.push_back(use);
    }
}

} // namespace trainyard
