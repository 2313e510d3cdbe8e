// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/kernel_samples.h"

#include "core/runs/calibrate/kernel_part.h"
#include "core/runs/calibrate/place_samples.h"
#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

/// One more step of the rank.
void collect(const Run &run, const StepWindow &window, const std::vector<int> &partOf, PlaceDurations &durations,
    RankKernels &kernels)
{
    const auto step = static_cast<std::uint32_t>(kernels.steps.size());
    auto &sums = kernels.steps.emplace_back();
    const RankRecording &rank = run.recording->ranks[window.rank];
    for (std::uint32_t s = 0; s < rank.streams.size(); ++s) {
        const RecordedSpans &spans = rank.streams[s].spans;
        if (!rank.streams[s].isGpu)
            continue;
        const auto first = std::ranges::lower_bound(spans.start, window.start) - spans.start.begin();
        for (auto i = std::size_t(first); i < spans.size() && spans.start[i] < window.end; ++i) {
            if (spans.work[i] != RecordedWork::Compute || spans.duration[i] <= 0)
                continue;
            const double seconds = double(spans.duration[i]) * 1e-9;
            durations[{ s, spans.name[i] }].push_back({ step, seconds });
            sums[std::size_t(partOf[spans.name[i]])] += seconds;
        }
    }
}

} // namespace

std::vector<StepWindow> windowsOf(const Run &run, const RunStep &step)
{
    std::vector<StepWindow> windows;
    for (const RankWindow &window : step.ranks) {
        const Moment shift = window.rank < run.clockShift.size() ? run.clockShift[window.rank] : 0;
        windows.push_back({ window.rank, window.start - shift, window.end - shift });
    }
    return windows;
}

std::vector<RankKernels> kernelSamples(
    const Run &run, const std::vector<int> &steps, const std::vector<int> &likes, const std::stop_token &stop)
{
    std::vector<int> partOf;
    for (const std::string &name : run.recording->names)
        partOf.push_back(int(kernelPartOf(name)));
    std::map<std::uint32_t, PlaceDurations> byRank;
    std::map<std::uint32_t, RankKernels> kernels;
    for (const int step : steps)
        for (const StepWindow &window : windowsOf(run, run.steps[std::size_t(step)])) {
            if (stop.stop_requested())
                return {};
            RankKernels &own = kernels[window.rank];
            own.rank = window.rank;
            collect(run, window, partOf, byRank[window.rank], own);
        }
    std::map<std::uint32_t, std::vector<StepPlace>> places;
    PeerRanks known;
    for (auto &[rank, durations] : byRank) {
        if (stop.stop_requested())
            return {};
        places[rank] =
            placesOf(durations, int(kernels[rank].steps.size()), [&](std::uint32_t name) { return partOf[name]; });
        durations.clear();
        known.add(likes[rank], places[rank]);
    }
    std::vector<RankKernels> result;
    for (auto &[rank, own] : kernels) {
        if (stop.stop_requested())
            return {};
        const std::vector<StepPlace> &of = places[rank];
        const auto locations = locationsOf(of, known.startsOf(likes[rank], of), spreadOf(of));
        std::array<PlaceNoise, kKernelParts> noise;
        for (std::size_t i = 0; i < of.size(); ++i)
            noise[std::size_t(of[i].group)].add(locations[i]);
        for (std::size_t i = 0; i < of.size(); ++i) {
            const auto at = std::size_t(of[i].group);
            const TypicalSeconds typical = typicalOf(locations[i], noise[at]);
            PartSeconds &part = own.parts[at];
            part.seconds += typical.seconds;
            if (noise[at].variance() > 0) // else too few samples tell it, whatever places that are rare tell
                part.error = std::hypot(part.error, std::sqrt(typical.variance));
            part.kernels += int(of[i].logs.size());
        }
        if (!of.empty())
            result.push_back(std::move(own));
    }
    return result;
}

} // namespace trainyard
