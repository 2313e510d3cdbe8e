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
    int leastMatches = 5; // of two ranks; fewer are refused
    std::stop_token stop = {}; // stopped, it answers no rank
};

/// What its rank's clock shows beyond the reference's: offset + drift × (moment - about).
struct ClockFit {
    std::uint32_t rank = 0; // of Recording::ranks
    int island = -1; // ranks of one number were joined by matches; -1: its clock was refused, or it shows no moment
    int matches = 0; // matched collectives that it shares with others of its island
    double offset = 0; // ns, at `about`
    double drift = 0; // ns a ns; 0 where matches are too few or too close together (0.1 s) to tell 100 ppm surely
    double residual = 0; // ns, median of the absolute differences that remain of its ends and those of others
    std::string refused; // one sentence; empty: it was aligned (the reference of an island too)
    bool operator==(const ClockFit &) const = default;
};

struct ClockAlignment {
    Moment about = 0;
    int islands = 0; // the largest is 0; offsets between islands are not known
    std::vector<ClockFit> ranks; // of all, in the order of Recording::ranks
    double residual = 0; // ns: median over the aligned ranks that are not references
    [[nodiscard]] bool isWhole() const; // one island has all that show a moment
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
    std::uint32_t rank = 0; // of Recording::ranks
    int matches = 0;
    double median = 0; // ns
};
/// Of all ranks that share collectives with the reference, itself too, in their order.
[[nodiscard]] std::vector<EndSkew> endSkews(
    const Recording &recording, const std::vector<MatchedCollective> &matched, std::uint32_t reference);

} // namespace trainyard
