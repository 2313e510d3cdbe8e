#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One clock for all ranks. A collective ends at the same time on all its ranks, so the median of the differences of
// matched ends is the offset between two clocks, and how it changes over the recording is their drift. Offsets go from
// rank to rank over the groups that they share; ranks that no five matches join are told, and keep their own clock. A
// send ends before its receive; where nothing else joins two ranks, transfers of both directions tell the offset, as
// far as both take equally long.

#include "core/runs/telemetry/collectives.h"

#include <string>

namespace trainyard {

struct AlignOptions {
    /// of two ranks; fewer are refused
    int leastMatches = 5;
    /// stopped, it answers no rank
    std::stop_token stop = {};
};

/// What its rank's clock shows beyond the reference's: offset + drift × (moment - about).
struct ClockFit {
    /// of Recording::ranks
    std::uint32_t rank = 0;
    /// ranks of one number were joined by matches; -1: its clock was refused, or it shows no moment
    int island = -1;
    /// matched collectives that it shares with others of its island
    int matches = 0;
    /// ns, at `about`
    double offset = 0;
    /// ns a ns; 0 where matches are too few or too close together (0.1 s) to tell 100 ppm surely
    double drift = 0;
    /// ns, median of the absolute differences that remain of its ends and those of others
    double residual = 0;
    /// one sentence; empty: it was aligned (the reference of an island too)
    std::string refused;
    bool operator==(const ClockFit &) const = default;
};

struct ClockAlignment {
    Moment about = 0;
    /// the largest is 0; offsets between islands are not known
    int islands = 0;
    /// of all, in the order of Recording::ranks
    std::vector<ClockFit> ranks;
    /// ns: median over the aligned ranks that are not references
    double residual = 0;
    /// one island has all that show a moment
    [[nodiscard]] bool isWhole() const;
    bool operator==(const ClockAlignment &) const = default;
};

/// Offsets by pairs of ranks that share matches, joined by least squares; the reference of an island is its first rank,
/// whose clock stays. Files of a rank that another file has too get that one's.
[[nodiscard]] ClockAlignment alignClocks(
    const Recording &recording, const std::vector<MatchedCollective> &matched, const AlignOptions &options = {});

/// Takes offsets and drifts off every moment of its rank (spans, launches, collectives, steps; durations too are
/// corrected by the drift; samples that the rank's own file tells of it), and writes what it took off into
/// RankRecording::clockOffset and clockDrift, together with what an alignment before took off.
void applyAlignment(Recording &recording, const ClockAlignment &alignment);

/// How much later a rank's ends are than those of another, as they were recorded.
struct EndSkew {
    /// of Recording::ranks
    std::uint32_t rank = 0;
    int matches = 0;
    /// ns
    double median = 0;
};
/// Of all ranks that share collectives with the reference, itself too, in their order.
[[nodiscard]] std::vector<EndSkew> endSkews(
    const Recording &recording, const std::vector<MatchedCollective> &matched, std::uint32_t reference);

} // namespace trainyard
