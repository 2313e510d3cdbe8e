#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Whose work the spans of a plan with jobs are, and the numbers of its GPUs: what charts, maps and lists agree on. Jobs
// are counted as in Metrics::jobs, GPUs from 0 in the order of the cluster, as plans pin jobs to them. Pure functions.

#include "core/evaluation/evaluate/evaluation.h"
#include "core/facts/cluster/edits.h"

#include <QString>

#include <optional>
#include <vector>

class QMimeData;

namespace trainyard {

struct JobSpans {
    static constexpr int kNone = -1;
    /// of all jobs of the plan; empty for a plan without jobs
    std::vector<QString> names;
    /// [task class]: job, or kNone
    std::vector<int> ofClass;
    /// [job]: it is neither paused nor unable to
    std::vector<bool> runs;

    [[nodiscard]] bool isEmpty() const { return names.empty(); }
    [[nodiscard]] int of(const Timeline &timeline, std::uint32_t span) const
    {
        const std::uint32_t index = timeline.taskClass.empty() ? kNoSpan : timeline.taskClass[span];
        return index < ofClass.size() ? ofClass[index] : kNone;
    }
    [[nodiscard]] bool isRun(int job) const { return job >= 0 && job < int(runs.size()) && runs[std::size_t(job)]; }
    [[nodiscard]] QString name(int job) const
    {
        return job >= 0 && job < int(names.size()) ? names[std::size_t(job)] : QString();
    }
    [[nodiscard]] int indexOf(const QString &name) const;
};

[[nodiscard]] bool isOfJobs(const Evaluation &evaluation);
[[nodiscard]] JobSpans jobSpans(const Evaluation &evaluation);
/// Job of one span without a table of all of them; JobSpans::kNone where it has none.
[[nodiscard]] int jobOfSpan(const Evaluation &evaluation, std::uint32_t span);
/// Its result; nullptr where the span belongs to no job.
[[nodiscard]] const JobResult *resultOf(const Evaluation &evaluation, std::uint32_t span);

/// Name of the job that a drag carries ("application/x-trainyard-job"); empty where it carries none.
[[nodiscard]] QString draggedJob(const QMimeData &mime);

/// Number of a pool's GPU in the order of the cluster.
[[nodiscard]] int gpuNumber(const Cluster &cluster, int datacenter, int pool, int gpu);
/// The GPU of a number; nothing where the cluster has fewer.
[[nodiscard]] std::optional<GpuSelection> gpuOfNumber(const Cluster &cluster, int number);
/// "GPU 3 · V100 SXM2": where a stage of such a plan runs.
[[nodiscard]] QString jobGpuName(const Evaluation &evaluation, int gpu);
/// Share of the time until all jobs have ended in which a GPU computes; 0..1.
[[nodiscard]] double busyShare(const Evaluation &evaluation, int gpu);

} // namespace trainyard
