#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a recording keeps what everybody who reads one relies on: columns of one length, indices of something that is
// there, spans, collectives and samples in order, ranks and steps within bounds, times far from the ends of their
// range. Checked before one is written and after it was read.

#include "core/base/error.h"
#include "core/runs/telemetry/recording.h"

namespace trainyard::recording_file {

/// Unix times are below this, ns (in 2116).
inline constexpr std::int64_t kMostNanoseconds = std::int64_t(1) << 62;
/// Durations are below this, and moments lie less than this before zero, ns (73 years): the difference of any two ends
/// fits 64 bits.
inline constexpr std::int64_t kMostApart = std::int64_t(1) << 61;
inline constexpr int kMostRanks = 1 << 24;
/// numbers of steps, both ways
inline constexpr std::int64_t kMostSteps = std::int64_t(1) << 53;

/// Errors: OutOfRange with the JSON pointer that the value has in a file: "/ranks/0/streams/2/spans/name/17".
[[nodiscard]] Expected<void> checkRecording(const Recording &recording);

/// Of what a reader took of a file: without ranks and steps beyond these bounds, which are counted as dropped.
/// drop_out_of_bounds.cpp
void dropOutOfBounds(Recording &recording);

} // namespace trainyard::recording_file
