// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/number_text.h"

#include <cmath>
#include <cstdio>
#include <initializer_list>

namespace trainyard {

namespace {

struct Unit {
    double factor;
    const char *name;
};

std::string fixed(double value, int decimals)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", decimals, std::abs(value));
    return (value < 0 ? std::string("\u2212") : std::string()) + text;
}

std::string scaled(double value, std::initializer_list<Unit> units)
{
    if (!std::isfinite(value))
        return "\u2013";
    const Unit *chosen = units.begin();
    while (chosen + 1 != units.end() && std::abs(value) < chosen->factor * 0.9995)
        ++chosen;
    return plainText(value / chosen->factor) + chosen->name;
}

} // namespace

std::string plainText(double value)
{
    if (!std::isfinite(value))
        return "\u2013";
    if (value == 0)
        return "0";
    const double magnitude = std::abs(value);
    if (magnitude < 0.1) {
        char text[64];
        std::snprintf(text, sizeof text, "%.3g", magnitude);
        return (value < 0 ? std::string("\u2212") : std::string()) + text;
    }
    return fixed(value, magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2);
}

std::string secondsText(double seconds)
{
    if (seconds == 0)
        return "0 s";
    return scaled(seconds, { { 1, " s" }, { 1e-3, " ms" }, { 1e-6, " \u00b5s" }, { 1e-9, " ns" } });
}

std::string bytesText(double bytes)
{
    return scaled(
        bytes, { { 1e15, " PB" }, { 1e12, " TB" }, { 1e9, " GB" }, { 1e6, " MB" }, { 1e3, " kB" }, { 1, " B" } });
}

std::string countText(double count)
{
    return scaled(count, { { 1e12, "T" }, { 1e9, "B" }, { 1e6, "M" }, { 1e3, "k" }, { 1, "" } });
}

std::string wholeText(double count)
{
    if (!std::isfinite(count))
        return "\u2013";
    std::string text = fixed(count, 0);
    const std::size_t digitsBegin = count < 0 ? 3 : 0; // the minus sign has three bytes
    for (std::size_t i = text.size(); i > digitsBegin + 3;) {
        i -= 3;
        text.insert(i, ",");
    }
    return text;
}

std::string percentText(double share)
{
    constexpr double kRounding = 1e-9; // what is left of shares that add up to 1
    return (std::abs(share) < kRounding ? "0" : plainText(share * 100)) + " %";
}

std::string usdText(double usd)
{
    if (!std::isfinite(usd))
        return "\u2013";
    const std::string amount = std::abs(usd) < 1e4
        ? plainText(std::abs(usd))
        : scaled(std::abs(usd), { { 1e9, "B" }, { 1e6, "M" }, { 1e3, "k" } });
    return (usd < 0 ? "\u2212$" : "$") + amount;
}

std::string gbpsText(double gbps)
{
    return (gbps == std::round(gbps) && std::isfinite(gbps) ? fixed(gbps, 0) : plainText(gbps)) + " Gbps";
}

DurationUnit durationUnit(double seconds)
{
    constexpr double kMinute = 60, kHour = 3600, kDay = 86400;
    if (!(seconds >= 10 * kMinute))
        return {};
    return seconds < 2 * kHour ? DurationUnit { kMinute, "min" }
        : seconds < 3 * kDay   ? DurationUnit { kHour, "h" }
                               : DurationUnit { kDay, "days" };
}

std::string durationText(double seconds)
{
    const DurationUnit unit = durationUnit(seconds);
    return unit.seconds > 1 ? plainText(seconds / unit.seconds) + " " + unit.name : secondsText(seconds);
}

std::string yearsText(double years)
{
    constexpr double kMonths = 12, kDays = 365, kLongest = 100;
    if (!std::isfinite(years))
        return "\u2013";
    if (years > kLongest)
        return "over " + fixed(kLongest, 0) + " years";
    if (years >= 1)
        return fixed(years, years < 10 ? 1 : 0) + " years";
    const double months = years * kMonths;
    if (months >= 1)
        return fixed(months, months < 10 ? 1 : 0) + " months";
    return fixed(years * kDays, 1) + " days";
}

std::string changeText(double before, double after)
{
    if (before == 0 || !std::isfinite(before) || !std::isfinite(after))
        return {};
    const double percent = (after - before) / std::abs(before) * 100;
    const double magnitude = std::abs(percent);
    if (magnitude < 0.05)
        return "0 %";
    return (percent < 0 ? "\u2212" : "+") + fixed(magnitude, magnitude < 99.95 ? 1 : 0) + " %";
}

} // namespace trainyard
