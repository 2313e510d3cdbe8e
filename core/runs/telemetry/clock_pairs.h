#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How two clocks differ over time, told by the ends of what both ranks took part in: a line through the differences
// that forgives outliers. What alignClocks() joins to one clock.

#include "core/base/median.h"
#include "core/runs/telemetry/collectives.h"

#include <vector>

namespace trainyard {

/// Whose ends tell it: all ranks end together; only some kinds of ends do (a root ends early); a send ends before its
/// receive by what is under way, so that both directions together tell the offset, and one alone is late by it.
enum class EndKind : std::uint8_t { Together, Rooted, ToSecond, ToFirst };

struct EndPair { // of one matched collective, moments of the two clocks
    Moment first = 0, second = 0;
    EndKind kind = EndKind::Together;
};

/// Of two ranks that share groups.
struct ClockPair {
    /// of Recording::ranks, first < second
    std::uint32_t first = 0, second = 0;
    std::int64_t matches = 0;
    /// of many every second, fourth, … one
    std::vector<EndPair> ends;
};
/// Pairs of ranks with their matched ends: all of a group of up to 16 ranks, of larger ones each with the next and with
/// the first. Collectives without a duration have no end. By ranks.
[[nodiscard]] std::vector<ClockPair> clockPairs(
    const Recording &recording, const std::vector<MatchedCollective> &matched);

/// A difference of two clocks at a time; ns.
struct ClockDifference {
    double at = 0, value = 0;
    EndKind kind = EndKind::Together;
};

/// value = offset + slope × at, with variances; lag: by how much a receive ends after its send.
struct DifferenceLine {
    double offset = 0, slope = 0, lag = 0;
    double offsetVariance = 0, slopeVariance = 0;
    /// median of the absolute differences that remain
    double residual = 0;
    int count = 0;
};
/// The line by a median of slopes and Tukey's weights: a quarter of the differences may be anything. Without slope: a
/// robust mean. Of the kinds those that say most: Together, then sends of both directions, then whatever is there.
[[nodiscard]] DifferenceLine fitDifferences(std::vector<ClockDifference> differences, int leastMatches, bool hasSlope);

} // namespace trainyard
