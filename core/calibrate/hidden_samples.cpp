// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibrate/hidden_samples.h"

#include "core/calibrate/kernel_samples.h"
#include "core/overlay/span_index.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

constexpr double kLeastMessage = 1.0 / 16; // of the largest of its group: norms and counters are no part of the model

struct Interval {
    Moment start = 0, end = 0;
};

/// When the rank computes, joined.
std::vector<Interval> computingOf(const RankRecording &rank, const StepWindow &window)
{
    std::vector<Interval> all;
    for (const RecordedStream &stream : rank.streams) {
        const RecordedSpans &spans = stream.spans;
        const auto first = std::ranges::lower_bound(spans.start, window.start) - spans.start.begin();
        for (auto i = std::size_t(first); stream.isGpu && i < spans.size() && spans.start[i] < window.end; ++i)
            if (spans.work[i] == RecordedWork::Compute)
                all.push_back({ spans.start[i], spans.start[i] + spans.duration[i] });
    }
    std::ranges::sort(all, {}, &Interval::start);
    std::vector<Interval> joined;
    for (const Interval &one : all)
        if (!joined.empty() && one.start <= joined.back().end)
            joined.back().end = std::max(joined.back().end, one.end);
        else
            joined.push_back(one);
    return joined;
}

Moment shared(const std::vector<Interval> &computing, Interval of)
{
    Moment sum = 0;
    auto at = std::ranges::upper_bound(computing, of.start, {}, &Interval::end);
    for (; at != computing.end() && at->start < of.end; ++at)
        sum += std::min(at->end, of.end) - std::max(at->start, of.start);
    return sum;
}

enum class GroupOf : std::uint8_t { Other, Tensor, Data };

GroupOf groupOf(const std::vector<int> &ranks, const RankMap &map)
{
    if (ranks.size() < 2 || std::ranges::any_of(ranks, [&](int rank) { return rank < 0 || rank >= map.worldSize(); }))
        return GroupOf::Other;
    const RankPlace first = map.placeOf(ranks.front());
    bool isTensor = true, isData = true;
    for (const int rank : ranks) {
        const RankPlace place = map.placeOf(rank);
        isTensor &= place.replica == first.replica && place.stage == first.stage && place.context == first.context;
        isData &= place.tensor == first.tensor && place.stage == first.stage;
    }
    return isTensor ? GroupOf::Tensor : isData ? GroupOf::Data : GroupOf::Other;
}

} // namespace

std::vector<HiddenSample> hiddenSamples(const Run &run, const std::vector<int> &steps, const RankMap &map)
{
    const Recording &recording = *run.recording;
    struct Place {
        int step = 0;
        StepWindow window;
        std::vector<Interval> computing;
    };
    std::vector<std::vector<Place>> places(recording.ranks.size());
    for (const int step : steps)
        for (const StepWindow &window : windowsOf(run, run.steps[std::size_t(step)]))
            places[window.rank].push_back({ step, window, computingOf(recording.ranks[window.rank], window) });
    std::vector<GroupOf> groups;
    for (const CommunicatorGroup &group : recording.groups)
        groups.push_back(groupOf(group.ranks, map));
    std::vector<double> largest(groups.size()); // message of each group
    for (const MatchedCollective &one : run.collectives)
        if (one.group < groups.size())
            largest[one.group] = std::max(largest[one.group], one.bytes);
    std::map<std::pair<std::uint32_t, int>, HiddenSample> samples; // [group, step]
    for (const MatchedCollective &one : run.collectives) {
        if (one.group >= groups.size() || groups[one.group] == GroupOf::Other
            || one.bytes < kLeastMessage * largest[one.group] || isTransferName(recording.names[one.operation]))
            continue;
        // On a rank that came early the last part is the others' computing, not its own.
        const auto collective = [&](const MatchedCollective::Part &part) -> const RecordedCollective & {
            return recording.ranks[part.rank].collectives[part.collective];
        };
        const auto last = std::ranges::min_element(
            one.parts, {}, [&](const MatchedCollective::Part &part) { return collective(part).duration; });
        const RecordedCollective &shown = collective(*last);
        for (const Place &place : places[last->rank]) {
            if (shown.start < place.window.start || shown.start >= place.window.end)
                continue;
            HiddenSample &sample = samples[{ one.group, place.step }];
            sample.rank = recording.ranks[last->rank].rank;
            sample.isTensor = groups[one.group] == GroupOf::Tensor;
            sample.seconds += double(shown.duration) * 1e-9;
            sample.hidden += double(shared(place.computing, { shown.start, shown.start + shown.duration })) * 1e-9;
        }
    }
    std::vector<HiddenSample> result;
    for (const auto &[key, sample] : samples)
        result.push_back(sample);
    return result;
}

} // namespace trainyard
