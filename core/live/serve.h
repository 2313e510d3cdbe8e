#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The other end of a stream: a recording told again, as lines, with the pauses that it had. To everybody who connects
// (`telemetry serve`), or to a listener (`telemetry replay`).

#include "core/live/source.h"

#include <stop_token>

namespace trainyard::live {

/// s
inline constexpr double kBetweenStatuses = 0.1;

struct ServeOptions {
    /// times as fast; 0: as fast as it goes
    double speed = 1;
    bool isRepeated = false;
    /// Moments are moved so that the recording begins when it is told; false: as they were.
    bool isNow = true;
    std::stop_token stop = {};
    /// clients, bytes; kBetweenStatuses apart
    std::function<void(const SourceStatus &status)> status = {};
};

/// Listens until stopped, or, with `isOnce`, until the first client heard all of it. Every client hears it from the
/// beginning. `began` is told the port. Errors: as Server::listen().
[[nodiscard]] Expected<void> serveRecording(const Recording &recording, const Address &at,
    const SourceSettings &settings, const ServeOptions &options, bool isOnce,
    const std::function<void(const Address &)> &began = {});

/// Connects (tcp, tls, ws, wss), again where it is cut, until all was told or it was stopped. What was told before a
/// cut is not told again.
[[nodiscard]] Expected<void> replayTo(
    const Recording &recording, const Address &to, const SourceSettings &settings, const ServeOptions &options);

} // namespace trainyard::live
