#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where on a common time axis the GPUs of two plans are busier, place by place: the layer that lies under or over two
// Gantt charts. Places are those of timelineDifference(). Pure function, any thread.

#include "core/evaluation/difference/timeline_difference.h"

namespace trainyard {

struct BusyDifference {
    /// "stage 3", "GPU 2", "Virginia"
    std::string place;
    /// from 0; -1 where places are datacenters
    int stage = -1;
    /// For each column, the share of its time in which the place's compute streams work after, less that before:
    /// -1 to 1, mean over the place's GPUs
    std::vector<double> columns;
};

/// A row a place, each with `columns` equal slices of the window, both ends of which are given. Nothing for an empty
/// window.
[[nodiscard]] std::vector<BusyDifference> busyDifference(
    const Evaluation &before, const Evaluation &after, const TimeWindow &window, std::size_t columns);

} // namespace trainyard
