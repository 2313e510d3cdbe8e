// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/difference/busy_difference.h"

#include "core/evaluation/difference/places_internal.h"
#include "core/evaluation/difference/shape.h"

#include <algorithm>
#include <map>

namespace trainyard {

namespace {

using namespace difference;

/// GPU time of a place by column, and the GPUs that it is of.
struct BusyPlace {
    Place place;
    std::array<std::vector<double>, 2> time;
    std::array<double, 2> gpus {};
};

/// Adds the time of each span times `gpus` to the columns that it lies in.
void addSpans(
    std::vector<double> &columns, const Timeline &timeline, const Lane &lane, const TimeWindow &window, double gpus)
{
    const double width = double(window.to - window.from) / double(columns.size());
    for (const std::uint32_t span : lane.spans) {
        const double start = double(std::max(timeline.start[span], window.from) - window.from);
        const double end = double(std::min(timeline.end[span], window.to) - window.from);
        if (end <= start)
            continue;
        for (auto c = std::size_t(start / width); c < columns.size() && double(c) * width < end; ++c)
            columns[c] +=
                gpus * std::max(0.0, std::min(end, double(c + 1) * width) - std::max(start, double(c) * width));
    }
}

} // namespace

std::vector<BusyDifference> busyDifference(
    const Evaluation &before, const Evaluation &after, const TimeWindow &window, std::size_t columns)
{
    if (window.to <= window.from || columns == 0)
        return {};
    Places places(shapeDifference(before, after).areStagesOther);
    std::map<int, BusyPlace> byOrder;
    for (const std::size_t side : { 0, 1 }) {
        const Evaluation &evaluation = side == 0 ? before : after;
        for (const Lane &lane : lanesOf(evaluation.timeline)) {
            if (lane.stream != Stream::Compute)
                continue;
            const Place place = places.of(evaluation, lane);
            const auto [at, isNew] = byOrder.try_emplace(place.order);
            BusyPlace &busy = at->second;
            if (isNew)
                busy = { place, { std::vector<double>(columns), std::vector<double>(columns) }, {} };
            const auto gpus = double(gpusOf(evaluation, lane));
            busy.gpus[side] += gpus;
            addSpans(busy.time[side], evaluation.timeline, lane, window, gpus);
        }
    }
    const double width = double(window.to - window.from) / double(columns);
    std::vector<BusyDifference> found;
    for (const auto &[order, busy] : byOrder) {
        BusyDifference &row = found.emplace_back(busy.place.name, busy.place.stage, std::vector<double>(columns));
        for (std::size_t c = 0; c < columns; ++c)
            for (const std::size_t side : { 0, 1 })
                if (busy.gpus[side] > 0)
                    row.columns[c] += (side == 0 ? -1 : 1) * busy.time[side][c] / (busy.gpus[side] * width);
    }
    return found;
}

} // namespace trainyard
