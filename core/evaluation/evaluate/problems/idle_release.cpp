// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/problems/idle_release.h"

#include <algorithm>

namespace trainyard {

void addIdleRelease(std::vector<Problem> &problems, const Plan &plan, bool isMoe, const Catalogue &catalogue)
{
    const StackSpec *stack = catalogue.stack(plan.stack.name);
    const auto changesNothing = [isMoe](const StackRelease &release) { return release.time(isMoe) == 1; };
    if (plan.stack.release.empty() || !stack || !std::ranges::all_of(stack->releases, changesNothing))
        return;
    problems.push_back({ Severity::Note,
        std::string("Measured models ") + (isMoe ? "with" : "without")
            + " experts take the same time under every release of " + (stack->name.empty() ? stack->id : stack->name)
            + " that is known: release " + plan.stack.release + " changes nothing",
        "stack.release", {} });
}

} // namespace trainyard
