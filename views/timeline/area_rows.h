#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What is drawn in a selected area, as the rows of a table: each kind of work by how often, how long and how much of
// the area. Behind the front track of a row only what shows in its gaps counts, and what a filter fades is summed
// apart, so
//
//   time of the kinds + idle + not shown = lines × length of the interval.
//
// Pure functions.

#include "core/engine/timeline/analysis.h"
#include "views/timeline/span_filter.h"
#include "views/timeline/time_axis.h"

#include <QString>

#include <vector>

namespace trainyard {

struct MeasuredLanes;
struct TrackLayout;

/// One line of what is drawn: tracks in front of one another, the first covers the others.
struct AreaLine {
    std::vector<std::uint32_t> tracks;
    bool operator==(const AreaLine &) const = default;
};

struct AreaRow {
    QString name;
    KindTotal total;
    /// of the selected time on the selected lines
    double share = 0;
};

/// Lines of rows [first, last] of a layout: one each, but every stage of a folded datacenter; a pinned row and its twin
/// below are one. Rows that the layout lacks are left out.
[[nodiscard]] std::vector<AreaLine> areaLines(const TrackLayout &layout, int first, int last);
/// Kinds that occur, by time spent, longest first, then the idle time of stages and of channels, then what the filter
/// fades.
[[nodiscard]] std::vector<AreaRow> areaRows(
    const Timeline &timeline, TimeInterval range, const std::vector<AreaLine> &lines, const SpanFilter &filter = {});
/// The same of what was measured in rows [first, last] of a layout: work by time spent, then idle time; "run: compute".
/// Shares are of the selected time on `lines` lines. Rows that nobody recorded count for nothing.
[[nodiscard]] std::vector<AreaRow> measuredAreaRows(const MeasuredLanes &measured, TimeInterval range,
    const TrackLayout &layout, int first, int last, std::size_t lines);
/// Header and rows, tab-separated, seconds as plain numbers.
[[nodiscard]] QString toTsv(const std::vector<AreaRow> &rows);

} // namespace trainyard
