// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/hidden_samples.h"

#include "core/base/median.h"
#include "core/runs/calibrate/fit_internal.h"
#include "core/runs/calibrate/kernel_samples.h"
#include "core/runs/overlay/span_index.h"
#include "core/runs/telemetry/summarize.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace trainyard {

namespace {

constexpr std::size_t kLeastLikes = 3; // of two nobody tells which one is wild
constexpr double kLeastMessage = 1.0 / 16; // of the largest of its group: norms and counters are no part of the model

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
    return unionOf(std::move(all));
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

/// One collective of a step, as the rank shows it that came last.
struct Shown {
    std::uint32_t group = 0, operation = 0;
    double bytes = 0;
    int step = 0, rank = -1;
    double seconds = 0, hidden = 0;
};

/// Those that are wild among their likes in other steps take the mean of these: what takes five times as long once
/// would tell of itself, and not of how much is hidden.
class Tamed {
public:
    explicit Tamed(std::vector<Shown> &all)
    {
        std::map<std::tuple<std::uint32_t, std::uint32_t, double, int>, int> ordinals;
        std::map<std::tuple<std::uint32_t, std::uint32_t, double, int>, std::vector<Shown *>> places;
        for (Shown &one : all)
            places[{ one.group, one.operation, one.bytes,
                       ordinals[{ one.group, one.operation, one.bytes, one.step }]++ }]
                .push_back(&one);
        for (auto &[key, of] : places)
            if (of.size() >= kLeastLikes)
                m_places.push_back(std::move(of));
    }

    void tame()
    {
        const double seconds = spread([](const Shown &one, double middle) { return one.seconds / middle; });
        const double hidden = spread([](const Shown &one, double middle) { return one.hidden / middle; });
        for (const std::vector<Shown *> &place : m_places)
            tame(place, seconds, hidden);
    }

private:
    static double middleOf(const std::vector<Shown *> &place, double Shown::*value)
    {
        std::vector<double> values;
        for (const Shown *one : place)
            values.push_back(one->*value);
        return medianOf(std::move(values));
    }

    /// Of what is hidden only where something is: elsewhere there is no noise.
    template <class Value> [[nodiscard]] double spread(Value value) const
    {
        std::vector<double> differences;
        for (const std::vector<Shown *> &place : m_places) {
            const double middle = middleOf(place, &Shown::seconds);
            for (std::size_t i = 0; i + 1 < place.size(); i += 2)
                if (const double a = value(*place[i], middle), b = value(*place[i + 1], middle); a > 0 && b > 0)
                    differences.push_back(std::abs(a - b));
        }
        return kNormal * medianOf(std::move(differences)) / std::sqrt(2.0);
    }

    static void tame(const std::vector<Shown *> &place, double ofSeconds, double ofHidden)
    {
        const double seconds = middleOf(place, &Shown::seconds), hidden = middleOf(place, &Shown::hidden);
        const auto isWild = [&](const Shown *one) {
            return std::abs(one->seconds - seconds) > kTukey * ofSeconds * seconds
                || std::abs(one->hidden - hidden) > kTukey * ofHidden * seconds;
        };
        double count = 0, sum = 0, under = 0;
        for (const Shown *one : place)
            if (!isWild(one))
                ++count, sum += one->seconds, under += one->hidden;
        if (2 * count <= double(place.size())) // they are not alike
            return;
        for (Shown *one : place)
            if (isWild(one))
                one->seconds = sum / count, one->hidden = under / count;
    }

    std::vector<std::vector<Shown *>> m_places;
};

} // namespace

std::vector<HiddenSample> hiddenSamples(
    const Run &run, const std::vector<int> &steps, const RankMap &map, const std::stop_token &stop)
{
    const Recording &recording = *run.recording;
    struct Place {
        int step = 0;
        StepWindow window;
        std::vector<Interval> computing;
    };
    std::vector<std::vector<Place>> places(recording.ranks.size());
    for (const int step : steps)
        for (const StepWindow &window : windowsOf(run, run.steps[std::size_t(step)])) {
            if (stop.stop_requested())
                return {};
            places[window.rank].push_back({ step, window, computingOf(recording.ranks[window.rank], window) });
        }
    for (std::vector<Place> &of : places)
        std::ranges::sort(of, {}, [](const Place &place) { return place.window.start; });
    std::vector<GroupOf> groups;
    for (const CommunicatorGroup &group : recording.groups)
        groups.push_back(groupOf(group.ranks, map));
    std::vector<double> largest(groups.size()); // message of each group
    for (const MatchedCollective &one : run.collectives)
        if (one.group < groups.size())
            largest[one.group] = std::max(largest[one.group], one.bytes);
    const bool isOneClock = run.alignment.isWhole();
    std::vector<Shown> all;
    for (const MatchedCollective &one : run.collectives) {
        if (stop.stop_requested())
            break;
        if (one.group >= groups.size() || groups[one.group] == GroupOf::Other
            || one.bytes < kLeastMessage * largest[one.group] || isTransferName(recording.names[one.operation]))
            continue;
        // On a rank that came early the last part is the others' computing, not its own.
        const auto collective = [&](const MatchedCollective::Part &part) -> const RecordedCollective & {
            return recording.ranks[part.rank].collectives[part.collective];
        };
        // By its start, since the least duration would pick ends that were noted early; that, where clocks are not one.
        const auto last = std::ranges::min_element(one.parts, {}, [&](const MatchedCollective::Part &part) {
            return isOneClock ? -collective(part).start : collective(part).duration;
        });
        const RecordedCollective &shown = collective(*last);
        const std::vector<Place> &of = places[last->rank];
        const std::ptrdiff_t at = windowAt(of, shown.start, &Place::window);
        if (at < 0)
            continue;
        const Place &place = of[std::size_t(at)];
        all.push_back({ .group = one.group,
            .operation = one.operation,
            .bytes = one.bytes,
            .step = place.step,
            .rank = recording.ranks[last->rank].rank,
            .seconds = double(shown.duration) * 1e-9,
            .hidden = double(overlapOf({ shown.start, shown.start + shown.duration }, place.computing)) * 1e-9 });
    }
    Tamed(all).tame();
    std::map<std::pair<std::uint32_t, int>, HiddenSample> samples; // [group, step]
    for (const Shown &one : all) {
        HiddenSample &sample = samples[{ one.group, one.step }];
        sample.rank = one.rank;
        sample.isTensor = groups[one.group] == GroupOf::Tensor;
        sample.seconds += one.seconds;
        sample.hidden += one.hidden;
    }
    std::vector<HiddenSample> result;
    for (const auto &[key, sample] : samples)
        result.push_back(sample);
    return result;
}

} // namespace trainyard
