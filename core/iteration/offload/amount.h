#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How much of the activations to offload: the adaptive rule of SSDTrain (arXiv 2408.10013,
// solve_num_adaptive_keep_layers of its code), generalised to any ratio of backward to forward time and to pipelines.
// Pure functions.

#include <cstddef>
#include <vector>

namespace trainyard {

struct AmountModule { // of one micro-batch on one device, in the order of the forward
    /// that may leave
    double bytes = 0;
    /// seconds
    double forward = 0;
    /// modules of one layer follow each other; -1: stands alone
    int layer = -1;
};

struct AmountRates {
    /// bytes/s of one GPU
    double write = 0, read = 0;
    /// r = backward / forward time, recomputation included
    double backwardRatio = 2;
    /// Other micro-batches lie between a forward and its backward: the queues have a whole period for each micro-batch.
    bool isPipelined = false;
    double inFlightShare =
        0; // then: of a pipeline's micro-batches, those whose forward comes before the first backward
};

/// The first module that stays, and all after it do; modules.size() where everything leaves. Nodes are the modules and
/// the layers around them, in post-order; node n stays where the stores before it and its own store and load do not end
/// before the backward reaches it:
///   sum_{q before n} A_q + 2 A_n > W ((1 + r) T_f - r sum_{q before n} t_q)
/// and where the loads of all that leaves would take longer than the backward: sum A_q > R r T_f. In a pipeline the
/// queues have the period (1 + r) T_f for sum_{q before n} A_q + A_n, each way; that of loads less what comes before
/// the first backward, K of M forwards: (1 + r - K/M) T_f.
[[nodiscard]] std::size_t firstModuleKept(const std::vector<AmountModule> &modules, const AmountRates &rates);

/// The same for a given share of the bytes: modules in order while they stay within it.
[[nodiscard]] std::size_t firstModuleKept(const std::vector<AmountModule> &modules, double fraction);

} // namespace trainyard
