// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/difference/timeline_difference.h"

#include "core/evaluation/difference/gpu_time_internal.h"
#include "core/evaluation/difference/shape.h"
#include "core/evaluation/difference/span_match_internal.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <tuple>

namespace trainyard {

const char *toString(SpanChange change)
{
    switch (change) {
    case SpanChange::Came:
        return "came";
    case SpanChange::Went:
        return "went";
    case SpanChange::Longer:
        return "longer";
    case SpanChange::Shorter:
        return "shorter";
    case SpanChange::Shifted:
        return "shifted";
    }
    return "";
}

bool TimelineDifference::isEmpty() const
{
    return areMatched() && spans.empty()
        && std::ranges::all_of(gpuTime, [](const GpuTimeDifference &row) { return row.difference() == 0; });
}

TimelineDifference timelineDifference(const Evaluation &before, const Evaluation &after, const TimeWindow &window)
{
    TimelineDifference found;
    found.durationBefore = before.timeline.duration;
    found.durationAfter = after.timeline.duration;
    const ShapeDifference shape = shapeDifference(before, after);
    const std::vector<difference::Lane> from = difference::lanesOf(before.timeline);
    const std::vector<difference::Lane> to = difference::lanesOf(after.timeline);
    found.gpuTime = difference::gpuTimes(before, from, after, to, shape.areStagesOther, window);
    if (shape.what.empty())
        found.spans = difference::matchedSpans(before, from, after, to, window);
    else
        found.whyNotMatched = shape.what + ": spans are not matched, GPU time by "
            + (shape.areStagesOther      ? "datacenter"
                    : after.metrics.jobs ? "GPU"
                                         : "stage")
            + " and kind of work is compared";
    return found;
}

std::vector<KindDifference> gpuTimeByKind(const TimelineDifference &difference)
{
    std::array<KindDifference, kWorkKindCount> kinds;
    std::array<bool, kWorkKindCount> isThere {};
    for (const GpuTimeDifference &row : difference.gpuTime) {
        KindDifference &kind = kinds[std::size_t(row.kind)];
        kind.kind = row.kind;
        kind.before = difference::stoppedSum(kind.before, row.before);
        kind.after = difference::stoppedSum(kind.after, row.after);
        isThere[std::size_t(row.kind)] = true;
    }
    std::vector<KindDifference> found;
    for (std::size_t k = 0; k < kinds.size(); ++k)
        if (isThere[k])
            found.push_back(kinds[k]);
    return found;
}

std::array<std::int64_t, kSpanChangeCount> countsByChange(const TimelineDifference &difference)
{
    std::array<std::int64_t, kSpanChangeCount> counts {};
    for (const SpanDifference &span : difference.spans)
        counts[std::size_t(span.change())] += span.replicas;
    return counts;
}

std::vector<std::size_t> largestSpans(const TimelineDifference &difference, std::size_t most)
{
    const auto size = [&](std::size_t i) {
        const SpanDifference &span = difference.spans[i];
        // As a floating-point number: the product may be beyond the largest whole one.
        return std::tuple(-std::abs(double(span.longer)) * span.replicas, -std::abs(span.shift), i);
    };
    std::vector<std::size_t> order(difference.spans.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const std::size_t count = std::min(most, order.size());
    std::ranges::partial_sort(order, order.begin() + std::ptrdiff_t(count), {}, size);
    order.resize(count);
    return order;
}

std::vector<GpuTimeDifference> largestGpuTimes(const TimelineDifference &difference, std::size_t most)
{
    std::vector<GpuTimeDifference> rows;
    for (const GpuTimeDifference &row : difference.gpuTime)
        if (row.difference() != 0)
            rows.push_back(row);
    std::ranges::stable_sort(rows, {}, [](const GpuTimeDifference &row) { return -std::abs(row.difference()); });
    rows.resize(std::min(most, rows.size()));
    return rows;
}

} // namespace trainyard
