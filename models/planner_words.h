#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the planner's page says, as pure functions of plans, rows and progress: objectives, states, how far it is, what
// a candidate changes, which constraint binds. And the front of the rows. Any thread.

#include "core/facts/plan/plan.h"
#include "models/plan_search.h"

#include <QString>
#include <QStringList>

namespace trainyard {

/// "Throughput"
[[nodiscard]] QString nameOf(Objective objective);
/// "most tokens per second"
[[nodiscard]] QString meaningOf(Objective objective);
/// "out of constraints"
[[nodiscard]] QString nameOf(RowState state);

/// "5,624 of 5,624 combinations scored · 3,100 simulated · 41.2k per second · 3.2 s"; of a space that is too large to
/// be looked at whole "12,400 combinations looked at".
[[nodiscard]] QString progressText(const PlanSearch::Progress &progress);

/// Share of the objective's value that `after` saves over `before`: 0.03 is 3 %; nullopt where one is not known.
[[nodiscard]] std::optional<double> gainOf(const SearchRow &before, const SearchRow &after);
/// "8.2 % faster" … "3.1 % more expensive", by the objective.
[[nodiscard]] QString gainText(Objective objective, double gain);

/// A value of the objective with its unit: "1.2M tok/s", "$0.92 /Mtok".
[[nodiscard]] QString valueText(Objective objective, double value);
/// What the value of a row is, where there are scenarios: "Worst case", "Mean of worlds"; else empty.
[[nodiscard]] QString robustName(const PlanSearch &search);
/// Of a feasible row, where there are scenarios: "Worst with “Ohio lost”: 1.2M tok/s"; else empty.
[[nodiscard]] QString worldText(const PlanSearch &search, const SearchRow &row);

/// "12.4 s per iteration · $0.92 per million tokens · 512 GPUs · fullest 91 %"; of a row that was not simulated the
/// least that it may take.
[[nodiscard]] QString figuresText(const SearchRow &row);
/// Differences between two plans, a sentence each; "and 3 more" where there are more than `most`.
[[nodiscard]] QStringList differencesText(const Plan &before, const Plan &after, int most);

/// The constraint without which a better plan was seen, by the plan's own world: "Binding: a plan that is 6.1 % faster
/// was left out: it costs $540 an hour, more than $500." Empty where none is known to bind.
[[nodiscard]] QString bindingText(const PlanSearch &search);
/// One sentence for the head of the page: what came of the search, or what there is to do.
[[nodiscard]] QString resultText(const PlanSearch &search);
/// Why the result may not be what is wanted any more: the plan, or the settings, have changed. Empty where it is.
[[nodiscard]] QString staleText(const PlanSearch &search);

/// A reason as a sentence of its own, without its stop: "It uses more GPUs than it may".
[[nodiscard]] QString reasonText(const std::string &reason);
/// "412", "41.2k".
[[nodiscard]] QString countText(std::uint64_t number);
/// All rows with their figures, and the value that each has of every axis where the space is known.
[[nodiscard]] QByteArray candidatesCsv(const PlanSearch &search);

/// Rows that are on the front of time against money, cheapest first, also while it searches.
[[nodiscard]] std::vector<std::size_t> frontOf(const PlanSearch &search);

} // namespace trainyard
