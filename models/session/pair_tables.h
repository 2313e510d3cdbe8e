#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Tables of two plans beside each other. Pure.

#include "core/evaluation/report/metric_rows.h"
#include "models/session/pair_comparison.h"
#include "models/validation/text_table_model.h"

namespace trainyard {

/// All that is compared: metrics, and where the seconds of the iteration go.
[[nodiscard]] std::vector<MetricRow> numberRows(const Evaluation &evaluation, bool withJobs);
/// Whether the second is better than the first, where either can be.
[[nodiscard]] Tone toneOfNumbers(const MetricRow &before, const MetricRow &after);
/// Every number that both have, and where the seconds of the iteration go; differences where they may be set against
/// each other. Of a pair that is evaluated.
[[nodiscard]] TextRows numbersOf(const ComparedPair &pair, const QString &before, const QString &after);
/// "20.7 s → 15.2 s an iteration (−26.5 %)", or why they are not compared.
[[nodiscard]] QString verdictOf(const ComparedPair &pair);

} // namespace trainyard
