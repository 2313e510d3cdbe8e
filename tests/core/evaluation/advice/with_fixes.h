#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plans evaluated with every fix looked for.

#include "tests/support/plans.h"

namespace trainyard::test {

inline EvaluationPtr withFixes(const Plan &plan)
{
    EvaluationWorkspace workspace;
    return *evaluate(std::make_shared<const Plan>(plan), builtinCatalogue(), workspace, {}, Depth::Everything);
}

} // namespace trainyard::test
