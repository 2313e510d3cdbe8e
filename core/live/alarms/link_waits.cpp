// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/alarms/link_waits.h"

#include "core/runs/overlay/span_index.h"
#include "core/runs/telemetry/summarize.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace trainyard::watch {

namespace {

/// When some kernel of the rank computes, in order and apart; on the rank's own clock.
std::vector<Interval> computingOf(const Run &run, std::uint32_t index, Moment from, Moment to)
{
    const RankRecording &rank = run.recording->ranks[index];
    std::vector<Interval> busy;
    for (std::uint32_t s = 0; s < rank.streams.size(); ++s) {
        const RecordedSpans &spans = rank.streams[s].spans;
        if (!rank.streams[s].isGpu)
            continue;
        const SpanIndex::Range range = run.spans->within(rank, index, s, from, to);
        for (std::size_t i = range.first; i < range.last; ++i)
            if (spans.work[i] == RecordedWork::Compute)
                busy.push_back({ spans.start[i], spans.start[i] + spans.duration[i] });
    }
    return unionOf(std::move(busy));
}

} // namespace

std::vector<LinkWait> linkWaitsOf(const WatchedPlan &watched, const RunStep &step)
{
    const Run &run = watched.run();
    const Recording &recording = *run.recording;
    struct Sum {
        double seconds = 0;
        std::set<int> ranks;
    };
    std::map<std::tuple<int, int, int>, Sum> sums;
    for (const RankWindow &window : step.ranks) {
        const RankRecording &rank = recording.ranks[window.rank];
        if (rank.rank < 0 || rank.rank >= watched.map.worldSize())
            continue;
        const RankPlace own = watched.map.placeOf(rank.rank);
        const int to = watched.links->datacenterOf(own.replica, own.stage);
        const Moment shift = window.rank < run.clockShift.size() ? run.clockShift[window.rank] : 0;
        const Moment from = step.start - shift, end = step.end - shift;
        std::vector<Interval> busy;
        bool isBusyKnown = false;
        auto one = std::ranges::lower_bound(rank.collectives, from, {}, &RecordedCollective::start);
        for (; one != rank.collectives.end() && one->start < end; ++one) {
            if (one->group >= recording.groups.size() || recording.groups[one->group].ranks.size() != 2
                || one->operation >= recording.names.size() || !recording.names[one->operation].starts_with("recv"))
                continue;
            const std::vector<int> &pair = recording.groups[one->group].ranks;
            const int peer = pair[0] == rank.rank ? pair[1] : pair[0];
            if (peer < 0 || peer >= watched.map.worldSize())
                continue;
            const RankPlace other = watched.map.placeOf(peer);
            const int sender = watched.links->datacenterOf(other.replica, other.stage);
            if (sender == to || sender < 0)
                continue;
            if (!isBusyKnown)
                busy = computingOf(run, window.rank, from, end);
            isBusyKnown = true;
            Sum &sum = sums[{ sender, to, own.stage }];
            const std::int64_t covered = overlapOf({ one->start, one->start + one->duration }, busy);
            sum.seconds += static_cast<double>(std::max<std::int64_t>(0, one->duration - covered)) * 1e-9;
            sum.ranks.insert(rank.rank);
        }
    }
    std::vector<LinkWait> waits;
    for (const auto &[key, sum] : sums)
        waits.push_back({ std::get<0>(key), std::get<1>(key), std::get<2>(key),
            sum.seconds / static_cast<double>(sum.ranks.size()) });
    return waits;
}

} // namespace trainyard::watch
