#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the page of schedulers says: sentences, lines of its bars, its table. Pure functions of a comparison.

#include "models/job_study.h"
#include "views/jobs/variant_bars.h"

#include <QString>

namespace trainyard {

/// Of the plan's own scheduler: how long, how far above the bound, and how much faster than one job at a time and than
/// a pipeline, beside what is possible at best.
[[nodiscard]] QString resultSentence(const JobComparison &comparison);
/// "12 jobs on 8 GPUs · no schedule takes less than 18.0 s".
[[nodiscard]] QString overviewOf(const JobComparison &comparison);
/// "÷ 1.58" faster or "× 1.58" longer than the plan's own; empty for itself and where one is not
/// known or runs other jobs.
[[nodiscard]] QString againstOwn(const JobComparison &comparison, const JobVariant &variant);
/// Spilling, SHARP, double buffers: time, each with its factor over the step before it.
[[nodiscard]] std::vector<VariantBar> ablationBars(const JobComparison &comparison);
/// Speed-up over one GPU beside min(G, n) at best.
[[nodiscard]] std::vector<VariantBar> scalingBars(const JobComparison &comparison);
/// What one GPU more in each place buys.
[[nodiscard]] std::vector<VariantBar> oneMoreBars(const JobComparison &comparison);
/// part, variant, makespan_s, bound_s, gpu_utilization, note: all that the page shows.
[[nodiscard]] QString comparisonTable(const JobComparison &comparison, QChar separator);

} // namespace trainyard
