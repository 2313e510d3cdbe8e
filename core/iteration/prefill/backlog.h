#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Prefill over successive iterations: each brings the same requests, and what waits at the end of one is served in the
// next, in order of arrival. What is told is a steady iteration, or that there is none. Pure functions of values.

#include "core/iteration/prefill/controller.h"

#include <stop_token>

namespace trainyard {

/// So many are simulated at most.
inline constexpr int kMostFillIterations = 32;
/// Requests that are placed after the first iteration: beyond them no further one is begun.
inline constexpr std::int64_t kMostCarriedRequests = 2'000'000;

struct SizedRequest {
    Nanoseconds arrival = 0;
    /// index into ServingPlan::sizes
    int size = 0;
    /// of the time promised, before it arrived
    Nanoseconds waited = 0;
};

/// One period of arrivals, and one period of the GPUs' time.
struct AdmittedRequests {
    struct Accepted {
        std::uint32_t request = 0, group = 0;
        /// from its arrival
        Nanoseconds ttft = 0;
        /// until its first slice
        Nanoseconds wait = 0;
    };
    /// What a GPU serves in this period, whenever it arrived. `from` counts from the start of the iteration; `to` may
    /// lie in the next one.
    struct Slice {
        std::uint32_t group = 0, member = 0;
        Nanoseconds from = 0, to = 0;
    };
    /// in order of request
    std::vector<Accepted> accepted;
    std::vector<Slice> slices;
    /// prompts
    std::array<std::int64_t, kRefusals> refused {};
    /// begun until it was steady
    int iterations = 0;
    /// The next iteration is like this one.
    bool isSettled = false;
    /// More arrives than bubbles can hold (saturation).
    bool isSaturated = false;
};

/// Prompts of one period, of the sizes that any group can serve at all, beside what bubbles hold of them.
struct FillLoad {
    std::int64_t arrive = 0;
    /// with the same shares of the sizes, whatever the wait; 0 where nothing arrives
    double held = 0;
    [[nodiscard]] bool isSaturated() const { return double(arrive) > held; }
};
/// No group takes more than its scarcest GPU: the sum over windows of floor(length / slot).
[[nodiscard]] FillLoad fillLoad(const ServingPlan &plan, const std::vector<SizedRequest> &requests);

/// The smallest value that a share `q` of the sorted values, at least one, does not exceed.
[[nodiscard]] Nanoseconds quantile(const std::vector<Nanoseconds> &sorted, double q);

/// Serves iteration after iteration, requests given in order of arrival. It ends as soon as the same requests have
/// the same answers and nothing is left of what was different; or when the counts and the median, 95th and 99th
/// percentile of the times to first token twice move by less than a thousandth; or unsettled. Under more requests than
/// bubbles hold it begins where the backlog is as long as the promised time allows. Where `stop` is triggered it ends
/// early and the result is incomplete.
[[nodiscard]] AdmittedRequests admitRequests(
    const ServingPlan &plan, const std::vector<SizedRequest> &requests, const std::stop_token &stop = {});

} // namespace trainyard
