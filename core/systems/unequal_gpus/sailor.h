#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Sailor's closed form (SOSP 2025, arXiv 2504.17096), as eth-easl/sailor at cf2c8e3 computes an iteration of 1F1B over
// unequal GPUs: from layer times, a polynomial a link, and no timeline. It stands beside our engine so that Sailor's
// published runs can be judged with its own inputs; no plan is evaluated with it. Pure functions of values, any thread.
//
// [F] found in the released code, [I] inferred. docs/model.md, "Sailor's closed form", has the equations.

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/facts/hardware/link_curve.h"

#include <vector>

namespace trainyard::sailor {

/// t(x) = x / bw(x) [F].
[[nodiscard]] Seconds transferTime(const LinkCurve &link, Bytes message);
/// 2 (D - 1) t(x / D), bucket by bucket of 5e8 bytes [F].
[[nodiscard]] Seconds allReduceTime(const LinkCurve &link, Bytes gradients, int replicas);

/// One layer for one micro-batch on one GPU of a tensor group, as profiled.
struct LayerTime {
    Seconds forward, backward, update;
};

/// One of the D replicas of a stage: a tensor group of equal GPUs.
struct Replica {
    int tensor = 1;
    /// of its stage
    std::vector<LayerTime> layers;
    /// of the stage on one GPU
    double parameters = 0;
    /// numbers that the stage keeps on one GPU for each sample in flight
    double activations = 0;
    /// to the replica of the same pipeline in the neighbouring stages; unused at the ends
    LinkCurve toNext, toPrevious;
    /// of the same stage, between single GPUs; unused in the last replica
    LinkCurve toNextReplica;
};

struct Stage {
    std::vector<Replica> replicas;
    /// whole, not divided by the tensor degree
    double parameters = 0;
    /// numbers that its last layer puts out for one sample
    double sentOn = 0;
    /// of the gradients that go back: what its first layer puts out, as the release has it [F]
    double sentBack = 0;
};

/// Constants of the release.
struct Constants {
    /// FP32
    double bytesPerNumber = 4;
    /// Adam 8, FP32 copy 4, gradients 4, communication 4, copies of DeepSpeed 4 [F]
    double bytesPerParameter = 24;
    /// K: what a GPU holds besides, of the GH200 validation; the planner takes 2e9 or 3e9 [F]
    Bytes loaded { 5.06e9 };
    /// larger tensor groups are synchronised as if they were of four [F]
    int mostTensorOfSync = 4;
};

struct Problem {
    std::vector<Stage> stages;
    /// samples
    int microBatch = 1, globalBatch = 1;
    Constants constants;
};

struct Prediction {
    /// T_pp
    Seconds pipeline;
    /// T_sync
    Seconds sync;
    /// M of the fullest GPU
    Bytes memory;
    int fullestStage = 0;
    /// N_b
    int microBatches = 0;
    [[nodiscard]] Seconds iteration() const { return pipeline + sync; }
};

/// N_b = ceil(GBS / (mbs D))
/// T_pp = sum comp + sum comm + (N_b - 1) max (comp + comm) + max update
/// T_sync = max over stages of the all-reduce of 4 B a parameter over the slowest pair of neighbouring replicas
/// M = 24 B a parameter + activations 4 mbs (P - i) + K
/// Errors: no stage, stages of unequal numbers of replicas, a replica with other layers than the first of its stage.
[[nodiscard]] Expected<Prediction> predict(const Problem &problem);

} // namespace trainyard::sailor
