// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/overlay/job_stages.h"

#include "core/runs/overlay/reported_job.h"
#include "core/runs/overlay/span_index.h"

#include <algorithm>
#include <limits>

namespace trainyard {

int worldSizeOf(const Recording &recording)
{
    int size = reportedJob(recording).ranks;
    for (const RankRecording &rank : recording.ranks)
        if (rank.rank < std::numeric_limits<int>::max())
            size = std::max(size, rank.rank + 1);
    return size;
}

StagesOfJob stagesOf(const Recording &recording, const SpanIndex &spans)
{
    if (const auto told = reportedJob(recording).pipeline)
        return { *told, true };
    if (spans.hasTransfers())
        return { 2 };
    if (spans.hasCollectives()) // stages would have sent to each other: no plan knows better
        return { 1, true };
    // Communication of which no collective is known may be a transfer
    return { spans.hasGpuWork() && !spans.hasCommunication() ? 1 : 0 };
}

} // namespace trainyard
