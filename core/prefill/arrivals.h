#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// When prefill requests arrive during one iteration; the next iteration brings the same again. Repeatable: the same plan
// gives the same requests on every machine.

#include "core/base/units.h"
#include "core/plan/plan.h"

#include <vector>

namespace trainyard {

struct PrefillRequest {
    Nanoseconds arrival = 0;       // from the start of the iteration
    int tokens = 0;                // of the prompt
    bool operator==(const PrefillRequest &) const = default;
};

/// More in one iteration are not placed.
inline constexpr double kMostPrefillRequests = 1e6;
/// Requests of a burst in the mean, under bursty arrivals.
inline constexpr double kRequestsOfBurst = 20;

/// How many requests one iteration brings in the mean, but for a trace.
[[nodiscard]] double meanRequests(const BubbleFill &fill, Nanoseconds period);

/// Requests of [0, period), in order. Poisson: exponential gaps. Constant: every 1/rate seconds from 0 on. Bursty: Poisson
/// at `burstiness` times the mean rate in bursts of exponential length, silence between, so that the mean rate is kept. Trace:
/// those of `trace` that lie inside the iteration.
[[nodiscard]] std::vector<PrefillRequest> arrivals(const BubbleFill &fill, Nanoseconds period, const std::vector<PrefillRequest> &trace);

} // namespace trainyard
