#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The axis of a space that sets a key of the plan, asked for by the member, so that no mistyped id finds none.

#include "core/facts/plan/key_list.h"
#include "core/planner/space/space.h"

namespace trainyard {

/// axisOf(space, &Parallelism::tensor); -1: no such axis.
template <class Owner, class T> [[nodiscard]] int axisOf(const SearchSpace &space, T Owner::*member)
{
    return space.axis(rowOf(member).axisId());
}

} // namespace trainyard
