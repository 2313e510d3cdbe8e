#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The order of a plan's schedule as its software stack runs it.

#include "core/engine/schedule/program.h"
#include "core/iteration/placement/resolve.h"

namespace trainyard {

/// `times`: for schedules that decide by them. Errors: as makeProgram().
[[nodiscard]] Expected<Program> programOf(
    const Workload &workload, const ScheduleShape &shape, const ScheduleTimes &times = {});

} // namespace trainyard
