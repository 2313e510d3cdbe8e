#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Several evaluations side by side, differences against the first: what `trainyard-cli compare` prints.

#include "core/evaluation/report/explanation.h"

#include <string>
#include <vector>

namespace trainyard {

struct NamedEvaluation {
    /// as the reader knows it: the plan's name, or its file
    std::string name;
    /// file, "-" for standard input
    std::string source;
    EvaluationPtr evaluation;
    /// what better parts would buy (useful_parts.h); empty: nothing, or nobody asked
    std::vector<PartEffect> parts = {};
    /// The name over a column; of a plan that cannot run it says so.
    [[nodiscard]] std::string heading() const { return evaluation->feasible() ? name : name + " (not feasible)"; }
};

/// Whether one of them trains jobs, so that rows of jobs are shown.
[[nodiscard]] bool haveJobs(const std::vector<NamedEvaluation> &plans);

[[nodiscard]] std::string comparisonTable(const std::vector<NamedEvaluation> &plans);
/// {"plans": [{"name", "source", "differences": [sentences], "metrics": {...}, "change": {"iteration_time_s": -0.05,
/// ...}}]}; `change` is relative to the first plan, null where either has no value, or a model that was not
/// understood whole.
[[nodiscard]] std::string comparisonJson(const std::vector<NamedEvaluation> &plans);
/// One line a plan; a column a metric, named by its key. Empty where a metric does not apply.
[[nodiscard]] std::string comparisonCsv(const std::vector<NamedEvaluation> &plans);

} // namespace trainyard
