#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the model has to reach on published rows (resources/validation/gates.json), and whether it does. The command
// line, the page, the window and the tests all read this one list. Values.

#include "core/evaluation/validation/statistics.h"

namespace trainyard {

enum class GateStatistic : std::uint8_t { MeanAbsError, MedianAbsError, MaxAbsError, RankCorrelation };

struct Gate {
    /// "Korthikanti, Table 5"
    std::string title;
    std::string source;
    /// groups of the source; * stands for any text
    std::string group = "*";
    /// metrics, likewise: "memory.*peak_bytes"
    std::string metric;
    GateStatistic statistic = GateStatistic::MeanAbsError;
    /// rows that count
    RowStatus status = RowStatus::Gated;
    /// of these; empty: both
    std::optional<RowRole> role;
    /// at most; of a rank correlation at least
    double limit = 0;
    /// wished for, not demanded
    bool isAim = false;
};

struct GateOutcome {
    Gate gate;
    /// rows that count
    int n = 0;
    /// of these, rows without a prediction: a gate with such rows is not met
    int failed = 0;
    /// empty where no row counts
    std::optional<double> reached;
    bool isMet = false;
};

[[nodiscard]] ExpectedAll<std::vector<Gate>> parseGates(std::string_view json, const std::string &fileName);
[[nodiscard]] const std::vector<Gate> &builtinGates();

/// Gates whose source is among the results, in their order.
[[nodiscard]] std::vector<GateOutcome> gateOutcomes(
    std::span<const Gate> gates, std::span<const ValidationResult> results);

/// "mean_abs_error"
[[nodiscard]] const char *toString(GateStatistic statistic);

} // namespace trainyard
