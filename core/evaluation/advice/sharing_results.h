#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What ways of sharing out work and states to unequal GPUs come to, side by side: time, memory, cost, and for each set
// of equal GPUs what it computes, holds and waits. Pure functions, any thread; the last one shares its work out to a
// pool.
//
//   const auto all = sharingResults(kSharingBaselines, plan, builtinCatalogue(), RunPool::shared());

#include "core/evaluation/advice/run_pool.h"
#include "core/evaluation/advice/sharing_limits.h"
#include "core/evaluation/advice/sharing_plans.h"

#include <functional>
#include <span>

namespace trainyard {

/// Equal GPUs that serve one stage. Shares are of all of them together, and add up to 1 over all sets.
struct SetShare {
    /// label, id, name
    std::string datacenter, pool, gpu;
    int stage = 0, stages = 1, gpus = 0;
    /// of each replica, an iteration
    double samples = 0;
    /// samples times layers, of all
    double computeShare = 0;
    /// bytes of weights, gradients and optimizer states, of all that lie on GPUs
    double stateShare = 0;
    /// share of the iteration in which it does not compute: Metrics::devices
    double idle = 0;
};

struct SharingResult {
    SharingPlan of;
    /// false: `why` alone says something
    bool isEvaluated = false;
    /// false: `why` says what of it is not understood (core/evaluation/evaluate/comparable.h)
    bool isCompared = true;
    bool isFeasible = false, fits = false;
    Metric iterationTime, samplesPerSecond, usdPerIteration;
    /// seconds of one layer on the slowest replica, as its shares were dealt
    Metric layerTime;
    /// bytes of the fullest GPU: framework and all; 0 where memory is not modelled
    std::int64_t peak = 0, capacity = 0;
    /// it cannot be made, evaluated or run: one sentence without a full stop; else empty
    std::string why;
    /// by stage, in the order of the layout
    std::vector<SetShare> sets;
    /// where they were asked for
    std::optional<SharingLimits> limits;
};

[[nodiscard]] SharingResult sharingResult(SharingPlan of, const RunContext &context);

/// From a thread that is not one of the pool's: makes and evaluates all of them there, in the order asked for, with
/// their limits. Stopped ones are not evaluated.
[[nodiscard]] std::vector<SharingResult> sharingResults(std::span<const SharingBaseline> which, const PlanPtr &plan,
    const Catalogue &catalogue, RunPool &pool, const std::stop_token &stop = {});
[[nodiscard]] std::vector<SharingResult> ablationResults(
    const PlanPtr &plan, const Catalogue &catalogue, RunPool &pool, const std::stop_token &stop = {});

/// The same from a thread of the pool: what a search of the window does. `found` is called under a lock as results
/// come, with the place of each.
void eachSharingResult(std::span<const SharingBaseline> which, const PlanPtr &plan, const Catalogue &catalogue,
    RunPool &pool, const std::stop_token &stop,
    const std::function<void(std::size_t index, SharingResult result)> &found);

} // namespace trainyard
