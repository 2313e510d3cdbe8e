#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The memory ladder for people at a terminal and for programs: the steps that make a plan fit, and what its headroom is
// good for.

#include "core/evaluation/memory_fit/fit.h"
#include "core/evaluation/memory_fit/headroom_uses.h"

#include <string>

namespace trainyard {

[[nodiscard]] std::string fittingTable(const Fitting &fitting, const HeadroomUses &purchases);
[[nodiscard]] std::string fittingJson(const Fitting &fitting, const HeadroomUses &purchases);

} // namespace trainyard
