#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Axes of clusters whose GPUs are of several kinds: which kinds are used and which of them come first, and tensor
// groups of another size for some of them. Pure functions; axes as any other.

#include "core/planner/space/space.h"

namespace trainyard {

/// The axis of the kinds of GPUs, which is no key of its own.
inline constexpr const char *kKindsAxis = "kinds";

/// "kinds": all kinds in each order that pools of a datacenter can have (stages fill pools one after the other), and
/// each smaller set of them; GPUs of the others are not there. Of more than three kinds each alone, and all but each.
/// "kind_tensor": the tensor degree of a kind as a multiple of the plan's, by pins of `heterogeneity.assign`; its
/// pipelines then lie whole on one kind inside a datacenter. Empty where all GPUs are of one kind.
/// "kinds" has to be set before what counts GPUs, "kind_tensor" after the tensor degree.
[[nodiscard]] std::vector<Axis> poolAxes(const Plan &plan, const Catalogue &catalogue);

} // namespace trainyard
