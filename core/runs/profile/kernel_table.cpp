// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/profile/kernel_table.h"

#include "core/runs/profile/gpu_work.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>

namespace trainyard {

namespace {

struct Sum {
    std::array<std::int64_t, kWorkKinds> countOf {}; // one name may be told as several kinds
    std::int64_t count = 0, least = 0, most = 0;
    double total = 0;
};

/// Numbers of name and shape in one word.
using Key = std::uint64_t;

Key keyOf(const RecordedSpans &spans, std::size_t i, bool isByShape)
{
    const std::uint32_t shape = isByShape && i < spans.shape.size() ? spans.shape[i] : kNoIndex;
    return Key(spans.name[i]) << 32 | shape;
}

void addSpans(const RecordedSpans &spans, bool isByShape, std::unordered_map<Key, Sum> &sums, KernelTable &table)
{
    for (std::size_t i = 0; i < spans.size(); ++i) {
        if (!isGpuWork(spans.work[i]))
            continue;
        const std::int64_t duration = spans.duration[i];
        Sum &sum = sums[keyOf(spans, i, isByShape)];
        sum.least = sum.count == 0 ? duration : std::min(sum.least, duration);
        sum.most = std::max(sum.most, duration);
        ++sum.count;
        ++sum.countOf[static_cast<std::size_t>(spans.work[i])];
        sum.total += double(duration);
        KernelTable::Kind &kind = table.kinds[static_cast<std::size_t>(spans.work[i])];
        ++kind.count;
        kind.total += double(duration);
    }
}

KernelRow rowOf(const Recording &recording, Key key, const Sum &sum)
{
    const auto shape = static_cast<std::uint32_t>(key);
    KernelRow row;
    row.name = recording.names[static_cast<std::size_t>(key >> 32)];
    row.shape = shape == kNoIndex ? std::string() : recording.names[shape];
    row.work = static_cast<RecordedWork>(std::ranges::max_element(sum.countOf) - sum.countOf.begin());
    row.count = sum.count;
    row.total = sum.total;
    row.least = sum.least;
    row.most = sum.most;
    return row;
}

KernelDifference differenceOf(const KernelRow *before, double runsBefore, const KernelRow *after, double runsAfter)
{
    const KernelRow &told = after ? *after : *before;
    KernelDifference made { .name = told.name, .shape = told.shape, .work = told.work };
    if (before) {
        made.countBefore = double(before->count) / runsBefore;
        made.before = before->total / runsBefore;
    }
    if (after) {
        made.countAfter = double(after->count) / runsAfter;
        made.after = after->total / runsAfter;
    }
    if (!before || !after) {
        made.change = after ? KernelChange::New : KernelChange::Gone;
        made.byCount = made.difference();
        return made;
    }
    made.byCount = (made.countAfter - made.countBefore) * before->mean();
    made.byMean = made.difference() - made.byCount;
    // Compared as products, so that equal kernels are equal whatever their number
    const double longer = after->total * double(before->count) - before->total * double(after->count);
    made.change = longer > 0 ? KernelChange::Longer : longer < 0 ? KernelChange::Shorter : KernelChange::Same;
    return made;
}

} // namespace

KernelTable kernelTable(const Recording &recording, bool isByShape)
{
    KernelTable table;
    std::unordered_map<Key, Sum> sums;
    for (const RankRecording &rank : recording.ranks) {
        if (!whyNoGpuTimes(recording, rank).empty())
            continue;
        ++table.ranks;
        table.rankSteps += std::max<std::int64_t>(1, std::ssize(rank.steps));
        for (const std::uint32_t stream : gpuStreamsOf(rank))
            addSpans(rank.streams[stream].spans, isByShape, sums, table);
    }
    for (const auto &[key, sum] : sums)
        table.rows.push_back(rowOf(recording, key, sum));
    std::ranges::sort(table.rows, [](const KernelRow &a, const KernelRow &b) {
        return std::tie(b.total, a.name, a.shape) < std::tie(a.total, b.name, b.shape);
    });
    for (const KernelTable::Kind &kind : table.kinds)
        table.total += kind.total;
    return table;
}

const char *idOf(RecordedWork work)
{
    static constexpr std::array kIds { "compute", "communication", "copy", "wait", "host_call", "host_operator",
        "annotation", "other" };
    static_assert(kIds.size() == kWorkKinds);
    return kIds[static_cast<std::size_t>(work)];
}

const char *nameOf(KernelChange change)
{
    static constexpr std::array kNames { "new", "gone", "longer", "shorter", "same" };
    return kNames[static_cast<std::size_t>(change)];
}

KernelDifferences kernelDifferences(const KernelTable &before, const KernelTable &after, bool isPerStep)
{
    const auto runs = [&](const KernelTable &table) {
        return isPerStep ? std::max(1.0, double(table.rankSteps)) : 1.0;
    };
    const double runsBefore = runs(before), runsAfter = runs(after);
    std::map<std::pair<std::string_view, std::string_view>, std::pair<const KernelRow *, const KernelRow *>> both;
    for (const KernelRow &row : before.rows)
        both[{ row.name, row.shape }].first = &row;
    for (const KernelRow &row : after.rows)
        both[{ row.name, row.shape }].second = &row;
    KernelDifferences made {
        .before = before.total / runsBefore, .after = after.total / runsAfter, .isPerStep = isPerStep
    };
    for (const auto &[key, rows] : both)
        made.rows.push_back(differenceOf(rows.first, runsBefore, rows.second, runsAfter));
    std::ranges::stable_sort(
        made.rows, std::greater(), [](const KernelDifference &one) { return std::abs(one.difference()); });
    return made;
}

} // namespace trainyard
