#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a recording's sources tell of the job: its size, degrees and batch, by whatever name their framework has for
// each. What plan and run, or two runs, are held together by. Pure functions.

#include "core/iteration/placement/rank_map.h"
#include "core/runs/telemetry/recording.h"

#include <optional>
#include <string>

namespace trainyard {

struct ReportedJob {
    /// by world sizes that were told; 0: by nobody
    int ranks = 0;
    /// degrees
    std::optional<int> tensor, pipeline, context;
    /// sequences
    std::optional<int> globalBatch, microBatch;
    /// tokens
    std::optional<int> sequenceLength;
    /// of its model
    std::optional<int> layers, hidden;
    /// empty: no arguments are told that would tell it
    std::optional<RankOrder> order;
};
[[nodiscard]] ReportedJob reportedJob(const Recording &recording);

/// What differs of both where both tell it, "tensor parallelism 4, plan 8; …"; empty: nothing. `other`: whose the
/// second figures are.
[[nodiscard]] std::string jobDifferences(const ReportedJob &job, const ReportedJob &reference, const char *other);

/// Where logs cannot be of one job, what each tells, "global batch 768 (a.log), 128 (b.log)"; empty: nothing says so.
/// Logs of the ranks of a job, or of its attempts, share the batches of their steps.
[[nodiscard]] std::string severalJobs(const Recording &recording);

} // namespace trainyard
