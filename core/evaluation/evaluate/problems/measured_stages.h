#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What measured stage times leave open: gradients without a size, and settings that act on layers, which such a plan
// does not have.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Where stages come from the layers of a model, only that they are faster than the GPUs can be.
void addMeasuredStages(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload);

} // namespace trainyard
