#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a recording keeps what everybody who reads one relies on: columns of one length, indices of something that is
// there, spans in order, times far from the ends of their range. Checked before one is written and after it was read.

#include "core/base/error.h"
#include "core/telemetry/recording.h"

namespace trainyard::recording_file {

/// Moments and durations are below this, ns (146 years).
inline constexpr std::int64_t kMostNanoseconds = std::int64_t(1) << 62;

/// Errors: OutOfRange with the JSON pointer that the value has in a file: "/ranks/0/streams/2/spans/name/17".
[[nodiscard]] Expected<void> checkRecording(const Recording &recording);

} // namespace trainyard::recording_file
