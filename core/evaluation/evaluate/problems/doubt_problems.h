#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What was not understood of the source of a model (core/facts/workload/doubt.h) as problems of the plan itself, and
// what it adds to the range of its time. Pure functions of values.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/evidence.h"

namespace trainyard {

/// One a doubt of a model, and one a blocking doubt of the plan's sources, at the key of the plan that names the model:
/// blocking where the value itself is in doubt, else a warning that says how far off the time may be and that the plan
/// is not ranked, searched or compared.
[[nodiscard]] std::vector<Problem> doubtProblems(const Doubts &doubts, const std::string &where = "workload.model");

/// What was not understood of the sources of the plan (Plan::notUnderstood) without blocking it, all in one warning
/// with the fix that leaves them out; none where all was.
[[nodiscard]] std::optional<Problem> sourcesProblem(const Doubts &doubts, const Plan &plan);

/// A range relative to the predicted time, with what each doubt may add on either side: their factors multiply.
[[nodiscard]] TimeRange widenedBy(const Doubts &doubts, TimeRange range);

} // namespace trainyard
