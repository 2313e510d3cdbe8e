// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/calibrate/kernel_samples.h"

#include "core/base/median.h"
#include "core/calibrate/kernel_part.h"
#include "core/overlay/span_index.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace trainyard {

namespace {

// As in robust_fit: Tukey's biweight keeps 95 % of efficiency at 4.685 standard deviations.
constexpr double kTukey = 4.685, kNormal = 1.4826, kEfficiency = 0.95;
constexpr int kRounds = 20;

struct Key {
    std::uint32_t stream = 0, name = 0;
    auto operator<=>(const Key &) const = default;
};
using Durations = std::map<Key, std::vector<std::vector<double>>>; // [step]: seconds in order

/// Samples of one place in the step, as logarithms.
struct Place {
    int part = 0;
    std::vector<double> logs;
};

/// Where steps have as many kernels of a name, each is a place of its own; else all of them are one.
std::vector<Place> placesOf(const Durations &durations, const std::vector<int> &partOf)
{
    std::vector<Place> places;
    for (const auto &[key, steps] : durations) {
        std::vector<double> counts;
        for (const auto &step : steps)
            counts.push_back(double(step.size()));
        const auto usual = std::size_t(medianOf(counts));
        const bool areAlike = std::ranges::all_of(steps, [&](const auto &step) { return step.size() == usual; });
        const std::size_t first = places.size();
        places.resize(first + (areAlike ? usual : 1));
        for (std::size_t i = first; i < places.size(); ++i)
            places[i].part = partOf[key.name];
        for (const auto &step : steps) {
            double sum = 0;
            for (std::size_t i = 0; i < step.size(); ++i) {
                sum += step[i];
                if (areAlike)
                    places[first + i].logs.push_back(std::log(step[i]));
            }
            if (!areAlike && sum > 0)
                places[first].logs.push_back(std::log(sum));
        }
    }
    return places;
}

/// Standard deviation of the logarithms, from differences of samples of one place: those have no location to estimate.
double spreadOf(const std::vector<Place> &places)
{
    std::vector<double> differences;
    for (const Place &place : places)
        for (std::size_t i = 0; i + 1 < place.logs.size(); i += 2)
            differences.push_back(std::abs(place.logs[i + 1] - place.logs[i]));
    return kNormal * medianOf(std::move(differences)) / std::sqrt(2.0);
}

struct Location {
    double at = 0;
    double samples = 0; // that are not wild
};

Location locationOf(const std::vector<double> &logs, double spread, double start)
{
    Location location { start, double(logs.size()) };
    for (int round = 0; round < kRounds && spread > 0; ++round) {
        double sum = 0, weights = 0;
        location.samples = 0;
        for (const double value : logs) {
            const double u = (value - location.at) / (kTukey * spread);
            const double weight = std::abs(u) < 1 ? (1 - u * u) * (1 - u * u) : 0;
            sum += weight * value, weights += weight;
            location.samples += weight > 0;
        }
        if (weights <= 0) { // two that are far apart tell nothing of their middle: what is wild is too long
            location.at = std::min(start, std::ranges::min(logs));
            break;
        }
        const bool rests = std::abs(sum / weights - location.at) < 1e-12;
        location.at = sum / weights;
        if (rests)
            break;
    }
    location.samples = std::max(1.0, location.samples);
    return location;
}

/// Where each place of a rank should lie: the median over all ranks with the same work, by how much this rank is
/// slower.
class Likes {
public:
    void add(int like, const std::vector<Place> &places)
    {
        if (like < 0)
            return;
        std::vector<std::vector<double>> &pool = m_pool[like];
        if (pool.empty())
            pool.resize(places.size());
        if (pool.size() != places.size()) {
            m_unlike.insert(like);
            return;
        }
        for (std::size_t i = 0; i < places.size(); ++i)
            pool[i].insert(pool[i].end(), places[i].logs.begin(), places[i].logs.end());
    }

    [[nodiscard]] std::vector<double> startsOf(int like, const std::vector<Place> &places)
    {
        std::vector<double> own;
        for (const Place &place : places)
            own.push_back(medianOf(place.logs));
        if (like < 0 || m_unlike.contains(like))
            return own;
        std::vector<double> &middles = m_middles[like];
        if (middles.empty())
            for (const auto &logs : m_pool[like])
                middles.push_back(medianOf(logs));
        std::vector<double> slower;
        for (std::size_t i = 0; i < own.size(); ++i)
            if (!places[i].logs.empty())
                slower.push_back(own[i] - middles[i]);
        const double speed = medianOf(std::move(slower));
        for (std::size_t i = 0; i < own.size(); ++i)
            own[i] = middles[i] + speed;
        return own;
    }

private:
    std::map<int, std::vector<std::vector<double>>> m_pool;
    std::map<int, std::vector<double>> m_middles;
    std::set<int> m_unlike; // not every rank has the same places
};

void collect(const Run &run, const StepWindow &window, std::size_t step, std::size_t steps,
    const std::vector<int> &partOf, Durations &durations, RankKernels &kernels)
{
    const RankRecording &rank = run.recording->ranks[window.rank];
    for (std::uint32_t s = 0; s < rank.streams.size(); ++s) {
        const RecordedSpans &spans = rank.streams[s].spans;
        if (!rank.streams[s].isGpu)
            continue;
        const auto first = std::ranges::lower_bound(spans.start, window.start) - spans.start.begin();
        for (auto i = std::size_t(first); i < spans.size() && spans.start[i] < window.end; ++i) {
            if (spans.work[i] != RecordedWork::Compute || spans.duration[i] <= 0)
                continue;
            auto &of = durations[{ s, spans.name[i] }];
            of.resize(steps);
            const double seconds = double(spans.duration[i]) * 1e-9;
            of[step].push_back(seconds);
            kernels.steps[step][std::size_t(partOf[spans.name[i]])] += seconds;
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

std::vector<RankKernels> kernelSamples(const Run &run, const std::vector<int> &steps, const std::vector<int> &likes)
{
    std::vector<int> partOf;
    for (const std::string &name : run.recording->names)
        partOf.push_back(int(kernelPartOf(name)));
    std::map<std::uint32_t, Durations> byRank;
    std::map<std::uint32_t, RankKernels> kernels;
    for (std::size_t k = 0; k < steps.size(); ++k)
        for (const StepWindow &window : windowsOf(run, run.steps[std::size_t(steps[k])])) {
            RankKernels &own = kernels[window.rank];
            own.rank = window.rank;
            own.steps.resize(steps.size());
            collect(run, window, k, steps.size(), partOf, byRank[window.rank], own);
        }
    std::map<std::uint32_t, std::vector<Place>> places;
    Likes known;
    for (const auto &[rank, durations] : byRank) {
        places[rank] = placesOf(durations, partOf);
        known.add(likes[rank], places[rank]);
    }
    std::vector<RankKernels> result;
    for (auto &[rank, own] : kernels) {
        const std::vector<Place> &of = places[rank];
        const double spread = spreadOf(of);
        const std::vector<double> starts = known.startsOf(likes[rank], of);
        for (std::size_t i = 0; i < of.size(); ++i) {
            if (of[i].logs.empty())
                continue;
            PartSeconds &part = own.parts[std::size_t(of[i].part)];
            const Location location = locationOf(of[i].logs, spread, starts[i]);
            const double seconds = std::exp(location.at);
            part.seconds += seconds;
            part.error = std::hypot(part.error, seconds * spread / std::sqrt(kEfficiency * location.samples));
            part.kernels += int(of[i].logs.size());
        }
        if (!of.empty())
            result.push_back(std::move(own));
    }
    return result;
}

} // namespace trainyard
