#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A release of the stack that the plan names and that changes nothing.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/catalogue.h"

namespace trainyard {

/// Adds a note where models of this kind took the same time under every release of the plan's stack that was measured.
void addIdleRelease(std::vector<Problem> &problems, const Plan &plan, bool isMoe, const Catalogue &catalogue);

} // namespace trainyard
