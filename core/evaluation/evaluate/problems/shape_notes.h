#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Notes on shapes that leave the tensor cores' grid (cost/layer_cost.h, isOnGrid): which dimension, and what would be
// on it.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

void addShapeNotes(std::vector<Problem> &problems, const Workload &workload);

} // namespace trainyard
