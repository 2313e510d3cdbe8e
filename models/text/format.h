#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people read them: three significant digits, SI or binary units by the field's habit, a real minus sign.
// One place, so that map, timeline, panels and report agree.

#include <QString>

namespace trainyard {

[[nodiscard]] QString formatSeconds(double seconds); // "11.8 s", "412 ms", "3.4 µs"
[[nodiscard]] QString formatBytes(double bytes); // "71.2 GB" (10^9)
/// "84.9 GB is 79.1 GiB: 1 GB is 10⁹ bytes, 1 GiB, by which GPUs are named, 2³⁰." Said once, where memory stands
/// biggest.
[[nodiscard]] QString explainBytes(double bytes);
[[nodiscard]] QString formatCount(double count); // "41.2k", "1.5T"
/// "1 GPU", "4,182 GPUs": a whole number and the noun that goes with it, both already in the reader's words.
[[nodiscard]] QString countOf(qint64 count, const QString &one, const QString &many);
[[nodiscard]] QString gpusText(qint64 gpus); // "1 GPU", "1,024 GPUs"
[[nodiscard]] QString formatPercent(double share); // 0.431 -> "43.1 %"
[[nodiscard]] QString formatUsd(double usd); // "$0.92", "$1.2M"
[[nodiscard]] QString formatGbps(double gbps); // "40 Gbps"
/// "−4.5 %" of a change from `before` to `after`; empty where before is 0.
[[nodiscard]] QString formatChange(double before, double after);

} // namespace trainyard
