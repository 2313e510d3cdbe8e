#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The smallest sum of micro-batches whose bytes fit: two costs at once, where the plan of the smallest sum is too full.
// Labels (sum, bytes) of the first ranks, at each number of samples the ones that no other beats in both; a label from
// which neither the least sum nor the least bytes of the remaining ranks lead to the end is dropped.

#include "core/systems/unequal_gpus/offers_internal.h"

namespace trainyard {

struct LabelGroup {
    int ranks = 0;
    /// by samples; null where there is none
    std::vector<const Offer *> offers;
};

/// An offer for each rank of each group, which together have `samples` and at most `mostBytes`. Some choice has to fit.
[[nodiscard]] std::vector<std::vector<Offer>> leastMicroBatches(
    const std::vector<LabelGroup> &groups, int samples, double mostBytes);

} // namespace trainyard
