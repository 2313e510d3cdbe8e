#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Why an iteration takes as long as it does: the breakdown, every stage's own seconds, the critical path, what fills
// the fullest GPU, what a better part would buy, and how other datacenters would do.

#include "core/evaluate/evaluation.h"
#include "core/selection/selection.h"

#include <string>
#include <vector>

namespace trainyard {

/// The iteration with one part bettered (advice/alternatives.h), as someone evaluated it.
struct PartEffect {
    std::string id, label; // "link:oregon-iowa:pair", "+1 Gbps per node pair, Oregon–Iowa"
    double iterationTime = 0; // seconds
    bool feasible = true;
    std::string because; // what makes the difference (because.h)
};

struct PartEffects {
    std::vector<PartEffect> parts;
    std::vector<PartEffect> fixes; // of the plan's problems, in their order: the label is the fix's
    std::size_t leftOut = 0; // further parts that nobody evaluated
};

/// The parts are ranked here, most useful first; those that change nothing or make it worse are left out of the table.
[[nodiscard]] std::string explanationTable(
    const Evaluation &evaluation, PartEffects effects = {}, const Selection *selection = nullptr);
[[nodiscard]] std::string explanationJson(
    const Evaluation &evaluation, PartEffects effects = {}, const Selection *selection = nullptr);

} // namespace trainyard
