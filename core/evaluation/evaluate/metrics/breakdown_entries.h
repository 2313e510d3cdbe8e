#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of an iteration by one name each, with what they are and where the timeline shows them: the window, the
// command line and reports all list these. docs/metrics.md, "breakdown_s". Pure functions, any thread.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>
#include <vector>

namespace trainyard {

/// A part by its place in the breakdown.
using BreakdownPart = double Breakdown::*;

struct BreakdownEntry {
    /// "data_parallel"
    const char *key;
    /// "data parallel"
    const char *label;
    /// its name among the metrics: "breakdown_s.data_parallel"
    const char *metric;
    /// one sentence
    const char *meaning;
    /// where the timeline has it: "inside spans of forward and backward"
    std::string where;
    BreakdownPart part = nullptr;
    /// all of it or a part lies inside spans that bear another name
    bool isInSpans = false;
    double seconds = 0;
};

/// In the order in which they are listed; they add up to the iteration. What is 0 is listed too.
[[nodiscard]] std::vector<BreakdownEntry> breakdownEntries(const Breakdown &breakdown);

} // namespace trainyard
