#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// An iteration of one pipeline, written down as a formula: no graph, no order of work. Stages and boundaries may
// differ; with equal ones the forms are those of docs/model.md, "Closed forms", where their ranges stand too. Seconds
// and bytes. Pure functions; estimate.h fills them from a workload.

#include <vector>

namespace trainyard {

/// One stage and one micro-batch, seconds. `backward` is without recompute.
struct FormStage {
    double forward = 0, backward = 0, recompute = 0;
};

/// Between stages i and i + 1. `hold` is the transfer s over one pipeline's own node pair, `latency` λ = RTT/2,
/// `scatter` the σ that dealing an activation to the nodes of a cell and gathering it again takes.
struct FormBoundary {
    double serialization = 0, latency = 0, scatter = 0;
    bool isWan = false;
};

struct FormPipeline {
    std::vector<FormStage> stages;
    std::vector<FormBoundary> boundaries;
    double microBatches = 1;
    /// of a stage, interleaved
    double chunks = 1;
    /// Dc: pipelines that take turns on the WAN; 1 = each has its share of it
    double cell = 1;
    /// K_i; empty: as many as there are micro-batches
    std::vector<double> inFlight;
    /// also where the activations are still there
    bool recomputesLastStage = false;
};

/// What one micro-batch more waits for.
enum class Bound : unsigned char { Compute, Link, InFlight };
/// "compute", "link", "pipeline depth"
[[nodiscard]] const char *toString(Bound bound);

struct FormTime {
    double seconds = 0;
    Bound bound = Bound::Compute;
};

/// GPipe: P tf + Σ(s+λ) + (M−1) max(tf, s) + P(tr+tb) + Σ(s+λ) + (M−1) max(tr+tb, s) − tr. Exact: a flow shop of equal
/// jobs in both directions; only the last stage's first backward finds its activations.
[[nodiscard]] FormTime gpipeTime(const FormPipeline &pipeline);

/// Loop_i = Σ_{j≥i}(tf+tr+tb) − tr + 2Σ_{l≥i}(s+λ): from a micro-batch's forward on stage i to the end of its backward.
[[nodiscard]] std::vector<double> loopTimes(const FormPipeline &pipeline);

/// 1F1B and whatever limits micro-batches in flight: Loop_0 + (M−1) max(tf+tr+tb, s, max_i Loop_i / min(K_i, M)).
[[nodiscard]] FormTime inFlightLimitedTime(const FormPipeline &pipeline);

/// Balanced interleaving: M(tf+tr+tb) + the rest of the fill over the chunks + 2Σ(s+λ).
[[nodiscard]] FormTime interleavedTime(const FormPipeline &pipeline);

/// Atlas (arXiv 2411.14458): Σ(tf+tb) + 2Σ(s/Dc+σ+λ) + (M−1) max(tf+tr+tb, s, max_i Loop_i/K_i) + (Dc−1)s/Dc, without
/// the all-reduce. Recompute hides in waits, so only the pace has it. A K_i of all micro-batches limits nothing.
[[nodiscard]] FormTime cellTime(const FormPipeline &pipeline);

} // namespace trainyard
