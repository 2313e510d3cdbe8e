#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Durations by their place in the step: the i-th of a name on a stream is one thing, of which the steps are samples, so
// that a wild one in a hundred is found among its likes, and does not lengthen a sum.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

namespace trainyard {

struct PlaceKey {
    std::uint32_t stream = 0, name = 0;
    bool operator<(const PlaceKey &other) const
    {
        return stream != other.stream ? stream < other.stream : name < other.name;
    }
};
struct StepSeconds {
    /// from 0 on
    std::uint32_t step = 0;
    /// above 0
    double seconds = 0;
};
/// by step, and in order within it
using PlaceDurations = std::map<PlaceKey, std::vector<StepSeconds>>;

/// Samples of one place in the step.
struct StepPlace {
    /// of several names the first
    PlaceKey key;
    int group = 0;
    /// of seconds
    std::vector<double> logs;
    /// steps that do not have it
    int absent = 0;
};

/// Where all steps have as many of a name, each of them is a place of its own; else those of a name are one, and those
/// that not every step has are one of their group. `groupOf` names.
[[nodiscard]] std::vector<StepPlace> placesOf(
    const PlaceDurations &durations, int steps, const std::function<int(std::uint32_t)> &groupOf);

/// Standard deviation of a logarithm from differences of two samples of one place, which need no location: their median
/// over the seconds. What is wild is told by it. 0: no place has two samples.
[[nodiscard]] double spreadOf(const std::vector<StepPlace> &places);

/// Where the samples of a place lie.
struct PlaceLocation {
    /// of a step: the exponential of a robust mean of logarithms; of places that some steps do not have the median over
    /// all steps
    double seconds = 0;
    /// that are not wild
    int samples = 0;
    /// of their distances from their mean, of logarithms
    double squares = 0;
    /// of seconds, of places that some steps do not have
    double rareVariance = 0;
};
/// `starts`: from where on each is looked for (PeerRanks).
[[nodiscard]] std::vector<PlaceLocation> locationsOf(
    const std::vector<StepPlace> &places, const std::vector<double> &starts, double spread);

/// Variance of one logarithm, pooled over places that are weighed by their seconds squared, as in the variance of their
/// sum; and its degrees of freedom (Satterthwaite 1946).
struct PlaceNoise {
    double squares = 0, weights = 0, weightSquares = 0;
    void add(const PlaceLocation &location);
    /// Times studentVariance (robust_fit.h). 0: too few samples to tell.
    [[nodiscard]] double variance() const;
};

struct TypicalSeconds {
    double seconds = 0, variance = 0;
};
/// Less what the error of the location adds on average: E exp(x) = exp(μ + σ² / 2).
[[nodiscard]] TypicalSeconds typicalOf(const PlaceLocation &location, const PlaceNoise &noise);

/// Where each place of a rank should lie: the median over all ranks with the same work, by how much this rank is
/// slower.
class PeerRanks {
public:
    /// `like`: of ranks with the same work the same number; -1: of nobody else.
    void add(int like, const std::vector<StepPlace> &places);
    /// Logarithms, of each place.
    [[nodiscard]] std::vector<double> startsOf(int like, const std::vector<StepPlace> &places);

private:
    std::map<int, std::vector<std::vector<double>>> m_pool;
    std::map<int, std::vector<double>> m_middles;
    std::map<int, std::vector<std::uint32_t>> m_names;
    /// not every rank has the same places
    std::set<int> m_unlike;
};

} // namespace trainyard
