#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What may be wrong with states that lie off the GPU: no drives to put them on, a step that no longer belongs to its
// gradients. For the .cpp files of this folder.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

void addStateProblems(std::vector<Problem> &problems, const Workload &workload);

} // namespace trainyard
