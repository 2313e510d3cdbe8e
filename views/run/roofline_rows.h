#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The roofline of a run in words: its table, what a mark says, why there is none. Pure.

#include "core/runs/profile/roofline.h"
#include "models/validation/text_table_model.h"

namespace trainyard {

/// "Product", "Attention", "Elementwise"
[[nodiscard]] QString kindText(OperationKind kind);
/// A line a row, in their order.
[[nodiscard]] TextRows rooflineRows(const Roofline &roofline);
/// Rich text: operator, shape, calls, time, rates, share of the roof, what the model predicts.
[[nodiscard]] QString rooflineTip(const Roofline &roofline, const RooflineRow &row);
/// What was counted and whose roof it is; without rows why there are none, and how to record them.
[[nodiscard]] QString rooflineSummary(const Roofline &roofline);

} // namespace trainyard
