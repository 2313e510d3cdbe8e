#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// GPU time of an evaluation, counted span by span with the GPUs of its stages as its own metrics have them: nothing of
// the difference stands behind it.

#include "core/evaluation/evaluate/evaluation.h"

#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace trainyard::test {

/// Work of training: of a stage of a class, as Metrics::devices has it.
inline std::int64_t gpusOfTrack(const Evaluation &evaluation, const Track &track)
{
    for (const DeviceMetrics &device : evaluation.metrics.devices)
        if (device.pipelineClass == track.pipelineClass && device.stage == track.stage)
            return device.ranks;
    return 1; // a GPU of a plan with jobs
}

/// GPU nanoseconds of each kind of work.
inline std::map<WorkKind, std::int64_t> gpuTimeOf(const Evaluation &evaluation)
{
    std::map<WorkKind, std::int64_t> time;
    for (const Track &track : evaluation.timeline.tracks) {
        const std::int64_t gpus = gpusOfTrack(evaluation, track);
        for (std::uint32_t span = track.first; span < track.last; ++span)
            time[evaluation.timeline.kind[span]] +=
                gpus * (evaluation.timeline.end[span] - evaluation.timeline.start[span]);
    }
    return time;
}

inline std::int64_t sumOf(const std::map<WorkKind, std::int64_t> &time)
{
    return std::accumulate(time.begin(), time.end(), std::int64_t(0),
        [](std::int64_t sum, const auto &kind) { return sum + kind.second; });
}

} // namespace trainyard::test
