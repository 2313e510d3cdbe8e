#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the robust fits of this folder share: how far a sample may lie from the others, and how they say that there is
// nothing to fit. For the .cpp files of this folder.

#include "core/base/error.h"

#include <string>
#include <utility>

namespace trainyard {

/// Tukey's biweight: 4.685 scales keep 95 % of least squares' efficiency where errors are normal (Huber, Robust
/// Statistics, 1981); what lies farther is left out.
inline constexpr double kTukey = 4.685;
/// Turns a median absolute deviation into a standard deviation, of normal errors.
inline constexpr double kNormal = 1.4826;

[[nodiscard]] inline std::unexpected<Error> unusable(std::string what, std::string right)
{
    return std::unexpected(Error { ErrorCode::OutOfRange, "fit", std::move(what), std::move(right) });
}

} // namespace trainyard
