// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/row_details.h"

#include <utility>

namespace trainyard {

namespace {

/// Whether more stages of the row's class follow on it in its datacenter.
bool hasStageBelow(const TrackLayout &layout, std::size_t row)
{
    const TrackRow &of = layout.rows[row];
    for (std::size_t r = row + 1; r < layout.rows.size(); ++r) {
        const TrackRow &next = layout.rows[r];
        if (next.datacenter != of.datacenter || next.pipelineClass != of.pipelineClass)
            return false;
        if (next.kind == TrackRow::Kind::Stage)
            return true;
    }
    return false;
}

} // namespace

void sayDetailsOnce(TrackLayout &layout, int line)
{
    int group = -1, lastClass = -1;
    QString pending;
    for (std::size_t r = std::size_t(layout.pinnedCount); r < layout.rows.size(); ++r) {
        TrackRow &row = layout.rows[r];
        if (group < 0 || layout.groups[std::size_t(group)].datacenter != row.datacenter) {
            ++group;
            lastClass = -1;
        }
        const bool isStage = row.kind == TrackRow::Kind::Stage;
        if (!isStage
            && (row.kind != TrackRow::Kind::Stream || row.pipelineClass != lastClass || hasStageBelow(layout, r)))
            continue;
        if (isStage && std::exchange(lastClass, row.pipelineClass) != row.pipelineClass)
            pending = row.detail;
        const RowGroup &of = layout.groups[std::size_t(group)];
        const bool isTall = row.y == of.y && row.barHeight >= 2 * line; // has room for both
        const bool isClear = isTall || row.y + row.barHeight / 2 >= of.y + of.nameHeight / 2 + line;
        row.detail = isClear ? std::exchange(pending, QString()) : QString();
    }
}

} // namespace trainyard
