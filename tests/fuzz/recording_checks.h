#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What any recording has to keep, whatever its file was: what everybody who reads one relies on, nothing larger than
// its file could make it, figures that are numbers, and that writing and reading it gives it back.

#include "core/runs/telemetry/recording.h"

#include <string>

namespace trainyard::fuzz {

/// Empty, or what does not hold of the recording that `bytes` bytes of a file gave. `isMeasured`: another tool wrote
/// it, so that figures are sensible and what was dropped has a reason; a recording file may say of these what it likes.
[[nodiscard]] std::string faultOfRecording(const Recording &recording, std::size_t bytes, bool isMeasured);

/// Empty, or in what a recording file of it differs. Takes longer.
[[nodiscard]] std::string faultOfRoundTrip(const Recording &recording);

/// Without gzip; empty where it is none.
[[nodiscard]] std::string unpacked(const std::string &gzip);

} // namespace trainyard::fuzz
