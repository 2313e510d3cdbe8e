#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people read them: three significant digits, SI units by the field's habit, a real minus sign before all
// else; a dash for what is not finite. Tables, reports, sentences and the window (models/text/format.h) write them so.
// Pure functions, UTF-8.

#include <string>

namespace trainyard {

/// "11.8 s", "412 ms", "3.40 µs"
[[nodiscard]] std::string secondsText(double seconds);
/// "71.2 GB" (10^9), "2.00 PB"
[[nodiscard]] std::string bytesText(double bytes);
/// "41.2k", "1.50T"
[[nodiscard]] std::string countText(double count);
/// "16,384": every digit
[[nodiscard]] std::string wholeText(double count);
/// 0.431 -> "43.1 %", 0.000412 -> "0.0412 %"; what is under 1e-9 comes of rounding: "0 %".
[[nodiscard]] std::string percentText(double share);
/// "$0.92", "$1.20M", "−$5.00"
[[nodiscard]] std::string usdText(double usd);
/// 10^9 bit/s: "40 Gbps" where it is whole, else "3.10 Gbps"
[[nodiscard]] std::string gbpsText(double gbps);
/// "3.2 years", "7.0 months", "20.0 days"
[[nodiscard]] std::string yearsText(double years);
/// three significant digits, no unit
[[nodiscard]] std::string plainText(double value);
/// In which a time is told that may be days.
struct DurationUnit {
    double seconds = 1;
    const char *name = "s";
};
[[nodiscard]] DurationUnit durationUnit(double seconds);
/// "41.2 s", "40.1 min", "5.40 h", "3.10 days": below ten minutes as secondsText().
[[nodiscard]] std::string durationText(double seconds);
/// "−4.5 %" of a change from `before` to `after`; empty where there is nothing to compare with.
[[nodiscard]] std::string changeText(double before, double after);

} // namespace trainyard
