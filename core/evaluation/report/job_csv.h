#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The jobs of a plan as a table for spreadsheets and data frames: one line a job, columns by the names of the metrics.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>

namespace trainyard {

/// Empty fields where a metric does not apply. Of a plan without jobs the line of names alone.
[[nodiscard]] std::string jobsCsv(const Evaluation &evaluation);

} // namespace trainyard
