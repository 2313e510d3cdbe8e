#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How work and states are shared between unequal GPUs, and measured times of a layer on each of them: the parts
// `heterogeneity` and `layer_profiles` of a plan.

#include "core/facts/plan/plan_value.h"

#include <cstdint>
#include <vector>

namespace trainyard {

struct Pool;

/// Whether work goes to unequal GPUs evenly or by what they can do.
enum class ComputeSharing : std::uint8_t { Even, Balanced };
/// The states that ZeRO divides: evenly; evenly unless memory forces otherwise (balanced is another name for it); to
/// equal shares of the memory. (Cephalo, arXiv 2411.01075)
enum class StateSharing : std::uint8_t { Even, Balanced, MinParams, MinUtilization };
/// of the stages of a pipeline
enum class LayerSharing : std::uint8_t { Even, BySpeed };
/// Standard: a micro-batch goes through all layers, then the next. Layered: all micro-batches go through a layer, then
/// the next layer, so that its weights are gathered once a pass.
enum class Accumulation : std::uint8_t { Standard, Layered };

/// What some GPUs of a pool get, whatever would be best.
struct RankPin {
    std::string datacenter;
    /// its id, or its GPU's; empty: every pool there
    std::string pool;
    /// the next so many of them; empty: all the others
    std::optional<int> gpus;
    /// degree of each replica there; empty: the plan's
    std::optional<int> tensor;
    /// of each replica there
    std::optional<int> microBatch, microBatches;
    /// of each GPU
    std::optional<double> stateShare;
    Extra extra;
    bool operator==(const RankPin &) const = default;

    [[nodiscard]] bool isAbout(const Pool &of) const;
};

struct Heterogeneity {
    ComputeSharing compute = ComputeSharing::Even;
    StateSharing state = StateSharing::Even;
    LayerSharing layers = LayerSharing::Even;
    Accumulation accumulation = Accumulation::Standard;
    /// layered: inputs of layers wait in host memory
    bool boundaryOffload = false;
    /// layered: weights of a layer travel while the one before computes
    bool gatherPrefetch = true;
    /// time of a collective over uneven shares / over even ones
    double unevenPenalty = 1.25;
    /// of each further micro-batch of a layer's backward
    double accumulationOverheadMs = 0;
    /// of a GPU's memory that may be used
    double memoryFraction = 1;
    /// of each GPU; empty: as modelled
    std::optional<double> commBufferGib;
    /// layered: states as Cephalo's release fills them, which underestimates memory
    bool releasedStateFill = false;
    std::vector<RankPin> assign;
    Extra extra;
    bool operator==(const Heterogeneity &) const = default;

    [[nodiscard]] bool isLayered() const { return accumulation == Accumulation::Layered; }
    [[nodiscard]] bool sharesUnevenly() const
    {
        return compute != ComputeSharing::Even || state != StateSharing::Even || !assign.empty();
    }
};

/// Milliseconds of one layer by the size of the micro-batch: a line, or a table whose ends are continued by the slope
/// of its nearest points.
struct TimeByMicroBatch {
    /// empty: slope * size + intercept
    std::map<int, double> measured;
    double slope = 0, intercept = 0;
    bool operator==(const TimeByMicroBatch &) const = default;

    [[nodiscard]] double at(int microBatch) const;
};

struct GpuLayerTimes {
    /// backward without recomputation
    TimeByMicroBatch forwardMs, backwardMs;
    /// memory beside states for micro-batch 1, 2, …; empty: as modelled
    std::vector<double> computeGib;
    Extra extra;
    bool operator==(const GpuLayerTimes &) const = default;

    /// Beyond the list by the mean slope of its last points, at most five (so Cephalo's planner does).
    [[nodiscard]] double computeGibAt(int microBatch) const;
};

/// Measured times of one transformer layer, which stand for all that a GPU computes.
struct LayerProfiles {
    /// by catalogue id
    std::map<std::string, GpuLayerTimes> gpus;
    /// of one layer over all ranks; empty: as modelled
    std::optional<double> allGatherMs, reduceScatterMs;
    /// of the model; empty: counted
    std::optional<double> parameters;
    /// of the model that was measured
    std::optional<int> layers;
    Extra extra;
    bool operator==(const LayerProfiles &) const = default;
};

} // namespace trainyard
