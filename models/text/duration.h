#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How long something takes that may take days, as people read and write it. Pure functions.

#include <QString>

#include <optional>

namespace trainyard {

/// "41.2 s", "12.5 min", "5.40 h", "3.10 days": below ten minutes seconds, as elsewhere.
[[nodiscard]] QString formatDuration(double seconds);
/// Of "90", "90 s", "1.5 min", "2 h", "3 days" the seconds; nullopt where it is none of these or not above 0.
[[nodiscard]] std::optional<double> durationOf(const QString &text);

} // namespace trainyard
