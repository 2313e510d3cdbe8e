#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The metrics of an evaluation as rows that people read: one list that feeds the table, the comparison and the report.
// Keys are those of docs/metrics.md with a dot for each level. A metric that does not apply has no value.

#include "core/evaluation/evaluate/evaluation.h"

#include <string>
#include <vector>

namespace trainyard {

enum class MetricUnit : std::uint8_t {
    Time,
    /// seconds that may be days
    Duration,
    Milliseconds,
    Fraction,
    Size,
    Number,
    Whole,
    TeraflopRate,
    Money,
    Days,
    Energy,
    Mass,
    Ratio,
    Rate,
    Years
};
enum class Better : std::uint8_t { Lower, Higher, Neither };

struct MetricRow {
    /// "memory.peak_bytes"
    std::string key;
    /// "Peak memory"
    std::string label;
    MetricUnit unit = MetricUnit::Number;
    Better better = Better::Neither;
    Metric value;
};

/// Throughput, use, memory, network and money: what a comparison shows. `withJobs`: behind those of jobs, which have
/// values where the plan has some.
[[nodiscard]] std::vector<MetricRow> metricRows(const Evaluation &evaluation, bool withJobs = false);
/// Where the seconds of the iteration go, in the order in which they are drawn; empty where nothing was simulated.
[[nodiscard]] std::vector<MetricRow> breakdownRows(const Evaluation &evaluation);

/// The value with its unit, or a dash.
[[nodiscard]] std::string valueText(const MetricRow &row);

} // namespace trainyard
