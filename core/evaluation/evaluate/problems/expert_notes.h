#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan's experts do, in words: groups over datacenters with what that takes, and keys that change nothing here.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// Of a placed plan. Adds notes, a warning where tokens cross the WAN, and what blocks where they have no way.
void addExpertNotes(std::vector<Problem> &problems, const Evaluation &evaluation, const Workload &workload);

} // namespace trainyard
