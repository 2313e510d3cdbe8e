// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/report/difference_svg.h"

#include "core/evaluation/difference/busy_difference.h"
#include "core/evaluation/report/markup.h"
#include "core/evaluation/report/time_axis_internal.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard {

namespace {

constexpr double kPlace = 24, kBetween = 4; // height of a row, and of the gap below it
constexpr std::size_t kMostPlaces = 64;
constexpr int kHeights = 10; // steps of a bar's height

/// Bars of one sign, as the path of their outlines; neighbours of one height are one bar.
std::string bars(const std::vector<double> &columns, double middle, int sign)
{
    const auto heightAt = [&](std::size_t c) { return std::max(0, int(std::lround(sign * columns[c] * kHeights))); };
    std::string path;
    for (std::size_t c = 0; c < columns.size();) {
        std::size_t end = c + 1;
        while (end < columns.size() && heightAt(end) == heightAt(c))
            ++end;
        if (heightAt(c) > 0) {
            const std::string width = markup::coordinate(double(end - c) * kColumn);
            path += "M" + markup::coordinate(kTrackLabels + double(c) * kColumn) + " " + markup::coordinate(middle)
                + "h" + width + "v" + markup::coordinate(-sign * kPlace / 2 * heightAt(c) / kHeights) + "h-" + width
                + "z";
        }
        c = end;
    }
    return path;
}

} // namespace

std::string differenceSvg(const Evaluation &before, const Evaluation &after, const TimeWindow &window)
{
    const std::vector<BusyDifference> rows = busyDifference(before, after, window, std::size_t(kTrackPlot / kColumn));
    if (rows.empty())
        return {};
    const std::size_t shown = std::min(rows.size(), kMostPlaces);
    double height = kAxis;
    std::string svg, more, less;
    for (std::size_t r = 0; r < shown; ++r) {
        const double middle = height + kPlace / 2;
        svg += markup::rect(kTrackLabels, height, kTrackPlot, kPlace, "track");
        svg += markup::text(kTrackLabels - 8, middle + 4, "faint end", rows[r].place);
        more += bars(rows[r].columns, middle, 1);
        less += bars(rows[r].columns, middle, -1);
        height += kPlace + kBetween;
    }
    if (rows.size() > shown) {
        svg += markup::text(0, height + 14, "faint", std::to_string(rows.size() - shown) + " more rows are not drawn");
        height += 18;
    }
    if (!more.empty())
        svg += "<path class=\"more\" d=\"" + more + "\"/>";
    if (!less.empty())
        svg += "<path class=\"less\" d=\"" + less + "\"/>";
    return "<svg viewBox=\"0 0 " + markup::coordinate(markup::kSvgWidth) + " " + markup::coordinate(height)
        + "\" role=\"img\" aria-label=\"Where the two timelines differ\">"
        + timeAxis(window, height, before.metrics.jobs.has_value() || after.metrics.jobs.has_value()) + svg + "</svg>";
}

} // namespace trainyard
