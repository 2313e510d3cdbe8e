#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One line a source and metric: how many figures, how far off, and what the gates demand of them. Rows with an assumed
// input have a line of their own. Pure function of a run.

#include "models/validation/validated_rows.h"

namespace trainyard {

/// AimMissed: wished for, not demanded
enum class Verdict : std::uint8_t { None, Met, Missed, AimMissed };

struct SummaryLine {
    std::string source, metric;
    RowStatus status = RowStatus::Gated;
    int sourceIndex = -1;
    ErrorStatistics errors;
    /// without a prediction
    int failed = 0;
    /// "≤ 6 %", "2 of 3 gates met"; empty: none
    QString gate;
    /// one line a gate
    QString gateHint;
    /// the worst of its gates
    Verdict verdict = Verdict::None;
};

[[nodiscard]] std::vector<SummaryLine> summaryLines(const ValidatedRows &rows);

[[nodiscard]] Verdict verdictOf(const GateOutcome &outcome);
/// "mean error", "rank correlation".
[[nodiscard]] QString statisticText(GateStatistic statistic);

} // namespace trainyard
