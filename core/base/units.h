#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Strong types for the quantities of the cost formulas. A sum of seconds and bytes does not compile; bytes over a rate
// is seconds. Plan fields stay plain numbers whose unit is in the name, as in the file.
//
//   const Seconds t = Bytes{2e9} / gbytesPerSecond(25);   // 0.08 s
//   const Nanoseconds ticks = toNanoseconds(t);           // timelines count in int64 nanoseconds

#include <cmath>
#include <compare>
#include <cstdint>

namespace trainyard {

template <class Tag> struct Quantity {
    double value = 0;

    constexpr Quantity() = default;
    constexpr explicit Quantity(double v)
        : value(v)
    {
    }
    constexpr auto operator<=>(const Quantity &) const = default;
    constexpr Quantity &operator+=(Quantity o)
    {
        value += o.value;
        return *this;
    }
    constexpr Quantity &operator-=(Quantity o)
    {
        value -= o.value;
        return *this;
    }
    constexpr Quantity &operator*=(double f)
    {
        value *= f;
        return *this;
    }
    friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity { a.value + b.value }; }
    friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity { a.value - b.value }; }
    friend constexpr Quantity operator*(Quantity a, double f) { return Quantity { a.value * f }; }
    friend constexpr Quantity operator*(double f, Quantity a) { return Quantity { a.value * f }; }
    friend constexpr Quantity operator/(Quantity a, double f) { return Quantity { a.value / f }; }
    friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
};

using Seconds = Quantity<struct SecondsTag>;
using Bytes = Quantity<struct BytesTag>;
/// a count of floating-point operations, not a rate
using Flops = Quantity<struct FlopsTag>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag>;
using Usd = Quantity<struct UsdTag>;
/// timeline ticks; ranges are half-open
using Nanoseconds = std::int64_t;

constexpr Seconds operator/(Bytes b, BytesPerSecond r)
{
    return Seconds { b.value / r.value };
}
constexpr Seconds operator/(Flops f, FlopsPerSecond r)
{
    return Seconds { f.value / r.value };
}
constexpr Bytes operator*(BytesPerSecond r, Seconds t)
{
    return Bytes { r.value * t.value };
}

constexpr BytesPerSecond gbytesPerSecond(double gb)
{
    return BytesPerSecond { gb * 1e9 };
}
constexpr BytesPerSecond gbitsPerSecond(double gbit)
{
    return BytesPerSecond { gbit * 1e9 / 8 };
}
constexpr Seconds milliseconds(double ms)
{
    return Seconds { ms * 1e-3 };
}
constexpr Seconds microseconds(double us)
{
    return Seconds { us * 1e-6 };
}
constexpr Bytes megabytes(double mb)
{
    return Bytes { mb * 1e6 };
}

inline constexpr double kBytesPerMiB = 1024.0 * 1024, kBytesPerGiB = 1024 * kBytesPerMiB;
inline constexpr Nanoseconds kNanosecondsPerSecond = 1'000'000'000;

/// Work in a row that a timeline holds, 31 years: a tenth of what the ticks reach, so that sums of a few times that
/// each stopped there stay in range.
inline constexpr Nanoseconds kLongestTime = 1'000'000'000'000'000'000;

/// Rounded; times beyond kLongestTime stop there, and so does what is no number.
inline Nanoseconds toNanoseconds(Seconds t)
{
    const double ticks = t.value * 1e9;
    constexpr auto kEnd = static_cast<double>(kLongestTime);
    return ticks < kEnd ? ticks > -kEnd ? static_cast<Nanoseconds>(std::llround(ticks)) : -kLongestTime : kLongestTime;
}
/// Rounded to whole bytes; beyond 10^17, more than any machine has, they stop, so that their sums stay in range.
inline std::int64_t wholeBytes(double bytes)
{
    constexpr double kEnd = 1e17;
    return bytes < kEnd ? bytes > -kEnd ? std::llround(bytes) : static_cast<std::int64_t>(-kEnd)
                        : static_cast<std::int64_t>(kEnd);
}
constexpr Seconds toSeconds(Nanoseconds ns)
{
    return Seconds { static_cast<double>(ns) * 1e-9 };
}

} // namespace trainyard
