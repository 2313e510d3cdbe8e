#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The numbers of a plan and of a step of a run by one list of names, so that they stand beside each other: what a side
// does not tell has no entry, and nothing of the one is computed from the other. Pure.

#include "models/session/run_comparison.h"

#include <map>

namespace trainyard {

/// By name (samples::…), SI units.
using SideNumbers = std::map<std::string, double, std::less<>>;

[[nodiscard]] SideNumbers numbersOfPlan(const Evaluation &evaluation);
/// `step`: null where the run has none. Rates are those of the step, memory the most that any GPU told. `curves`: of
/// the run alone.
[[nodiscard]] SideNumbers numbersOfRun(const Run &run, const RunStep *step, const std::vector<RunCurve> &curves);
/// Memory of the same GPU on both sides: the one that the run tells most of, and its stage of the plan. Answers which
/// it is, a sentence; empty: the run tells no memory, and what the plan says stays.
[[nodiscard]] QString takeMemory(
    const Evaluation &evaluation, const RunOverlay &overlay, SideNumbers &plan, SideNumbers &run);
/// Every number that either has, in the order of the list.
[[nodiscard]] std::vector<ComparedNumber> besideEachOther(const SideNumbers &before, const SideNumbers &after);

} // namespace trainyard
