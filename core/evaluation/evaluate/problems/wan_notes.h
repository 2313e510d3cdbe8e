#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the strategies across datacenters do to this plan, in words: where they change what is learned, where they do
// nothing, what fewer bits save and cost, and where losses hold a link back.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Of a placed plan. Adds notes, and warnings where the numbers are for something else than was asked for.
void addWanNotes(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload);

} // namespace trainyard
