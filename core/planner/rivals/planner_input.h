#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a published planner is given of a plan: times of a layer on each kind of GPU by tensor degree and micro-batch
// (they profile them; here they are our cost model's, so that no planner is judged by others' kernels), sizes, memory,
// what a pair of machines reaches, prices. Plain values, so that tests can state small ones by hand.

#include "core/facts/catalogue/catalogue.h"
#include "core/facts/plan/plan.h"
#include "core/systems/unequal_gpus/sailor.h"

#include <string>
#include <vector>

namespace trainyard::rivals {

/// Of one micro-batch on one GPU of a tensor group: seconds forward and backward, and bytes kept between the two.
struct LayerFigures {
    /// seconds
    double layer = 0, embedding = 0, head = 0;
    /// bytes of a layer
    double kept = 0;
};

struct Kind { // of GPUs, in machines of one size
    std::string gpu;
    int gpusPerNode = 1;
    /// bytes
    double memory = 0;
    /// peak of the plan's precision
    double flops = 0;
    /// bytes per second of one GPU to the others of its machine
    double inside = 0;
    /// of one GPU
    double usdPerSecond = 0;
    /// [tensor][microBatch] as PlannerInput lists them
    std::vector<std::vector<LayerFigures>> figures;
};

struct Site { // a pool of the plan
    int datacenter = 0, pool = 0;
    int kind = 0;
    int gpus = 0;
    /// datacenters between which a byte costs no more than between zones of one region
    int region = 0;
};

struct PlannerInput {
    int layers = 0, batch = 0;
    double layerParameters = 0, embeddingParameters = 0, headParameters = 0;
    /// of a sample, that a stage hands on
    double boundaryNumbers = 0;
    double bytesPerNumber = 4;
    /// of a parameter: weights, gradients, optimizer
    double stateBytes = 16;
    /// for closed formulas that use no profile
    double hidden = 0, sequence = 0, vocabulary = 0;
    /// that are tried, rising
    std::vector<int> tensors, microBatches;
    std::vector<Kind> kinds;
    /// with GPUs
    std::vector<Site> sites;
    /// [site][site] of a pair of machines; c2 0: not joined
    std::vector<std::vector<LinkCurve>> links;
    /// likewise, between datacenters
    std::vector<std::vector<double>> usdPerByte;

    [[nodiscard]] const Kind &kindOf(int site) const { return kinds[std::size_t(sites[std::size_t(site)].kind)]; }
    [[nodiscard]] int gpus() const;
    /// Bytes per second of a pair of machines for such messages; 0 where nothing joins them.
    [[nodiscard]] double rate(int from, int to, double message) const;
    /// The lowest of those between all sites that have GPUs, and inside them.
    [[nodiscard]] double slowestRate(double message) const;
    /// -1: not tried
    [[nodiscard]] int tensorIndex(int tensor) const;
    [[nodiscard]] int microBatchIndex(int microBatch) const;
    [[nodiscard]] double stageParameters(int layers, bool isFirst, bool isLast) const;
};

/// Errors: of the plan, as resolve(). Plans with jobs, measured stages or experts have none: `why` of the answer.
[[nodiscard]] ExpectedAll<PlannerInput> plannerInputOf(const PlanPtr &plan, const Catalogue &catalogue);

} // namespace trainyard::rivals
