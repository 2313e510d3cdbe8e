#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline as a table, one line a span, for spreadsheets and data frames. Times are whole nanoseconds from the
// start of the iteration; micro_batch is empty where a span has none. Of a plan with jobs a line names its job, its GPU
// and the bytes that it moved; a mini-batch is the first of those that the span stands for.

#include "core/evaluation/evaluate/evaluation.h"

#include <ostream>

namespace trainyard {

void writeTimelineCsv(const Evaluation &evaluation, std::ostream &out);

} // namespace trainyard
