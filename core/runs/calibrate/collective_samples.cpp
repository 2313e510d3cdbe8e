// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/collective_samples.h"

#include "core/iteration/placement/ranks.h"
#include "core/runs/calibrate/kernel_samples.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

/// Whether there is a formula for it (link_fit.h).
bool isModelled(std::string_view operation)
{
    return operation == "all_reduce" || operation == "all_gather" || operation == "reduce_scatter"
        || operation == "all_to_all";
}

/// Tokens that go to their experts in slices, without copies, or in stages are no plain all-to-all: other bytes cross
/// the fabric than those of the message, with gathers beside.
bool hasOwnExchanges(const Plan &plan)
{
    return plan.parallelism.expert > 1 && plan.moe.dispatch != MoeDispatch::Flat;
}

class Placer {
public:
    Placer(const Run &run, const Workload &workload, const RankMap &map)
        : m_recording(*run.recording)
        , m_work(workload)
        , m_map(map)
    {
        for (const RankRecording &rank : m_recording.ranks)
            if (rank.rank >= 0 && !rank.host.empty())
                m_hosts.try_emplace(rank.rank, rank.host);
    }

    void place(CollectiveSample &sample, const std::vector<int> &ranks) const
    {
        if (const auto at = locationOf(m_work, m_map, ranks.front()))
            sample.at = *at;
        for (const int rank : ranks)
            if (const auto at = locationOf(m_work, m_map, rank); at && at->datacenter != sample.at.datacenter)
                sample.across = at;
        std::map<std::string, int> nodes;
        const bool areHostsTold = std::ranges::all_of(ranks, [&](int rank) { return m_hosts.contains(rank); });
        const int domain = std::max(1, domainOf(m_work, sample.at));
        for (const int rank : ranks)
            ++nodes[areHostsTold ? m_hosts.at(rank) : std::to_string(rank / domain)];
        // A rack of NVLink is one node of several hosts.
        if (areHostsTold && domain > m_work.pool(sample.at).gpusPerNode) {
            nodes.clear();
            for (const int rank : ranks)
                ++nodes[std::to_string(rank / domain)];
        }
        sample.ranksPerNode = 1;
        for (const auto &[name, count] : nodes)
            sample.ranksPerNode = std::max(sample.ranksPerNode, count);
    }

    [[nodiscard]] std::vector<int> ranksOf(const MatchedCollective &one) const
    {
        if (one.group < m_recording.groups.size() && !m_recording.groups[one.group].ranks.empty())
            return m_recording.groups[one.group].ranks;
        std::vector<int> ranks;
        for (const MatchedCollective::Part &part : one.parts)
            ranks.push_back(m_recording.ranks[part.rank].rank);
        return ranks;
    }

private:
    const Recording &m_recording;
    const Workload &m_work;
    const RankMap &m_map;
    std::map<int, std::string> m_hosts;
};

} // namespace

const PipelineClass *classOf(const Workload &workload, const RankMap &map, int rank)
{
    if (rank < 0 || rank >= map.worldSize())
        return nullptr;
    const int replica = map.placeOf(rank).replica;
    for (const PipelineClass &pipelines : workload.layout.classes)
        if (replica >= pipelines.firstPipeline && replica < pipelines.firstPipeline + pipelines.pipelines)
            return &pipelines;
    return nullptr;
}

std::optional<StageLocation> locationOf(const Workload &workload, const RankMap &map, int rank)
{
    const PipelineClass *pipelines = classOf(workload, map, rank);
    if (!pipelines)
        return std::nullopt;
    const auto stage = std::size_t(map.placeOf(rank).stage);
    return stage < pipelines->locations.size() ? std::optional(pipelines->locations[stage]) : std::nullopt;
}

CollectiveSamples collectivesOf(const Run &run, const std::vector<int> &steps, const Workload &workload,
    const RankMap &map, const std::stop_token &stop)
{
    CollectiveSamples result;
    const bool areExchangesOwn = hasOwnExchanges(*workload.plan);
    const Recording &recording = *run.recording;
    std::vector<std::vector<StepWindow>> windows(recording.ranks.size());
    for (const int step : steps)
        for (const StepWindow &window : windowsOf(run, run.steps[std::size_t(step)]))
            windows[window.rank].push_back(window);
    for (std::vector<StepWindow> &of : windows)
        std::ranges::sort(of, {}, &StepWindow::start);
    const Placer placer(run, workload, map);
    std::map<std::uint32_t, CollectiveSample> places; // by group, where it has one
    for (const MatchedCollective &one : run.collectives) {
        if (stop.stop_requested())
            break;
        const MatchedCollective::Part &part = one.parts.front();
        const Moment start = recording.ranks[part.rank].collectives[part.collective].start;
        if (windowAt(windows[part.rank], start, std::identity()) < 0)
            continue;
        if (int(one.parts.size()) < one.groupRanks) {
            ++result.unmatched;
            continue;
        }
        if (one.bytes <= 0 || one.leastDuration <= 0) {
            ++result.unsized;
            continue;
        }
        auto [known, isNew] = places.try_emplace(one.group);
        if (isNew || one.group == kNoIndex)
            placer.place(known->second, placer.ranksOf(one));
        const std::string &operation = recording.names[one.operation];
        const bool isSend = one.groupRanks == 2 && operation.starts_with("send");
        std::size_t *leftOut = !isModelled(operation) && !isSend ? &result.unknown
            : !isSend && known->second.across                    ? &result.afar
            : areExchangesOwn && operation == "all_to_all"       ? &result.exchanges
                                                                 : nullptr;
        if (leftOut) {
            ++*leftOut;
            continue;
        }
        CollectiveSample &sample = result.samples.emplace_back(known->second);
        sample.operation = operation;
        sample.bytes = one.bytes;
        sample.ranks = one.groupRanks;
        sample.seconds = double(one.leastDuration) * 1e-9;
    }
    return result;
}

bool isOfProbe(const Recording &recording, std::uint32_t source)
{
    return source < recording.sources.size() && recording.sources[source].kind == SourceKind::Probe;
}

std::vector<CollectiveSample> collectiveBenchmarks(const Recording &recording, std::size_t first)
{
    std::vector<CollectiveSample> samples;
    std::size_t at = 0;
    for (const BenchmarkPoint &point : recording.benchmarks) {
        if (isOfProbe(recording, point.source) || !isModelled(point.what) || point.ranks < 2 || point.bytes <= 0
            || point.seconds <= 0 || at++ % 2 != first)
            continue;
        const int nodes = std::max(1, point.nodes);
        samples.push_back({ .operation = point.what,
            .bytes = point.bytes,
            .ranks = point.ranks,
            .ranksPerNode = (point.ranks + nodes - 1) / nodes,
            .seconds = point.seconds,
            .isBenchmark = true,
            .source = point.source });
    }
    return samples;
}

} // namespace trainyard
