#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the model has to reach on published rows (resources/validation/gates.json), and whether it does. The command
// line, the page, the window and the tests all read this one list. Values.

#include "core/evaluation/validation/statistics.h"

namespace trainyard {

enum class GateStatistic : std::uint8_t { MeanAbsError, MedianAbsError, MaxAbsError, RankCorrelation };

struct Gate {
    std::string title; // "Korthikanti, Table 5"
    std::string source;
    std::string group = "*"; // groups of the source; * stands for any text
    std::string metric; // metrics, likewise: "memory.*peak_bytes"
    GateStatistic statistic = GateStatistic::MeanAbsError;
    RowStatus status = RowStatus::Gated; // rows that count
    std::optional<RowRole> role; // of these; empty: both
    double limit = 0; // at most; of a rank correlation at least
    bool isAim = false; // wished for, not demanded
};

struct GateOutcome {
    Gate gate;
    int n = 0; // rows that count
    int failed = 0; // of these, rows without a prediction: a gate with such rows is not met
    std::optional<double> reached; // empty where no row counts
    bool isMet = false;
};

[[nodiscard]] ExpectedAll<std::vector<Gate>> parseGates(std::string_view json, const std::string &fileName);
[[nodiscard]] const std::vector<Gate> &builtinGates();

/// Gates whose source is among the results, in their order.
[[nodiscard]] std::vector<GateOutcome> gateOutcomes(
    std::span<const Gate> gates, std::span<const ValidationResult> results);

[[nodiscard]] const char *toString(GateStatistic statistic); // "mean_abs_error"

} // namespace trainyard
