#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people read them, for widgets: what core/base/number_text.h says of each, so that map, timeline, panels,
// tables and reports agree, and the nouns that go with counts.

#include <QString>

namespace trainyard {

/// "11.8 s", "412 ms", "3.40 µs"
[[nodiscard]] QString formatSeconds(double seconds);
/// "71.2 GB" (10^9)
[[nodiscard]] QString formatBytes(double bytes);
/// "84.9 GB is 79.1 GiB: 1 GB is 10⁹ bytes, 1 GiB, by which GPUs are named, 2³⁰." Said once, where memory stands
/// biggest.
[[nodiscard]] QString explainBytes(double bytes);
/// "41.2k", "1.50T"
[[nodiscard]] QString formatCount(double count);
/// "1 GPU", "4,182 GPUs": a whole number and the noun that goes with it, both already in the reader's words.
[[nodiscard]] QString countOf(qint64 count, const QString &one, const QString &many);
/// "1 GPU", "1,024 GPUs"
[[nodiscard]] QString gpusText(qint64 gpus);
/// 0.431 -> "43.1 %", 0.000412 -> "0.0412 %"
[[nodiscard]] QString formatPercent(double share);
/// "$0.92", "$1.20M", "−$5.00"
[[nodiscard]] QString formatUsd(double usd);
/// "40 Gbps", "3.10 Gbps"
[[nodiscard]] QString formatGbps(double gbps);
/// "−4.5 %" of a change from `before` to `after`; empty where before is 0.
[[nodiscard]] QString formatChange(double before, double after);

} // namespace trainyard
