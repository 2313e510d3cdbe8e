// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/clock_pairs.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

constexpr std::size_t kMostInAllPairs = 16;
constexpr std::size_t kMostEnds = 4096; // kept of a pair
constexpr double kTukey = 4.685, kMadToSigma = 1.4826;

EndKind endKindOf(const Recording &recording, const MatchedCollective &one, MatchedCollective::Part first)
{
    const std::string &operation = recording.names[one.operation];
    if (operation.starts_with("send") && operation != "send_recv") {
        const RecordedCollective &own = recording.ranks[first.rank].collectives[first.collective];
        return recording.names[own.operation].starts_with("send") ? EndKind::ToSecond : EndKind::ToFirst;
    }
    const bool isRooted =
        operation == "broadcast" || operation == "reduce" || operation == "gather" || operation == "scatter";
    return isRooted ? EndKind::Rooted : EndKind::Together;
}

class PairBook {
public:
    explicit PairBook(const Recording &recording)
        : m_recording(recording)
    {
    }

    void add(const MatchedCollective &one)
    {
        std::vector<MatchedCollective::Part> parts;
        for (const MatchedCollective::Part &part : one.parts)
            if (own(part).duration > 0)
                parts.push_back(part);
        const bool hasAll = parts.size() <= kMostInAllPairs;
        for (std::size_t i = 0; i < parts.size(); ++i)
            for (std::size_t k = i + 1; k < parts.size(); ++k)
                if (hasAll || i == 0 || k == i + 1)
                    add(one, parts[i], parts[k]);
                else
                    break;
    }

    std::vector<ClockPair> take()
    {
        std::vector<ClockPair> pairs;
        for (auto &[key, pair] : m_pairs)
            pairs.push_back(std::move(pair.made));
        return pairs;
    }

private:
    struct Growing {
        ClockPair made;
        std::int64_t stride = 1;
    };

    [[nodiscard]] const RecordedCollective &own(MatchedCollective::Part part) const
    {
        return m_recording.ranks[part.rank].collectives[part.collective];
    }

    void add(const MatchedCollective &one, MatchedCollective::Part first, MatchedCollective::Part second)
    {
        Growing &pair = m_pairs[{ first.rank, second.rank }];
        pair.made.first = first.rank;
        pair.made.second = second.rank;
        if (pair.made.matches++ % pair.stride != 0)
            return;
        std::vector<EndPair> &ends = pair.made.ends;
        ends.push_back({ own(first).start + own(first).duration, own(second).start + own(second).duration,
            endKindOf(m_recording, one, first) });
        if (ends.size() < kMostEnds)
            return;
        for (std::size_t i = 0; 2 * i < ends.size(); ++i)
            ends[i] = ends[2 * i];
        ends.resize((ends.size() + 1) / 2);
        pair.stride *= 2;
    }

    const Recording &m_recording;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Growing> m_pairs;
};

/// Median of the slopes between each and the one half of its kind later.
double medianSlope(const std::vector<ClockDifference> &sorted)
{
    std::vector<double> slopes;
    for (const EndKind kind : { EndKind::Together, EndKind::Rooted, EndKind::ToSecond, EndKind::ToFirst }) {
        std::vector<const ClockDifference *> like;
        for (const ClockDifference &one : sorted)
            if (one.kind == kind)
                like.push_back(&one);
        for (std::size_t i = 0, k = like.size() / 2; k > 0 && i + k < like.size(); ++i)
            if (const double apart = like[i + k]->at - like[i]->at; apart > 0)
                slopes.push_back((like[i + k]->value - like[i]->value) / apart);
    }
    return medianOf(std::move(slopes));
}

/// Drops the kinds that say less, and takes the lag of transfers off; answers the lag.
double keepTelling(std::vector<ClockDifference> &differences, int leastMatches, double slope)
{
    const auto valuesOf = [&](EndKind kind) {
        std::vector<double> values;
        for (const ClockDifference &one : differences)
            if (one.kind == kind)
                values.push_back(one.value - slope * one.at);
        return values;
    };
    const auto least = static_cast<std::size_t>(std::max(1, leastMatches));
    if (valuesOf(EndKind::Together).size() >= least) {
        std::erase_if(differences, [](const ClockDifference &one) { return one.kind != EndKind::Together; });
        return 0;
    }
    const std::vector<double> there = valuesOf(EndKind::ToSecond), back = valuesOf(EndKind::ToFirst);
    const bool hasBoth = there.size() + back.size() >= least && std::min(there.size(), back.size()) >= 2;
    if (!hasBoth)
        return 0;
    const double lag = (medianOf(there) - medianOf(back)) / 2;
    std::erase_if(differences,
        [](const ClockDifference &one) { return one.kind != EndKind::ToSecond && one.kind != EndKind::ToFirst; });
    for (ClockDifference &one : differences)
        one.value -= one.kind == EndKind::ToSecond ? lag : -lag;
    return lag;
}

/// Rounds of weighted least squares from a robust start.
class TukeyLine {
public:
    TukeyLine(const std::vector<ClockDifference> &points, double slope, bool hasSlope)
        : m_points(points)
        , m_hasSlope(hasSlope)
    {
        std::vector<double> rest;
        for (const ClockDifference &one : points)
            rest.push_back(one.value - slope * one.at);
        line.slope = slope;
        line.offset = medianOf(std::move(rest));
        line.count = static_cast<int>(points.size());
        const double sigma = std::max(1.0, kMadToSigma * absoluteMedian()); // a clock tells no less than 1 ns
        for (int round = 0; round < 12; ++round)
            improve(sigma);
        line.residual = absoluteMedian();
    }

    DifferenceLine line;

private:
    [[nodiscard]] double restOf(const ClockDifference &one) const
    {
        return one.value - line.offset - line.slope * one.at;
    }
    [[nodiscard]] double absoluteMedian() const
    {
        std::vector<double> rests;
        for (const ClockDifference &one : m_points)
            rests.push_back(std::abs(restOf(one)));
        return medianOf(std::move(rests));
    }

    void improve(double sigma)
    {
        double sum = 0, at = 0, value = 0, squares = 0;
        std::vector<double> weights;
        for (const ClockDifference &one : m_points) {
            const double rest = restOf(one), far = rest / (kTukey * sigma);
            const double weight = std::abs(far) >= 1 ? 0 : (1 - far * far) * (1 - far * far);
            weights.push_back(weight);
            sum += weight;
            at += weight * one.at;
            value += weight * one.value;
            squares += weight * rest * rest;
        }
        if (!(sum > 0))
            return;
        at /= sum;
        value /= sum;
        double spread = 0, product = 0;
        for (std::size_t i = 0; i < m_points.size(); ++i) {
            const double apart = m_points[i].at - at;
            spread += weights[i] * apart * apart;
            product += weights[i] * apart * (m_points[i].value - value);
        }
        const double variance = std::max(1.0, squares / std::max(1.0, sum - 2));
        if (m_hasSlope && spread > 0) {
            line.slope = product / spread;
            line.slopeVariance = variance / spread;
        }
        line.offset = value - line.slope * at;
        line.offsetVariance = variance / sum + (m_hasSlope && spread > 0 ? at * at * variance / spread : 0);
    }

    const std::vector<ClockDifference> &m_points;
    bool m_hasSlope;
};

} // namespace

std::vector<ClockPair> clockPairs(const Recording &recording, const std::vector<MatchedCollective> &matched)
{
    PairBook book(recording);
    for (const MatchedCollective &one : matched)
        book.add(one);
    return book.take();
}

DifferenceLine fitDifferences(std::vector<ClockDifference> differences, int leastMatches, bool hasSlope)
{
    if (differences.empty())
        return {};
    std::ranges::stable_sort(differences, {}, &ClockDifference::at);
    const double slope = hasSlope ? medianSlope(differences) : 0;
    const double lag = keepTelling(differences, leastMatches, slope);
    TukeyLine fitted(differences, slope, hasSlope);
    fitted.line.lag = lag;
    return fitted.line;
}

} // namespace trainyard
