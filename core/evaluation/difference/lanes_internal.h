#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The spans of a timeline by pipeline class, stage and stream: what one row of one replica shows. A transfer of a
// channel that a cell shares is of the member whose result it carries.

#include "core/evaluation/difference/timeline_difference.h"

namespace trainyard::difference {

struct Lane {
    /// index into Layout::classes
    int pipelineClass = 0;
    int stage = 0, toStage = -1;
    Stream stream = Stream::Compute;
    /// in the order of the track
    std::vector<std::uint32_t> spans;
};

/// By class, stage, stream and receiving stage; none is empty.
[[nodiscard]] std::vector<Lane> lanesOf(const Timeline &timeline);

struct ReplicaRange {
    int first = 0, count = 1;
};
/// Pipelines that a class stands for; one of its own where the layout does not say.
[[nodiscard]] ReplicaRange replicasOf(const Evaluation &evaluation, int pipelineClass);

/// GPUs that the spans of a lane stand for.
[[nodiscard]] std::int64_t gpusOf(const Evaluation &evaluation, const Lane &lane);

} // namespace trainyard::difference
