#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What an iteration takes at least by its work alone: every micro-batch goes through all layers somewhere, and no
// placement, no cut of the layers and no way of sharing lets groups of GPUs do more than compute all the time. It asks
// for no placement, so that a search can leave out what cannot be better before it pays for one. Times of layers are
// kept by what they depend on. One a thread; refers to space and catalogue.
//
// Groups of kind k (tensor x context GPUs) of which there are n_k, seconds c_k of all layers, e_k of the embedding
// and h_k of the head, M micro-batches:  T >= M (1 + min e_k / c_k + min h_k / c_k) / sum n_k / c_k,  over the fastest
// groups that the plan's replicas and stages can be. It follows from sum over groups of work done / c_k <= T sum n_k /
// c_k. Every micro-batch takes the GPU-seconds of some groups: no fewer than M (min g_k c_k + min g_k e_k + min g_k
// h_k), of g_k GPUs each.

#include "core/planner/score/part_table.h"
#include "core/planner/score/scorer.h"

namespace trainyard {

class WorkBound {
public:
    WorkBound(const SearchSpace &space, const Catalogue &catalogue);

    [[nodiscard]] LeastWork of(const Candidate &candidate);

private:
    struct Groups { // of a pool, that compute alike
        int datacenter = 0;
        int count = 0;
        /// seconds of a micro-batch: all layers, and before and behind them
        double layers = 0, embedding = 0, head = 0;
        /// of a group
        int gpus = 1;
    };
    [[nodiscard]] std::vector<Groups> groupsOf(const PlanPtr &plan) const;
    /// As the pools stand; a micro-batch of so many samples.
    [[nodiscard]] std::vector<Groups> groupsOfSize(const PlanPtr &plan, int microBatch) const;

    const SearchSpace &m_space;
    const Catalogue &m_catalogue;
    PartAxes m_axes;
    /// fastest first; empty: nothing is known
    PartTable<std::vector<Groups>> m_groups;
};

} // namespace trainyard
