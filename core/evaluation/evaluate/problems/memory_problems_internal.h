#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What does not fit, or hardly: the memory of GPUs, and the main memory of nodes for all that has left them. For the
// .cpp files of this folder.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

void addMemoryProblems(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload);

} // namespace trainyard
