// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/other_pipelines.h"

#include "models/job_spans.h"
#include "views/timeline/layer_text.h"

#include <QCoreApplication>

#include <algorithm>
#include <iterator>
#include <span>

namespace trainyard {

namespace {

QString otherText(const char *text)
{
    return QCoreApplication::translate("trainyard::OtherPipelines", text);
}

/// Numbers of pipelines, from 1.
struct Pipelines {
    int count = 0, first = 0, last = 0;
};

Pipelines pipelinesOf(const Evaluation &evaluation, std::span<const TrackRow> rows)
{
    Pipelines all;
    int previous = -1;
    for (const TrackRow &row : rows) {
        if (row.pipelineClass == previous || row.pipelineClass < 0
            || row.pipelineClass >= int(evaluation.layout.classes.size()))
            continue;
        previous = row.pipelineClass;
        const PipelineClass &of = evaluation.layout.classes[std::size_t(previous)];
        const bool isMember = of.cellMembers > 1; // counted within its cell
        const int first = isMember ? of.cellMember + 1 : of.firstPipeline + 1, count = isMember ? 1 : of.pipelines;
        all.first = all.count == 0 ? first : std::min(all.first, first);
        all.last = std::max(all.last, first + count - 1);
        all.count += count;
    }
    return all;
}

TrackRow summaryOf(const Evaluation &evaluation, std::span<const TrackRow> rows, const QString &key)
{
    TrackRow summary;
    summary.kind = TrackRow::Kind::Summary;
    summary.datacenter = rows.front().datacenter;
    summary.key = key;
    summary.isOther = true;
    for (const TrackRow &row : rows)
        if (row.kind == TrackRow::Kind::Stage)
            summary.tracks.push_back(row.tracks.front());
    const Pipelines pipelines = pipelinesOf(evaluation, rows);
    summary.label = pipelines.count == 1 ? otherText("1 other") : otherText("%1 others").arg(pipelines.count);
    summary.detail = pipelines.first == pipelines.last
        ? otherText("pipeline %1").arg(pipelines.first)
        : otherText("pipelines %1–%2").arg(pipelines.first).arg(pipelines.last);
    return summary;
}

QString keyOfOthers(const TrackRow &row)
{
    constexpr int kPartsOfRow = 4; // behind its group, which may have slashes: rowKey() in track_layout.cpp
    return row.key.section(u'/', 0, -1 - kPartsOfRow) + QStringLiteral("/others");
}

} // namespace

void foldOthers(std::vector<TrackRow> &rows, const Evaluation &evaluation, const TrackLayoutOptions &options)
{
    if (isOfJobs(evaluation) || isLayerByLayer(evaluation))
        return;
    const bool areMany = std::ranges::count(rows, TrackRow::Kind::Stage, &TrackRow::kind) > kManyStageRows;
    std::vector<TrackRow> kept;
    for (auto from = rows.begin(); from != rows.end();) {
        const auto to =
            std::find_if(from, rows.end(), [&](const TrackRow &row) { return row.datacenter != from->datacenter; });
        const auto other =
            std::find_if(from, to, [&](const TrackRow &row) { return row.pipelineClass != from->pipelineClass; });
        std::for_each(other, to, [](TrackRow &row) { row.isOther = true; });
        const bool isAny =
            std::any_of(other, to, [](const TrackRow &row) { return row.kind == TrackRow::Kind::Stage; });
        const QString key = isAny ? keyOfOthers(*other) : QString();
        kept.insert(kept.end(), std::make_move_iterator(from), std::make_move_iterator(other));
        if (isAny && (options.folded.contains(key) || (areMany && !options.unfolded.contains(key))))
            kept.push_back(summaryOf(evaluation, { other, to }, key));
        else
            kept.insert(kept.end(), std::make_move_iterator(other), std::make_move_iterator(to));
        from = to;
    }
    rows = std::move(kept);
}

std::vector<RowGroup> othersOf(const TrackLayout &layout)
{
    std::vector<RowGroup> groups;
    for (auto r = std::size_t(layout.pinnedCount); r < layout.rows.size(); ++r) {
        const TrackRow &row = layout.rows[r];
        if (!row.isOther)
            continue;
        if (groups.empty() || groups.back().datacenter != row.datacenter) {
            const bool isFolded = row.kind == TrackRow::Kind::Summary;
            groups.push_back({ row.datacenter, row.label, isFolded ? row.key : keyOfOthers(row), isFolded, row.y, 0,
                row.barHeight });
        }
        groups.back().height = row.y + row.pitch - groups.back().y;
    }
    return groups;
}

void toggleFold(TrackLayoutOptions &options, const RowGroup &group)
{
    if (group.isFolded) {
        options.folded.remove(group.key);
        options.unfolded.insert(group.key);
    } else {
        options.unfolded.remove(group.key);
        options.folded.insert(group.key);
    }
}

} // namespace trainyard
