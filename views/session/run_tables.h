#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of a plan and a run, or of two runs, beside each other: a dash stands for what a side does not tell. Pure.

#include "models/session/run_comparison.h"
#include "models/validation/text_table_model.h"

namespace trainyard {

/// The numbers of both, with differences where they may be set against each other.
[[nodiscard]] TextRows numberRows(const ComparedRuns &pair);
/// GPU time: of all places by kind, then of each place, the largest difference first.
[[nodiscard]] TextRows gpuTimeRows(const ComparedRuns &pair);
/// What became of the kernels of the first run in the second; why there is nothing.
[[nodiscard]] TextRows kernelChangeRows(const ComparedRuns &pair);
[[nodiscard]] TextRows noteRows(const ComparedRuns &pair);
/// "1.20 s → 1.32 s a step (+10.0 %)", or why they are not compared.
[[nodiscard]] QString verdictOf(const ComparedRuns &pair);

} // namespace trainyard
