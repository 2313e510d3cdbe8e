// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/calibrate/place_samples.h"

#include "core/base/median.h"
#include "core/runs/calibrate/fit_internal.h"
#include "core/runs/calibrate/robust_fit.h"

#include <algorithm>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kEfficiency = 0.95; // of Tukey's biweight at kTukey standard deviations
constexpr int kPlaceRounds = 20;

/// Over all steps, those that do not have it too.
PlaceLocation rarelySeen(const StepPlace &place)
{
    std::vector<double> seconds(std::size_t(place.absent), 0.0);
    for (const double value : place.logs)
        seconds.push_back(std::exp(value));
    const double middle = medianOf(seconds), error = kMedianError * medianDistance(seconds, middle);
    return { .seconds = middle, .rareVariance = error * error / double(seconds.size()) };
}

PlaceLocation placeLocation(const std::vector<double> &logs, double start, double spread)
{
    const auto isWild = [&](double value, double at) { return std::abs(value - at) >= kTukey * spread; };
    double at = start;
    for (int round = 0; round < kPlaceRounds && spread > 0; ++round) {
        double sum = 0, weights = 0;
        for (const double value : logs) {
            const double u = (value - at) / (kTukey * spread);
            const double weight = isWild(value, at) ? 0 : (1 - u * u) * (1 - u * u);
            sum += weight * value, weights += weight;
        }
        if (weights <= 0) // two that are far apart tell nothing of their middle: what is wild is too long
            return { .seconds = std::exp(std::min(start, std::ranges::min(logs))), .samples = 1 };
        const bool rests = std::abs(sum / weights - at) < 1e-12;
        at = sum / weights;
        if (rests)
            break;
    }
    PlaceLocation location { .seconds = std::exp(at) };
    double sum = 0, squares = 0;
    for (const double value : logs)
        if (spread <= 0 || !isWild(value, at))
            ++location.samples, sum += value - at, squares += (value - at) * (value - at);
    if (location.samples > 0)
        location.squares = std::max(0.0, squares - sum * sum / location.samples);
    return location;
}

} // namespace

std::vector<StepPlace> placesOf(
    const PlaceDurations &durations, int steps, const std::function<int(std::uint32_t)> &groupOf)
{
    std::vector<StepPlace> places;
    std::map<int, std::pair<PlaceKey, std::vector<double>>> rest; // [group]: sums of steps
    for (const auto &[key, samples] : durations) {
        std::vector<double> sums(std::size_t(steps), 0.0);
        std::vector<std::size_t> counts(std::size_t(steps), 0);
        for (const StepSeconds &one : samples)
            sums[one.step] += one.seconds, ++counts[one.step];
        const int group = groupOf(key.name);
        const auto [fewest, most] = std::ranges::minmax(counts);
        if (fewest == 0) {
            auto &[first, all] = rest.try_emplace(group, key, std::vector<double>(sums.size(), 0.0)).first->second;
            for (std::size_t i = 0; i < sums.size(); ++i)
                all[i] += sums[i];
        } else if (fewest == most) {
            const std::size_t begin = places.size();
            places.resize(begin + most, { .key = key, .group = group });
            for (std::size_t i = 0; i < samples.size(); ++i)
                places[begin + i % most].logs.push_back(std::log(samples[i].seconds));
        } else {
            StepPlace &place = places.emplace_back(StepPlace { .key = key, .group = group });
            for (const double sum : sums)
                place.logs.push_back(std::log(sum));
        }
    }
    for (const auto &[group, of] : rest) {
        StepPlace &place = places.emplace_back(StepPlace { .key = of.first, .group = group });
        for (const double sum : of.second)
            if (sum > 0)
                place.logs.push_back(std::log(sum));
            else
                ++place.absent;
    }
    return places;
}

double spreadOf(const std::vector<StepPlace> &places)
{
    std::vector<std::pair<double, double>> differences; // and seconds
    double seconds = 0;
    for (const StepPlace &place : places) {
        const double weight = std::exp(medianOf(place.logs));
        for (std::size_t i = 0; i + 1 < place.logs.size(); i += 2, seconds += weight)
            differences.emplace_back(std::abs(place.logs[i + 1] - place.logs[i]), weight);
    }
    std::ranges::sort(differences);
    double sum = 0;
    for (const auto &[size, weight] : differences)
        if (sum += weight; 2 * sum >= seconds)
            return kNormal * size / std::sqrt(2.0);
    return 0;
}

std::vector<PlaceLocation> locationsOf(
    const std::vector<StepPlace> &places, const std::vector<double> &starts, double spread)
{
    std::vector<PlaceLocation> locations;
    for (std::size_t i = 0; i < places.size(); ++i)
        locations.push_back(places[i].logs.empty() ? PlaceLocation()
                : places[i].absent > 0             ? rarelySeen(places[i])
                                                   : placeLocation(places[i].logs, starts[i], spread));
    return locations;
}

void PlaceNoise::add(const PlaceLocation &location)
{
    if (location.samples < 2)
        return;
    const double weight = location.seconds * location.seconds, own = location.samples - 1;
    squares += weight * location.squares;
    weights += weight * own;
    weightSquares += weight * weight * own;
}

double PlaceNoise::variance() const
{
    if (weights <= 0)
        return 0;
    return squares / weights * studentVariance(weights * weights / weightSquares);
}

TypicalSeconds typicalOf(const PlaceLocation &location, const PlaceNoise &noise)
{
    if (location.samples == 0)
        return { location.seconds, location.rareVariance };
    const double variance = noise.variance() / (kEfficiency * location.samples); // of the logarithm
    const double seconds = location.seconds * std::exp(-variance / 2);
    return { seconds, seconds * seconds * variance };
}

void PeerRanks::add(int like, const std::vector<StepPlace> &places)
{
    if (like < 0)
        return;
    std::vector<std::uint32_t> names;
    for (const StepPlace &place : places)
        names.push_back(place.key.name);
    std::vector<std::vector<double>> &pool = m_pool[like];
    const auto [known, isNew] = m_names.try_emplace(like, names);
    if (isNew)
        pool.resize(places.size());
    if (known->second != names) {
        m_unlike.insert(like);
        return;
    }
    for (std::size_t i = 0; i < places.size(); ++i)
        pool[i].insert(pool[i].end(), places[i].logs.begin(), places[i].logs.end());
}

std::vector<double> PeerRanks::startsOf(int like, const std::vector<StepPlace> &places)
{
    std::vector<double> own;
    for (const StepPlace &place : places)
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

} // namespace trainyard
