#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What was not understood of the source of a model (core/facts/workload/doubt.h) as problems of the plan itself, and
// what it adds to the range of its time. Pure functions of values.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/catalogue/evidence.h"

namespace trainyard {

/// One a doubt, at the key of the plan that names the model: blocking where the value itself is in doubt, else a
/// warning that says how far off the time may be and that the plan is not ranked, searched or compared.
[[nodiscard]] std::vector<Problem> doubtProblems(const Doubts &doubts, const std::string &where = "workload.model");

/// A range relative to the predicted time, with what each doubt may add on either side: their factors multiply.
[[nodiscard]] TimeRange widenedBy(const Doubts &doubts, TimeRange range);

} // namespace trainyard
