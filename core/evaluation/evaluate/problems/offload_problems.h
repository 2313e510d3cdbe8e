#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan that offloads activations should be told: nothing can leave, drives at a risk.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

void addOffloadProblems(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload);

} // namespace trainyard
