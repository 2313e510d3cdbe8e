#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Who stores how much of the states once the batch is shared out: r of each rank. Pure functions.
// docs/model.md, "Mixed GPUs".

#include "core/base/error.h"
#include "core/systems/unequal_gpus/share_problem.h"

namespace trainyard {

/// Writes the state share of each rank by the problem's rule, and the bytes used of all. Pinned shares stay; the others
/// divide what is left. With S bytes of states and C_i of compute:
///   MinParams: r_i · S = min(room_i − C_i, λ), the one λ for which they add up: ranks with less room than an even
///   share
///     get exactly their room, the deficit goes to the others so that their largest is least (released rule; ours
///     without its rounding to whole parameters).
///   MinUtilization: even while max (buffers + C_i + S / N) / capacity_i < 0.5; else buffers + C_i + r_i · S =
///     λ · capacity_i, from 0 to the room (released rule, which forgets the room).
///   MinParamsReleased: MinParams with C_i(l_i), not C_i(m_i), as the released code calls it.
/// An error says how much does not fit.
[[nodiscard]] Expected<void> fillStates(const ShareProblem &problem, Shares &shares);

} // namespace trainyard
