#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The pictures of jobs in a report: a bar a job from its start to its end, with deadlines and the bound that no
// schedule passes, and the main memory of each host over time. Inline SVG of bounded size.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard {

/// `axis`: length of the time axis, so that several plans share one. Empty where nothing runs.
[[nodiscard]] std::string jobBars(const Evaluation &evaluation, Nanoseconds axis);
/// Empty where no curve is known.
[[nodiscard]] std::string hostMemoryCurves(const Evaluation &evaluation, Nanoseconds axis);

} // namespace trainyard
