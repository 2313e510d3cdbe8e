#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One part of what a run is judged by, and how the parts of a difference are put in words. Pure functions.

#include <string>
#include <vector>

namespace trainyard {

struct VerdictPart {
    /// "exposed all-reduce", "forward and backward", "not told apart"
    std::string what;
    /// seconds of a step or bytes of a GPU; the parts of a verdict add up to it
    double predicted = 0, measured = 0;
    /// "timer grads-all-reduce, median of 40 steps"
    std::string evidence;
};

/// of the whole: no difference
inline constexpr double kAsPredicted = 0.01;

/// As the spans of a step have its time, and as its log does: closer is one time, the log's.
inline constexpr double kSameStep = 0.02;

/// "11 %" from a tenth on, "3.2 %" below.
[[nodiscard]] std::string differenceShareText(double share);

struct NamedDifference {
    std::string name;
    /// measured - predicted
    double difference = 0;
};
/// ", all of it in exposed all-reduce": the parts, largest first, that go the way of the whole difference. Empty where
/// none does.
[[nodiscard]] std::string whereOf(const std::vector<NamedDifference> &parts, double whole);

} // namespace trainyard
