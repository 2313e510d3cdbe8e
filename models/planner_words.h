#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the planner's page says, as pure functions of plans, rows and progress: objectives, states, how far it is, what
// a candidate changes, which constraint binds. And the front of the rows. Any thread.

#include "core/plan/plan.h"
#include "models/plan_search.h"

#include <QString>
#include <QStringList>

namespace trainyard {

[[nodiscard]] QString nameOf(Objective objective); // "Throughput"
[[nodiscard]] QString meaningOf(Objective objective); // "most tokens per second"
[[nodiscard]] QString nameOf(RowState state); // "out of constraints"

/// "412,000 looked at of 1.2M · 3,100 simulated · 41.2k a second".
[[nodiscard]] QString progressText(const PlanSearch::Progress &progress);

/// Share of the objective's value that `after` saves over `before`: 0.03 is 3 %; nullopt where one is not known.
[[nodiscard]] std::optional<double> gainOf(const SearchRow &before, const SearchRow &after);
/// "8.2 % faster" … "3.1 % more expensive", by the objective.
[[nodiscard]] QString gainText(Objective objective, double gain);

/// "12.4 s per iteration · $0.92 per million tokens · 512 GPUs · fullest 91 %"; of a row that was not simulated the
/// least that it may take.
[[nodiscard]] QString figuresText(const SearchRow &row);
/// Differences between two plans, a sentence each; "and 3 more" where there are more than `most`.
[[nodiscard]] QStringList differencesText(const Plan &before, const Plan &after, int most);

/// The constraint without which a better plan was seen: "Binding: a plan that is 6.1 % faster was left out: it costs
/// $540 an hour, more than $500." Empty where none is known to bind.
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

/// Rows that no other feasible one beats in both price and time, cheapest first.
[[nodiscard]] std::vector<std::size_t> paretoFront(const std::vector<SearchRow> &rows);

} // namespace trainyard
