#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Moments of a batch as Unix times, where they can be one, and the numbers that steps can have.

#include "core/runs/telemetry/recording.h"

#include <cstdint>
#include <optional>

namespace trainyard::live {

/// number of a step; doubles hold it
inline constexpr std::int64_t kMostStep = std::int64_t(1) << 53;
/// the year 2096
inline constexpr Moment kLatestUnix = 4'000'000'000'000'000'000;

/// Nothing where it is before 1970 or behind that.
[[nodiscard]] inline std::optional<Moment> unixOf(Moment zero, Moment moment)
{
    Moment unix = 0;
    if (__builtin_add_overflow(zero, moment, &unix) || unix < 0 || unix >= kLatestUnix)
        return std::nullopt;
    return unix;
}

/// Whether a sender's moment may be what is newest: not where its clock is more than a day ahead of ours.
[[nodiscard]] inline bool isBelievable(Moment at, Moment received)
{
    constexpr std::int64_t kDay = 86'400'000'000'000;
    return received <= 0 || at < received || at - received < kDay;
}

} // namespace trainyard::live
