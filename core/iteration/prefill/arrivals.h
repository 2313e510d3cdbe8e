#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// When prefill requests arrive during one iteration; the next iteration brings the same again. Repeatable: the same
// plan gives the same requests on every machine.

#include "core/base/units.h"
#include "core/facts/plan/plan.h"

#include <vector>

namespace trainyard {

struct PrefillRequest {
    /// from the start of the iteration
    Nanoseconds arrival = 0;
    /// of the prompt
    int tokens = 0;
    /// which of the served ones: 0 is bubble_fill.model, then those of bubble_fill.served
    int model = 0;
    bool operator==(const PrefillRequest &) const = default;
};

/// Of more of one model in one iteration so many are placed, spread as all of them are; the rest count as rejected.
inline constexpr double kMostPrefillRequests = 1e6;
/// Requests of a burst in the mean, under bursty arrivals.
inline constexpr double kRequestsOfBurst = 20;

/// How many requests one iteration brings in the mean, but for a trace.
[[nodiscard]] double meanRequests(const BubbleFill &fill, Nanoseconds period);

/// Of how many requests those of `placed` were taken: their own number, or the mean where that is above
/// kMostPrefillRequests. Of a trace: those inside the iteration.
[[nodiscard]] std::int64_t requestsOfIteration(
    const BubbleFill &fill, Nanoseconds period, const std::vector<PrefillRequest> &trace, std::size_t placed);

/// Requests of [0, period), in order, at a rate that brings no more than kMostPrefillRequests in the mean. Poisson:
/// exponential gaps. Constant: every 1/rate seconds from 0 on. Bursty: Poisson at `burstiness` times the mean rate in
/// bursts of exponential length, silence between, so that the mean rate is kept. Trace: those of `trace` that lie
/// inside the iteration, every n/kMostPrefillRequests-th where they are n and too many.
[[nodiscard]] std::vector<PrefillRequest> arrivals(
    const BubbleFill &fill, Nanoseconds period, const std::vector<PrefillRequest> &trace);

/// The same of every served model, those of bubble_fill.served as `fill` says but for what they say themselves, each
/// with a seed of its own; beside a trace they arrive by Poisson.
[[nodiscard]] std::vector<BubbleFill> servedFills(const BubbleFill &fill);
/// Of all served models, in order.
[[nodiscard]] std::vector<PrefillRequest> allArrivals(
    const BubbleFill &fill, Nanoseconds period, const std::vector<PrefillRequest> &trace);

} // namespace trainyard
