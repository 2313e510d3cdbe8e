// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/align.h"

#include "core/runs/telemetry/clock_pairs.h"
#include "core/runs/telemetry/join_clocks.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace trainyard {

namespace {

constexpr int kAlignRounds = 4; // clocks that are far apart: times of ends come out better with each
constexpr int kLeastForDrift = 6;
constexpr double kSureOfDrift = 4; // standard errors, of few ends more: their spread is a guess too
constexpr double kMostDrift = 1e-3; // no clock runs so wrong: something else changes there
constexpr double kUsualDrift = 1e-4; // clocks are mostly better: what does not tell such a drift tells none
constexpr double kLeastSpan = 1e8; // ns; in less, a usual drift is lost in how differently ranks leave a collective

std::string rankName(const Recording &recording, std::uint32_t index)
{
    const RankRecording &rank = recording.ranks[index];
    if (rank.rank >= 0)
        return "rank " + std::to_string(rank.rank);
    return rank.source < recording.sources.size() ? "the rank of " + recording.sources[rank.source].file
                                                  : "a rank without a number";
}

bool hasMoments(const RankRecording &rank)
{
    return !rank.collectives.empty() || !rank.steps.empty()
        || std::ranges::any_of(rank.streams, [](const RecordedStream &stream) { return stream.spans.size() > 0; });
}

class Aligner {
public:
    Aligner(const Recording &recording, const std::vector<MatchedCollective> &matched, const AlignOptions &options)
        : m_recording(recording)
        , m_matched(matched)
        , m_least(std::max(1, options.leastMatches))
        , m_stop(options.stop)
        , m_clocks(recording.ranks.size())
    {
        for (std::size_t i = 0; i < recording.ranks.size(); ++i)
            m_first.try_emplace(recording.ranks[i].rank, static_cast<std::uint32_t>(i));
    }

    ClockAlignment align()
    {
        m_pairs = clockPairs(m_recording, m_matched);
        for (const ClockPair &pair : m_pairs)
            m_most[pair.first] = std::max(m_most[pair.first], pair.matches),
            m_most[pair.second] = std::max(m_most[pair.second], pair.matches);
        std::erase_if(m_pairs, [&](const ClockPair &pair) { return pair.matches < m_least; });
        std::vector<PairDifference> edges;
        for (const ClockPair &pair : m_pairs)
            edges.push_back({ pair.first, pair.second, pair.matches });
        m_tree = spanningTree(static_cast<std::uint32_t>(m_clocks.size()), edges);
        m_result.about = middle();
        for (int round = 0; round < kAlignRounds; ++round)
            improve(true);
        forgetUnsureDrifts();
        for (int round = 0; round < 2; ++round)
            improve(false);
        if (m_stop.stop_requested())
            return {};
        finish();
        return std::move(m_result);
    }

private:
    struct Clock {
        double offset = 0, drift = 0, driftVariance = 0;
    };

    /// Of the ends of the largest island's reference.
    [[nodiscard]] Moment middle() const
    {
        if (m_tree.order.empty())
            return 0;
        Moment least = std::numeric_limits<Moment>::max(), most = std::numeric_limits<Moment>::min();
        for (const RecordedCollective &one : m_recording.ranks[m_tree.order.front()].collectives) {
            least = std::min(least, one.start + one.duration);
            most = std::max(most, one.start + one.duration);
        }
        return least + (most - least) / 2;
    }

    /// Since `about`, as the reference's clock would show it.
    [[nodiscard]] double corrected(std::uint32_t rank, Moment moment) const
    {
        const double since = static_cast<double>(moment - m_result.about);
        return since - m_clocks[rank].offset - m_clocks[rank].drift * since;
    }

    [[nodiscard]] std::vector<ClockDifference> differencesOf(const ClockPair &pair) const
    {
        std::vector<ClockDifference> differences;
        differences.reserve(pair.ends.size());
        for (const EndPair &end : pair.ends) {
            const double first = corrected(pair.first, end.first), second = corrected(pair.second, end.second);
            // Subtracted as whole numbers: clocks may be far apart, and doubles hold 53 bits
            const double apart = static_cast<double>(end.second - end.first)
                - (m_clocks[pair.second].offset - m_clocks[pair.first].offset)
                - (m_clocks[pair.second].drift * static_cast<double>(end.second - m_result.about)
                    - m_clocks[pair.first].drift * static_cast<double>(end.first - m_result.about));
            differences.push_back({ (first + second) / 2, apart, end.kind });
        }
        return differences;
    }

    void improve(bool withDrift)
    {
        std::vector<PairDifference> offsets, drifts;
        for (const ClockPair &pair : m_pairs) {
            if (m_stop.stop_requested())
                return;
            const bool hasSlope = withDrift && pair.matches >= kLeastForDrift;
            const DifferenceLine line = fitDifferences(differencesOf(pair), m_least, hasSlope);
            offsets.push_back({ pair.first, pair.second, pair.matches, line.offset, line.offsetVariance });
            const double variance = line.slopeVariance > 0 ? line.slopeVariance : 1; // 1 ns a ns: says nothing
            const double guess = 1 + 10 / static_cast<double>(std::max(1, line.count));
            drifts.push_back({ pair.first, pair.second, pair.matches, line.slope, variance * guess * guess });
        }
        const std::vector<double> offset = joinDifferences(m_tree, offsets),
                                  drift = withDrift ? joinDifferences(m_tree, drifts)
                                                    : std::vector<double>(m_clocks.size(), 0),
                                  variance = varianceOnTree(m_tree, drifts);
        for (std::size_t i = 0; i < m_clocks.size(); ++i) {
            Clock &clock = m_clocks[i];
            clock.offset = clock.offset * (1 - drift[i]) + offset[i];
            clock.drift = 1 - (1 - clock.drift) * (1 - drift[i]);
            clock.driftVariance = withDrift ? variance[i] : clock.driftVariance;
        }
    }

    void forgetUnsureDrifts()
    {
        const std::vector<double> spans = spansOfEnds();
        for (std::size_t i = 0; i < m_clocks.size(); ++i) {
            Clock &clock = m_clocks[i];
            const double unsure = kSureOfDrift * std::sqrt(clock.driftVariance);
            if (spans[i] < kLeastSpan || !(unsure < kUsualDrift) || !(std::abs(clock.drift) > unsure)
                || !(std::abs(clock.drift) < kMostDrift))
                clock.drift = 0;
        }
    }

    /// [rank]: ns over which the ends lie that tell its drift.
    [[nodiscard]] std::vector<double> spansOfEnds() const
    {
        std::vector<double> spans(m_clocks.size(), 0);
        for (const ClockPair &pair : m_pairs) {
            if (pair.ends.empty())
                continue;
            const auto [least, most] = std::ranges::minmax(pair.ends, {}, &EndPair::first);
            const double span = static_cast<double>(most.first - least.first);
            for (const std::uint32_t rank : { pair.first, pair.second })
                spans[rank] = std::max(spans[rank], span);
        }
        return spans;
    }

    void finish()
    {
        m_result.islands = m_tree.islands;
        std::vector<std::vector<double>> rests(m_clocks.size());
        for (const ClockPair &pair : m_pairs) {
            const std::vector<ClockDifference> differences = differencesOf(pair);
            const double lag = fitDifferences(differences, m_least, false).lag;
            for (const ClockDifference &one : differences) {
                const double rest = std::abs(one.value
                    - (one.kind == EndKind::ToSecond       ? lag
                            : one.kind == EndKind::ToFirst ? -lag
                                                           : 0));
                rests[pair.first].push_back(rest);
                rests[pair.second].push_back(rest);
            }
        }
        const std::vector<int> matches = countMatches();
        std::vector<double> residuals;
        for (std::uint32_t i = 0; i < m_clocks.size(); ++i) {
            ClockFit &fit = m_result.ranks.emplace_back();
            fit.rank = i;
            fit.island = m_tree.island[i];
            fit.matches = matches[i];
            if (fit.island >= 0) {
                fit.offset = m_clocks[i].offset;
                fit.drift = m_clocks[i].drift;
                fit.residual = medianOf(rests[i]);
                if (m_tree.edge[i] != kNoEdge)
                    residuals.push_back(fit.residual);
            }
        }
        m_result.residual = medianOf(std::move(residuals));
        for (ClockFit &fit : m_result.ranks)
            if (fit.island < 0)
                settleAlone(fit);
    }

    [[nodiscard]] std::vector<int> countMatches() const
    {
        std::vector<int> matches(m_clocks.size(), 0);
        for (const MatchedCollective &one : m_matched)
            for (const MatchedCollective::Part &part : one.parts) {
                const int island = m_tree.island[part.rank];
                const auto isJoined = [&](const MatchedCollective::Part &other) {
                    return other.rank != part.rank && m_tree.island[other.rank] == island;
                };
                matches[part.rank] += island >= 0 && std::ranges::any_of(one.parts, isJoined) ? 1 : 0;
            }
        return matches;
    }

    void settleAlone(ClockFit &fit)
    {
        const RankRecording &rank = m_recording.ranks[fit.rank];
        if (!hasMoments(rank))
            return;
        const std::uint32_t first = m_first.at(rank.rank);
        if (rank.rank >= 0 && first != fit.rank && m_result.ranks[first].island >= 0) {
            const ClockFit &known = m_result.ranks[first];
            fit.island = known.island;
            fit.offset = known.offset;
            fit.drift = known.drift;
            fit.residual = known.residual;
            return;
        }
        if (m_timed < 0)
            m_timed = std::ranges::count_if(m_recording.ranks, hasMoments);
        if (m_timed == 1) { // nobody to agree with
            fit.island = 0;
            m_result.islands = 1;
            return;
        }
        const auto most = m_most.find(fit.rank);
        std::string name = rankName(m_recording, fit.rank);
        name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
        const std::int64_t shared = most == m_most.end() ? 0 : most->second;
        fit.refused = name
            + (shared == 0 ? std::string(" shares no collective with another rank")
                           : " shares no more than " + std::to_string(shared) + " matched collective"
                        + (shared == 1 ? "" : "s") + " with another rank")
            + ", and its clock is told by " + std::to_string(m_least) + " or more: its times stay as it recorded them";
    }

    const Recording &m_recording;
    const std::vector<MatchedCollective> &m_matched;
    int m_least;
    std::stop_token m_stop;
    std::vector<Clock> m_clocks;
    std::map<int, std::uint32_t> m_first; // rank -> the first recording of it
    std::ptrdiff_t m_timed = -1; // ranks that have moments, once they are counted
    std::map<std::uint32_t, std::int64_t> m_most; // matches with the rank that it shares most with
    std::vector<ClockPair> m_pairs;
    PairTree m_tree;
    ClockAlignment m_result;
};

} // namespace

bool ClockAlignment::isWhole() const
{
    return std::ranges::all_of(
        ranks, [](const ClockFit &fit) { return fit.island == 0 || (fit.island < 0 && fit.refused.empty()); });
}

ClockAlignment alignClocks(
    const Recording &recording, const std::vector<MatchedCollective> &matched, const AlignOptions &options)
{
    return Aligner(recording, matched, options).align();
}

std::vector<EndSkew> endSkews(
    const Recording &recording, const std::vector<MatchedCollective> &matched, std::uint32_t reference)
{
    std::map<std::uint32_t, std::vector<double>> later;
    const auto endOf = [&](const MatchedCollective::Part &part) {
        const RecordedCollective &own = recording.ranks[part.rank].collectives[part.collective];
        return own.start + own.duration;
    };
    for (const MatchedCollective &one : matched)
        if (const auto of = std::ranges::find(one.parts, reference, &MatchedCollective::Part::rank);
            of != one.parts.end())
            for (const MatchedCollective::Part &part : one.parts)
                later[part.rank].push_back(static_cast<double>(endOf(part) - endOf(*of)));
    std::vector<EndSkew> skews;
    for (auto &[rank, values] : later) {
        const int matches = static_cast<int>(values.size());
        skews.push_back({ rank, matches, medianOf(std::move(values)) });
    }
    return skews;
}

} // namespace trainyard
