#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One clock for all ranks. A collective ends at the same time on all its ranks, so the median of the differences of
// matched ends is the offset between two clocks, and how it changes over the recording is their drift. Offsets go from
// rank to rank over the groups that they share; ranks that no five matches join are told, and keep their own clock.

#include "core/telemetry/collectives.h"

#include <string>

namespace trainyard {

struct AlignOptions {
    int leastMatches = 5; // of two ranks; fewer are refused
};

/// What its rank's clock shows beyond the reference's: offset + drift × (moment - about).
struct ClockFit {
    std::uint32_t rank = 0; // of Recording::ranks
    int island = -1; // ranks of one number were joined by matches; -1: its clock was refused
    int matches = 0; // ends compared, over all the ranks that it was joined with
    double offset = 0; // ns, at `about`
    double drift = 0; // ns a ns; 0 where matches are too few or too close together to tell
    double residual = 0; // ns, median of the absolute differences that remain
    std::string refused; // one sentence; empty: it was aligned (the reference of an island too)
    bool operator==(const ClockFit &) const = default;
};

struct ClockAlignment {
    Moment about = 0;
    int islands = 0; // the largest is 0; offsets between islands are not known
    std::vector<ClockFit> ranks; // of all, in the order of Recording::ranks
    double residual = 0; // ns: median over the aligned ranks that are not references
    [[nodiscard]] bool isWhole() const; // one island has them all
    bool operator==(const ClockAlignment &) const = default;
};

[[nodiscard]] ClockAlignment alignClocks(
    const Recording &recording, const std::vector<MatchedCollective> &matched, const AlignOptions &options = {});

/// Takes offsets and drifts off every moment of its rank (spans, launches, collectives, steps; durations too are
/// corrected by the drift), and writes what it took off into RankRecording::clockOffset and clockDrift.
void applyAlignment(Recording &recording, const ClockAlignment &alignment);

} // namespace trainyard
