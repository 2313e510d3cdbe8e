// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/evaluation/evaluate/metrics/stage_seconds.h"

#include "core/evaluation/evaluate/metrics/breakdown_pieces.h"

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {

/// Communication inside the operations of one stage over the iteration, taken out of its compute spans.
/// `count`: one of each class, all 0 before and after.
ExposedSeconds insideOperations(const Timeline &timeline, const Track &track, std::vector<std::uint32_t> &count)
{
    std::uint32_t *const times = count.data();
    const std::uint32_t *const taskClass = timeline.taskClass.data();
    std::vector<std::uint32_t> seen;
    for (std::uint32_t span = track.first; span < track.last; ++span)
        if (times[taskClass[span]]++ == 0)
            seen.push_back(taskClass[span]);
    std::ranges::sort(seen);
    ExposedSeconds sum;
    for (const std::uint32_t c : seen)
        sum += timeline.classes[c].exposed * std::exchange(times[c], 0);
    return sum;
}

} // namespace

std::vector<StageSeconds> secondsOfStages(const Timeline &timeline)
{
    const std::vector<StageTime> times = stageTimes(timeline);
    std::vector<StageSeconds> stages;
    std::vector<std::uint32_t> count(timeline.classes.size());
    std::size_t next = 0;
    for (const Track &track : timeline.tracks) {
        if (track.stream != Stream::Compute)
            continue;
        const StageTime &time = times[next++];
        const ExposedSeconds inside = insideOperations(timeline, track, count);
        StageSeconds stage { track.pipelineClass, {} };
        Breakdown &b = stage.spent;
        for (const UsePart &of : kUseParts)
            b.*of.part = toSeconds(time.*of.time).value;
        for (const InsidePart &of : kInsideParts)
            b.*of.part += inside.*of.seconds;
        b.compute -= inside.total();
        b.dataParallelInSpans = inside.data;
        b.offloadStallInSpans = inside.copies;
        stage.stage = track.stage;
        stage.computeShare = time.compute > 0 ? b.compute / toSeconds(time.compute).value : 1;
        stages.push_back(stage);
    }
    return stages;
}

} // namespace trainyard
