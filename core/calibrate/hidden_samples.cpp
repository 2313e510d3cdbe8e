// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibrate/hidden_samples.h"

#include "core/calibrate/kernel_samples.h"
#include "core/overlay/span_index.h"

#include <algorithm>

namespace trainyard {

namespace {

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
        StepWindow window;
        std::vector<Interval> computing;
        HiddenSample sample;
    };
    std::vector<std::vector<Place>> places(recording.ranks.size());
    for (const int step : steps)
        for (const StepWindow &window : windowsOf(run, run.steps[std::size_t(step)])) {
            const RankRecording &rank = recording.ranks[window.rank];
            places[window.rank].push_back({ window, computingOf(rank, window), { .rank = rank.rank } });
        }
    std::vector<GroupOf> groups;
    for (const CommunicatorGroup &group : recording.groups)
        groups.push_back(groupOf(group.ranks, map));
    for (const MatchedCollective &one : run.collectives) {
        if (one.group >= groups.size() || groups[one.group] == GroupOf::Other
            || isTransferName(recording.names[one.operation]))
            continue;
        // On a rank that came early the last part is the others' computing, not its own.
        const auto collective = [&](const MatchedCollective::Part &part) -> const RecordedCollective & {
            return recording.ranks[part.rank].collectives[part.collective];
        };
        const auto last = std::ranges::min_element(
            one.parts, {}, [&](const MatchedCollective::Part &part) { return collective(part).duration; });
        const RecordedCollective &shown = collective(*last);
        for (Place &place : places[last->rank]) {
            if (shown.start < place.window.start || shown.start >= place.window.end)
                continue;
            const double moving = double(shown.duration) * 1e-9;
            const double hidden = double(shared(place.computing, { shown.start, shown.start + shown.duration })) * 1e-9;
            const bool isTensor = groups[one.group] == GroupOf::Tensor;
            (isTensor ? place.sample.tensor : place.sample.data) += moving;
            (isTensor ? place.sample.tensorHidden : place.sample.dataHidden) += hidden;
        }
    }
    std::vector<HiddenSample> result;
    for (const std::vector<Place> &of : places)
        for (const Place &place : of)
            if (place.sample.tensor + place.sample.data > 0)
                result.push_back(place.sample);
    return result;
}

} // namespace trainyard
