#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The timeline as an inline SVG picture of bounded size: few spans become one rectangle each with a tooltip, many are
// merged pixel column by pixel column, the colour being the kind that covers most of it.

#include "core/evaluate/evaluation.h"

#include <string>

namespace trainyard {

/// `axis` is the time at the right edge, so that several charts can share a scale; at least timeline.duration.
[[nodiscard]] std::string ganttSvg(const Evaluation &evaluation, Nanoseconds axis);

} // namespace trainyard
