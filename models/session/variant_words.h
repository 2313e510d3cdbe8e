#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What cards and chips say of a variant. Pure.

#include "models/edit_history.h"
#include "models/table_roles.h"

#include <QStringList>

namespace trainyard {

/// "32.1 s", "none" where the plan cannot be evaluated, "…" until it is known (null).
[[nodiscard]] QString iterationOf(const PlanFigures *figures);
/// "$0.77 per million tokens"; empty where it is not known
[[nodiscard]] QString priceOf(const PlanFigures *figures);
/// "fullest GPU 61.2 GB", "does not fit: 91.0 GB on the fullest GPU"; empty where it is not known
[[nodiscard]] QString memoryOf(const PlanFigures *figures);
/// Of the time, against another variant: "−12.4 %"; empty where either is unknown or they do not compare.
[[nodiscard]] QString changeAgainst(const PlanFigures *base, const PlanFigures *figures);
[[nodiscard]] Tone toneAgainst(const PlanFigures *base, const PlanFigures *figures);
/// The keys that differ, a sentence each, at most `most`, then "and 3 more".
[[nodiscard]] QStringList differencesInWords(const Plan &base, const Plan &plan, int most);

} // namespace trainyard
