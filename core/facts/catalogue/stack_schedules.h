#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Which schedules a training framework has, from resources/catalog/stack_schedules.json: what a search may propose to
// whoever runs it. Evaluations ask nothing of it: any stack may be modelled with any schedule. Read-only, any thread.

#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// By their names in plan files. Empty: all that are modelled, as for a stack that nobody knows.
[[nodiscard]] const std::vector<std::string> &schedulesOf(std::string_view stack);
/// Whether its pipelines can take turns on the WAN, as those of Atlas do: where it has that schedule, or nobody knows
/// it.
[[nodiscard]] bool takesTurnsOnTheWan(std::string_view stack);

} // namespace trainyard
