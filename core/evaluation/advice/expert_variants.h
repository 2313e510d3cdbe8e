#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What MoNTA's comparison (expert_comparison.h) is made over: plans that differ from one in what an exchange with
// experts depends on, their expert layers, and the NIC bandwidth at which the iteration gains so much. Pure functions,
// any thread.

#include "core/evaluation/advice/expert_ablation.h"
#include "core/evaluation/evaluate/run.h"

#include <string>
#include <vector>

namespace trainyard {

/// Gbit/s of a GPU's NICs as a plan states them; GB/s to its neighbours, one way, nominal; ranks that hold the same
/// tokens; tokens of a sequence.
enum class ExpertAxis : std::uint8_t { NicGbps, NvlinkGBps, TensorRanks, SequenceLength };
inline constexpr std::size_t kExpertAxes = 4;
/// "nic_gbps"
[[nodiscard]] const char *toString(ExpertAxis axis);

/// The expert layer of a plan under each exchange, where the plan as it is has its ranks.
struct OpenedLayers {
    std::optional<StepLayers> layers;
    /// of its GPUs
    double nicGbps = 0;
    /// there is none, one sentence without a full stop
    std::string why;
    /// whyNotCompared() of the plan's evaluation
    std::string notCompared;

    [[nodiscard]] const ExpertLayer &first() const { return layers->front(); }
};
[[nodiscard]] OpenedLayers openLayers(const PlanPtr &plan, const RunContext &context);

/// Where the plan is on an axis; 0 where it has no place there.
[[nodiscard]] double placeOn(ExpertAxis axis, const Plan &plan, const OpenedLayers &opened);
/// Ascending, `now` among them: bandwidths to a factor of eight in half octaves, powers of two of ranks, of tokens
/// those multiples of the plan's that context ranks can share.
[[nodiscard]] std::vector<double> valuesAround(ExpertAxis axis, double now, const Plan &plan);

/// The plan with its exchange replaced.
[[nodiscard]] PlanPtr planWith(const PlanPtr &plan, ExchangeStep step);
/// With `to` in the place of `from` on an axis; the plan itself for TensorRanks, which are varied in the layer.
[[nodiscard]] PlanPtr planWith(
    const PlanPtr &plan, const Catalogue &catalogue, ExpertAxis axis, double from, double to);

/// Where the iteration of traffic-aware is so much shorter than DeepSpeed's.
struct PublishedGain {
    /// share of DeepSpeed's iteration
    double wanted = 0;
    /// with the plan's NICs
    double now = 0;
    /// of a GPU's NICs: the fastest with which it gains that; empty where it never or always does
    Metric gbps;
    /// the last that was looked at, going away from the plan's
    double lastGbps = 0, lastGain = 0;
};
/// The plan's NICs are doubled, or halved, until the gain passes what is wanted, at most `kMostNicScale` times; then
/// bisection, since faster NICs leave less to gain. Empty where an iteration is not known or the search was stopped.
[[nodiscard]] std::optional<PublishedGain> publishedGain(
    const PlanPtr &plan, double nicGbps, double wanted, const RunContext &context);
inline constexpr double kMostNicScale = 64;

} // namespace trainyard
