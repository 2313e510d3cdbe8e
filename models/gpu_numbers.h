#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// GPUs by their numbers in the order of the cluster, from 0: as a person writes and reads them, and where each of them
// is. Pure functions.

#include "core/facts/plan/plan.h"

#include <QString>

#include <optional>
#include <vector>

namespace trainyard {

/// "0–3, 8" of ascending numbers.
[[nodiscard]] QString gpuNumbersText(const std::vector<int> &gpus);
/// "0-3, 8" in any order, with either dash; nullopt where it is no such list or names a GPU of `count` or above. An
/// empty text is an empty list.
[[nodiscard]] std::optional<std::vector<int>> gpuNumbers(const QString &text, int count);

/// Consecutive GPUs of one node.
struct NodeGpus {
    int first = 0, count = 0;
    /// "Lab · RTX A6000 · node 2": what tells nodes of the cluster apart
    QString place;
};
[[nodiscard]] std::vector<NodeGpus> nodesOf(const Plan &plan);

} // namespace trainyard
