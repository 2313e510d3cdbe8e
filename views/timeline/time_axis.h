#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Time and pixels: the arithmetic of the timeline's horizontal axis as free functions, so that chart, ruler, minimap
// and gestures agree and each can be tested without a window. Ranges are half-open, in nanoseconds.

#include "core/base/units.h"

#include <QString>

#include <vector>

namespace trainyard {

struct TimeInterval {
    Nanoseconds begin = 0, end = 0;
    bool operator==(const TimeInterval &) const = default;
    [[nodiscard]] Nanoseconds length() const { return end - begin; }
    [[nodiscard]] bool isEmpty() const { return end <= begin; }
    [[nodiscard]] bool contains(Nanoseconds t) const { return t >= begin && t < end; }
};

/// Deepest zoom: below this a pixel would be finer than the nanosecond that timelines count in.
inline constexpr Nanoseconds kShortestRange = 10'000;

/// Pixel of a time where `range` fills [left, left + width).
[[nodiscard]] double timeToX(Nanoseconds time, TimeInterval range, double left, double width);
[[nodiscard]] Nanoseconds xToTime(double x, TimeInterval range, double left, double width);

/// `range` moved and shortened as little as needed to lie inside `whole` and last at least kShortestRange.
[[nodiscard]] TimeInterval clamped(TimeInterval range, TimeInterval whole);
/// `factor` > 1 zooms in. The anchor keeps its pixel unless the edge of `whole` is in the way.
[[nodiscard]] TimeInterval zoomed(TimeInterval range, double factor, Nanoseconds anchor, TimeInterval whole);
[[nodiscard]] TimeInterval panned(TimeInterval range, Nanoseconds by, TimeInterval whole);
/// The same fraction of `newWhole` that `range` is of `oldWhole`: what stays in view when new numbers arrive.
[[nodiscard]] TimeInterval carriedOver(TimeInterval range, TimeInterval oldWhole, TimeInterval newWhole);

/// Ticks of the ruler, and of the curves below it, are at least as many pixels apart.
inline constexpr double kTickDistance = 76;
/// Distance of ruler ticks: 1, 2 or 5 times a power of ten nanoseconds, at least `minimumPixels` apart.
[[nodiscard]] Nanoseconds tickStep(TimeInterval range, double width, double minimumPixels);
/// Multiples of `step` inside `range`.
[[nodiscard]] std::vector<Nanoseconds> ticks(TimeInterval range, Nanoseconds step);
/// "4.7 s", "470.25 ms": one unit for the whole ruler (that of `largest`), just the decimals that `step` needs.
[[nodiscard]] QString tickLabel(Nanoseconds time, Nanoseconds step, Nanoseconds largest);

} // namespace trainyard
